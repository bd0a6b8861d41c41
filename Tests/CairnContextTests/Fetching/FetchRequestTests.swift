// Chapters 16.1 and 16.2: what a fetch request is, and which ones are refused.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 16.1 and 16.2: properties, defaults and execution of fetch requests.
@Suite struct FetchRequestTests {
  private func stack(_ choice: StoreChoice = .memory) throws -> Stack {
    let stack = try Stack(in: choice)
    try stack.use { context in
      for title in ["a", "b", "c"] { context.make("Book", ["title": title]) }
      try context.save()
    }
    return stack
  }

  @Test func theDefaultsAreCoreData_s() {
    let request = FetchRequest<ManagedObject>(entityName: "Book")
    #expect(request.entityName == "Book" && request.predicate == nil)
    #expect(request.sortDescriptors == nil && request.affectedStores == nil)
    #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
    #expect(request.resultType == .managedObjectResultType)
    #expect(request.includesSubentities && request.includesPropertyValues)
    #expect(request.includesPendingChanges && request.returnsObjectsAsFaults)
    #expect(!request.returnsDistinctResults && !request.shouldRefreshRefetchedObjects)
    #expect(request.propertiesToFetch == nil && request.propertiesToGroupBy == nil)
    #expect(request.havingPredicate == nil)
    #expect(request.relationshipKeyPathsForPrefetching == nil)
    #expect(request.requestType == .fetchRequestType)
    let raw = [
      FetchRequestResultType.managedObjectResultType, .managedObjectIDResultType,
      .dictionaryResultType, .countResultType,
    ]
    #expect(raw.map(\.rawValue) == [0, 1, 2, 4])
  }

  @Test func theEntityOfARequestMadeFromANameIsKnownOnceItWasUsed() throws {
    let stack = try stack()
    try stack.use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      _ = try context.fetch(request)
      #expect(request.entity === stack.coordinator.managedObjectModel.entitiesByName["Book"])
    }
  }

  @Test func theEntityOfARequestMadeFromANameCannotBeReadBefore() async {
    await #expect(processExitsWith: .failure) {
      _ = FetchRequest<ManagedObject>(entityName: "Book").entity
    }
  }

  @Test func aRequestWithoutEntityIsRefused() throws {
    try stack().use { context in
      let error = #expect(throws: CoreDataError.self) {
        try context.fetch(FetchRequest<ManagedObject>())
      }
      #expect(error?.message.contains("must have an entity") == true)
    }
  }

  @Test func aContextWithoutCoordinatorCannotFetch() throws {
    let context = ManagedObjectContext(.privateQueue)
    context.performAndWait {
      _ = #expect(throws: CoreDataError.self) {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Book"))
      }
    }
  }

  @Test func aRequestIsExecutedInTheContextWhoseBlockIsRunning() throws {
    let stack = try stack()
    let request = FetchRequest<ManagedObject>("Book", where: "title == 'b'")
    let outer = stack.context()
    try outer.performAndWait {
      let book = try #require(try request.execute().first)
      #expect(book.managedObjectContext === outer)
      let inner = stack.context()
      try inner.performAndWait {
        let same = try #require(try request.execute().first)
        #expect(same.managedObjectContext === inner)
      }
      let again = try request.execute()
      #expect(again == [book])
    }
    let error = #expect(throws: CoreDataError.self) { try request.execute() }
    #expect(error?.message.contains("perform") == true)
  }

  @Test func anAsynchronousBlockHasACurrentContextToo() async throws {
    let stack = try stack()
    let context = stack.context()
    let count = try await context.perform {
      try FetchRequest<ManagedObject>(entityName: "Book").execute().count
    }
    #expect(count == 3)
    await withCheckedContinuation { continuation in
      context.perform {
        let found = try? FetchRequest<ManagedObject>(entityName: "Book").execute()
        #expect(found?.count == 3)
        continuation.resume()
      }
    }
  }

  @Test func aCopyHasTheSameValuesAndIsItsOwn() throws {
    let request = filled()
    let copy = try #require(request.copy() as? FetchRequest<ManagedObject>)
    expectEqual(copy, request)
    copy.fetchLimit = 99
    copy.predicate = nil
    #expect(request.fetchLimit == 7 && request.predicate != nil)
  }

  @Test func aRequestIsArchivedWithAllItsValues() throws {
    let request = filled()
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: request, requiringSecureCoding: false)
    let again = try #require(
      try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data)
        as? FetchRequest<any FetchRequestResult>)
    expectEqual(again, request)
  }

  @Test func theEntityNameOfAnArchivedRequestLeadsToNoTrap() throws {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: FetchRequest<ManagedObject>(entityName: "Book"),
      requiringSecureCoding: false)
    let request = try #require(
      try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data)
        as? FetchRequest<any FetchRequestResult>)
    #expect(request.entity == nil && request.entityName == "Book")
    let context = try stack().context()
    #expect(try context.performAndWait { try context.count(for: request) } == 3)
    #expect(request.entity?.name == "Book")
  }

  private func filled() -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>("Book", where: "title BEGINSWITH[c] 'x' OR pages > 3")
    request.sortDescriptors = [
      ObjectSortDescriptor(key: "title", ascending: false, selector: .caseInsensitiveCompare),
      ObjectSortDescriptor(key: "pages", ascending: true),
    ]
    (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (7, 8, 9)
    request.resultType = .dictionaryResultType
    request.includesSubentities = false
    request.includesPropertyValues = false
    request.includesPendingChanges = false
    request.returnsObjectsAsFaults = false
    request.returnsDistinctResults = true
    request.shouldRefreshRefetchedObjects = true
    request.relationshipKeyPathsForPrefetching = ["author.books"]
    let total = ExpressionDescription()
    total.name = "total"
    total.expression = ObjectExpression(format: "sum:(pages)")
    total.expressionResultType = .integer64
    request.propertiesToFetch = ["title", total]
    request.propertiesToGroupBy = ["title"]
    request.havingPredicate = ObjectPredicate(format: "title != nil")
    return request
  }

  private func expectEqual(
    _ a: AnyFetchRequest, _ b: AnyFetchRequest, at place: SourceLocation = #_sourceLocation
  ) {
    #expect(a.entityName == b.entityName, sourceLocation: place)
    #expect(a.predicate == b.predicate, sourceLocation: place)
    #expect(a.sortDescriptors == b.sortDescriptors, sourceLocation: place)
    func numbers(_ r: AnyFetchRequest) -> [Int] { [r.fetchLimit, r.fetchOffset, r.fetchBatchSize] }
    #expect(numbers(a) == numbers(b), sourceLocation: place)
    #expect(a.resultType == b.resultType, sourceLocation: place)
    func flags(_ r: AnyFetchRequest) -> [Bool] {
      [
        r.includesSubentities, r.includesPropertyValues, r.includesPendingChanges,
        r.returnsObjectsAsFaults, r.returnsDistinctResults, r.shouldRefreshRefetchedObjects,
      ]
    }
    #expect(flags(a) == flags(b), sourceLocation: place)
    #expect(
      a.relationshipKeyPathsForPrefetching == b.relationshipKeyPathsForPrefetching,
      sourceLocation: place)
    #expect(columns(a.propertiesToFetch) == columns(b.propertiesToFetch), sourceLocation: place)
    #expect(columns(a.propertiesToGroupBy) == columns(b.propertiesToGroupBy), sourceLocation: place)
    #expect(a.havingPredicate == b.havingPredicate, sourceLocation: place)
  }

  private func columns(_ properties: [Any]?) -> [String] {
    (properties ?? []).map { property in
      guard let computed = property as? ExpressionDescription else { return "\(property)" }
      return "\(computed.name) \(computed.expression?.description ?? "") "
        + "\(computed.expressionResultType.rawValue)"
    }
  }

  // MARK: Refused combinations

  @Test func groupingNeedsDictionaries() throws {
    try stack().use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.propertiesToGroupBy = ["title"]
      #expect(throws: CoreDataError.self) { try context.fetch(request) }
      request.propertiesToGroupBy = nil
      request.havingPredicate = ObjectPredicate(format: "title != nil")
      #expect(throws: CoreDataError.self) { try context.fetch(request) }
    }
  }

  @Test func aConditionOnGroupsNeedsGroups() throws {
    try stack().use { context in
      let request = FetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      request.havingPredicate = ObjectPredicate(format: "title != nil")
      #expect(throws: CoreDataError.self) { try context.fetch(request) }
      request.propertiesToGroupBy = ["title"]
      #expect(throws: CoreDataError.self, "which columns?") { try context.fetch(request) }
    }
  }

  @Test func expressionsNeedDictionariesAndNamesMustBeTheEntity_s() throws {
    try stack().use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Book")
      request.propertiesToFetch = [ExpressionDescription()]
      #expect(throws: CoreDataError.self) { try context.fetch(request) }
      request.propertiesToFetch = ["nothing"]
      let error = #expect(throws: CoreDataError.self) { try context.fetch(request) }
      #expect(error?.message == "keypath nothing not found in entity Book")
      request.propertiesToFetch = ["title", "author"]
      let found = try context.fetch(request)
      #expect(found.count == 3)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aPrefetchedKeyPathMustBeOfRelationships(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Work")
      request.relationshipKeyPathsForPrefetching = ["author.nothing"]
      let error = #expect(throws: CoreDataError.self) { try context.fetch(request) }
      #expect(error?.message.contains("author.nothing") == true)
      // One that only a subentity has is fine.
      request.relationshipKeyPathsForPrefetching = ["chapters"]
      #expect(throws: Never.self) { try context.fetch(request) }
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func anUnknownKeyPathIsRefusedWithCoreData_sText(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = FetchRequest<ManagedObject>("Book", where: "nothing == 1")
      let error = #expect(throws: CoreDataError.self) { try context.fetch(request) }
      #expect(error?.message == "keypath nothing not found in entity Book")
    }
  }

  // MARK: FETCH expressions

  @Test(arguments: StoreChoice.allCases)
  func theResultsOfAnotherFetchCanBeMembers(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let ann = context.make("Author", ["name": "Ann"])
      context.make("Book", ["title": "of Ann", "author": ann])
      try context.save()
      let inner = FetchRequest<ManagedObject>("Author", where: "name == 'Ann'")
      let expression = FetchRequestExpression.expression(
        forFetch: ObjectExpression(forConstantValue: inner),
        context: ObjectExpression(forConstantValue: context), countOnly: false)
      let outer = FetchRequest<ManagedObject>(entityName: "Book")
      outer.predicate = ComparisonPredicate(
        leftExpression: ObjectExpression(forKeyPath: "author"), rightExpression: expression,
        modifier: .direct, type: .in)
      let found = try context.fetch(outer).compactMap { $0.text("title") }
      #expect(found == ["of Ann"])
    }
  }

  @Test func aFetchExpressionHasItsPartsAndCanCount() throws {
    try stack().use { context in
      let inner = FetchRequest<ManagedObject>(entityName: "Book")
      let made = FetchRequestExpression.expression(
        forFetch: ObjectExpression(forConstantValue: inner),
        context: ObjectExpression(forConstantValue: context), countOnly: true)
      let expression = try #require(made as? FetchRequestExpression)
      #expect(expression.requestExpression.constantValue as? AnyFetchRequest === inner)
      #expect(expression.contextExpression.constantValue as? ManagedObjectContext === context)
      #expect(expression.isCountOnlyRequest && expression.expressionType == .fetchRequest)
      #expect(expression.expressionValue(with: nil, context: nil) as? Int == 3)
      let outer = FetchRequest<ManagedObject>(entityName: "Book")
      outer.predicate = ComparisonPredicate(
        leftExpression: ObjectExpression(forKeyPath: "pages"), rightExpression: expression,
        modifier: .direct, type: .lessThan)
      let count = try context.count(for: outer)
      #expect(count == 3)
    }
  }

  // MARK: Requests given to execute

  @Test func executeTakesFetchRequests() throws {
    let stack = try stack()
    try stack.use { context in
      let request = FetchRequest<ManagedObject>("Book", by: "title")
      let result = try #require(
        try context.execute(request) as? AsynchronousFetchResult<ManagedObject>)
      #expect(result.finalResult?.compactMap { $0.text("title") } == ["a", "b", "c"])
      #expect(result.operationError == nil && result.managedObjectContext === context)
      let found = try #require(
        try stack.coordinator.execute(request, with: context) as? [any FetchRequestResult])
      #expect(found.compactMap { ($0 as? ManagedObject)?.text("title") } == ["a", "b", "c"])
      let other = try self.stack()
      #expect(throws: CoreDataError.self) {
        try other.coordinator.execute(request, with: context)
      }
    }
  }
}
