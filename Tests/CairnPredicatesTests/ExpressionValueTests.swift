// The values of expressions: arithmetic, functions, casts, messages.

import CairnPredicates
import Foundation
import Testing

@Suite struct ExpressionValueTests {
  @Test func arithmeticKeepsIntegersAndDecimals() throws {
    #expect(try value("7 / 2") == .integer(3))
    #expect(try value("-7 / 2") == .integer(-3))
    #expect(try value("7.0 / 2") == .double(3.5))
    #expect(try value("1 + 2 * 3 - 4") == .integer(3))
    #expect(try value("2 ** 10") == .integer(1024))
    #expect(try value("9223372036854775807 + 1") == .double(0x1p63))
    #expect(
      try value("%@ + %@", nil, Decimal(string: "0.1"), Decimal(string: "0.2"))
        == .decimal(Decimal(string: "0.3") ?? 0))
    #expect(try value("modulus:by:(7, 3)") == .integer(1))
    #expect(try value("modulus:by:(-9223372036854775808, -1)") == .integer(0))
    #expect(try value("-9223372036854775808 / -1") == .double(0x1p63))
    #expect(try value("1 / 0").isNull && value("1.0 / 0").isNull && value("1 + nil").isNull)
    #expect(try value("CAST(100, 'NSDate') + 5") == .double(105))
  }

  @Test func bitOperatorsWorkOnIntegers() throws {
    #expect(try value("12 & 10") == .integer(8))
    #expect(try value("12 | 10") == .integer(14))
    #expect(try value("12 ^ 10") == .integer(6))
    #expect(try value("1 << 4") == .integer(16))
    #expect(try value("16 >> 2") == .integer(4))
    #expect(try value("~0") == .integer(-1))
    #expect(try value("1 << 100") == .integer(0))
    #expect(try holds("(flags & 4) > 0", ["flags": 6]))
  }

  @Test func functionsOverCollectionsLeaveNullsOut() throws {
    #expect(try value("sum({1, nil, 2.5})") == .double(3.5))
    #expect(try value("average({1, nil, 2})") == .double(1.5))
    #expect(try value("count({1, 2, 3})") == .integer(3))
    #expect(try value("min({3, 1, 2})") == .integer(1))
    #expect(try value("max(3, 1, 2)") == .integer(3))
    #expect(try value("median({5, 1, 3})") == .integer(3))
    #expect(try value("median({4, 1, 3, 2})") == .double(2.5))
    #expect(try value("mode({1, 2, 2, 3, 3})") == .array([.integer(2), .integer(3)]))
    #expect(try value("stddev({2, 4, 4, 4, 5, 5, 7, 9})") == .double(2))
    #expect(try value("min({})").isNull)
  }

  @Test func mathematicalFunctions() throws {
    #expect(try value("sqrt(16)") == .double(4))
    #expect(try value("log(1000)") == .double(log10(1000)))
    #expect(try value("ln(1)") == .double(0))
    #expect(try value("exp(0)") == .double(1))
    #expect(try value("floor(-1.5)") == .double(-2))
    #expect(try value("ceiling(-1.5)") == .double(-1))
    #expect(try value("trunc(-1.5)") == .double(-1))
    #expect(try value("abs(-3)") == .integer(3))
    #expect(try value("abs(-9223372036854775808)") == .double(0x1p63))
    #expect(try value("sqrt(-1)").isNull)
    #expect(try value("floor(%@)", nil, Decimal(string: "-1.5")) == .decimal(-2))
    #expect(try value("trunc(%@)", nil, Decimal(string: "-1.5")) == .decimal(-1))
    for _ in 0..<50 {
      #expect(try holds("random() BETWEEN {0, 1} AND random(3) IN {0, 1, 2}"))
    }
  }

  @Test func textFunctions() throws {
    #expect(try value("uppercase('straße')") == .string("STRASSE"))
    #expect(try value("lowercase('ÀB')") == .string("àb"))
    #expect(try value("canonical('RÉSUMÉ')") == .string("resume"))
    #expect(try value("length('😀é')") == .integer(2))
    #expect(try value("noindex:(5)") == .integer(5))
    #expect(try value("lowercase(nil)").isNull)
    #expect(try holds("length == 4 AND SELF.uppercaseString == 'ANNA'", "Anna"))
    #expect(throws: PredicateEvaluationError.self) { try value("uppercase(1)") }
  }

  @Test func castsKnowTheirTypes() throws {
    #expect(try value("CAST('12', 'NSNumber')") == .integer(12))
    #expect(try value("CAST(a, 'NSString')", ["a": 1.5]) == .string("1.5"))
    #expect(
      try value("CAST(a, 'NSDate')", ["a": 5])
        == .date(Date(timeIntervalSinceReferenceDate: 5)))
    #expect(
      try value("CAST('2001-01-01T00:00:10Z', 'NSDate')")
        == .date(Date(timeIntervalSinceReferenceDate: 10)))
    #expect(try value("CAST(a, 'NSDate')", [String: Any]()).isNull)
    #expect(throws: PredicateEvaluationError.self) { try value("CAST(1, 'NSWindow')") }
  }

  @Test func messagesComeFromATable() throws {
    #expect(try value("FUNCTION('a', 'uppercase')") == .string("A"))
    #expect(try value("FUNCTION('ab', 'stringByAppendingString:', 'c')") == .string("abc"))
    #expect(
      try value(
        "FUNCTION(%@, 'dateByAddingTimeInterval:', 5)", nil,
        Date(timeIntervalSinceReferenceDate: 1)) == .date(Date(timeIntervalSinceReferenceDate: 6)))
    #expect(throws: PredicateEvaluationError.self) { try value("FUNCTION('a', 'dealloc')") }
  }

  @Test func conditionalsAssignmentsAndBlocks() throws {
    #expect(try value("TERNARY(a > 1, 'big', 'small')", ["a": 2]) == .string("big"))
    let context = NSMutableDictionary()
    let assigned = try ObjectExpression.parse("$x := a + 1").value(for: ["a": 2], context: context)
    #expect(PredicateValue(assigned) == .integer(3))
    #expect(PredicateValue(context["x"]) == .integer(3))
    let block = ObjectExpression(
      block: { object, arguments, _ in
        "\(object ?? "")-\(arguments[0].constantValue ?? "")"
      }, arguments: [ObjectExpression(forConstantValue: "b")])
    #expect(block.expressionValue(with: "a", context: nil) as? String == "a-b")
  }

  @Test func fetchesAskTheContext() throws {
    final class Context: FetchExpressionEvaluating {
      func evaluateFetchExpression(request: Any?, countOnly: Bool) throws -> Any? {
        countOnly ? 2 : [request ?? 0, "other"]
      }
    }
    #expect(try holds("'r' IN FETCH(%@, %@, NO)", nil, "r", Context()))
    #expect(try holds("FETCH(%@, %@, YES) == 2", nil, "r", Context()))
    #expect(throws: PredicateEvaluationError.self) { try holds("1 IN FETCH(1, 2, NO)") }
  }

  @Test func aDateOfNoNumberIsNull() throws {
    let none =
      "FUNCTION(CAST('inf', 'NSDate'), 'dateByAddingTimeInterval:', CAST('-inf', 'NSNumber'))"
    #expect(try value(none).isNull)
    #expect(try value("CAST(\(none), 'NSString')").isNull)
  }

  @Test func expressionsTellTheirParts() {
    let key = ObjectExpression(forKeyPath: "a.b")
    #expect(key.expressionType == .keyPath && key.keyPath == "a.b")
    #expect(ObjectExpression(forKeyPath: "self").expressionType == .evaluatedObject)
    let sum = ObjectExpression(forFunction: "sum:", arguments: [key])
    #expect(sum.expressionType == .function && sum.function == "sum:" && sum.arguments == [key])
    let subquery = ObjectExpression(format: "SUBQUERY(items, $x, $x == 1)")
    #expect(subquery.expressionType == .subquery && subquery.variable == "x")
    #expect(subquery.predicate == ObjectPredicate(format: "$x == 1"))
    #expect(subquery.collection as? ObjectExpression == ObjectExpression(forKeyPath: "items"))
    let union = ObjectExpression(forUnionSet: key, with: sum)
    #expect(union.expressionType == .unionSet && union.left == key && union.right == sum)
    let ternary = ObjectExpression(
      forConditional: ObjectPredicate(value: true), trueExpression: key, falseExpression: sum)
    #expect(ternary.true == key && ternary.false == sum)
    #expect(ObjectExpression(forConstantValue: [1, 2]).expressionType == .constantValue)
    #expect(
      ObjectExpression(forConstantValue: [1, 2])
        == ObjectExpression(forAggregate: [
          ObjectExpression(forConstantValue: 1), ObjectExpression(forConstantValue: 2),
        ]))
    #expect(ObjectExpression(format: "$x.name").function == "valueForKeyPath:")
    #expect(ObjectExpression(forVariable: "v").variable == "v")
  }
}
