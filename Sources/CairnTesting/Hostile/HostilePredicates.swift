// Texts that look like predicates on the items of the hostile model.

package enum HostilePredicates {
  /// Good ones, as seeds.
  package static let good: [String] = [
    "name == 'a'", "name BEGINSWITH[cd] 'A' AND i64 > 3",
    "name LIKE '*a?' OR name MATCHES '[a-z]+'",
    "i16 IN {1, 2, 3}", "i32 BETWEEN {0, 10}", "box.name == 'b' AND box.shelf == 1",
    "ANY tags.name == 't'", "ALL tags.name != nil", "NONE tags.name == 't'", "tags.@count > 0",
    "SUBQUERY(tags, $t, $t.name == 't' AND $t.items.@count > 0).@count > 0",
    "box.items.@sum.i64 >= 2", "parts.@max.size < 5", "i64 + 2 * 3 - i16 / 1 == 7",
    "i64 / i16 > 1", "i64 ** 3 > 2", "modulus:by:(i64, i16) == 0", "abs(i64) > 1",
    "uppercase(name) == 'A'", "length(name) > 0", "flag == YES", "NOT (flag == TRUE)",
    "date > CAST(700000000, 'NSDate')", "dec == 12.50", "uuid == nil", "data != nil",
    "TERNARY(i64 > 1, name, code) == 'x'", "SELF IN {}", "name CONTAINS 'x' OR TRUEPREDICATE",
    "count(tags) == 1", "sum(tags.@count) > 0", "max({1, 2, i64}) > 1", "tags[FIRST].name == 'a'",
    "parts[0].size == 1", "parts[SIZE] > 0", "name != nil AND code == nil", "i64 & 3 == 1",
    "bitwiseAnd:with:(i64, 3) == 1", "leftshift:by:(i64, 70) == 0", "sqrt(i64) > 1",
    "ln(dbl) < 0", "onesComplement(i64) > 0", "floor(dbl) == 1", "trunc(dbl) == 1",
    "castObject:toType:(i64, 'NSNumber') == 1", "distanceToLocation:fromLocation:(i64, i16) > 0",
    "stddev(parts.size) > 0", "mode(parts.size) == {1}", "median(parts.size) > 0", "now() > date",
    "tags INTERSECT tags == tags", "name == $x", "temp == 'x'", "entity == 'Item'",
    "objectID == nil", "SELF == 1", "self.self.name == 'a'", "flt < dbl AND dbl > dec",
  ]

  private static let words: [String] = [
    "name", "i16", "i32", "i64", "dec", "dbl", "flt", "flag", "date", "data", "uuid", "uri", "temp",
    "code", "box", "tags", "parts", "box.items", "tags.name", "parts.size", "@count", "@sum",
    "@max", "@", "SELF", "self", "nil", "NULL", "'x'", "\"\"", "''", "1", "0", "-1", "0.5", "1e308",
    "1e309", "1e-400", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "99999999999999999999999999999999999999999999", "0x7fffffffffffffff", "0xffffffffffffffffff",
    "0b1", "0o7", "YES", "NO", "TRUE", "AND", "OR", "NOT", "!", "&&", "||", "==", "=", "!=", "<>",
    "<", ">", "<=", "=>", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES",
    "[cd]", "[c]", "[n]", "[", "]", "[0]", "[-1]", "[99999999999999999999]", "[FIRST]", "[LAST]",
    "[SIZE]", "ANY", "ALL", "SOME", "NONE", "(", ")", "{", "}", "{}", "{1, 2}", "{nil}", ",", ".",
    ":", "+", "-", "*", "/", "**", "~", "&", "|", "^", "<<", ">>", "%", "$", "$x", "$t", ":=", "#",
    "#name", "\\", "\0", "'\\u0000'", "'%'", "'*'", "'('", "'[a-'", "'(?<x>a)\\\\1'", "'\\\\'",
    "sum(", "count(", "abs(", "sqrt(", "modulus:by:(", "divide:by:(", "raise:toPower:(",
    "leftshift:by:(", "rightshift:by:(", "SUBQUERY(", "CAST(", "TERNARY(", "FUNCTION(", "FETCH(",
    "random()", "now()", "UNION", "INTERSECT", "MINUS", "TRUEPREDICATE", "FALSEPREDICATE", "é",
    "\u{301}", "CAST(1e300, 'NSDate')", "CAST('x', 'NSNumber')", "CAST(nil, 'NSDate')",
  ]

  /// A good one with words put in, taken out, exchanged or repeated; or words at random.
  package static func text(using numbers: inout some RandomNumberGenerator) -> String {
    var parts: [String]
    if Int.random(in: 0..<8, using: &numbers) == 0 {
      parts = (0..<Int.random(in: 1...12, using: &numbers)).map { _ in word(&numbers) }
    } else {
      parts = split(good.randomElement(using: &numbers) ?? "")
    }
    for _ in 0..<Int.random(in: 0...3, using: &numbers) where !parts.isEmpty {
      let index = Int.random(in: 0..<parts.count, using: &numbers)
      switch Int.random(in: 0..<6, using: &numbers) {
      case 0: parts.remove(at: index)
      case 1: parts.insert(word(&numbers), at: index)
      case 2: parts.append(contentsOf: parts.prefix(20))
      case 3: parts.insert(contentsOf: split(good.randomElement(using: &numbers) ?? ""), at: index)
      default: parts[index] = word(&numbers)
      }
    }
    return parts.joined(separator: " ")
  }

  private static func word(_ numbers: inout some RandomNumberGenerator) -> String {
    words.randomElement(using: &numbers) ?? ""
  }

  /// The words and signs of a text.
  private static func split(_ text: String) -> [String] {
    var parts: [String] = []
    var isInWord = false
    for character in text {
      if character == " " {
        isInWord = false
      } else if character.isLetter || character.isNumber || "@$_.'".contains(character) {
        if isInWord {
          parts[parts.count - 1].append(character)
        } else {
          parts.append("\(character)")
        }
        isInWord = true
      } else {
        parts.append("\(character)")
        isInWord = false
      }
    }
    return parts
  }
}
