// Batch requests in Apple's words: what they leave alone, and how others learn of them.

import CoreData
import Synchronization
import TestSupport
import Testing

/// Chapter 17 of the specification, as programs use it.
///
/// The rules about rows are in `BatchInsertTests`, `BatchChangeTests` and `BatchWorkTests`.
@MainActor @Suite struct BatchRequestTests {
  private func folder<Result>(
    _ body: (NSPersistentStoreCoordinator, NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"))
      let context = Company.context(coordinator)
      return try context.performAndWait { try body(coordinator, context) }
    }
  }

  @Test func resultsAreNumbersAndIDs() throws {
    try folder { coordinator, context in
      func result(_ request: NSPersistentStoreRequest) throws -> Any? {
        let result = try context.execute(request)
        return (result as? NSBatchInsertResult)?.result ?? (result as? NSBatchUpdateResult)?.result
          ?? (result as? NSBatchDeleteResult)?.result
      }
      let insert = NSBatchInsertRequest(entityName: "Clerk", objects: [["name": "a"]])
      let update = NSBatchUpdateRequest(entityName: "Clerk")
      update.propertiesToUpdate = ["age": 30]
      let delete = NSBatchDeleteRequest(
        fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk"))
      for request in [insert, update, delete] as [NSPersistentStoreRequest] {
        let status = try result(request)
        #expect(status as? Bool == true && status as? NSNumber == true)
      }
      insert.resultType = .count
      update.resultType = .updatedObjectsCountResultType
      delete.resultType = .resultTypeCount
      for request in [insert, update, delete] as [NSPersistentStoreRequest] {
        let count = try result(request)
        #expect(count as? Int == 1 && (count as? NSNumber)?.intValue == 1)
      }
      let none = try result(delete)
      #expect(none as? Int == 0)
    }
  }

  @Test func requestsStartWithDocumentedValues() throws {
    let insert = NSBatchInsertRequest(entityName: "Clerk", objects: [["name": "a"]])
    #expect(insert.resultType == .statusOnly && insert.entityName == "Clerk")
    #expect(insert.objectsToInsert?.count == 1 && insert.dictionaryHandler == nil)
    #expect(insert.managedObjectHandler == nil && insert.affectedStores == nil)
    let update = NSBatchUpdateRequest(entityName: "Clerk")
    #expect(update.resultType == .statusOnlyResultType && update.includesSubentities)
    #expect(update.predicate == nil && update.propertiesToUpdate == nil)
    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk")
    fetch.predicate = NSPredicate(format: "age > 3")
    let delete = NSBatchDeleteRequest(fetchRequest: fetch)
    #expect(delete.resultType == .resultTypeStatusOnly)
    #expect(delete.fetchRequest.entityName == "Clerk" && delete.fetchRequest !== fetch)
    #expect(delete.fetchRequest.predicate == fetch.predicate)
  }

  @Test func contextsHooksAndNotificationsAreLeftAlone() throws {
    try folder { coordinator, context in
      let clerk = try Company.clerk("a", in: context)
      try context.save()
      _ = clerk.takeCalls()
      let posted = Mutex<[Notification.Name]>([])
      let names: [Notification.Name] = [
        .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
        .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
      ]
      let tokens = names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
          posted.withLock { $0.append(name) }
        }
      }
      defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
      try context.execute(NSBatchInsertRequest(entityName: "Clerk", objects: [["name": "b"]]))
      let update = NSBatchUpdateRequest(entityName: "Clerk")
      update.propertiesToUpdate = ["age": 0]
      try context.execute(update)
      let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk")
      fetch.predicate = NSPredicate(format: "name == 'a'")
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
      context.processPendingChanges()
      #expect(posted.withLock { $0 }.isEmpty && clerk.calls.isEmpty && !context.hasChanges)
      // The object is stale until the program tells it.
      #expect(clerk.value(forKey: "age") as? Int == 20 && !clerk.isDeleted)
    }
  }

  /// A name is mandatory, and an age of 0 is not valid.
  @Test func nothingIsValidated() throws {
    try folder { coordinator, context in
      let insert = NSBatchInsertRequest(
        entityName: "Clerk", objects: [["name": NSNull(), "age": 0], ["name": "b"]])
      insert.resultType = .count
      #expect((try context.execute(insert) as? NSBatchInsertResult)?.result as? Int == 2)
      let update = NSBatchUpdateRequest(entityName: "Clerk")
      update.predicate = NSPredicate(format: "name == 'b'")
      update.propertiesToUpdate = ["name": NSExpression(forConstantValue: nil)]
      try context.execute(update)
      let nameless = NSFetchRequest<NSManagedObject>(entityName: "Clerk")
      nameless.predicate = NSPredicate(format: "name == nil")
      #expect(try context.count(for: nameless) == 2)
    }
  }

  @Test func contextsAreBroughtUpToDateWithTheIDs() throws {
    try folder { coordinator, context in
      let gone = try Company.clerk("gone", in: context)
      let changed = try Company.clerk("changed", in: context)
      try context.save()
      let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk")
      fetch.predicate = NSPredicate(format: "name == 'gone'")
      let delete = NSBatchDeleteRequest(fetchRequest: fetch)
      delete.resultType = .resultTypeObjectIDs
      let deleted = (try context.execute(delete) as? NSBatchDeleteResult)?.result
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: deleted as? [NSManagedObjectID] ?? []],
        into: [context])
      #expect(gone.isDeleted && !context.hasChanges)
      let update = NSBatchUpdateRequest(entityName: "Clerk")
      update.propertiesToUpdate = ["age": NSExpression(format: "age * 2")]
      update.resultType = .updatedObjectIDsResultType
      let updated = (try context.execute(update) as? NSBatchUpdateResult)?.result
      #expect(updated as? [NSManagedObjectID] == [changed.objectID])
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: updated as? [NSManagedObjectID] ?? []],
        into: [context])
      #expect(changed.value(forKey: "age") as? Int == 40)
      #expect(!context.hasChanges)
    }
  }

  @Test func aDeleteTakesTheRequestOfAClass() throws {
    try folder { coordinator, context in
      for name in ["a", "b", "c"] { _ = try Company.clerk(name, in: context) }
      try context.save()
      let typed: NSFetchRequest<Clerk> = Clerk.fetchRequest()
      typed.predicate = NSPredicate(format: "name == 'a'")
      try context.execute(NSBatchDeleteRequest(fetchRequest: typed))
      let general: NSFetchRequest<NSFetchRequestResult> = Clerk.fetchRequest()
      general.predicate = NSPredicate(format: "name == 'b'")
      try context.execute(NSBatchDeleteRequest(fetchRequest: general))
      #expect(try Company.names(in: context) == ["c"])
      try context.execute(NSBatchDeleteRequest(fetchRequest: Clerk.fetchRequest()))
      #expect(try Company.names(in: context).isEmpty)
    }
  }

  @Test func aCoordinatorExecutesBatchesForAContext() throws {
    try folder { coordinator, context in
      let insert = NSBatchInsertRequest(entityName: "Clerk", objects: [["name": "a"]])
      insert.resultType = .objectIDs
      let result = try coordinator.execute(insert, with: context)
      let ids = (result as? NSBatchInsertResult)?.result as? [NSManagedObjectID]
      #expect(ids?.first?.entity.name == "Clerk" && ids?.first?.isTemporaryID == false)
    }
  }

  @Test(arguments: [NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType])
  func onlySQLiteStoresTakeThem(type: String) throws {
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator(type, at: folder.appendingPathComponent("a"))
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        _ = try Company.clerk("a", in: context)
        try context.save()
        let update = NSBatchUpdateRequest(entityName: "Clerk")
        update.propertiesToUpdate = ["age": 1]
        let requests: [NSPersistentStoreRequest] = [
          NSBatchInsertRequest(entityName: "Clerk", objects: [["name": "b"]]), update,
          NSBatchDeleteRequest(
            fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk")),
        ]
        for request in requests {
          let error = Company.error { try context.execute(request) }
          #expect(error?.domain == NSCocoaErrorDomain)
          #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
        }
        #expect(try Company.names(in: context) == ["a"])
      }
    }
  }

  @Test func largeValuesInFilesGoWithTheirRows() throws {
    try TemporaryFolder.with { folder in
      let model = Company.model()
      let photo = Company.attribute("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = true
      model.entitiesByName["Clerk"]?.properties.append(photo)
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"), model: model)
      let context = Company.context(coordinator)
      func files() -> Int {
        let all = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String]
        return (all ?? []).filter { $0.contains("_EXTERNAL_DATA/") }.count
      }
      try context.performAndWait { () throws -> Void in
        let data = Data(repeating: 7, count: 1 << 20)
        let insert = NSBatchInsertRequest(
          entityName: "Clerk",
          objects: [["name": "a", "photo": data], ["name": "b", "photo": data]])
        try context.execute(insert)
        #expect(files() == 2)
        let update = NSBatchUpdateRequest(entityName: "Clerk")
        update.predicate = NSPredicate(format: "name == 'a'")
        update.propertiesToUpdate = ["photo": NSNull()]
        try context.execute(update)
        #expect(files() == 1)
        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk")
        try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        #expect(files() == 0)
      }
    }
  }
}
