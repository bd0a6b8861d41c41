// Persistent history, remote changes and query generations in Apple's words.

import CoreData
import TestSupport
import Testing

/// Chapters 18 and 19 of the specification, as programs use them.
///
/// The rules are shown one by one in `PersistentHistoryTests`, `RemoteChangeTests` and
/// `QueryGenerationTests`.
@MainActor @Suite struct HistoryVerbTests {
  private typealias Request = NSPersistentHistoryChangeRequest

  private func result(_ request: Request, _ shop: RequestShop) throws -> Any? {
    (try shop.context.execute(request) as? NSPersistentHistoryResult)?.result
  }

  private nonisolated func all() -> Request {
    .fetchHistory(after: nil as NSPersistentHistoryToken?)
  }

  // MARK: 18.1

  @Test func aTransactionHasOneChangeForEachObject() throws {
    let shop = try RequestShop()
    let customer = shop.insert("Customer", ["name": "Ada"])
    let orders = (1...3).map { shop.insert("Order", ["number": $0, "customer": customer]) }
    try shop.context.save()
    orders[0].setValue("x", forKey: "note")
    orders[0].setValue(2.5, forKey: "total")
    shop.context.delete(orders[1])
    try shop.context.save()
    let history = try shop.history()
    #expect(history.count == 2)
    let first = try #require(history.first?.changes)
    #expect(Set(first.map(\.changedObjectID)) == Set((orders + [customer]).map(\.objectID)))
    #expect(first.allSatisfy { $0.changeType == .insert && $0.tombstone == nil })
    #expect(Set(first.map(\.changeID)).count == 4)
    let second = try #require(history.last?.changes)
    #expect(Set(second.map(\.changedObjectID)).count == second.count)
    let update = try #require(second.first { $0.changedObjectID == orders[0].objectID })
    #expect(update.changeType == .update && update.tombstone == nil)
    let names = Set((update.updatedProperties ?? []).map(\.name))
    #expect(names.isSuperset(of: ["note", "total"]))
    let delete = try #require(second.first { $0.changeType == .delete })
    #expect(delete.changedObjectID == orders[1].objectID)
    #expect(delete.tombstone?["number"] as? Int == 2)
    #expect(delete.transaction?.transactionNumber == history.last?.transactionNumber)
  }

  @Test func aChangedRelationshipIsAmongTheUpdatedProperties() throws {
    let shop = try RequestShop()
    let (ada, bob) = (shop.insert("Customer", [:]), shop.insert("Customer", [:]))
    let order = shop.insert("Order", ["customer": ada])
    try shop.context.save()
    order.setValue(bob, forKey: "customer")
    try shop.context.save()
    let changes = try #require(try shop.history().last?.changes)
    let update = try #require(changes.first { $0.changedObjectID == order.objectID })
    let names = update.updatedProperties?.compactMap { $0 as? NSRelationshipDescription }.map(
      \.name)
    #expect(names == ["customer"])
  }

  @Test func withoutTheOptionNothingIsRecorded() throws {
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"))
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        _ = try Company.clerk("a", in: context)
        try context.save()
        let error = Company.error { try context.execute(all()) }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
      }
      #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    }
  }

  /// A file that has history goes on recording it, whichever program opens it.
  @Test func historyGoesOnWhenAStoreIsOpenedWithoutTheOption() throws {
    try TemporaryFolder.with { folder throws -> Void in
      let file = folder.appendingPathComponent("a.sqlite")
      let options = [NSPersistentHistoryTrackingKey: true as NSNumber]
      func save(_ name: String, _ options: [AnyHashable: Any]?) throws -> Int? {
        let coordinator = try Company.coordinator(NSSQLiteStoreType, at: file, options: options)
        defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
        let context = Company.context(coordinator)
        return try context.performAndWait {
          _ = try Company.clerk(name, in: context)
          try context.save()
          guard options != nil else { return nil }
          let result = try context.execute(all()) as? NSPersistentHistoryResult
          return (result?.result as? [NSPersistentHistoryTransaction])?.count
        }
      }
      #expect(try save("a", options) == 1)
      #expect(try save("b", nil) == nil)
      #expect(try save("c", options) == 3)
    }
  }

  // MARK: 18.2

  @Test func requestsStartWithDocumentedValuesAndHaveTheirResultsAsNumbers() throws {
    let shop = try RequestShop()
    shop.insert("Customer", [:])
    try shop.context.save()
    #expect(all().resultType == .transactionsAndChanges && all().fetchRequest == nil)
    #expect(all().token == nil && all().affectedStores == nil)
    let counting = all()
    counting.resultType = .count
    #expect(try result(counting, shop) as? Int == 1)
    #expect(try result(counting, shop) as? NSNumber == 1)
    let status = try result(.deleteHistory(before: Date.distantPast), shop)
    #expect(status as? Bool == true && status as? NSNumber == true)
  }

  @Test func theEntitiesOfHistoryAreFoundInEachWay() throws {
    let shop = try RequestShop()
    shop.context.transactionAuthor = "ann"
    shop.insert("Customer", [:])
    try shop.context.save()
    shop.context.transactionAuthor = nil
    shop.insert("Customer", [:])
    try shop.context.save()
    func count(_ fetch: NSFetchRequest<NSFetchRequestResult>?) throws -> Int? {
      let fetch = try #require(fetch)
      fetch.predicate = NSPredicate(format: "%K != %@", "author", "ann")
      let found = try result(.fetchHistory(withFetch: fetch), shop)
      return (found as? [NSPersistentHistoryTransaction])?.count
    }
    #expect(try count(NSPersistentHistoryTransaction.fetchRequest) == 1)
    let named = NSFetchRequest<NSFetchRequestResult>()
    named.entity = NSPersistentHistoryTransaction.entityDescription(with: shop.context)
    #expect(try count(named) == 1)
    let entity = NSPersistentHistoryTransaction.entityDescription
    #expect(entity?.attributesByName["author"]?.attributeType == .stringAttributeType)
    #expect(entity?.attributesByName["timestamp"]?.attributeType == .dateAttributeType)
    #expect(entity?.attributesByName["token"] != nil)
    #expect(entity?.attributesByName["transactionNumber"] != nil)
    let changeEntity = try #require(NSPersistentHistoryChange.entityDescription)
    #expect(
      changeEntity.attributesByName["changedObjectID"]?.attributeType == .objectIDAttributeType)
    #expect(changeEntity.propertiesByName["changeType"] != nil)
    let change = try #require(NSPersistentHistoryChange.fetchRequest)
    change.predicate = NSPredicate(
      format: "changeType == %d", NSPersistentHistoryChangeType.insert.rawValue)
    let changes = Request.fetchHistory(withFetch: change)
    changes.resultType = .changesOnly
    #expect((try result(changes, shop) as? [NSPersistentHistoryChange])?.count == 2)
  }

  @Test func aConditionCanBeAddedToARequestWithAToken() throws {
    let shop = try RequestShop()
    for author in ["a", "b", "a"] {
      shop.context.transactionAuthor = author
      shop.insert("Customer", [:])
      try shop.context.save()
    }
    let first = try #require(try shop.history().first)
    let request = Request.fetchHistory(after: first.token)
    let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
    fetch.predicate = NSPredicate(format: "author == 'a'")
    request.fetchRequest = fetch
    let found = try result(request, shop) as? [NSPersistentHistoryTransaction]
    #expect(found?.map(\.transactionNumber) == [3] && request.token == first.token)
  }

  @Test func aTokenThatExpiredIsAnErrorWithItsCode() throws {
    let shop = try RequestShop()
    for _ in 0..<3 {
      shop.insert("Customer", [:])
      try shop.context.save()
    }
    let history = try shop.history()
    _ = try result(.deleteHistory(before: history[2]), shop)
    let error = Company.error {
      try shop.context.execute(Request.fetchHistory(after: history[0].token))
    }
    #expect(error?.domain == NSCocoaErrorDomain)
    #expect(error?.code == NSPersistentHistoryTokenExpiredError)
    #expect(NSPersistentHistoryTokenExpiredError == 134301)
  }

  @Test func theLatestTokenIsThatOfTheLastTransaction() throws {
    let shop = try RequestShop()
    shop.insert("Customer", [:])
    try shop.context.save()
    let coordinator = shop.container.persistentStoreCoordinator
    let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
    #expect(token == (try shop.history().last?.token))
    #expect(
      coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores) == token)
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let again = try NSKeyedUnarchiver.unarchivedObject(
      ofClass: NSPersistentHistoryToken.self, from: data)
    #expect(again == token)
    #expect((try result(.fetchHistory(after: again), shop) as? [Any])?.isEmpty == true)
  }

  // MARK: 18.3

  @Test func aTransactionsNotificationIsLikeThatOfASave() throws {
    let shop = try RequestShop()
    let (a, b) = (shop.insert("Customer", ["name": "a"]), shop.insert("Customer", ["name": "b"]))
    try shop.context.save()
    a.setValue("A", forKey: "name")
    shop.context.delete(b)
    let new = shop.insert("Customer", ["name": "c"])
    try shop.context.save()
    let transaction = try #require(try shop.history().last)
    let note = transaction.objectIDNotification()
    #expect(note.name == .NSManagedObjectContextDidSaveObjectIDs)
    #expect(note.name.rawValue == "NSManagedObjectContextDidSaveObjectIDsNotification")
    func ids(_ key: String) -> Set<NSManagedObjectID>? {
      note.userInfo?[key] as? Set<NSManagedObjectID>
    }
    #expect(ids(NSInsertedObjectIDsKey) == [new.objectID])
    #expect(ids(NSUpdatedObjectIDsKey) == [a.objectID])
    #expect(ids(NSDeletedObjectIDsKey) == [b.objectID])
  }

  // MARK: 18.5

  @Test func aStoreWithoutHistoryAnnouncesChangesWithoutAToken() async throws {
    #expect(
      Notification.Name.NSPersistentStoreRemoteChange.rawValue
        == "NSPersistentStoreRemoteChangeNotification")
    let folder = try TemporaryFolder()
    let file = folder.fileURL("a.sqlite")
    let coordinator = try Company.coordinator(
      NSSQLiteStoreType, at: file,
      options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true as NSNumber])
    let store = try #require(coordinator.persistentStores.first)
    let (keys, feed) = AsyncStream.makeStream(of: [String].self)
    let uuid = store.identifier
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { note in
      #expect(note.userInfo?[NSStoreUUIDKey] as? String == uuid)
      #expect(note.userInfo?[NSPersistentStoreURLKey] as? URL == file)
      feed.yield((note.userInfo ?? [:]).keys.compactMap { $0 as? String }.sorted())
      feed.finish()
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let context = Company.context(coordinator)
    try context.performAndWait { () throws -> Void in
      _ = try Company.clerk("a", in: context)
      try context.save()
    }
    var seen: [[String]] = []
    for await names in keys { seen.append(names) }
    #expect(seen == [["NSStoreUUID", "storeURL"]])
  }

  // MARK: 19

  @Test func aPinnedContextKeepsItsStateUntilItIsTold() throws {
    let shop = try RequestShop()
    let order = shop.insert("Order", ["number": 1])
    try shop.context.save()
    let reader = shop.container.newBackgroundContext()
    try reader.performAndWait { () throws -> Void in
      #expect(reader.queryGenerationToken == nil)
      try reader.setQueryGenerationFrom(.current)
      #expect(reader.queryGenerationToken == .current)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
      #expect(try reader.count(for: request) == 1)
      let token = try #require(reader.queryGenerationToken)
      #expect(token != .current)
      let other = shop.container.newBackgroundContext()
      try other.performAndWait { () throws -> Void in
        try other.delete(other.existingObject(with: order.objectID))
        try other.save()
      }
      // A row that was deleted elsewhere can still be read.
      let fault = reader.object(with: order.objectID)
      #expect(fault.value(forKey: "number") as? Int == 1)
      let same = shop.container.newBackgroundContext()
      try same.performAndWait { () throws -> Void in
        try same.setQueryGenerationFrom(token)
        #expect(same.queryGenerationToken == token)
        #expect(try same.count(for: request) == 1)
      }
      try reader.setQueryGenerationFrom(nil)
      #expect(reader.queryGenerationToken == nil)
      #expect(try reader.count(for: request) == 0)
    }
  }
}
