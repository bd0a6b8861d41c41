// ANY, ALL, NONE, SUBQUERY, aggregates and key paths over collections.

import CairnPredicates
import Foundation
import Testing

@Suite struct CollectionPredicateTests {
  static func order() -> Sample {
    let items = [
      Sample(["price": 10, "name": "tea", "tags": ["hot", "green"]]),
      Sample(["price": 25, "name": "pot", "tags": ["hard"]]),
      Sample(["price": 10, "tags": [String]()]),
    ]
    return Sample([
      "limit": 20, "items": NSSet(array: items), "list": NSOrderedSet(array: items),
      "empty": NSSet(), "map": ["a": 1], "numbers": [3, 1, 2],
    ])
  }

  static let cases: [ComparisonOperatorTests.Case] = [
    .init("ANY items.price == 25 AND SOME items.price > 20", true),
    .init("ANY items.price > 25", false),
    .init("ALL items.price >= 10 AND NOT ALL items.price > 10", true),
    .init("NONE items.price == 11", true),
    .init("NONE items.price == 10", false),
    .init("ANY empty.price == 1", false),
    .init("ALL empty.price == 1 AND NONE empty.price == 1", true),
    .init("ANY nothing.items.price == 1", false),
    .init("ANY items.name == nil AND ANY items.name BEGINSWITH 't'", true),
    .init("ANY items.tags == 'green'", true),
    .init("ANY items.price IN {25, 26}", true),
    .init("items.@count == 3 AND empty.@count == 0 AND nothing.@count == 0", true),
    .init("items.@sum.price == 45 AND empty.@sum.price == 0", true),
    .init("items.@avg.price == 15 AND items.@min.price == 10 AND items.@max.price == 25", true),
    .init("empty.@avg.price == 0 AND empty.@min.price == nil AND empty.@max.price == nil", true),
    .init("items.price.@count == 3", true),
    .init("list.@distinctUnionOfObjects.price == {10, 25}", true),
    .init("list.@unionOfObjects.price == {10, 25, 10}", true),
    .init("list.@distinctUnionOfArrays.tags == {'hot', 'green', 'hard'}", true),
    .init("list.@unionOfArrays.tags == {'hot', 'green', 'hard'}", true),
    .init("SUBQUERY(items, $i, $i.price < limit).@count == 2", true),
    .init("SUBQUERY(items, $i, $i.price < limit AND $i.name == 'tea').@count == 1", true),
    .init(
      "SUBQUERY(items, $i, SUBQUERY($i.tags, $t, $t BEGINSWITH 'h').@count > 0).@count == 2",
      true),
    .init("SUBQUERY(nothing, $i, $i == 1).@count == 0", true),
    .init("SUBQUERY(list, $i, $i.price == 10).name == {'tea', nil}", true),
    .init("numbers[0] == 3 AND numbers[FIRST] == 3 AND numbers[LAST] == 2", true),
    .init("numbers[SIZE] == 3 AND numbers[7] == nil AND numbers[-1] == nil", true),
    .init("map['a'] == 1 AND map['z'] == nil AND map.a == 1 AND map[SIZE] == 1", true),
    .init("({1, 2} UNION {2, 3}).@count == 3 AND ({1, 2} INTERSECT {2, 3}).@count == 1", true),
    .init("1 IN ({1, 2} MINUS {2, 3}) AND NOT 2 IN ({1, 2} MINUS {2, 3})", true),
    .init("sum(items.price) == 45 AND count(items) == 3 AND max(numbers) == 3", true),
  ]

  @Test(arguments: cases)
  func collectionsGiveTheDefinedResult(_ row: ComparisonOperatorTests.Case) throws {
    #expect(try holds(row.text, Self.order()) == row.expected)
  }

  @Test func operatorsTakeTheWholeRestOfThePath() {
    #expect(throws: PredicateEvaluationError.self) {
      try holds("items.@unionOfObjects.price.@count == 3", Self.order())
    }
    #expect(throws: PredicateEvaluationError.self) {
      try holds("items.@frobnicate.price == 3", Self.order())
    }
  }

  @Test func variablesOfSubqueriesHideOuterOnes() throws {
    let predicate = try ObjectPredicate.parse(
      "SUBQUERY(numbers, $n, $n > 2).@count == 1 AND $n == 100")
    #expect(try predicate.test(Self.order(), substitutionVariables: ["n": 100]))
    let replaced = predicate.withSubstitutionVariables(["n": 100])
    #expect(
      replaced.predicateFormat == "SUBQUERY(numbers, $n, $n > 2).@count == 1 AND 100 == 100")
    #expect(try replaced.test(Self.order()))
  }

  @Test func blocksSeeObjectAndBindings() throws {
    let block = ObjectPredicate { object, bindings in
      (object as? String) == (bindings?["x"] as? String)
    }
    #expect(block.evaluate(with: "a", substitutionVariables: ["x": "a"]))
    let both = CompoundPredicate(andPredicateWithSubpredicates: [
      block, ObjectPredicate(format: "SELF == $x"),
    ])
    #expect(both.evaluate(with: "a", substitutionVariables: ["x": "a"]))
    #expect(!both.evaluate(with: "b", substitutionVariables: ["x": "a"]))
    #expect(block.predicateFormat.hasPrefix("BLOCKPREDICATE(0x"))
  }
}
