// Expressions, rule by rule, as programs build and take them apart.

import CoreData
import Testing

/// Chapter 24.5 of the specification.
@Suite struct ExpressionRuleTests {
  private func constant(_ value: Any?) -> NSExpression { NSExpression(forConstantValue: value) }

  private func number(_ expression: NSExpression, _ object: Any? = nil) -> Double? {
    (expression.expressionValue(with: object, context: nil) as? NSNumber)?.doubleValue
  }

  @Test func typesHaveFoundationsNumbers() {
    let types: [(NSExpression.ExpressionType, UInt)] = [
      (.constantValue, 0), (.evaluatedObject, 1), (.variable, 2), (.keyPath, 3), (.function, 4),
      (.unionSet, 5), (.intersectSet, 6), (.minusSet, 7), (.subquery, 13), (.aggregate, 14),
      (.anyKey, 15), (.block, 19), (.conditional, 20), (NSFetchRequestExpressionType, 50),
    ]
    for (type, number) in types { #expect(type.rawValue == number) }
  }

  /// Each predefined function with arguments and what it gives.
  private static let functions: [(String, [Double], Double)] = [
    ("add:to:", [1, 2], 3), ("from:subtract:", [5, 2], 3), ("multiply:by:", [3, 4], 12),
    ("divide:by:", [7.5, 2.5], 3), ("modulus:by:", [7, 4], 3), ("raise:toPower:", [2, 3], 8),
    ("sqrt:", [16], 4), ("log:", [1000], 3), ("ln:", [1], 0), ("exp:", [0], 1),
    ("floor:", [1.5], 1), ("ceiling:", [1.5], 2), ("abs:", [-3], 3), ("trunc:", [-1.5], -1),
    ("bitwiseAnd:with:", [6, 3], 2), ("bitwiseOr:with:", [6, 3], 7),
    ("bitwiseXor:with:", [6, 3], 5), ("leftshift:by:", [1, 3], 8), ("rightshift:by:", [8, 2], 2),
    ("onesComplement:", [0], -1), ("noindex:", [5], 5),
  ]

  @Test(arguments: functions)
  func aFunctionIsCalledByItsSelector(_ name: String, _ arguments: [Double], _ result: Double) {
    let values = arguments.map { value in
      Int(exactly: value).map { constant($0) } ?? constant(value)
    }
    let call = NSExpression(forFunction: name, arguments: values)
    #expect(call.expressionType == .function && call.function == name)
    #expect(call.arguments == values)
    #expect(number(call) == result)
  }

  private static let collections: [(String, Double)] = [
    ("sum:", 20), ("count:", 5), ("min:", 1), ("max:", 9), ("average:", 4), ("median:", 3),
    ("stddev:", 2.8284271247461903),
  ]

  @Test(arguments: collections)
  func aFunctionOfACollectionTakesOne(_ name: String, _ result: Double) {
    let list = constant([1, 2, 3, 5, 9])
    #expect(number(NSExpression(forFunction: name, arguments: [list])) == result)
    let path = NSExpression(forFunction: name, arguments: [NSExpression(forKeyPath: "list")])
    #expect(number(path, ["list": [1, 2, 3, 5, 9]] as NSDictionary) == result)
  }

  @Test func modeGivesEveryMostFrequentValue() {
    let mode = NSExpression(forFunction: "mode:", arguments: [constant([1, 2, 2, 3, 3])])
    #expect(mode.expressionValue(with: nil, context: nil) as? [Int] == [2, 3])
  }

  @Test func textsAreChanged() {
    func value(_ name: String, _ text: String) -> Any? {
      NSExpression(forFunction: name, arguments: [constant(text)])
        .expressionValue(with: nil, context: nil)
    }
    #expect(value("uppercase:", "aé") as? String == "AÉ")
    #expect(value("lowercase:", "AÉ") as? String == "aé")
    #expect(value("canonical:", "RÉSUMÉ") as? String == "resume")
    #expect(value("length:", "abc") as? Int == 3)
  }

  @Test func nowAndRandomTakeNoArguments() throws {
    let before = Date()
    let now =
      NSExpression(forFunction: "now", arguments: [])
      .expressionValue(with: nil, context: nil) as? Date
    #expect(try #require(now) >= before)
    let random = try #require(number(NSExpression(forFunction: "random", arguments: [])))
    #expect((0...1).contains(random))
    let limited = number(NSExpression(forFunction: "random:", arguments: [constant(3)]))
    #expect([0, 1, 2].contains(limited))
  }

  @Test func resultsAreNumbersOfEveryType() {
    let sum = NSExpression(format: "2 + 3").expressionValue(with: nil, context: nil)
    #expect(sum as? Int == 5 && sum as? Double == 5 && sum as? NSNumber == 5)
    #expect(number(NSExpression(format: "7 / 2")) == 3)
    #expect(number(NSExpression(format: "7.0 / 2")) == 3.5)
    let decimal = NSExpression(
      format: "%@ + %@", NSDecimalNumber(string: "0.1"), NSDecimalNumber(string: "0.2"))
    #expect(
      decimal.expressionValue(with: nil, context: nil) as? NSDecimalNumber
        == NSDecimalNumber(string: "0.3"))
  }

  @Test func anUnknownFunctionTraps() async {
    await #expect(processExitsWith: .failure) {
      _ = NSExpression(forFunction: "frobnicate:", arguments: [])
    }
  }

  @Test func castsAreFunctions() {
    let cast = NSExpression(
      forFunction: "castObject:toType:",
      arguments: [NSExpression(forKeyPath: "a"), constant("NSNumber")])
    #expect(cast.function == "castObject:toType:" && cast.description == "CAST(a, \"NSNumber\")")
    #expect(number(cast, ["a": "12"] as NSDictionary) == 12)
    let date =
      NSExpression(format: "CAST(a, 'NSDate')")
      .expressionValue(with: ["a": 100] as NSDictionary, context: nil) as? Date
    #expect(date == Date(timeIntervalSinceReferenceDate: 100))
  }

  @Test func elementsAreFunctions() {
    let element = NSExpression(
      forFunction: "objectFrom:withIndex:", arguments: [NSExpression(forKeyPath: "a"), constant(1)])
    #expect(element.function == "objectFrom:withIndex:" && element.description == "a[1]")
    #expect(number(element, ["a": [5, 6]] as NSDictionary) == 6)
    let row = ["a": [5, 6], "d": ["k": 9], "o": NSOrderedSet(array: [3, 4])] as NSDictionary
    for (format, value) in [
      ("a[FIRST]", 5.0), ("a[LAST]", 6), ("a[SIZE]", 2), ("d['k']", 9), ("o[1]", 4), ("d[SIZE]", 1),
    ] {
      #expect(number(NSExpression(format: format), row) == value, "\(format)")
    }
  }

  @Test func aKeyPathOfAVariableIsAFunctionOfTheVariable() throws {
    let expression = NSExpression(format: "$t.owner.name")
    #expect(expression.expressionType == .function && expression.function == "valueForKeyPath:")
    #expect(expression.operand.expressionType == .variable && expression.operand.variable == "t")
    let context: NSMutableDictionary = ["t": ["owner": ["name": "Ada"]]]
    #expect(expression.expressionValue(with: nil, context: context) as? String == "Ada")
    let subquery = NSExpression(format: "SUBQUERY(items, $x, $x > 1).@count")
    #expect(subquery.function == "valueForKeyPath:" && subquery.operand.expressionType == .subquery)
  }

  @Test func messagesAreThoseOfAFixedTable() async throws {
    let upper = NSExpression(format: "FUNCTION('a', 'uppercase')")
    #expect(upper.expressionValue(with: nil, context: nil) as? String == "A")
    #expect(upper.operand.constantValue as? String == "a" && upper.function == "uppercase")
    #expect(upper.arguments?.isEmpty == true)
    await #expect(processExitsWith: .failure) {
      _ = NSExpression(format: "FUNCTION('a', 'terminate')").expressionValue(
        with: nil, context: nil)
    }
  }

  /// Operators of key paths over a list of rows, and over none.
  private static let operators: [(String, Double?, Double?)] = [
    ("rows.@count", 3, 0), ("rows.@sum.n", 7, 0), ("rows.@avg.n", 3.5, 0), ("rows.@min.n", 2, nil),
    ("rows.@max.n", 5, nil),
  ]

  @Test(arguments: operators)
  func collectionOperatorsLeaveNilOut(_ path: String, _ some: Double?, _ none: Double?) {
    let expression = NSExpression(forKeyPath: path)
    let rows: [[String: Any]] = [["n": 2], [:], ["n": 5]]
    #expect(number(expression, ["rows": rows] as NSDictionary) == some)
    #expect(number(expression, ["rows": NSArray()] as NSDictionary) == none)
  }

  @Test func subqueriesMayBeNestedAndSeeTheOuterObject() {
    let row: NSDictionary = ["limit": 2, "groups": [["m": [1, 3]], ["m": [1]], ["m": [4, 5]]]]
    let nested = NSExpression(
      format: "SUBQUERY(groups, $g, SUBQUERY($g.m, $m, $m > SELF.limit).@count > 0).@count")
    #expect(number(nested, row) == 2)
  }
}
