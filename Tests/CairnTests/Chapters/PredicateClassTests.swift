// The classes of predicates, expressions and sort descriptors as programs build and take them apart.

import CoreData
import TestSupport
import Testing

/// Chapters 24, 26 and II.12 of the specification.
@Suite struct PredicateClassTests {
  private func archived<T: NSObject & NSCoding>(_ object: T) throws -> T? {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: true)
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    return unarchiver.decodeObject(of: T.self, forKey: NSKeyedArchiveRootObjectKey)
  }

  @Test func aComparisonIsTakenApart() throws {
    let predicate = try #require(
      NSPredicate(format: "ANY tags BEGINSWITH[cd] %@", "a") as? NSComparisonPredicate)
    let type: NSComparisonPredicate.Operator = predicate.predicateOperatorType
    #expect(type == .beginsWith && type.rawValue == 8)
    let modifier: NSComparisonPredicate.Modifier = predicate.comparisonPredicateModifier
    #expect(modifier == .any)
    #expect(predicate.options == [.caseInsensitive, .diacriticInsensitive])
    let built = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "name"),
      rightExpression: NSExpression(forConstantValue: "a"), modifier: .direct, type: .contains,
      options: NSComparisonPredicate.Options.normalized)
    #expect(built.predicateFormat == "name CONTAINS[n] \"a\"")
    #expect(NSComparisonPredicate.Options(rawValue: 4) == .normalized)
    let read = try #require(try archived(built))
    #expect(read == built && read.predicateOperatorType == .contains)
  }

  @Test func aCompoundIsTakenApart() throws {
    let parts = [NSPredicate(format: "a == 1"), NSPredicate(format: "b == 2")]
    let compound = NSCompoundPredicate(
      type: NSCompoundPredicate.LogicalType.or, subpredicates: parts)
    #expect(compound.compoundPredicateType == .or && compound.subpredicates.count == 2)
    #expect(compound.predicateFormat == "a == 1 OR b == 2")
    let read = try #require(try archived(compound))
    #expect(read == compound && read.subpredicates.count == 2)
    #expect(compound.copy() as? NSCompoundPredicate == compound)
    #expect(NSCompoundPredicate(type: .and, subpredicates: []).evaluate(with: nil))
    #expect(!NSCompoundPredicate(type: .or, subpredicates: []).evaluate(with: nil))
  }

  @Test func nullObjectsArePrintedAsTheyAreAndComparedAsNil() throws {
    let null = NSPredicate(format: "name == %@", NSNull())
    let none = NSPredicate(format: "name == nil")
    #expect(null.predicateFormat == "name == <null>" && none.predicateFormat == "name == nil")
    #expect(NSExpression(forConstantValue: NSNull()).constantValue is NSNull)
    #expect(NSExpression(forConstantValue: nil).constantValue == nil)
    #expect("\(NSExpression(forConstantValue: NSNull()))" == "<null>")
    let row: NSDictionary = ["other": 1]
    #expect(null.evaluate(with: row) && none.evaluate(with: row))
    #expect(!NSPredicate(format: "name != %@", NSNull()).evaluate(with: row))
    let variable = NSPredicate(format: "name == $n").withSubstitutionVariables(["n": NSNull()])
    #expect(variable.evaluate(with: row) && variable.predicateFormat == "name == <null>")
    #expect(try archived(null)?.evaluate(with: row) == true)
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"))
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        _ = try Company.clerk("Ada", in: context)
        let bea = try Company.clerk("Bea", in: context)
        bea.setValue(nil, forKey: "age")
        try context.save()
        context.reset()
        let request = NSFetchRequest<Clerk>(entityName: "Clerk")
        request.predicate = NSPredicate(format: "age == %@", NSNull())
        #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Bea"])
        request.predicate = NSPredicate(format: "age != %@", NSNull())
        #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == ["Ada"])
      }
    }
  }

  @Test func setsAreCombined() throws {
    let a = NSExpression(forConstantValue: Set([1, 2, 3]))
    let b = NSExpression(forConstantValue: Set([2, 3, 4]))
    func members(_ expression: NSExpression) throws -> Set<Int> {
      let value = expression.expressionValue(with: nil, context: nil)
      let set = try #require(value as? NSSet)
      return Set(set.allObjects.compactMap { $0 as? Int })
    }
    let both = NSExpression(forIntersectSet: a, with: b)
    #expect(both.expressionType == NSExpression.ExpressionType.intersectSet)
    #expect(try members(both) == [2, 3] && both.left == a && both.right == b)
    let rest = NSExpression(forMinusSet: a, with: b)
    #expect(rest.expressionType == .minusSet)
    #expect(try members(rest) == [1])
    #expect(try members(NSExpression(forUnionSet: a, with: b)) == [1, 2, 3, 4])
  }

  @Test func expressionsOfEachKindAreTakenApart() throws {
    let items = NSExpression(forKeyPath: "items")
    let subquery = NSExpression(
      forSubquery: items, usingIteratorVariable: "i", predicate: NSPredicate(format: "$i > 1"))
    #expect(subquery.expressionType == .subquery && subquery.variable == "i")
    #expect(subquery.predicate.predicateFormat == "$i > 1")
    let found = subquery.expressionValue(with: ["items": [1, 2, 3]] as NSDictionary, context: nil)
    #expect((found as? [Int]) == [2, 3])

    let text = NSExpression(forConstantValue: "abc")
    let call = NSExpression(
      forFunction: text, selectorName: "stringByAppendingString:", arguments: [text])
    #expect(call.expressionType == .function && call.operand == text)
    #expect(call.function == "stringByAppendingString:" && call.arguments == [text])

    #expect(NSExpression.expressionForAnyKey().expressionType == NSExpression.ExpressionType.anyKey)
    #expect(NSExpression(expressionType: .evaluatedObject).expressionType == .evaluatedObject)

    let block = NSExpression(
      block: { object, arguments, _ in "\(object ?? "nil") \(arguments.count)" }, arguments: [text])
    #expect(block.expressionValue(with: "x", context: nil) as? String == "x 1")
    #expect(block.expressionBlock("y", [], nil) as? String == "y 0")
  }

  @Test func whatWasArchivedMayBeEvaluatedAfterwards() throws {
    let predicate = try #require(try archived(NSPredicate(format: "a > 1")))
    predicate.allowEvaluation()
    #expect(predicate.evaluate(with: ["a": 2] as NSDictionary))
    let expression = try #require(try archived(NSExpression(format: "1 + 2")))
    expression.allowEvaluation()
    #expect(expression.expressionValue(with: nil, context: nil) as? Int == 3)
    let descriptor = try #require(try archived(NSSortDescriptor(key: "a", ascending: false)))
    descriptor.allowEvaluation()
    #expect(descriptor.key == "a" && !descriptor.ascending)
    #expect(
      descriptor.compare(["a": 1] as NSDictionary, to: ["a": 2] as NSDictionary)
        == .orderedDescending)
  }
}
