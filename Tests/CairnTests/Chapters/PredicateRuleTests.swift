// The format language of predicates, rule by rule, as programs use it.

import CoreData
import Testing

/// Chapters 24.1 to 24.4 and 24.6 of the specification; values and operators one by one are in
/// `CairnPredicatesTests`.
@Suite struct PredicateRuleTests {
  private func comparison(_ format: String, _ arguments: Any?...) throws -> NSComparisonPredicate {
    try #require(try NSPredicate.parse(format, arguments: arguments) as? NSComparisonPredicate)
  }

  private func constant(_ format: String, _ arguments: Any?...) throws -> Any? {
    let predicate = try NSPredicate.parse(format, arguments: arguments)
    return try #require(predicate as? NSComparisonPredicate).rightExpression.constantValue
  }

  // MARK: 24.1

  private static let keywords: [(String, String)] = [
    (
      "name LiKe 'a' aNd noT x In {1} oR y bEtweeN {1, 2}",
      "(name LIKE \"a\" AND NOT x IN {1}) OR y BETWEEN {1, 2}"
    ),
    (
      "aNy a.b CoNtAiNs[C] 'x' || sOmE a.b bEgInSwItH 'y'",
      "ANY a.b CONTAINS[c] \"x\" OR ANY a.b BEGINSWITH \"y\""
    ),
    (
      "suBqUery(items, $x, $x.k mAtChEs 'y').@count == 0",
      "SUBQUERY(items, $x, $x.k MATCHES \"y\").@count == 0"
    ),
    ("teRnary(truePredicate, nIl, tRuE) == NuLl", "TERNARY(TRUEPREDICATE, nil, 1) == nil"),
    ("sElf eNdsWith 'x' && x == fAlse", "SELF ENDSWITH \"x\" AND x == 0"),
    ("cAsT(a, 'NSNumber') == yEs", "CAST(a, \"NSNumber\") == 1"),
    ("a[FiRsT] == b[sIzE]", "a[FIRST] == b[SIZE]"),
    ("fUnction(a, 'length') > 1", "FUNCTION(a, \"length\") > 1"),
    ("aLL a.b == nO", "ALL a.b == 0"),
    ("a uNiOn b == c", "a UNION b == c"),
    ("\n\ta\t==\r\n 1   AND(b)==2", "a == 1 AND b == 2"),
  ]

  @Test(arguments: keywords)
  func keywordsAreCaseInsensitiveAndWhiteSpaceIsFree(_ format: String, _ printed: String) throws {
    #expect(try NSPredicate.parse(format).predicateFormat == printed)
  }

  /// Words that are no names unless they are marked.
  private static let reserved = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI",
    "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "TRUE", "YES",
    "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST", "FUNCTION",
    "TERNARY", "TRUEPREDICATE", "FALSEPREDICATE", "UNION", "INTERSECT", "MINUS",
  ]

  @Test(arguments: reserved) func aReservedWordIsAKeyOnlyWhenItIsMarked(_ word: String) throws {
    let key = word.lowercased()
    let given = try comparison("%K == 1", key)
    #expect(given.leftExpression.expressionType == .keyPath && given.leftExpression.keyPath == key)
    #expect(given.predicateFormat == "#\(key) == 1")
    #expect(try comparison("#\(key) == 1") == given)
    #expect(given.evaluate(with: [key: 1] as NSDictionary))
    let bare = try? NSPredicate.parse("\(key) == 1")
    #expect((bare as? NSComparisonPredicate)?.leftExpression.expressionType != .keyPath)
  }

  @Test func escapesStandForTheirCharacters() throws {
    let text = try constant(#"a == 'x\ty\rz\n\\ \" \' \x41 \u00e9 \101'"#) as? String
    #expect(text == "x\ty\rz\n\\ \" ' A é A")
    #expect(try constant(#"a == "it's""#) as? String == "it's")
    #expect(try constant(#"a == '"'"#) as? String == "\"")
  }

  @Test func aPlaceholderInQuotesIsText() throws {
    let predicate = try NSPredicate.parse("a == '%@' AND b == \"%d\"")
    #expect(predicate.predicateFormat == "a == \"%@\" AND b == \"%d\"")
  }

  @Test func wholeNumbersAreIntegersAndOthersDoubles() throws {
    let numbers: [(String, NSNumber)] = [
      ("7", 7), ("-7", -7), ("0x1F", 31), ("0o17", 15), ("0b101", 5), ("10.5", 10.5), ("1e3", 1000),
      ("-2.5e-1", -0.25), ("TRUE", 1), ("NO", 0),
    ]
    for (text, number) in numbers {
      #expect(try constant("a == \(text)") as? NSNumber == number, "\(text)")
    }
    #expect(try constant("a == 7") as? Int == 7)
    #expect(try constant("a == 10.5") as? Double == 10.5)
    #expect(try constant("a == YES") as? Bool == true)
  }

  // MARK: 24.2

  @Test func objectsAreArgumentsAsTheyAre() throws {
    let (date, uuid) = (Date(timeIntervalSinceReferenceDate: 12.5), UUID())
    let (data, url) = (Data([1, 2]), URL(fileURLWithPath: "/a"))
    #expect(try constant("a == %@", "it's") as? String == "it's")
    #expect(try constant("a == %@", NSNumber(value: 5)) as? Int == 5)
    #expect(try constant("a == %@", NSNumber(value: true)) as? Bool == true)
    #expect(try constant("a == %@", NSDecimalNumber(string: "0.1")) as? NSDecimalNumber == 0.1)
    #expect(try constant("a == %@", date as NSDate) as? Date == date)
    #expect(try constant("a == %@", uuid as NSUUID) as? UUID == uuid)
    #expect(try constant("a == %@", data as NSData) as? Data == data)
    #expect(try constant("a == %@", url as NSURL) as? URL == url)
    #expect(try constant("a == %@", nil) == nil)
    #expect(try constant("a IN %@", [1, 2] as NSArray) as? [Int] == [1, 2])
    #expect((try constant("a IN %@", NSSet(array: ["x"])) as? NSSet)?.contains("x") == true)
    #expect((try constant("a IN %@", ["k": 1] as NSDictionary) as? NSDictionary)?["k"] as? Int == 1)
    let object = NSObject()
    #expect(try constant("a == %@", object) as AnyObject === object)
  }

  @Test func aPercentSignIsDoubled() throws {
    #expect(NSPredicate(format: "a %% 3 == 1").evaluate(with: ["a": 7] as NSDictionary))
    #expect(NSPredicate(format: "a == '100%'").evaluate(with: ["a": "100%"] as NSDictionary))
  }

  @Test(arguments: ["a == %@", "a ==", "%k == 1", "a.0 == 1", "1 + 1", "$a.$b > 1", "TRUE"])
  func whatIsNoPredicateIsRefusedInFoundationsWords(_ format: String) throws {
    let error = #expect(throws: (any Error).self) { try NSPredicate.parse(format) }
    let text = "Unable to parse the format string \"\(format)\""
    #expect("\(error.map { "\($0)" } ?? "")".hasPrefix(text))
  }

  @Test func aWrongFormatInTheProgramTraps() async {
    await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "a == %@") }
    await #expect(processExitsWith: .failure) {
      _ = NSPredicate(format: "$name == 1").evaluate(with: nil)
    }
  }

  @Test func variablesAreReplacedOrBound() throws {
    let template = NSPredicate(format: "$a == 1 AND name == $NAME")
    let some = template.withSubstitutionVariables(["a": "a"])
    #expect(some.predicateFormat == "\"a\" == 1 AND name == $NAME")
    let row = ["name": "Ada"] as NSDictionary
    #expect(template.evaluate(with: row, substitutionVariables: ["a": 1, "NAME": "Ada"]))
    #expect(!template.evaluate(with: row, substitutionVariables: ["a": 1, "NAME": "Bea"]))
    #expect(template.predicateFormat == "$a == 1 AND name == $NAME")
  }

  // MARK: 24.3

  @Test func bitOperatorsAreFunctionsOfTheirNames() throws {
    let names = [
      "&": "bitwiseAnd:with:", "|": "bitwiseOr:with:", "^": "bitwiseXor:with:",
      "<<": "leftshift:by:", ">>": "rightshift:by:",
    ]
    for (sign, name) in names {
      let left = try comparison("(key \(sign) 1) > 0").leftExpression
      #expect(left.expressionType == .function && left.function == name)
      #expect(left.arguments?.first?.keyPath == "key")
      #expect(left.arguments?.last?.constantValue as? Int == 1)
    }
    let shifted = try comparison("1 << 3 > 1")
    #expect(shifted.predicateOperatorType == .greaterThan)
    #expect(shifted.leftExpression.function == "leftshift:by:")
  }

  @Test func negationBindsTighterThanAndAndThatTighterThanOr() throws {
    func parts(_ format: String) throws -> (NSCompoundPredicate.LogicalType, [String]) {
      let compound = try #require(try NSPredicate.parse(format) as? NSCompoundPredicate)
      let members = compound.subpredicates.compactMap { ($0 as? NSPredicate)?.predicateFormat }
      return (compound.compoundPredicateType, members)
    }
    #expect(try parts("NOT a = 1 OR b = 2") == (.or, ["NOT a == 1", "b == 2"]))
    #expect(try parts("a = 1 OR b = 2 AND c = 3") == (.or, ["a == 1", "b == 2 AND c == 3"]))
    #expect(try parts("a = 1 AND b = 2 AND c = 3") == (.and, ["a == 1", "b == 2", "c == 3"]))
    #expect(try parts("NONE a.b = 1") == (.not, ["ANY a.b == 1"]))
  }

  // MARK: 24.4

  @Test func enumerationsHaveFoundationsNumbers() {
    let operators: [(NSComparisonPredicate.Operator, UInt)] = [
      (.lessThan, 0), (.lessThanOrEqualTo, 1), (.greaterThan, 2), (.greaterThanOrEqualTo, 3),
      (.equalTo, 4), (.notEqualTo, 5), (.matches, 6), (.like, 7), (.beginsWith, 8), (.endsWith, 9),
      (.in, 10), (.customSelector, 11), (.contains, 99), (.between, 100),
    ]
    for (value, number) in operators { #expect(value.rawValue == number) }
    #expect(NSComparisonPredicate.Modifier.direct.rawValue == 0)
    #expect(NSComparisonPredicate.Modifier.all.rawValue == 1)
    #expect(NSComparisonPredicate.Modifier.any.rawValue == 2)
    #expect(NSCompoundPredicate.LogicalType.not.rawValue == 0)
    #expect(NSCompoundPredicate.LogicalType.and.rawValue == 1)
    #expect(NSCompoundPredicate.LogicalType.or.rawValue == 2)
    let options = NSComparisonPredicate.Options.self
    #expect(options.caseInsensitive.rawValue == 1 && options.diacriticInsensitive.rawValue == 2)
    #expect(options.normalized.rawValue == 4)
  }

  @Test(arguments: ["ANY one == 1", "ALL one == 1"])
  func aModifierNeedsACollection(_ format: String) throws {
    let error = #expect(throws: (any Error).self) {
      try NSPredicate.parse(format).test(["one": 1] as NSDictionary)
    }
    #expect(
      "\(error.map { "\($0)" } ?? "")".contains(
        "The left hand side for an ALL or ANY operator must be either an NSArray or an NSSet."))
  }

  // MARK: 24.6

  @Test func constantsArePrintedByTheirKind() {
    func printed(_ value: Any?) -> String { NSExpression(forConstantValue: value).description }
    #expect(printed("a \"b\" \\") == #""a \"b\" \\""#)
    #expect(printed(true) == "1" && printed(5) == "5" && printed(2.5) == "2.5")
    #expect(printed(nil) == "nil" && printed(NSNull()) == "<null>")
    #expect(
      printed(Date(timeIntervalSinceReferenceDate: -978_307_200))
        == "CAST(-978307200.000000, \"NSDate\")")
    #expect(printed([1, 3]) == "{1, 3}" && printed(["a", "b"]) == "{\"a\", \"b\"}")
    #expect(printed([[1, 2], [3]]) == "{{1, 2}, {3}}" && printed(Set([7])) == "{7}")
  }

  private static let forms: [(String, String)] = [
    ("d < now()", "d < now()"), ("random(3) == 1", "random:(3) == 1"),
    ("FUNCTION(a, 'x:y:', 1, b) == 1", "FUNCTION(a, \"x:y:\" , 1, b) == 1"),
    ("a LIKE[lndc] 'x'", "a LIKE[cdnl] \"x\""),
    ("age + 1 * 2 == 3", "age + (1 * 2) == 3"), ("2 ** 3 == 8", "2 ** 3 == 8"),
    ("$t.key.path == 1", "$t.key.path == 1"), ("$t[0].k == 1", "$t[0].k == 1"),
    ("a.@sum.b > sum(a.b)", "a.@sum.b > sum:(a.b)"),
    ("NOT (NOT a == 1 AND b == 2)", "NOT (NOT a == 1 AND b == 2)"),
    ("(a == 1 OR b == 2) OR c == 3", "(a == 1 OR b == 2) OR c == 3"),
  ]

  @Test(arguments: forms) func formsArePrintedAsFoundationPrintsThem(
    _ format: String, _ printed: String
  ) throws {
    let predicate = try NSPredicate.parse(format)
    #expect(predicate.predicateFormat == printed && predicate.description == printed)
    #expect(try NSPredicate.parse(printed) == predicate)
  }
}
