// Predicates built by code, their equality, substitution and analysis.

import CairnPredicates
import Foundation
import Testing

@Suite struct PredicateConstructionTests {
  @Test func comparisonsBuiltByCodeEqualParsedOnes() {
    let built = ComparisonPredicate(
      leftExpression: ObjectExpression(forKeyPath: "name"),
      rightExpression: ObjectExpression(forConstantValue: "a"),
      modifier: .direct, type: .beginsWith, options: [.caseInsensitive, .diacriticInsensitive])
    #expect(built == ObjectPredicate(format: "name BEGINSWITH[cd] 'a'"))
    #expect(built != ObjectPredicate(format: "name BEGINSWITH[c] 'a'"))
    #expect(built.predicateFormat == "name BEGINSWITH[cd] \"a\"")
    #expect(built.leftExpression.keyPath == "name")
    #expect(built.rightExpression.constantValue as? String == "a")
    let custom = ComparisonPredicate(
      leftExpression: .expressionForEvaluatedObject(),
      rightExpression: ObjectExpression(forConstantValue: "a"), customSelector: "hasPrefix:")
    #expect(custom.predicateFormat == "SELF hasPrefix: \"a\"")
    #expect(custom.evaluate(with: "abc"))
  }

  @Test func compoundsKeepTheirMembers() throws {
    let a = ObjectPredicate(format: "a == 1")
    let b = ObjectPredicate(format: "b == 2")
    let and = CompoundPredicate(andPredicateWithSubpredicates: [a, b])
    #expect(and.compoundPredicateType == .and)
    #expect(and.subpredicates as? [ObjectPredicate] == [a, b])
    let nested = CompoundPredicate(andPredicateWithSubpredicates: [and, a])
    #expect(nested.predicateFormat == "(a == 1 AND b == 2) AND a == 1")
    #expect(CompoundPredicate(andPredicateWithSubpredicates: []).evaluate(with: nil))
    #expect(!CompoundPredicate(orPredicateWithSubpredicates: []).evaluate(with: nil))
    let not = CompoundPredicate(notPredicateWithSubpredicate: and)
    #expect(not.predicateFormat == "NOT (a == 1 AND b == 2)")
    #expect(!not.evaluate(with: ["a": 1, "b": 2]))
    #expect(try ObjectPredicate.parse(nested.predicateFormat) == nested)
  }

  @Test func subclassesTakePartInCompounds() {
    final class Even: ObjectPredicate, @unchecked Sendable {
      override func evaluate(with object: Any?, substitutionVariables: [String: Any]?) -> Bool {
        (object as? Int).map { $0 % 2 == 0 } ?? false
      }
    }
    let both = CompoundPredicate(andPredicateWithSubpredicates: [
      Even(), ObjectPredicate(format: "SELF > 2"),
    ])
    #expect(both.evaluate(with: 4))
    #expect(!both.evaluate(with: 2) && !both.evaluate(with: 5))
    #expect(both.node.contents.needsMemory)
  }

  @Test func substitutionReplacesOnlyWhatIsNamed() throws {
    let predicate = ObjectPredicate(format: "$a == 1 AND b IN $list AND $c.name == 'x'")
    let replaced = predicate.withSubstitutionVariables(["a": "a", "list": [1, 2]])
    #expect(replaced.predicateFormat == "\"a\" == 1 AND b IN {1, 2} AND $c.name == \"x\"")
    #expect(replaced.node.contents.freeVariables == ["c"])
    let error = #expect(throws: PredicateEvaluationError.self) {
      try ObjectPredicate(format: "$name == 1").test(nil)
    }
    #expect(error?.reason.hasPrefix("Can't get value for 'name' in bindings") == true)
  }

  @Test func contentsListWhatIsMentioned() {
    let contents = ObjectPredicate(
      format: "a.b == $x AND SUBQUERY(c, $y, $y.d == $z AND e > 1).@count > 0 AND sum(f) == 1"
    ).node.contents
    #expect(contents.keyPaths == ["a.b", "c", "e", "f"])
    #expect(contents.freeVariables == ["x", "z"])
    #expect(contents.functions == [.sum])
    #expect(!contents.needsMemory && !contents.mentionsObjects)
    #expect(ObjectPredicate(format: "FUNCTION(a, 'uppercase') == 'A'").node.contents.needsMemory)
  }

  @Test func objectsCanBeResolvedToTheirIDs() {
    let object = Sample(["name": "Anna"])
    let predicate = ObjectPredicate(
      format: "owner == %@ AND other IN %@ AND name == $o.name", object, [object]
    ).withSubstitutionVariables(["o": object])
    #expect(predicate.node.contents.mentionsObjects)
    let resolved = predicate.resolvingObjects()
    #expect(!resolved.node.contents.mentionsObjects)
    #expect(
      resolved
        == ObjectPredicate(
          format: "owner == %@ AND other IN %@ AND name == 'Anna'", object.objectID,
          [object.objectID]))
  }

  @Test func valuesSurviveTheirConversion() {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    #expect(PredicateValue(date).anyValue as? Date == date)
    #expect(PredicateValue(NSNull()).isNull)
    let nested: Any? = Optional<Int>.none
    #expect(PredicateValue(nested as Any).isNull)
    #expect(PredicateValue([1, nil] as [Int?]) == .array([.integer(1), .null]))
    #expect(PredicateValue(NSOrderedSet(array: [2, 1])) == .array([.integer(2), .integer(1)]))
    #expect(PredicateValue(["a": 1]) == .dictionary([.string("a"): .integer(1)]))
    if case .boolean = PredicateValue(NSNumber(value: true)) {} else { Issue.record("boolean") }
    if case .integer = PredicateValue(NSNumber(value: 1)) {} else { Issue.record("integer") }
    if case .double = PredicateValue(NSNumber(value: 1.0)) {} else { Issue.record("double") }
    if case .integer = PredicateValue(UInt8(7)) {} else { Issue.record("small integer") }
    #expect(PredicateValue(UInt64.max) == .decimal(Decimal(UInt64.max)))
  }
}
