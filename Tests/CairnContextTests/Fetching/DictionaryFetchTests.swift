// Chapter 16.4: dictionaries as results, in SQL and in memory.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Core Data semantics, 16.4: result types, dictionaries.
@Suite struct DictionaryFetchTests {
  /// Two authors with three and two works; one work without author.
  private func stack(_ choice: StoreChoice) throws -> Stack {
    let stack = try Stack(in: choice)
    try stack.use { context in
      let ann = context.make("Author", ["name": "Ann"])
      let bob = context.make("Author", ["name": "Bob"])
      context.make("Book", ["title": "a", "pages": 10, "author": ann])
      context.make("Book", ["title": "b", "pages": 20, "author": ann])
      context.make("Essay", ["title": "c", "pages": 3, "author": ann])
      context.make("Book", ["title": "b", "pages": 40, "author": bob])
      context.make("Essay", ["title": nil, "pages": 5, "author": bob])
      context.make("Book", ["title": "z", "pages": 1])
      try context.save()
    }
    return stack
  }

  private func request(_ columns: [Any]?) -> FetchRequest<NSDictionary> {
    let request = FetchRequest<NSDictionary>("Work", by: "title", "pages")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = columns
    return request
  }

  private func authors(_ columns: [Any]) -> FetchRequest<NSDictionary> {
    let request = FetchRequest<NSDictionary>("Author", by: "name")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = columns
    return request
  }

  private func column(
    _ name: String, _ format: String, _ type: AttributeType = .undefined
  ) -> ExpressionDescription {
    let column = ExpressionDescription()
    column.name = name
    column.expression = ObjectExpression(format: format)
    column.expressionResultType = type
    return column
  }

  private func rows(_ found: [NSDictionary]) -> [[String: String]] {
    found.map { row in
      var result: [String: String] = [:]
      for (key, value) in row { result["\(key)"] = "\(value)" }
      return result
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func nilValuesAreMissingKeys(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let found = try context.fetch(request(["title", "pages"]))
      #expect(rows(found).first == ["pages": "5"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func withoutColumnsAllAttributesCome(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let found = try context.fetch(request(nil))
      #expect(rows(found).last == ["title": "z", "pages": "1", "isRead": "false"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aKeyPathThroughAToOneIsAColumnUnderItsFullPath(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let found = try context.fetch(request(["title", "author.name"]))
      #expect(rows(found)[1] == ["title": "a", "author.name": "Ann"])
      #expect(rows(found).last == ["title": "z"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aToOneRelationshipComesAsObjectID(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let found = try context.fetch(request(["author"]))
      let ann = try #require(try context.all("Author", "name == 'Ann'").first)
      #expect(found[1]["author"] as? ManagedObjectID == ann.objectID)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func theObjectIDIsAColumnOfTheEvaluatedObject(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let identity = ExpressionDescription()
      identity.name = "id"
      identity.expression = .expressionForEvaluatedObject()
      identity.expressionResultType = .objectID
      let found = try context.fetch(request([identity, "title"]))
      let id = try #require(found.last?["id"] as? ManagedObjectID)
      #expect(context.object(with: id).text("title") == "z")
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func propertyDescriptionsNameColumnsToo(_ choice: StoreChoice) throws {
    let stack = try stack(choice)
    let work = try #require(stack.coordinator.managedObjectModel.entitiesByName["Work"])
    try stack.use { context in
      let title = try #require(work.attributesByName["title"])
      try expect(rows(context.fetch(request([title]))).last, is: ["title": "z"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aggregatesOverEverythingMakeOneRow(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = request([
        column("n", "count:(title)", .integer64), column("total", "sum:(pages)", .integer64),
        column("least", "min:(pages)", .integer64), column("most", "max:(pages)", .integer64),
        column("mean", "average:(pages)", .double), column("middle", "median:(pages)", .double),
      ])
      request.sortDescriptors = nil
      let found = try context.fetch(request)
      let numbers = found[0].allKeys.map { ("\($0)", (found[0][$0] as? NSNumber)?.doubleValue) }
      #expect(found.count == 1)
      // A nil title is not counted.
      #expect(
        Dictionary(uniqueKeysWithValues: numbers) == [
          "n": 5, "total": 79, "least": 1, "most": 40, "mean": 79.0 / 6, "middle": 7.5,
        ])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aggregatesOfNothingAreACountOfZeroAndNoOtherValues(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = request([
        column("n", "count:(title)", .integer64), column("total", "sum:(pages)", .integer64),
      ])
      request.sortDescriptors = nil
      request.predicate = ObjectPredicate(format: "pages > 1000")
      try expect(rows(context.fetch(request)), is: [["n": "0"]])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func columnsCanBeArithmetic(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let found = try context.fetch(request([column("twice", "pages * 2", .integer64), "title"]))
      #expect(rows(found).last == ["twice": "2", "title": "z"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aKeyPathAggregateOverAToManyIsAColumn(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = authors([
        "name", column("n", "books.@count", .integer64),
        column("pages", "books.@sum.pages", .integer64),
      ])
      try expect(
        rows(context.fetch(request)),
        is: [
          ["name": "Ann", "n": "3", "pages": "33"], ["name": "Bob", "n": "2", "pages": "45"],
        ])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aFunctionOfAToManyIsOfEachObject(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = authors([
        column("n", "count:(books)", .integer64), column("most", "max:(books.pages)", .integer64),
        column("pages", "sum:(books.pages)", .integer64),
      ])
      let expected = [
        ["n": "3", "most": "20", "pages": "33"], ["n": "2", "most": "40", "pages": "45"],
      ]
      try expect(rows(context.fetch(request)), is: expected)
      request.propertiesToGroupBy = ["name"]
      try expect(rows(context.fetch(request)), is: expected, "one object a group")
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func groupsOfAToOneRelationshipAreSortedThroughIt(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = request(["author", column("total", "sum:(pages)", .integer64)])
      request.propertiesToGroupBy = ["author"]
      request.sortDescriptors = [ObjectSortDescriptor(key: "author.name", ascending: false)]
      try expect(rows(context.fetch(request)).map { $0["total"] }, is: ["45", "33", "1"])
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func twoSpellingsOfATextAreTwoDistinctRows(_ choice: StoreChoice) throws {
    let stack = try Stack(in: choice)
    try stack.use { context in
      for title in ["\u{E9}", "e\u{301}", "\u{E9}"] { context.make("Book", ["title": title]) }
      try context.save()
      let request = request(["title"])
      request.returnsDistinctResults = true
      request.sortDescriptors = nil
      let titles = try context.fetch(request).map { Array("\($0["title"] ?? "")".utf8) }
      #expect(Set(titles) == [Array("\u{E9}".utf8), Array("e\u{301}".utf8)] && titles.count == 2)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func distinctRowsAppearOnceAndTheLimitCountsThem(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = request(["title"])
      request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: true)]
      request.returnsDistinctResults = true
      try expect(
        context.fetch(request).map { $0["title"] as? String }, is: [nil, "a", "b", "c", "z"])
      (request.fetchOffset, request.fetchLimit) = (1, 3)
      try expect(context.fetch(request).map { $0["title"] as? String }, is: ["a", "b", "c"])
      try expect(context.count(for: request), is: 3)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func groupsAreCountedSortedAndFiltered(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = request(["author.name", column("total", "sum:(pages)", .integer64)])
      request.propertiesToGroupBy = ["author.name"]
      request.sortDescriptors = [ObjectSortDescriptor(key: "author.name", ascending: true)]
      try expect(
        rows(context.fetch(request)),
        is: [
          ["total": "1"], ["author.name": "Ann", "total": "33"],
          ["author.name": "Bob", "total": "45"],
        ])
      request.havingPredicate = ObjectPredicate(format: "author.name != nil")
      try expect(context.fetch(request).count, is: 2)
      // Cairn goes further than Core Data here: aggregates and names of columns.
      request.havingPredicate = ObjectPredicate(format: "sum:(pages) > 40")
      try expect(rows(context.fetch(request)).map { $0["total"] }, is: ["45"])
      request.havingPredicate = ObjectPredicate(format: "total < 40")
      try expect(rows(context.fetch(request)).map { $0["total"] }, is: ["1", "33"])
      request.sortDescriptors = [ObjectSortDescriptor(key: "total", ascending: false)]
      request.havingPredicate = nil
      try expect(rows(context.fetch(request)).map { $0["total"] }, is: ["45", "33", "1"])
      try expect(context.count(for: request), is: 3)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aColumnThatIsNotGroupedIsRefused(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let request = request(["title", "pages"])
      request.propertiesToGroupBy = ["title"]
      let error = #expect(throws: CoreDataError.self) { try context.fetch(request) }
      #expect(error?.message.contains("GROUP BY") == true)
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func aToManyColumnIsRefused(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let error = #expect(throws: CoreDataError.self) { try context.fetch(request(["tags"])) }
      #expect(
        error?.message == "Invalid to many relationship in setPropertiesToFetch: tags")
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func anUnknownColumnIsRefused(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      let error = #expect(throws: CoreDataError.self) { try context.fetch(request(["nothing"])) }
      #expect(error?.message == "keypath nothing not found in entity Work")
    }
  }

  @Test(arguments: StoreChoice.allCases)
  func unsavedChangesNeverShowInDictionaries(_ choice: StoreChoice) throws {
    try stack(choice).use { context in
      for work in try context.all("Work", "title == 'z'") {
        work.setValue("changed", forKey: "title")
      }
      context.make("Book", ["title": "zz"])
      let request = request(["title"])
      #expect(request.includesPendingChanges)
      try expect(rows(context.fetch(request)).last, is: ["title": "z"])
      try expect(context.count(for: request), is: 6)
    }
  }

  @Test func dictionariesOfAChildComeFromTheStoreToo() throws {
    let stack = try stack(.sqlite)
    let parent = stack.context()
    parent.performAndWait { _ = parent.make("Book", ["title": "zz"]) }
    let child = ManagedObjectContext(.privateQueue)
    child.parent = parent
    try child.performAndWait {
      let found = try child.fetch(request(["title"]))
      #expect(rows(found).last == ["title": "z"])
    }
  }

  @Test func groupsGoAcrossStores() throws {
    let stack = try CountingStack(stores: 2)
    try stack.addBooks(3, to: stack.stores[0])
    try stack.addBooks(2, to: stack.stores[1])
    try stack.use { context in
      let request = FetchRequest<NSDictionary>("Book", by: "title")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["title", column("n", "count:(pages)", .integer64)]
      request.propertiesToGroupBy = ["title"]
      try expect(
        rows(context.fetch(request)),
        is: [
          ["title": "000", "n": "2"], ["title": "001", "n": "2"], ["title": "002", "n": "1"],
        ])
    }
  }
}
