import CoreData
import Testing

/// Sums and averages in dictionary fetches.
///
/// Specification: core-data-semantics 16.4 and 24.5.
@MainActor @Suite struct AggregateTests {
  private nonisolated static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

  @Test(arguments: types)
  func aSumOfIntegersThatNoIntegerHoldsIsADouble(type: String) throws {
    let shop = try RequestShop(type: type)
    for stock in [Int64.max, Int64.max, 5] { shop.insert("Product", ["stock": stock]) }
    try shop.context.save()
    let sum = try shop.aggregate(
      "sum:", of: "stock", in: "Product", type: .doubleAttributeType)
    #expect(sum as? Double == 2 * 0x1p63)
    let part = try shop.aggregate(
      "sum:", of: "stock", in: "Product", type: .integer64AttributeType, where: "stock < 10")
    #expect(part as? Int64 == 5)
  }

  @Test(arguments: types)
  func aSumThatDoesNotFitItsResultTypeIsAnError(type: String) throws {
    let shop = try RequestShop(type: type)
    for _ in 0..<2 { shop.insert("Product", ["stock": Int64.max]) }
    try shop.context.save()
    let error = #expect(throws: (any Error).self) {
      _ = try shop.aggregate("sum:", of: "stock", in: "Product", type: .integer64AttributeType)
    }
    #expect((error as NSError?)?.code == NSPersistentStoreOperationError)
  }

  @Test(arguments: types)
  func integersBeyondTheDoublesAreAddedExactly(type: String) throws {
    let shop = try RequestShop(type: type)
    for stock in [9_007_199_254_740_993, 1, -3] as [Int64] {
      shop.insert("Product", ["stock": stock])
    }
    try shop.context.save()
    let sum = try shop.aggregate(
      "sum:", of: "stock", in: "Product", type: .integer64AttributeType)
    #expect(sum as? Int64 == 9_007_199_254_740_991)
  }

  @Test(arguments: types)
  func decimalsAreAddedDigitByDigit(type: String) throws {
    let shop = try RequestShop(type: type)
    let prices = ["0.1", "0.2", "0.00001", "12", "-7.7", "99999999.99"]
    for price in prices { shop.insert("Line", ["price": NSDecimalNumber(string: price)]) }
    try shop.context.save()
    let sum = try shop.aggregate("sum:", of: "price", in: "Line", type: .decimalAttributeType)
    #expect(sum as? NSDecimalNumber == NSDecimalNumber(string: "100000004.59001"))
    let mean = try shop.aggregate(
      "average:", of: "price", in: "Line", type: .decimalAttributeType,
      where: "price > 0 AND price < 1 AND price > 0.05")
    #expect(mean as? NSDecimalNumber == NSDecimalNumber(string: "0.15"))
  }

  @Test(arguments: types)
  func nothingHasNoSum(type: String) throws {
    let shop = try RequestShop(type: type)
    for (key, entity) in [("stock", "Product"), ("price", "Line"), ("total", "Order")] {
      let sum = try shop.aggregate("sum:", of: key, in: entity, type: .doubleAttributeType)
      #expect(sum == nil, "\(key): \(sum ?? "")")
    }
  }

  @Test(arguments: types)
  func decimalsAreMultipliedAsDecimals(type: String) throws {
    let shop = try RequestShop(type: type)
    for (price, quantity) in [("0.1", 3), ("1.15", 100), ("19.99", 7)] {
      shop.insert("Line", ["price": NSDecimalNumber(string: price), "quantity": quantity])
    }
    try shop.context.save()
    let product = NSExpression(
      forFunction: "multiply:by:",
      arguments: [NSExpression(forKeyPath: "price"), NSExpression(forKeyPath: "quantity")])
    let worth = NSExpressionDescription()
    worth.name = "worth"
    worth.expression = product
    worth.expressionResultType = .decimalAttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "Line")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [worth]
    request.sortDescriptors = [NSSortDescriptor(key: "quantity", ascending: true)]
    #expect(
      try shop.context.fetch(request).map { $0["worth"] as? NSDecimalNumber }
        == ["0.3", "139.93", "115"].map { NSDecimalNumber(string: $0) })
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(forFunction: "sum:", arguments: [product])
    sum.expressionResultType = .decimalAttributeType
    request.propertiesToFetch = [sum]
    request.sortDescriptors = nil
    #expect(
      try shop.context.fetch(request).first?["sum"] as? NSDecimalNumber
        == NSDecimalNumber(string: "255.23"))
  }

  @Test func rowsOfAGroupAreSummedByThemselves() throws {
    let shop = try RequestShop()
    for (status, total) in [(0, 1.5), (1, 2.5), (0, 4)] as [(Int, Double)] {
      shop.insert("Order", ["status": status, "total": total])
    }
    try shop.context.save()
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(
      forFunction: "sum:", arguments: [NSExpression(forKeyPath: "total")])
    sum.expressionResultType = .doubleAttributeType
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Order")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["status", sum]
    request.propertiesToGroupBy = ["status"]
    request.sortDescriptors = [NSSortDescriptor(key: "status", ascending: true)]
    let rows = try shop.context.fetch(request) as? [[String: Any]]
    #expect(rows?.map { $0["status"] as? Int } == [0, 1])
    #expect(rows?.map { $0["sum"] as? Double } == [5.5, 2.5])
    #expect(try shop.context.fetch(request) as? [[String: Double]] != nil)
  }

  @Test(arguments: types)
  func aHavingPredicateMayNameAColumn(type: String) throws {
    let shop = try RequestShop(type: type)
    for status in [0, 1, 0, 2, 0] { shop.insert("Order", ["status": status]) }
    try shop.context.save()
    let count = NSExpressionDescription()
    count.name = "orders"
    count.expression = NSExpression(
      forFunction: "count:", arguments: [NSExpression(forKeyPath: "status")])
    count.expressionResultType = .integer64AttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "Order")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["status", count]
    request.propertiesToGroupBy = ["status"]
    let column = NSExpression(forVariable: "orders")
    for predicate in [
      NSPredicate(format: "%@ > 1", column), NSPredicate(format: "orders > 1"),
      NSPredicate(format: "count:(status) > 1"),
    ] {
      request.havingPredicate = predicate
      let rows = try shop.context.fetch(request)
      #expect(rows.map { $0["status"] as? Int } == [0], "\(predicate)")
      #expect(rows.first?["orders"] as? Int == 3)
    }
  }
}
