import CoreData
import Testing

/// Predicates that programs put together in loops.
///
/// Specification: core-data-semantics 24.7.
@MainActor @Suite struct DeepPredicateTests {
  /// A condition added to a compound of all before it, so many times.
  private func chain(_ count: Int, _ type: NSCompoundPredicate.LogicalType) -> NSPredicate {
    var result = NSPredicate(format: "number == 0")
    for number in 1..<count {
      let next = NSPredicate(format: "number == %d", number)
      result = NSCompoundPredicate(type: type, subpredicates: [result, next])
    }
    return result
  }

  @Test func longChainsOfOneKindAreFetched() throws {
    let shop = try RequestShop()
    for number in [3, 4999, 7000] { shop.insert("Order", ["number": number]) }
    try shop.context.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
    request.predicate = chain(5000, .or)
    #expect(try shop.context.fetch(request).count == 2)
    request.predicate = chain(5000, .and)
    #expect(try shop.context.fetch(request).isEmpty)
    #expect(chain(5000, .or).evaluate(with: ["number": 4999]))
    #expect(chain(5000, .or) == chain(5000, .or))
  }

  @Test func shortChainsStayAsTheyWereMade() {
    let predicate = chain(3, .and)
    #expect(predicate.predicateFormat == "(number == 0 AND number == 1) AND number == 2")
    #expect((predicate as? NSCompoundPredicate)?.subpredicates.count == 2)
  }

  @Test func whatNestsTooDeepIsRefusedWhenItIsUsed() throws {
    let shop = try RequestShop()
    shop.insert("Order", ["number": 1])
    try shop.context.save()
    var negated = NSPredicate(format: "number == 1")
    for _ in 0..<100_000 { negated = NSCompoundPredicate(notPredicateWithSubpredicate: negated) }
    var sum = NSExpression(forKeyPath: "number")
    for _ in 0..<100_000 {
      sum = NSExpression(forFunction: "add:to:", arguments: [sum, 1])
    }
    let compared = NSComparisonPredicate(
      leftExpression: sum, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct,
      type: .equalTo)
    for predicate in [negated, compared] {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
      request.predicate = predicate
      let error = #expect(throws: (any Error).self) { _ = try shop.context.fetch(request) }
      #expect("\(error as Any)".contains("nests more than"), "\(error as Any)")
    }
  }

  @Test func theDeepestPredicateWorksOnAQueuesStack() throws {
    var predicate = NSPredicate(format: "number == 1")
    for _ in 0..<990 {
      predicate = NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
    }
    let shop = try RequestShop()
    shop.insert("Order", ["number": 1])
    try shop.context.save()
    let background = shop.container.newBackgroundContext()
    try background.performAndWait { () throws -> Void in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
      request.predicate = predicate
      #expect(try background.fetch(request).count == 1)
      #expect(predicate.predicateFormat.hasPrefix("NOT NOT NOT"))
      #expect(predicate == predicate.copy() as? NSPredicate)
    }
  }
}
