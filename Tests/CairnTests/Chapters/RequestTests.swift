// Requests and their results, as programs make and read them.

import CoreData
import TestSupport
import Testing

/// Chapters 16, 17 and II.5 of the specification.
@Suite struct RequestTests {
  @Test func everyRequestKnowsItsType() throws {
    let fetch = NSFetchRequest<NSManagedObject>(entityName: "Clerk")
    let requests: [(NSPersistentStoreRequest, NSPersistentStoreRequestType)] = [
      (fetch, .fetchRequestType),
      (NSAsynchronousFetchRequest(fetchRequest: fetch), .fetchRequestType),
      (NSBatchInsertRequest(entityName: "Clerk", objects: []), .batchInsertRequestType),
      (NSBatchUpdateRequest(entityName: "Clerk"), .batchUpdateRequestType),
      (NSBatchDeleteRequest(objectIDs: []), .batchDeleteRequestType),
      (
        NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil),
        .saveRequestType
      ),
    ]
    for (request, type) in requests { #expect(request.requestType == type) }
    #expect(NSFetchRequestResultType(rawValue: 4) == .countResultType)
  }

  @Test func aCopyOfARequestIsChangedByItself() throws {
    let request = NSFetchRequest<NSManagedObject>()
    #expect(request.entityName == nil && request.fetchLimit == 0)
    request.fetchLimit = 3
    request.predicate = NSPredicate(format: "age > 1")
    let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
    copy.fetchLimit = 5
    #expect(request.fetchLimit == 3 && copy.predicate == request.predicate)
    let general: NSPersistentStoreRequest = request
    #expect((general.copy() as? NSFetchRequest<NSManagedObject>)?.fetchLimit == 3)
  }

  @Test func batchInsertsTakeDictionariesObjectsAndHandlers() throws {
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"))
      let entity = try #require(coordinator.managedObjectModel.entitiesByName["Clerk"])
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        func run(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
          try #require(try context.execute(request) as? NSBatchInsertResult)
        }
        // A handler is called until it says that there is nothing more.
        func dictionaries(_ names: [String]) -> (NSMutableDictionary) -> Bool {
          var rest = names[...]
          return { row in
            guard let name = rest.popFirst() else { return true }
            row["name"] = name
            return false
          }
        }
        func objects(_ names: [String]) -> (NSManagedObject) -> Bool {
          var rest = names[...]
          return { object in
            guard let name = rest.popFirst() else { return true }
            object.setValue(name, forKey: "name")
            return false
          }
        }
        let first = NSBatchInsertRequest(entity: entity, objects: [["name": "a"], ["name": "b"]])
        first.resultType = NSBatchInsertRequestResultType.count
        #expect(try run(first).result as? Int == 2)
        let second = NSBatchInsertRequest(
          entity: entity, dictionaryHandler: dictionaries(["c", "d"]))
        second.resultType = .objectIDs
        let ids = try run(second)
        #expect(ids.resultType == .objectIDs && (ids.result as? [NSManagedObjectID])?.count == 2)
        let third = NSBatchInsertRequest(
          entityName: "Clerk", dictionaryHandler: dictionaries(["e"]))
        #expect(third.dictionaryHandler != nil && third.managedObjectHandler == nil)
        let done: NSPersistentStoreResult = try run(third)
        #expect((done as? NSBatchInsertResult)?.result as? Bool == true)
        _ = try run(NSBatchInsertRequest(entity: entity, managedObjectHandler: objects(["f"])))
        _ = try run(
          NSBatchInsertRequest(entityName: "Clerk", managedObjectHandler: objects(["g"])))
        #expect(try Company.names(in: context) == ["a", "b", "c", "d", "e", "f", "g"])
      }
    }
  }

  @Test func batchUpdatesAndDeletesAnswerAsAsked() throws {
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"))
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        for name in ["a", "b", "c"] { _ = try Company.clerk(name, in: context) }
        try context.save()
        let update = NSBatchUpdateRequest(entityName: "Clerk")
        update.predicate = NSPredicate(format: "name != 'c'")
        update.propertiesToUpdate = ["age": NSExpression(format: "age + 1")]
        update.resultType = NSBatchUpdateRequestResultType.updatedObjectsCountResultType
        let updated: NSPersistentStoreResult = try context.execute(update)
        #expect((updated as? NSBatchUpdateResult)?.result as? Int == 2)
        update.resultType = .updatedObjectIDsResultType
        let again = try context.execute(update) as? NSBatchUpdateResult
        #expect((again?.result as? [NSManagedObjectID])?.count == 2)

        let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Clerk")
        fetch.predicate = NSPredicate(format: "age == 22")
        let delete = NSBatchDeleteRequest(fetchRequest: fetch)
        delete.resultType = NSBatchDeleteRequestResultType.resultTypeObjectIDs
        let deleted: NSPersistentStoreResult = try context.execute(delete)
        let ids = (deleted as? NSBatchDeleteResult)?.result as? [NSManagedObjectID] ?? []
        #expect(ids.count == 2)
        context.reset()
        #expect(try Company.names(in: context) == ["c"])
      }
    }
  }

  @Test func anAsynchronousFetchDeliversToItsBlock() async throws {
    let context = Company.context(try Company.coordinator())
    try context.performAndWait { () throws -> Void in
      for name in ["a", "b"] { _ = try Company.clerk(name, in: context) }
      try context.save()
    }
    let names: [String] = try await withCheckedThrowingContinuation { continuation in
      context.performAndWait { () -> Void in
        let fetch = NSFetchRequest<Clerk>(entityName: "Clerk")
        fetch.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let request = NSAsynchronousFetchRequest(
          fetchRequest: fetch,
          completionBlock: { (result: NSAsynchronousFetchResult<Clerk>) in
            let general: NSPersistentStoreAsynchronousResult = result
            #expect(general.operationError == nil && general.managedObjectContext === context)
            #expect((result as NSPersistentStoreResult) === general)
            continuation.resume(
              returning: (result.finalResult ?? []).compactMap {
                $0.value(forKey: "name") as? String
              })
          })
        request.estimatedResultCount = 2
        #expect((request as NSPersistentStoreRequest).requestType == .fetchRequestType)
        do {
          try context.execute(request)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(names == ["a", "b"])
  }

  @Test func anAsynchronousFetchHasItsBlockUnderTheGeneralType() throws {
    let fetch = NSFetchRequest<Clerk>(entityName: "Clerk")
    let without = NSAsynchronousFetchRequest(fetchRequest: fetch, completionBlock: nil)
    #expect(without.completionBlock == nil && without.fetchRequest === fetch)
    let with = NSAsynchronousFetchRequest(fetchRequest: fetch) { _ in }
    let block: NSPersistentStoreAsynchronousFetchResultCompletionBlock? = with.completionBlock
    #expect(block != nil)
  }

  /// Lets a test use what Core Data has deprecated.
  private protocol Old { func confined() -> NSManagedObjectContext }
  private struct OldWay: Old {
    @available(*, deprecated)
    func confined() -> NSManagedObjectContext { NSManagedObjectContext() }
  }

  @Test func anAsynchronousFetchNeedsAContextWithAQueue() throws {
    let old: any Old = OldWay()
    let context = old.confined()
    context.persistentStoreCoordinator = try Company.coordinator()
    let request = NSAsynchronousFetchRequest(
      fetchRequest: NSFetchRequest<Clerk>(entityName: "Clerk"))
    #expect(request.estimatedResultCount == 0)
    #expect(Company.error { try context.execute(request) }?.code == NSCoreDataError)
  }

  @Test func aFetchExpressionIsAKindOfItsOwn() throws {
    let request = NSExpression(forConstantValue: NSFetchRequest<Clerk>(entityName: "Clerk"))
    let context = NSExpression(forVariable: "context")
    let expression = NSFetchRequestExpression.expression(
      forFetch: request, context: context, countOnly: true)
    #expect(expression.expressionType == NSFetchRequestExpressionType)
    #expect(NSFetchRequestExpressionType.rawValue == 50)
    let fetch = try #require(expression as? NSFetchRequestExpression)
    #expect(fetch.isCountOnlyRequest && fetch.contextExpression == context)
  }

  @Test(arguments: [("FETCH($request, $context, YES)", true), ("name", false)])
  func onlyAnArchivedFetchIsReadAsAFetchExpression(format: String, isFetch: Bool) throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: NSExpression(format: format), requiringSecureCoding: true)
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    unarchiver.setClass(
      NSFetchRequestExpression.self, forClassName: NSStringFromClass(NSExpression.self))
    let decoded = unarchiver.decodeObject(
      of: NSFetchRequestExpression.self, forKey: NSKeyedArchiveRootObjectKey)
    #expect(decoded?.isCountOnlyRequest == (isFetch ? true : nil))
  }

  @Test func aSaveRequestHoldsWhatItWasGiven() throws {
    try Company.use { context in
      let a = try Company.clerk("a", in: context)
      let b = try Company.clerk("b", in: context)
      let request = NSSaveChangesRequest(inserted: [a], updated: [b], deleted: nil, locked: [a, b])
      #expect(request.insertedObjects == [a] && request.updatedObjects == [b])
      #expect(request.deletedObjects == nil && request.lockedObjects == [a, b])
      #expect(request.requestType == .saveRequestType)
    }
  }
}
