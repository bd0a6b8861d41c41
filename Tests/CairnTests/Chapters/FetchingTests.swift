// Fetches in Apple's words: what comes back, of which class, in which order.

import CoreData
import Testing

/// Chapter 16 of the specification, rules 16.1 to 16.4: as programs ask and read.
///
/// The rules are shown one by one in `FetchRequestTests`, `FetchRuleTests`, `FetchTests`,
/// `FetchBatchTests` and `AsynchronousFetchTests`.
@MainActor @Suite struct FetchingTests {
  nonisolated static let types = [
    NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType,
  ]

  /// Ada with orders 1 to 3, Bob with order 4; order 4 is an express one.
  private func shop(_ type: String = NSSQLiteStoreType) throws -> RequestShop {
    let shop = try RequestShop(type: type)
    let ada = shop.insert("Customer", ["name": "Ada"])
    let bob = shop.insert("Customer", ["name": "Bob"])
    for number in 1...4 {
      let order = shop.insert(
        number == 4 ? "ExpressOrder" : "Order",
        [
          "number": number, "status": number % 2, "total": Double(number) + 0.5,
          "placed": Date(timeIntervalSinceReferenceDate: Double(number)),
          "customer": number == 4 ? bob : ada,
        ])
      if number == 4 { order.setValue(NSDecimalNumber(string: "1.25"), forKey: "fee") }
    }
    try shop.context.save()
    return shop
  }

  private func column(
    _ name: String, _ function: String, _ key: String, _ type: NSAttributeType
  ) -> NSExpressionDescription {
    let column = NSExpressionDescription()
    column.name = name
    column.expression = NSExpression(
      forFunction: function, arguments: [NSExpression(forKeyPath: key)])
    column.expressionResultType = type
    return column
  }

  private func rows(_ entity: String) -> NSFetchRequest<NSDictionary> {
    let request = NSFetchRequest<NSDictionary>(entityName: entity)
    request.resultType = .dictionaryResultType
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    return request
  }

  // MARK: Requests given to execute

  @Test func executeGivesAnAsynchronousResultThatIsThere() throws {
    let shop = try shop()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
    let result = try #require(
      try shop.context.execute(request) as? NSAsynchronousFetchResult<NSManagedObject>)
    #expect(result.finalResult?.map { $0.value(forKey: "number") as? Int } == [4, 3, 2, 1])
    #expect(result.operationError == nil && result.progress == nil)
    #expect(result.fetchRequest.fetchRequest === request)
    let general = NSFetchRequest<NSFetchRequestResult>(entityName: "Customer")
    let found = try #require(
      try shop.context.execute(general) as? NSAsynchronousFetchResult<NSFetchRequestResult>)
    #expect((found.finalResult as? [NSManagedObject])?.count == 2)
  }

  @Test func executeGivesOtherResultsOfATypedRequestUnderTheGeneralType() throws {
    let shop = try shop()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
    request.resultType = .countResultType
    let count = try #require(
      try shop.context.execute(request) as? NSAsynchronousFetchResult<NSFetchRequestResult>)
    #expect(count.finalResult?.first as? Int == 4 && count.finalResult?.first as? NSNumber == 4)
    request.resultType = .managedObjectIDResultType
    let ids = try #require(
      try shop.context.execute(request) as? NSAsynchronousFetchResult<NSFetchRequestResult>)
    #expect((ids.finalResult as? [NSManagedObjectID])?.count == 4)
  }

  @Test func aCoordinatorExecutesAFetchIntoAnArray() throws {
    let shop = try shop()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
    let found = try shop.container.persistentStoreCoordinator.execute(request, with: shop.context)
    #expect((found as? [NSManagedObject])?.count == 4)
    request.resultType = .countResultType
    let count = try shop.container.persistentStoreCoordinator.execute(request, with: shop.context)
    #expect((count as? [NSNumber]) == [4])
  }

  // MARK: Counts and IDs

  @Test(arguments: types)
  func aCountHonoursPredicateSubentitiesLimitOffsetAndUnsavedChanges(type: String) throws {
    let shop = try shop(type)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
    func count() throws -> Int { try shop.context.count(for: request) }
    #expect(try count() == 4)
    request.includesSubentities = false
    #expect(try count() == 3)
    request.includesSubentities = true
    request.predicate = NSPredicate(format: "number > 1")
    #expect(try count() == 3)
    request.fetchLimit = 2
    #expect(try count() == 2)
    request.fetchOffset = 2
    #expect(try count() == 1)
    request.fetchOffset = 9
    #expect(try count() == 0)
    (request.fetchOffset, request.fetchLimit) = (0, 0)
    shop.insert("Order", ["number": 7])
    try shop.context.delete(#require(shop.fetch("Order", "number == 2").first))
    #expect(try count() == 3)
    #expect(try shop.context.fetch(request).count == 3)
    request.includesPendingChanges = false
    #expect(try count() == 3)
    request.predicate = NSPredicate(format: "number == 7")
    #expect(try count() == 0)
  }

  @Test(arguments: types)
  func idsOfUnsavedObjectsAreTemporaryAndAreAmongTheOthers(type: String) throws {
    let shop = try shop(type)
    let new = shop.insert("Order", ["number": 0])
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Order")
    request.resultType = .managedObjectIDResultType
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    let ids = try shop.context.fetch(request)
    #expect(ids.count == 5 && ids.first == new.objectID && ids.first?.isTemporaryID == true)
    #expect(ids.dropFirst().allSatisfy { !$0.isTemporaryID })
  }

  // MARK: Dictionaries

  @Test(arguments: types)
  func dictionariesAreReadAsSwiftDictionaries(type: String) throws {
    let shop = try shop(type)
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Order")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["number", "total", "customer.name"]
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    let found = try #require(try shop.context.fetch(request) as? [[String: Any]])
    #expect(found.map { $0["number"] as? Int } == [1, 2, 3, 4])
    #expect(found.map { $0["total"] as? Double } == [1.5, 2.5, 3.5, 4.5])
    #expect(found.map { $0["customer.name"] as? String } == ["Ada", "Ada", "Ada", "Bob"])
    request.propertiesToFetch = ["customer.name"]
    #expect((try shop.context.fetch(request) as? [[String: String]])?.count == 4)
    #expect((try shop.context.fetch(request) as? [NSDictionary])?.count == 4)
  }

  @Test(arguments: types)
  func valuesInDictionariesHaveTheClassOfTheirAttribute(type: String) throws {
    let shop = try shop(type)
    let request = rows("ExpressOrder")
    request.propertiesToFetch = ["number", "status", "total", "placed", "fee", "customer", "note"]
    let row = try #require(try shop.context.fetch(request).first)
    #expect(row["number"] is NSNumber && row["number"] as? Int64 == 4)
    #expect(row["status"] as? Int16 == 0 && row["total"] as? Double == 4.5)
    #expect(row["placed"] as? Date == Date(timeIntervalSinceReferenceDate: 4))
    #expect((row["fee"] as? NSDecimalNumber)?.stringValue == "1.25")
    let bob = try #require(try shop.fetch("Customer", "name == 'Bob'").first)
    #expect(row["customer"] as? NSManagedObjectID == bob.objectID)
    #expect(row["note"] == nil && row.count == 6)
  }

  @Test(arguments: types)
  func theResultTypeOfAnExpressionDecidesTheClass(type: String) throws {
    let shop = try shop(type)
    let request = rows("Order")
    request.sortDescriptors = nil
    request.propertiesToFetch = [
      column("n", "count:", "number", .integer32AttributeType),
      column("sum", "sum:", "total", .doubleAttributeType),
      column("whole", "sum:", "total", .integer64AttributeType),
      column("exact", "max:", "total", .decimalAttributeType),
      column("mean", "average:", "number", .doubleAttributeType),
      column("first", "min:", "placed", .dateAttributeType),
    ]
    let row = try #require(try shop.context.fetch(request).first)
    #expect(row["n"] as? Int == 4 && row["sum"] as? Double == 12)
    #expect(row["whole"] as? Int == 12 && row["mean"] as? Double == 2.5)
    #expect((row["exact"] as? NSDecimalNumber)?.stringValue == "4.5")
    #expect(row["first"] as? Date == Date(timeIntervalSinceReferenceDate: 1))
  }

  @Test(arguments: types)
  func anOperatorAtTheBeginningOfAKeyPathIsOverAllRows(type: String) throws {
    let shop = try shop(type)
    func column(_ name: String, _ path: String, _ type: NSAttributeType) -> NSExpressionDescription
    {
      let column = NSExpressionDescription()
      column.name = name
      column.expression = NSExpression(forKeyPath: path)
      column.expressionResultType = type
      return column
    }
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Order")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [
      column("sum", "@sum.total", .decimalAttributeType),
      column("most", "@max.number", .decimalAttributeType),
    ]
    request.predicate = NSPredicate(format: "number > 1")
    let found = try #require(try shop.context.fetch(request) as? [[String: NSDecimalNumber]])
    #expect(found.map { $0["sum"]?.stringValue } == ["10.5"])
    #expect(found.map { $0["most"]?.stringValue } == ["4"])
    #expect((try shop.context.fetch(request).first as? NSDictionary)?["sum"] as? Double == 10.5)
    let mean = column("mean", "@avg.number", .doubleAttributeType)
    let count = column("n", "@count", .integer64AttributeType)
    request.propertiesToFetch = ["status", mean, count]
    request.propertiesToGroupBy = ["status"]
    request.sortDescriptors = [NSSortDescriptor(key: "status", ascending: true)]
    let groups = try #require(try shop.context.fetch(request) as? [NSDictionary])
    #expect(groups.map { $0["mean"] as? Double } == [3, 3])
    #expect(groups.map { $0["n"] as? Int } == [2, 1])
    request.predicate = NSPredicate(value: false)
    request.propertiesToFetch = [mean]
    request.propertiesToGroupBy = nil
    #expect((try shop.context.fetch(request) as? [NSDictionary])?.first?["mean"] == nil)
  }

  @Test(arguments: types)
  func objectsAreCountedByWhateverNamesThem(type: String) throws {
    let shop = try shop(type)
    let request = rows("Order")
    request.sortDescriptors = nil
    for argument in [
      NSExpression.expressionForEvaluatedObject(), NSExpression(forKeyPath: "objectID"),
      NSExpression(forKeyPath: "self"),
    ] {
      let column = NSExpressionDescription()
      column.name = "n"
      column.expression = NSExpression(forFunction: "count:", arguments: [argument])
      column.expressionResultType = .integer64AttributeType
      request.propertiesToFetch = [column]
      #expect(try shop.context.fetch(request).map { $0["n"] as? Int } == [4], "\(argument)")
    }
  }

  @Test(arguments: types)
  func groupsAreChosenByAColumnsNameAsVariable(type: String) throws {
    let shop = try shop(type)
    let request = rows("Order")
    request.propertiesToFetch = [
      "customer.name", column("count", "count:", "number", .integer64AttributeType),
    ]
    request.propertiesToGroupBy = ["customer.name"]
    request.sortDescriptors = nil
    request.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "count"))
    #expect(try shop.context.fetch(request).map { $0["customer.name"] as? String } == ["Ada"])
  }

  @Test(arguments: types)
  func theObjectIDIsAColumnByItsExpressionAndItsName(type: String) throws {
    let shop = try shop(type)
    let identity = NSExpressionDescription()
    identity.name = "id"
    identity.expression = NSExpression.expressionForEvaluatedObject()
    identity.expressionResultType = .objectIDAttributeType
    let request = rows("Order")
    request.propertiesToFetch = ["number", identity, "objectID"]
    let found = try shop.context.fetch(request)
    let ids = try shop.fetch("Order", sort: "number").map(\.objectID)
    #expect(found.map { $0["id"] as? NSManagedObjectID } == ids)
    #expect(found.map { $0["objectID"] as? NSManagedObjectID } == ids)
  }

  @Test(arguments: types)
  func groupsComeInTheOrderAskedFor(type: String) throws {
    let shop = try shop(type)
    let request = rows("Order")
    request.propertiesToFetch = [
      "status", column("n", "count:", "number", .integer32AttributeType),
      column("most", "max:", "total", .doubleAttributeType),
    ]
    request.propertiesToGroupBy = ["status"]
    request.sortDescriptors = [NSSortDescriptor(key: "status", ascending: false)]
    var found = try shop.context.fetch(request)
    #expect(found.map { $0["status"] as? Int } == [1, 0])
    #expect(found.map { $0["n"] as? Int } == [2, 2])
    #expect(found.map { $0["most"] as? Double } == [3.5, 4.5])
    request.havingPredicate = NSPredicate(format: "status == 0")
    found = try shop.context.fetch(request)
    #expect(found.map { $0["most"] as? Double } == [4.5])
    request.havingPredicate = nil
    request.fetchLimit = 1
    #expect(try shop.context.fetch(request).map { $0["status"] as? Int } == [1])
    // The predicate chooses rows before they are grouped.
    request.fetchLimit = 0
    request.predicate = NSPredicate(format: "number > 2")
    #expect(try shop.context.fetch(request).map { $0["n"] as? Int } == [1, 1])
  }

  @Test(arguments: types)
  func groupsCanBeOfDescriptionsAndKeyPaths(type: String) throws {
    let shop = try shop(type)
    let request = rows("Order")
    let entity = try #require(NSEntityDescription.entity(forEntityName: "Order", in: shop.context))
    let status = try #require(entity.attributesByName["status"])
    let total = column("sum", "sum:", "number", .integer64AttributeType)
    request.propertiesToFetch = [status, total]
    request.propertiesToGroupBy = [status]
    request.sortDescriptors = [NSSortDescriptor(key: "status", ascending: true)]
    #expect(try shop.context.fetch(request).map { $0["sum"] as? Int } == [6, 4])
    request.propertiesToFetch = ["customer.name", total]
    request.propertiesToGroupBy = ["customer.name"]
    request.sortDescriptors = [NSSortDescriptor(key: "customer.name", ascending: true)]
    let found = try shop.context.fetch(request)
    #expect(found.map { $0["customer.name"] as? String } == ["Ada", "Bob"])
    #expect(found.map { $0["sum"] as? Int } == [6, 4])
  }

  @Test(arguments: types)
  func distinctResultsAreForDictionariesOnly(type: String) throws {
    let shop = try shop(type)
    let request = rows("Order")
    request.propertiesToFetch = ["status"]
    request.returnsDistinctResults = true
    request.sortDescriptors = [NSSortDescriptor(key: "status", ascending: true)]
    #expect(try shop.context.fetch(request).map { $0["status"] as? Int } == [0, 1])
    let objects = NSFetchRequest<NSManagedObject>(entityName: "Order")
    objects.propertiesToFetch = ["status"]
    objects.returnsDistinctResults = true
    #expect(try shop.context.fetch(objects).count == 4)
  }

  // MARK: Objects

  @Test func anObjectFetchedForSomePropertiesHasTheOthersToo() throws {
    let shop = try shop()
    let context = shop.container.newBackgroundContext()
    try context.performAndWait { () throws -> Void in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
      request.predicate = NSPredicate(format: "number == 4")
      request.propertiesToFetch = ["number"]
      let order = try #require(try context.fetch(request).first)
      #expect(order.isFault && order.value(forKey: "number") as? Int == 4)
      #expect(order.value(forKey: "total") as? Double == 4.5)
      let customer = order.value(forKey: "customer") as? NSManagedObject
      #expect(customer?.value(forKey: "name") as? String == "Bob")
    }
  }

  @Test func aFetchWithoutStoresFindsNothing() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let context = Company.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Clerk")
      #expect(try context.fetch(request).isEmpty)
      #expect(try context.count(for: request) == 0)
    }
  }

  @Test(arguments: types)
  func resultsWithoutAnOrderEndWithWhatIsNew(type: String) throws {
    let shop = try shop(type)
    let new = (5...6).map { shop.insert("Order", ["number": $0]) }
    let found = try shop.fetch("Order")
    #expect(found.count == 6 && Set(found.suffix(2)) == Set(new))
  }

  @Test(arguments: types)
  func unsavedChangesAreTestedAsMemoryUnderstandsThePredicate(type: String) throws {
    let shop = try shop(type)
    let order = try #require(try shop.fetch("Order", "number == 1").first)
    #expect(try shop.fetch("Order", "note != 'x'").count == 4, "nil is not x")
    order.setValue("x", forKey: "note")
    #expect(try shop.fetch("Order", "note != 'x'").count == 3)
    order.setValue(nil, forKey: "note")
    #expect(try shop.fetch("Order", "note != 'x'").count == 4)
    #expect(try shop.fetch("Order", "customer.name == 'Ada'").count == 3)
    order.setValue(nil, forKey: "customer")
    #expect(try shop.fetch("Order", "customer.name == 'Ada'").count == 2)
    #expect(try shop.fetch("Order", "customer == nil") == [order])
  }
}
