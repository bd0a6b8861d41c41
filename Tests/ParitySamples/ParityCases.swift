// The predicates that every way of evaluating must answer alike.

/// A format string, and whether SQL says all of it.
package struct ParityCase: CustomStringConvertible, Sendable {
  package let format: String
  /// Of SQLite.
  package let isSQL: Bool
  package var description: String { format }
}

package enum ParityCases {
  package static let all =
    sql.map { ParityCase(format: $0, isSQL: true) }
    + memory.map { ParityCase(format: $0, isSQL: false) }

  /// Chapter 25.1: what SQL says.
  private static let sql: [String] = [
    // Null.
    "s == nil", "s != nil", "nil == s", "NOT (s == nil)", "s == t", "s != t", "NOT (s == t)",
    "s < t", "NOT (s < t)", "s == 'a'", "s != 'a'", "NOT (s == 'a')", "NOT (s != 'a')",
    "i == nil OR i > 0", "i > nil", "i <= nil", "i != nil AND NOT (i == j)", "owner.name == nil",
    "owner.name != nil", "NOT (owner.name == 'Ann')", "owner.name != 'Ann'", "owner == nil",
    // Text.
    "s ==[c] 'A'", "s !=[c] 'A'", "s ==[d] 'E'", "s ==[cd] 'ecole'", "s ==[c] 'strasse'",
    "s ==[n] '\u{e9}'", "s == '\u{e9}'", "s == 'e\u{301}'", "s ==[l] 'e\u{301}'", "s ==[cd] t",
    "s <[c] 'b'", "s >= 'a'", "s > ''", "s == ''", "s BEGINSWITH 'a'", "s BEGINSWITH ''",
    "s BEGINSWITH '\u{10FFFF}'", "s BEGINSWITH[c] 'STRA'", "s BEGINSWITH[cd] 'e'",
    "s ENDSWITH 'b'", "s ENDSWITH[cd] 'E'", "s CONTAINS '%'", "s CONTAINS '_'", "s CONTAINS ''",
    "s CONTAINS[cd] 'O'", "s CONTAINS 'b'", "s CONTAINS t", "NOT (s CONTAINS 'a')",
    "s CONTAINS '\u{301}'", "s LIKE 'a*b'", "s LIKE 'a\\\\*b'", "s LIKE 'a?b'", "s LIKE '*'",
    "s LIKE[cd] '?COLE'", "s LIKE '?'", "s MATCHES 'a.?b'", "s MATCHES[c] '[a-z]+'",
    "s MATCHES ''", "'a' IN s", "'' IN s", "t IN s", "length(s) == 3", "length(s) > length(t)",
    "uppercase(s) == 'STRASSE'", "lowercase(s) == 'i'", "canonical(s) == 'ecole'",
    "s == 'a\\x00b'", "s BEGINSWITH 'a\\x00'", "s CONTAINS '\\x00'", "length(s) == 2",
    // Numbers.
    "i == 0", "i == -0.0", "f == 0", "f < 0", "f == 1", "f != 1", "i == f", "i != f", "i < f",
    "i == 9007199254740993", "f == 9007199254740993", "f == 9007199254740992", "i > f",
    "i == 9223372036854775807", "i >= 9223372036854775807.0", "i == -9223372036854775808",
    "j + 1 == 3", "i + 1 > 0", "i + i < 0", "i - 1 < i", "i * i > 0", "i * 2 == f", "j / 2 == 1",
    "j / 0 == nil", "f / 0 == nil", "g / j > 1", "-7 / j == -3", "j - g > 1", "g * 2 == j",
    "i %% 2 == 1", "i %% 2 == -1", "j %% 0 == nil", "f %% 2 == 0.5", "g %% 1 == 0.5",
    "(i & 1) == 1", "(i | 1) == i", "(j ^ 1) == 3", "(j << 62) < 0", "(i >> 1) > 0", "~j == -3",
    "(j << -1) == 1", "(i >> 70) == 0", "j ** 2 == 9", "sqrt(j) > 1.5", "sqrt(0 - j) == nil",
    "abs(i) > 5", "abs(f) == 2.5", "floor(g) == 1", "ceiling(g) == 2", "trunc(f) == -2",
    "ln(j) == nil", "log(g) > 0.2", "exp(j) > 5", "f BETWEEN {0, 1}", "i BETWEEN {-1, 3}",
    "s BETWEEN {'a', 'b'}", "i BETWEEN {j, 9}", "f > -1e308", "-f == 2.5",
    "d == 0.1", "d > 0.1", "d == 2.5", "d < i", "d != 1", "d == 1234567.891", "d BETWEEN {-3, 1}",
    "d IN {1, 0.1}", "d == 2.01", "d <= 2.01", "d >= 4.35", "d < 4.35", "d BETWEEN {2.01, 4.35}",
    "d IN {2.01, 4.35}", "noindex:(i) == 1",
    // Booleans, dates, UUIDs, URLs, data.
    "flag == YES", "flag == NO", "flag != YES", "flag == 1", "NOT (flag == YES)", "flag == i",
    "flag > 0", "flag IN {YES}", "at == CAST(0, 'NSDate')", "at > CAST(0, 'NSDate')",
    "at != CAST(0.5, 'NSDate')", "at < now()", "at IN {CAST(0, 'NSDate'), CAST(100, 'NSDate')}",
    "at + 1 > CAST(1, 'NSDate')", "at == 0", "at < j", "CAST(at, 'NSNumber') == 100",
    "CAST(j, 'NSDate') == at", "at BETWEEN {CAST(-1, 'NSDate'), CAST(1, 'NSDate')}",
    "u == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')", "u == nil",
    "u != CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')",
    "u IN {CAST('00000000-0000-0000-0000-000000000000', 'NSUUID')}",
    "link == CAST('mailto:q@b.c', 'NSURL')", "link != nil", "raw == CAST('AA==', 'NSData')",
    "raw == CAST('', 'NSData')", "raw != CAST('', 'NSData')", "raw == nil",
    // Lists.
    "s IN {'a', 'b', nil}", "s IN {}", "NOT (s IN {'a'})", "s IN[c] {'A', 'ECOLE'}",
    "s IN[cd] {'\u{c9}cole', nil}", "i IN {0, 1, 2, 3, 4, 5, 6, 7}", "f IN {0.1, 0.5, 1}",
    "f IN {1, 2, 3, 4, 5, 6}", "s IN {'a', 'b', '\u{e9}', '100%', 'a\\x5cb', '', 'a\"b'}",
    "s IN {'a', 'b', 'a\\x00b', '', 'x', 'y'}", "owner.name IN {'Ann', nil}", "j IN {f, 2}",
    // To-one paths.
    "owner.name == 'Ann'", "owner.name ==[c] 'ann'", "owner.age > 10", "whole.whole.i > 0",
    "whole.owner.name == owner.name", "whole.s == s", "entity.name == 'Special'", "SELF.i == 1",
    // To-many.
    "tags.@count == 0", "tags.@count > 1", "ANY tags.name == 'red'", "ANY tags.name != 'red'",
    "ANY tags.name ==[c] 'RED'", "ALL tags.name == 'red'", "NONE tags.name == 'red'",
    "ANY tags.name == nil", "ALL tags.name != nil", "NOT (ANY tags.name == nil)",
    "ANY tags.weight > 1", "ANY tags.weight BETWEEN {0, 1}", "ANY tags.name IN {'red', nil}",
    "ANY tags.name BEGINSWITH[cd] 'BLUE'", "'red' IN tags.name", "tags.name CONTAINS 'Red'",
    "parts.@count > 0", "parts.@sum.j > 3", "parts.@sum.i > 0", "parts.@avg.j == 2",
    "parts.@avg.i > 0", "parts.@sum.g == 3.5", "parts.@max.i > 0", "parts.@min.f < 0",
    "parts.@min.s == ''", "parts.@max.at > CAST(0, 'NSDate')", "parts.@min.j == nil",
    "parts.@sum.f > 0", "parts.@sum.j == 0", "ANY parts.j > j", "ANY parts.owner.name == 'Ann'",
    "count(parts) == 2", "sum(parts.j) > 3", "max(parts.j) == 5", "parts[SIZE] == 1",
    "SUBQUERY(tags, $t, $t.weight > 1 AND $t.name != nil).@count == 1",
    "SUBQUERY(parts, $p, $p.j > SELF.j).@count > 0", "SUBQUERY(parts, $p, $p.s == s).@count > 0",
    "SUBQUERY(parts, $p, SUBQUERY($p.tags, $t, $t.name == 'red').@count > 0).@count > 0",
    "SUBQUERY(parts, $p, $p.j > 1).@sum.j > 4", "SUBQUERY(parts, $p, $p.j > 1).@max.g == 2",
    "SUBQUERY(parts, $p, ANY $p.tags.name == 'red').@count > 0",
    "SUBQUERY(owner.items, $x, $x.j > 3).@count > 2", "owner.items.@count > 10",
    // Shapes.
    "TRUEPREDICATE", "FALSEPREDICATE", "NOT TRUEPREDICATE", "TERNARY(j > 2, i, 0) > 0",
    "TERNARY(s == nil, t, s) == 'a'", "TERNARY(j > 2, 1, nil) == nil",
    "NOT (i > 0 AND NOT (f < 1 OR s == nil))", "NOT NOT (s == 'a')",
  ]

  /// What only memory says.
  private static let memory: [String] = [
    "FUNCTION(s, 'length') > 2", "d + 1 > 1.05", "CAST(j, 'NSString') == '3'",
    "median(parts.j) > 2", "FUNCTION(s, 'length') > 1 OR i > 3",
    "i > 0 AND FUNCTION(s, 'length') > 1", "stddev(parts.g) > 0.5",
    "tags.@distinctUnionOfObjects.name.@count > 1", "(parts.j)[SIZE] > 1", "s == i", "i < 'a'",
    "u < CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')", "raw < CAST('AAE=', 'NSData')",
    "link CONTAINS 'example'", "link == 'mailto:q@b.c'",
    "s IN SUBQUERY(parts, $p, TRUEPREDICATE).s",
    "mode(parts.j) == {2}", "tags.name UNION {'x'} == {'x'}", "{1, 2} MINUS {j} == {2}",
    "'a' == s[FIRST]" /* fails the same way everywhere */, "i IN {1, 'a'}", "i IN {s, j, 1}",
    "parts.@sum.d > 0.5", "d * 2 == 5", "s customSelector: 'a'" /* no such method */,
    "s isEqual: 'a'", "s caseInsensitiveCompare: 'A'", "j CONTAINS 1" /* not a collection */,
  ]
}
