// Persistent history: what is recorded, how it is asked for, and how it goes.
import CairnAtomicStores
import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnSQLite
import CairnStore
import Foundation
import TestSupport
import Testing

/// Chapter 18 and Part II.9 of the specification.
@Suite struct PersistentHistoryTests {
  private typealias Request = PersistentHistoryChangeRequest
  private typealias Transaction = PersistentHistoryTransaction

  private func result(
    _ request: PersistentHistoryChangeRequest, _ context: ManagedObjectContext
  ) throws -> Any? {
    try #require(try context.execute(request) as? PersistentHistoryResult).result
  }

  private func transactions(
    _ request: PersistentHistoryChangeRequest, _ context: ManagedObjectContext
  ) throws -> [PersistentHistoryTransaction] {
    try #require(try result(request, context) as? [PersistentHistoryTransaction])
  }

  /// Three saves: two books by `ann`, a rename by `ben` in the context `editor`, a delete.
  private func write(_ context: ManagedObjectContext) throws {
    context.transactionAuthor = "ann"
    let books = ["a", "b"].map { context.make("Book", ["title": $0]) }
    try context.save()
    context.transactionAuthor = "ben"
    context.name = "editor"
    books[0].setValue("A", forKey: "title")
    books[0].setValue(7, forKey: "pages")
    try context.save()
    context.transactionAuthor = nil
    context.name = nil
    context.delete(books[1])
    try context.save()
  }

  private func code(_ error: (any Error)?) -> Int? {
    (error as? CoreDataError)?.code.rawValue ?? (error as NSError?)?.code
  }

  // MARK: Results

  @Test(arguments: StoreChoice.allCases)
  func everyResultTypeHasItsForm(choice: StoreChoice) throws {
    let stack = try Stack(history: true, in: choice)
    try stack.use { context in
      try write(context)
      func fetch(_ type: PersistentHistoryResultType) throws -> Any? {
        let request = Request.fetchHistory(after: nil as PersistentHistoryToken?)
        #expect(request.resultType == .transactionsAndChanges)
        request.resultType = type
        return try result(request, context)
      }
      #expect(try fetch(.statusOnly) as? Bool == true)
      #expect(try fetch(.count) as? Int == 4)
      let ids = try #require(try fetch(.objectIDs) as? [ManagedObjectID])
      #expect(ids.count == 2)
      let bare = try #require(try fetch(.transactionsOnly) as? [Transaction])
      #expect(bare.count == 3 && bare.allSatisfy { $0.changes == nil })
      let changes = try #require(try fetch(.changesOnly) as? [PersistentHistoryChange])
      #expect(changes.map(\.changeType) == [.insert, .insert, .update, .delete])
      #expect(changes.map(\.transaction?.transactionNumber) == [1, 1, 2, 3])
      let all = try #require(try fetch(.transactionsAndChanges) as? [Transaction])
      #expect(all.map { $0.changes?.count } == [2, 1, 1])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aTransactionTellsWhoWroteWhenAndWhere(choice: StoreChoice) throws {
    let stack = try Stack(history: true, in: choice)
    try stack.use { context in
      let before = Date()
      try write(context)
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      #expect(all.map(\.author) == ["ann", "ben", nil])
      #expect(all.map(\.contextName) == [nil, "editor", nil])
      #expect(Set(all.map(\.storeID)) == [stack.store.identity.identifier])
      #expect(all.allSatisfy { $0.processID == ProcessInfo.processInfo.processName })
      #expect(all.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() })
      #expect(all.map(\.transactionNumber) == [1, 2, 3])
      #expect(all.last?.token == stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func anUpdateNamesItsPropertiesAndAnInsertNone(choice: StoreChoice) throws {
    try Stack(history: true, in: choice).use { context in
      try write(context)
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      let update = try #require(all[1].changes?.first)
      #expect(Set((update.updatedProperties ?? []).map(\.name)) == ["title", "pages"])
      #expect(all[0].changes?.first?.updatedProperties == nil)
      #expect(update.tombstone == nil)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aDeletedObjectLeavesWhatTheModelPreserves(choice: StoreChoice) throws {
    let model = ManagedObjectModel()
    let entity = EntityDescription(name: "Note")
    let key = AttributeDescription(name: "key", type: .string, isOptional: true)
    key.preservesValueInHistoryOnDeletion = true
    let day = AttributeDescription(name: "day", type: .date, isOptional: true)
    day.preservesValueInHistoryOnDeletion = true
    let place = CompositeAttributeDescription()
    place.name = "place"
    place.elements = [AttributeDescription(name: "city", type: .string)]
    place.preservesValueInHistoryOnDeletion = true
    entity.properties = [
      key, day, place, AttributeDescription(name: "text", type: .string, isOptional: true),
    ]
    model.entities = [entity]
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [InMemoryStoreKind(), SQLiteStoreKind()])
    let folder = try TemporaryFolder()
    let store = try coordinator.addPersistentStore(
      ofType: choice == .memory ? StoreTypeName.inMemory : StoreTypeName.sqlite,
      configurationName: nil, at: folder.fileURL("Notes.sqlite"),
      options: [StoreOptionKey.historyTracking: true])
    defer { try? coordinator.remove(store) }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let date = Date(timeIntervalSinceReferenceDate: 1000)
      let note = context.make(
        "Note", ["key": "k", "day": date, "text": "gone", "place": ["city": "Ulm"]])
      try context.save()
      context.delete(note)
      try context.save()
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      let tombstone = try #require(all.last?.changes?.first?.tombstone)
      #expect(tombstone["key"] as? String == "k" && tombstone["day"] as? Date == date)
      #expect(tombstone["place"] as? [String: String] == ["city": "Ulm"])
      #expect(tombstone["text"] == nil)
    }
  }

  // MARK: Where to start

  @Test(arguments: StoreChoice.allCases)
  func afterATokenADateOrATransaction(choice: StoreChoice) throws {
    try Stack(history: true, in: choice).use { context in
      try write(context)
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      func numbers(_ request: Request) throws -> [Int64] {
        try transactions(request, context).map(\.transactionNumber)
      }
      #expect(try numbers(.fetchHistory(after: all[0].token)) == [2, 3])
      #expect(try numbers(.fetchHistory(after: all[1])) == [3])
      #expect(try numbers(.fetchHistory(after: nil as Transaction?)) == [1, 2, 3])
      #expect(try numbers(.fetchHistory(after: all[2].token)) == [])
      #expect(try numbers(.fetchHistory(after: all[1].timestamp)) == [3])
      #expect(try numbers(.fetchHistory(after: Date.distantPast)) == [1, 2, 3])
      let limited = Request.fetchHistory(after: all[0].token)
      #expect(limited.token == all[0].token)
      limited.rowLimit = 1
      #expect(try numbers(limited) == [2])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func purgedAndUnknownPlacesAreExpired(choice: StoreChoice) throws {
    let stack = try Stack(history: true, in: choice)
    try stack.use { context in
      try write(context)
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      #expect(try result(.deleteHistory(before: all[2]), context) as? Bool == true)
      let left = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      #expect(left.map(\.transactionNumber) == [3])
      #expect(try transactions(.fetchHistory(after: all[1].token), context).count == 1)
      for token in [
        all[0].token, PersistentHistoryToken(numbers: [stack.store.identity.identifier: 99]),
        PersistentHistoryToken(numbers: ["another store": 1]),
      ] {
        let error = #expect(throws: (any Error).self) {
          try transactions(.fetchHistory(after: token), context)
        }
        #expect(code(error) == 134301)
      }
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func purgingByTokenDateOrEverything(choice: StoreChoice) throws {
    try Stack(history: true, in: choice).use { context in
      try write(context)
      func numbers() throws -> [Int64] {
        try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
          .map(\.transactionNumber)
      }
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      _ = try result(.deleteHistory(before: all[0].token), context)
      #expect(try numbers() == [1, 2, 3])
      let second = Request.deleteHistory(before: all[1].timestamp)
      second.resultType = .count
      #expect(try result(second, context) as? Int == 1)
      #expect(try numbers() == [2, 3])
      _ = try result(.deleteHistory(before: nil as PersistentHistoryToken?), context)
      #expect(try numbers() == [])
      // Numbers go on.
      context.make("Book")
      try context.save()
      #expect(try numbers() == [4])
    }
  }

  // MARK: Fetch requests

  @Test(arguments: StoreChoice.allCases)
  func aConditionOnTransactions(choice: StoreChoice) throws {
    try Stack(history: true, in: choice).use { context in
      try write(context)
      func numbers(_ format: String, _ arguments: Any?...) throws -> [Int64] {
        let fetch = try #require(Transaction.fetchRequest)
        fetch.predicate = ObjectPredicate(
          format: format, argumentArray: arguments.map { $0 as Any })
        return try transactions(.fetchHistory(withFetch: fetch), context).map(\.transactionNumber)
      }
      #expect(try numbers("author == 'ann'") == [1])
      #expect(try numbers("author != 'ann' OR author == nil") == [2, 3])
      #expect(try numbers("contextName == 'editor'") == [2])
      #expect(try numbers("transactionNumber > 1") == [2, 3])
      #expect(try numbers("timestamp < %@", Date.distantPast) == [])
      #expect(try numbers("processID == %@", ProcessInfo.processInfo.processName) == [1, 2, 3])
      #expect(try numbers("ANY changes.changeType == 2") == [3])
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      #expect(try numbers("token == %@", all[1].token) == [2])
      for (format, expected) in [
        ("token < %@", [1]), ("token <= %@", [1, 2]), ("token > %@", [3]), ("token >= %@", [2, 3]),
        ("token != %@", [1, 3]), ("NOT token > %@", [1, 2]),
      ] as [(String, [Int64])] {
        #expect(try numbers(format, all[1].token) == expected, "\(format)")
      }
      for (format, expected) in [
        ("transactionNumber < %@", [1]), ("transactionNumber <= %@", [1, 2]),
        ("transactionNumber > %@", [3]), ("transactionNumber >= %@", [2, 3]),
      ] as [(String, [Int64])] {
        #expect(try numbers(format, all[1].transactionNumber) == expected, "\(format)")
      }
      // A token that knows nothing of the store is neither before nor after.
      let foreign = PersistentHistoryToken(numbers: ["elsewhere": 2])
      #expect(try numbers("token < %@", foreign) == [] && numbers("token >= %@", foreign) == [])
      let fetch = try #require(Transaction.fetchRequest)
      fetch.sortDescriptors = [ObjectSortDescriptor(key: "token", ascending: false)]
      let sorted = try transactions(.fetchHistory(withFetch: fetch), context)
      #expect(sorted.map(\.transactionNumber) == [3, 2, 1])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aConditionOnChangesLeavesOnlyThese(choice: StoreChoice) throws {
    try Stack(history: true, in: choice).use { context in
      try write(context)
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      let book = try #require(all[1].changes?.first?.changedObjectID)
      func found(_ format: String, _ arguments: Any?...) throws -> [[Int]] {
        let fetch = FetchRequest<any FetchRequestResult>()
        fetch.entity = PersistentHistoryChange.entityDescription(with: context)
        fetch.predicate = ObjectPredicate(
          format: format, argumentArray: arguments.map { $0 as Any })
        return try transactions(.fetchHistory(withFetch: fetch), context).map {
          ($0.changes ?? []).map(\.changeType.rawValue)
        }
      }
      #expect(try found("changeType == %d", PersistentHistoryChangeType.delete.rawValue) == [[2]])
      #expect(try found("changedObjectID == %@", book) == [[0], [1]])
      #expect(try found("'title' IN updatedProperties") == [[1]])
      #expect(try found("transaction.author == 'ann'") == [[0, 0]])
      #expect(try found("changedEntity == %@", book.entity) == [[0, 0], [1], [2]])
    }
  }

  @Test func aConditionGoesTogetherWithATokenOrderLimitAndOffset() throws {
    try Stack(history: true).use { context in
      for index in 0..<600 {
        context.transactionAuthor = index % 3 == 0 ? "x" : "y"
        context.make("Tag", ["label": "\(index)"])
        try context.save()
      }
      let first = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)[9]
      func numbers(_ change: (FetchRequest<any FetchRequestResult>) -> Void) throws -> [Int64] {
        let request = Request.fetchHistory(after: first.token)
        let fetch = try #require(Transaction.fetchRequest)
        fetch.predicate = ObjectPredicate(format: "author == 'x'")
        change(fetch)
        request.fetchRequest = fetch
        return try transactions(request, context).map(\.transactionNumber)
      }
      #expect(try numbers { _ in }.count == 196)
      #expect(
        try numbers {
          $0.fetchOffset = 1
          $0.fetchLimit = 2
        } == [16, 19])
      #expect(
        try numbers {
          $0.sortDescriptors = [ObjectSortDescriptor(key: "transactionNumber", ascending: false)]
          $0.fetchLimit = 2
        } == [598, 595])
    }
  }

  @Test func aFetchRequestOfAnotherEntityIsRefused() throws {
    try Stack(history: true).use { context in
      let fetch = FetchRequest<any FetchRequestResult>(entityName: "Book")
      let error = #expect(throws: (any Error).self) {
        try context.execute(Request.fetchHistory(withFetch: fetch))
      }
      #expect(code(error) == 134060)
    }
  }

  // MARK: Batches

  @Test func batchRequestsAreInHistory() throws {
    try Stack(history: true, in: .sqlite).use { context in
      context.transactionAuthor = "batch"
      try context.execute(
        BatchInsertRequest(entityName: "Book", objects: [["title": "a"], ["title": "b"]]))
      let update = BatchUpdateRequest(entityName: "Book")
      update.propertiesToUpdate = ["pages": 5]
      try context.execute(update)
      let fetch = FetchRequest<any FetchRequestResult>(entityName: "Book")
      try context.execute(BatchDeleteRequest(fetchRequest: fetch))
      let all = try transactions(.fetchHistory(after: nil as PersistentHistoryToken?), context)
      #expect(all.map(\.author) == ["batch", "batch", "batch"])
      let kinds = all.map { Set(($0.changes ?? []).map(\.changeType)) }
      #expect(kinds == [[.insert], [.update], [.delete]])
      #expect(all[1].changes?.first?.updatedProperties?.map(\.name) == ["pages"])
    }
  }

  // MARK: Several stores

  @Test func aTokenHoldsOnePlaceForEachStore() throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: Library.model(), storeKinds: [InMemoryStoreKind()])
    let stores = try (0..<3).map { index in
      try coordinator.addPersistentStore(
        ofType: StoreTypeName.inMemory, configurationName: nil, at: nil,
        options: index < 2 ? [StoreOptionKey.historyTracking: true] : nil)
    }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      func add(_ title: String, to stores: [PersistentStore]) throws {
        for store in stores { context.assign(context.make("Book", ["title": title]), to: store) }
        try context.save()
      }
      try add("a", to: stores)
      try add("b", to: [stores[0]])
      let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
      #expect(
        token.numbers == [stores[0].identity.identifier: 2, stores[1].identity.identifier: 1])
      let one = coordinator.currentPersistentHistoryToken(fromStores: [stores[1]])
      #expect(one?.numbers.count == 1)
      #expect(coordinator.currentPersistentHistoryToken(fromStores: [stores[2]]) == nil)
      try add("c", to: [stores[1]])
      try add("d", to: stores)
      let after = try transactions(.fetchHistory(after: token), context)
      #expect(after.count == 3)
      let restricted = Request.fetchHistory(after: token)
      restricted.affectedStores = [stores[0]]
      #expect(try transactions(restricted, context).map(\.transactionNumber) == [3])
      // A store that the token does not know is read from its beginning.
      #expect(try transactions(.fetchHistory(after: one), context).count == 5)
    }
  }

  @Test func tokensAreArchivedAndGarbageIsNoToken() throws {
    let token = PersistentHistoryToken(numbers: ["a": 1, "b": 2])
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let copy = try NSKeyedUnarchiver.unarchivedObject(
      ofClass: PersistentHistoryToken.self, from: data)
    #expect(copy == token && copy?.hash == token.hash)
    let garbage = try NSKeyedArchiver.archivedData(
      withRootObject: "no token" as NSString, requiringSecureCoding: true)
    let none = try? NSKeyedUnarchiver.unarchivedObject(
      ofClass: PersistentHistoryToken.self, from: garbage)
    #expect(none == nil)
  }

  // MARK: Merging

  @Test(arguments: ["objectIDs", "uris", "sets", "history"])
  func changesOfBatchesReachAllContextsByIDs(form: String) throws {
    let stack = try Stack(history: true, in: .sqlite)
    let contexts = [stack.context(), stack.context()]
    let ids = try stack.use { context in
      let books = ["a", "b"].map { context.make("Book", ["title": $0]) }
      try context.save()
      return books.map(\.objectID)
    }
    for context in contexts {
      try context.performAndWait {
        context.retainsRegisteredObjects = true
        let titles = try ids.map { try context.existingObject(with: $0).text("title") }
        #expect(titles == ["a", "b"])
      }
    }
    let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
    let info = try stack.use { context -> [AnyHashable: Any] in
      let update = BatchUpdateRequest(entityName: "Book")
      update.predicate = ObjectPredicate(format: "title == 'a'")
      update.propertiesToUpdate = ["title": "A"]
      try context.execute(update)
      try context.execute(BatchDeleteRequest(objectIDs: [ids[1]]))
      switch form {
      case "objectIDs": return ["updated": [ids[0]], "deleted": [ids[1]]]
      case "uris":
        return [
          "updated_objectIDs": [ids[0].uriRepresentation()],
          "deleted_objectIDs": [ids[1].uriRepresentation()],
        ]
      case "sets": return ["updated": Set([ids[0]]), "deleted": NSSet(array: [ids[1]])]
      default:
        var info: [AnyHashable: Any] = [:]
        for transaction in try transactions(.fetchHistory(after: token), context) {
          let notification = transaction.objectIDNotification()
          #expect(notification.name == ManagedObjectContext.didSaveObjectIDsNotification)
          info.merge(notification.userInfo ?? [:]) { first, _ in first }
        }
        return info
      }
    }
    ManagedObjectContext.mergeChanges(fromRemoteContextSave: info, into: contexts)
    for context in contexts {
      try context.performAndWait {
        #expect(context.registeredObject(for: ids[0])?.text("title") == "A")
        #expect(context.registeredObject(for: ids[1])?.isDeleted ?? true)
        #expect(!context.hasChanges)
        let titles = try context.all("Book").map { $0.text("title") }
        #expect(titles == ["A"])
      }
    }
  }
}
