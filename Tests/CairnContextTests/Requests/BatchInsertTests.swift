// Chapter 17: batch inserts, through a context.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 17: batch insert.
@Suite struct BatchInsertTests {
  private func count(_ stack: CountingStack, _ entity: String) throws -> Int {
    try stack.use { try $0.count(for: FetchRequest<ManagedObject>(entityName: entity)) }
  }

  @Test func dictionariesBecomeRowsWithTheModelsDefaults() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let request = BatchInsertRequest(
        entityName: "Book", objects: [["title": "a", "pages": 7], ["title": "b"], [:]])
      request.resultType = .objectIDs
      let result = try #require(try context.execute(request) as? BatchInsertResult)
      let ids = try #require(result.result as? [ManagedObjectID])
      let books = try ids.map { try context.existingObject(with: $0) }
      #expect(books.map { $0.text("title") } == ["a", "b", nil])
      #expect(books.map { $0.number("pages") } == [7, 1, 1])
      #expect(books.allSatisfy { $0.value(forKey: "isRead") as? Bool == false })
      #expect(result.resultType == .objectIDs)
    }
  }

  @Test func theResultIsAStatusUnlessAskedOtherwise() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let request = BatchInsertRequest(entityName: "Tag", objects: [["label": "a"]])
      #expect(request.resultType == .statusOnly && request.requestType == .batchInsertRequestType)
      let status = try context.execute(request) as? BatchInsertResult
      #expect(status?.result as? Bool == true)
      let counting = BatchInsertRequest(entityName: "Tag", objects: [["label": "b"], [:]])
      counting.resultType = .count
      let counted = try context.execute(counting) as? BatchInsertResult
      #expect(counted?.result as? Int == 2)
    }
  }

  @Test func aDictionaryHandlerIsCalledUntilItSaysStop() throws {
    let stack = try CountingStack()
    let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Book"])
    try stack.use { context in
      var number = 0
      var instances: Set<ObjectIdentifier> = []
      let request = BatchInsertRequest(entity: entity) { (row: NSMutableDictionary) -> Bool in
        instances.insert(ObjectIdentifier(row))
        #expect(row.count == 0)
        number += 1
        row["title"] = "\(number)"
        return number == 4
      }
      request.resultType = .count
      let result = try context.execute(request) as? BatchInsertResult
      #expect(result?.result as? Int == 3 && instances.count == 1)
      let titles = try context.all("Book", sortedBy: "title").compactMap { $0.text("title") }
      #expect(titles == ["1", "2", "3"], "the row of the call that says stop is left out")
    }
  }

  @Test func anObjectHandlerFillsOneObjectAgainAndAgain() throws {
    let stack = try CountingStack()
    try stack.use { context in
      var number = 0
      var instances: Set<ObjectIdentifier> = []
      let request = BatchInsertRequest(entityName: "Author") { (object: ManagedObject) -> Bool in
        instances.insert(ObjectIdentifier(object))
        #expect(object is Author && object.managedObjectContext == nil)
        #expect(object.text("name") == "Anonymous", "it starts with the default values")
        number += 1
        if number != 2 { object.setValue("\(number)", forKey: "name") }
        return number == 4
      }
      try context.execute(request)
      let names = try context.all("Author", sortedBy: "name").compactMap { $0.text("name") }
      #expect(names == ["1", "3", "Anonymous"] && instances.count == 1)
      #expect(!context.hasChanges)
    }
  }

  @Test func unknownNamesAndValuesOfTheWrongClassAreRefusedAndNothingIsInserted() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let unknown = BatchInsertRequest(entityName: "Tag", objects: [["label": "a"], ["no": 1]])
      #expect(throws: CoreDataError.self) { try context.execute(unknown) }
      let wrong = BatchInsertRequest(entityName: "Tag", objects: [["label": "a"], ["label": 1]])
      let error = #expect(throws: CoreDataError.self) { try context.execute(wrong) }
      #expect(error?.code == .managedObjectValidation)
      let nowhere = BatchInsertRequest(entityName: "Nothing", objects: [[:]])
      #expect(throws: CoreDataError.self) { try context.execute(nowhere) }
    }
    try expect(count(stack, "Tag"), is: 0)
  }

  // MARK: Uniqueness

  private func upsert(_ policy: MergePolicy) throws -> (stack: CountingStack, old: ManagedObjectID)
  {
    let stack = try CountingStack(history: true)
    let old = try stack.use { context in
      let tag = context.make("Tag", ["label": "a"])
      let book = context.make("Book", ["title": "x"])
      book.setValue(Set([tag]), forKey: "tags")
      try context.save()
      return tag.objectID
    }
    try stack.use(policy: policy) { context in
      let request = BatchInsertRequest(
        entityName: "Tag", objects: [["label": "a"], ["label": "b"], ["label": "b"]])
      request.resultType = .objectIDs
      let result = try context.execute(request) as? BatchInsertResult
      let ids = try #require(result?.result as? [ManagedObjectID])
      #expect(ids.contains(old) == (policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType))
    }
    return (stack, old)
  }

  @Test func withTheObjectsValuesWinningARowThatIsThereKeepsItsIdentity() throws {
    let (stack, old) = try upsert(.mergeByPropertyObjectTrump)
    try expect(count(stack, "Tag"), is: 2)
    try stack.use { context in
      let tag = try context.existingObject(with: old)
      #expect(tag.text("label") == "a" && tag.many("works").count == 1)
      let changes = try historyKinds(context, of: old)
      #expect(changes == [.insert, .update])
    }
  }

  @Test func withTheStoresValuesWinningARowThatIsThereStaysAsItIs() throws {
    let (stack, old) = try upsert(.mergeByPropertyStoreTrump)
    try expect(count(stack, "Tag"), is: 2)
    try stack.use { context in try expect(historyKinds(context, of: old), is: [.insert]) }
  }

  @Test func withTheErrorPolicyNothingIsInserted() throws {
    let stack = try CountingStack()
    try stack.use { context in
      context.make("Tag", ["label": "b"])
      try context.save()
      let request = BatchInsertRequest(
        entityName: "Tag", objects: [["label": "a"], ["label": "b"]])
      let error = #expect(throws: CoreDataError.self) { try context.execute(request) }
      #expect(error?.code == .managedObjectConstraintMerge)
      #expect(error?.message.contains("label = b") == true)
    }
    try expect(count(stack, "Tag"), is: 1)
  }

  private func historyKinds(
    _ context: ManagedObjectContext, of id: ManagedObjectID
  ) throws -> [PersistentHistoryChangeType] {
    let request = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    let result = try context.execute(request) as? PersistentHistoryResult
    let transactions = result?.result as? [PersistentHistoryTransaction] ?? []
    return transactions.flatMap { $0.changes ?? [] }.filter { $0.changedObjectID == id }
      .map(\.changeType)
  }

  // MARK: Elsewhere

  @Test func theFirstStoreThatTakesTheEntityGetsTheRowsUnlessNamed() throws {
    let stack = try CountingStack(stores: 2)
    try stack.use { context in
      try context.execute(BatchInsertRequest(entityName: "Tag", objects: [["label": "first"]]))
      let request = BatchInsertRequest(entityName: "Tag", objects: [["label": "second"]])
      request.affectedStores = [stack.stores[1]]
      try context.execute(request)
      let tags = try context.all("Tag", sortedBy: "label")
      #expect(tags.map { $0.objectID.persistentStore === stack.stores[1] } == [false, true])
    }
  }

  @Test func aStoreThatCannotSaysSo() throws {
    try Stack(in: .memory).use { context in
      let request = BatchInsertRequest(entityName: "Tag", objects: [["label": "a"]])
      let error = #expect(throws: CoreDataError.self) { try context.execute(request) }
      #expect(error?.code == .persistentStoreUnsupportedRequestType)
    }
  }

  @Test func aChildsRequestCarriesTheChildsAuthorAndPolicy() throws {
    let stack = try CountingStack(history: true)
    let parent = stack.context()
    parent.transactionAuthor = "parent"
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    child.transactionAuthor = "child"
    child.mergePolicy = MergePolicy.mergeByPropertyStoreTrump
    try child.performAndWait {
      try child.execute(BatchInsertRequest(entityName: "Tag", objects: [["label": "a"]]))
      try child.execute(BatchInsertRequest(entityName: "Tag", objects: [["label": "a"]]))
    }
    try stack.use { context in
      let request = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? PersistentHistoryResult
      let authors = (result?.result as? [PersistentHistoryTransaction])?.map(\.author)
      #expect(authors?.first == "child")
    }
    try expect(count(stack, "Tag"), is: 1)
  }

  @Test func aChildWithoutAuthorAndNameTakesThoseOfTheContextAtTheCoordinator() throws {
    let stack = try CountingStack(history: true)
    let root = stack.context()
    (root.transactionAuthor, root.name) = ("root", "the root")
    let middle = ManagedObjectContext(.privateQueue)
    middle.parent = root
    (middle.transactionAuthor, middle.name) = ("middle", "the middle")
    let child = ManagedObjectContext(.privateQueue)
    child.parent = middle
    try child.performAndWait {
      try child.execute(BatchInsertRequest(entityName: "Tag", objects: [["label": "a"]]))
      child.name = "the child"
      let update = BatchUpdateRequest(entityName: "Tag")
      update.propertiesToUpdate = ["label": "b"]
      try child.execute(update)
      child.transactionAuthor = "child"
      let all = FetchRequest<any FetchRequestResult>(entityName: "Tag")
      try child.execute(BatchDeleteRequest(fetchRequest: all))
    }
    try stack.use { context in
      let request = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? PersistentHistoryResult
      let history = try #require(result?.result as? [PersistentHistoryTransaction])
      #expect(history.map(\.author) == ["root", "root", "child"])
      #expect(history.map(\.contextName) == ["the root", "the child", "the child"])
    }
  }

  @Test func aCopyOfARequestIsItsOwn() throws {
    let request = BatchInsertRequest(entityName: "Tag", objects: [["label": "a"]])
    request.resultType = .count
    let copy = try #require(request.copy() as? BatchInsertRequest)
    copy.objectsToInsert = []
    #expect(copy.resultType == .count && copy.entityName == "Tag")
    #expect(request.objectsToInsert?.count == 1)
  }
}
