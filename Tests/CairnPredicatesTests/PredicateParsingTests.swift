// What the format language accepts, how it prints, and what it refuses where.

import CairnPredicates
import Foundation
import Testing

@Suite struct PredicateParsingTests {
  struct Accepted: Sendable, CustomTestStringConvertible {
    let text: String
    let printed: String
    var testDescription: String { text }
    init(_ text: String, _ printed: String) {
      self.text = text
      self.printed = printed
    }
  }

  static let accepted: [Accepted] = [
    // Comparisons and their spellings.
    .init("a = 1", "a == 1"),
    .init("a == 1", "a == 1"),
    .init("a<>1", "a != 1"),
    .init("a =< 1 && b => 2", "a <= 1 AND b >= 2"),
    .init("a BETWEEN {1, 10}", "a BETWEEN {1, 10}"),
    .init("name like[cd] 'a*'", "name LIKE[cd] \"a*\""),
    .init("name CONTAINS[dc] 'x'", "name CONTAINS[cd] \"x\""),
    .init("name ==[c] 'x'", "name ==[c] \"x\""),
    .init("name LIKE CI 'x'", "name LIKE[c] \"x\""),
    .init("name LIKE[CASEINSENSITIVE] 'x'", "name LIKE[c] \"x\""),
    .init("name BEGINSWITH[nlw] 'x'", "name BEGINSWITH[nl] \"x\""),
    .init("x isKindOfClass: 'y'", "x isKindOfClass: \"y\""),
    .init("'a' in {'a', 'b'}", "\"a\" IN {\"a\", \"b\"}"),
    .init("a MATCHES '[a-z]+'", "a MATCHES \"[a-z]+\""),
    .init("ANY a.b == 1", "ANY a.b == 1"),
    .init("SOME a.b == 1", "ANY a.b == 1"),
    .init("NONE a.b == 1", "NOT ANY a.b == 1"),
    .init("ALL age == 21", "ALL age == 21"),
    // Compounds.
    .init("a = 1 OR b = 2 AND c = 3", "a == 1 OR (b == 2 AND c == 3)"),
    .init("NOT a = 1 OR b = 2", "NOT a == 1 OR b == 2"),
    .init("NOT (a = 0 || b = 1)", "NOT (a == 0 OR b == 1)"),
    .init("!(a = 0)", "NOT a == 0"),
    .init("NOT NOT a = 0", "NOT NOT a == 0"),
    .init("((a = 1))", "a == 1"),
    .init("(1 == 1 AND 1 != 0) AND 1 != 2", "(1 == 1 AND 1 != 0) AND 1 != 2"),
    .init("a = 1 AND b = 2 AND c = 3", "a == 1 AND b == 2 AND c == 3"),
    .init("TRUEPREDICATE and falsepredicate", "TRUEPREDICATE AND FALSEPREDICATE"),
    // Literals.
    .init("a = 'it\\'s' OR a = \"q\\\"\"", "a == \"it's\" OR a == \"q\\\"\""),
    .init("a = '\\x41\\u00e9\\101\\n'", "a == \"AéA\\n\""),
    .init("a = '\\ud83d\\ude00'", "a == \"😀\""),
    .init("a = '%@'", "a == \"%@\""),
    .init("a = 0x1F", "a == 31"),
    .init("a = 0o17 OR a = 0b101", "a == 15 OR a == 5"),
    .init("a = -5 AND b = - 5", "a == -5 AND b == -5"),
    .init("a = -9223372036854775808", "a == -9223372036854775808"),
    .init("a = 18446744073709551615", "a == 18446744073709551615"),
    .init("a = 10.5 OR a = 1e3", "a == 10.5 OR a == 1000"),
    .init("a = YES AND b = FALSE", "a == 1 AND b == 0"),
    .init("a = nil OR a = NULL", "a == nil OR a == nil"),
    .init("SELF = 1 OR self.a = 2", "SELF == 1 OR a == 2"),
    .init("$name = $a.b", "$name == $a.b"),
    .init("d < CAST(-978307200.000000, 'NSDate')", "d < CAST(-978307200.000000, \"NSDate\")"),
    // Names.
    .init("#size = 1 AND a.size = 2", "#size == 1 AND a.#size == 2"),
    .init("a.@count > 0 AND a.@sum.b < 3", "a.@count > 0 AND a.@sum.b < 3"),
    .init("größe = 1", "größe == 1"),
    // Arithmetic and bits.
    .init("1 + 2 * 3 = 7", "1 + (2 * 3) == 7"),
    .init("(1 + 2) * 3 = 9", "(1 + 2) * 3 == 9"),
    .init("8 - 4 - 2 = 2", "(8 - 4) - 2 == 2"),
    .init("2 ** 3 = 8", "2 ** 3 == 8"),
    .init("1.0 / 2 = 0.5", "1.0 / 2 == 0.5"),
    .init("-x > 1", "0 - x > 1"),
    .init("(key & 1) > 0", "bitwiseAnd:with:(key, 1) > 0"),
    .init("key | 1 ^ 2 > 0", "bitwiseOr:with:(key, bitwiseXor:with:(1, 2)) > 0"),
    .init("1 << 3 > 1", "leftshift:by:(1, 3) > 1"),
    .init("~a = 1", "onesComplement:(a) == 1"),
    .init("a UNION b = c", "a UNION b == c"),
    // Calls.
    .init("sum({1, 2, 3}) = 6", "sum:({1, 2, 3}) == 6"),
    .init("lowercase(name) = 'a'", "lowercase:(name) == \"a\""),
    .init("modulus:by:(a, 2) = 0", "modulus:by:(a, 2) == 0"),
    .init("d < now()", "d < now() "),
    .init("FUNCTION('a', 'uppercase') = 'A'", "FUNCTION(\"a\", \"uppercase\") == \"A\""),
    .init("FUNCTION(a, 'pow:', 3) = 1", "FUNCTION(a, \"pow:\" , 3) == 1"),
    .init("a[SIZE] = 1 AND a[first] = b[LAST]", "a[SIZE] == 1 AND a[FIRST] == b[LAST]"),
    .init("(a.d)[0].b = 1", "a.d[0].b == 1"),
    .init("TERNARY(a > 1, 2, 3) = 2", "TERNARY(a > 1, 2, 3) == 2"),
    .init(
      "SUBQUERY(items, $x, $x.k == 1).@count > 0",
      "SUBQUERY(items, $x, $x.k == 1).@count > 0"),
    .init("a IN FETCH($r, $c, YES)", "a IN FETCH($r, $c, YES)"),
    .init("ANYKEY CONTAINS 'x'", "ANYKEY CONTAINS \"x\""),
    .init("($a := 5) > 4", "$a := 5 > 4 "),
  ]

  @Test(arguments: accepted)
  func acceptedTextPrintsInFoundationsForm(_ row: Accepted) throws {
    let predicate = try ObjectPredicate.parse(row.text)
    if !row.printed.hasSuffix(" ") {
      #expect(predicate.predicateFormat == row.printed)
    }
    let again = try ObjectPredicate.parse(predicate.predicateFormat)
    #expect(again == predicate, "\(predicate.predicateFormat)")
    #expect(again.hash == predicate.hash)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let text: String
    let position: Int
    let reason: String
    var testDescription: String { text }
    init(_ text: String, _ position: Int, _ reason: String) {
      self.text = text
      self.position = position
      self.reason = reason
    }
  }

  static let refused: [Refused] = [
    .init("", 0, "value expected, but the text ends"),
    .init("1", 0, "an expression alone is not a predicate"),
    .init("TRUE", 0, "an expression alone is not a predicate"),
    .init("a = 1 OR b", 9, "an expression alone is not a predicate"),
    .init("0 || 1", 0, "an expression alone is not a predicate"),
    .init("a =", 3, "a value expected, but the text ends"),
    .init("a = 1 b", 6, "does not continue"),
    .init("a = 'x", 4, "not terminated"),
    .init("a = 'x\\", 6, "not terminated"),
    .init("a = 'x\\q'", 6, "\\q is not an escape"),
    .init("a = '\\ud800'", 5, "surrogate"),
    .init("a = '\\x4'", 5, "needs 2 digits"),
    .init("a.0 = 1", 2, "a name must follow the dot"),
    .init("1a = 1", 0, "must not start with a digit"),
    .init("a = 0x", 4, "no digits"),
    .init("a = 1e999", 4, "too large"),
    .init("%k = 1", 0, "%k is not a directive"),
    .init("a = %", 4, "unfinished"),
    .init("a = %@", 4, "only 0 arguments"),
    .init("(a = 1", 6, "')' expected, but the text ends"),
    .init("a IN {1, 2", 10, "'}' expected"),
    .init("size = 1", 0, "reserved word"),
    .init("frobnicate(a) = 1", 0, "there is no function frobnicate with 1 arguments"),
    .init("now(1) = 1", 0, "there is no function now with 1 arguments"),
    .init("a LIKE[z] 'x'", 7, "z is not a comparison option"),
    .init("ANY a.b", 7, "a comparison operator expected"),
    .init("(a = 1) + 2 = 3", 0, "a predicate cannot be used as a value"),
    .init("SUBQUERY(a, x, x = 1).@count > 0", 12, "a $variable expected"),
    .init("CAST(a, NSDate) = 1", 8, "the name of a class in quotes expected"),
    .init("a ; b", 2, "the sign ; has no meaning here"),
    .init("$ = 1", 1, "a name must follow $"),
  ]

  @Test(arguments: refused)
  func refusedTextSaysWhereAndWhy(_ row: Refused) throws {
    let error = try #require(throws: PredicateFormatError.self) {
      try ObjectPredicate.parse(row.text)
    }
    #expect(error.position == row.position)
    #expect(error.reason.contains(row.reason), "\(error.reason)")
    #expect(error.description.hasPrefix("Unable to parse the format string \"\(row.text)\""))
  }

  @Test func specifiersTakeTheirArgumentsInOrder() throws {
    let date = Date(timeIntervalSinceReferenceDate: 12.5)
    let predicate = try ObjectPredicate.parse(
      "%K == %@ AND a == %d AND b < %f AND c == %c AND d == %@ AND e IN %@ AND %K.x == %@",
      arguments: ["p.q", "text", 5, 2.5, "z", date, [1, 2], "r", nil])
    #expect(
      predicate.predicateFormat
        == "p.q == \"text\" AND a == 5 AND b < 2.5 AND c == \"z\" "
        + "AND d == CAST(12.500000, \"NSDate\") AND e IN {1, 2} AND r.x == nil")
  }

  @Test func everyIntegerDirectiveIsKnown() throws {
    for directive in ["d", "i", "u", "ld", "lu", "lld", "llu", "hi", "qi", "zd", "x", "o"] {
      let predicate = try ObjectPredicate.parse("a == %\(directive)", arguments: [7])
      #expect(predicate.predicateFormat == "a == 7", "%\(directive)")
    }
  }

  @Test func argumentsOfTheWrongTypeAreRefused() {
    let cases: [(String, Any?)] = [
      ("%K == 1", 5), ("a == %d", "x"), ("a == %f", nil), ("a == %c", "xy"), ("a == %s", 1),
    ]
    for (format, argument) in cases {
      let error = #expect(throws: PredicateFormatError.self) {
        try ObjectPredicate.parse(format, arguments: [argument])
      }
      #expect(error?.code == .argument, "\(format)")
    }
  }

  @Test func formatStringsGiveTheClassThatFits() {
    #expect(ObjectPredicate(format: "a == %@", 1) is ComparisonPredicate)
    #expect(ObjectPredicate(format: "a == 1 AND b == 2") is CompoundPredicate)
    #expect(ObjectPredicate(format: "a == %@", argumentArray: [1]) is ComparisonPredicate)
    #expect(type(of: ObjectPredicate(format: "TRUEPREDICATE")) == ObjectPredicate.self)
  }
}
