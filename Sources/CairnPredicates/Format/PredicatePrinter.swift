import Foundation

/// Writes predicates as Foundation does; see `ExpressionPrinter.swift` for expressions.
package enum PredicatePrinter {
  /// The text of a predicate.
  package static func text(of node: PredicateNode) -> String {
    switch node {
    case .value(true): return "TRUEPREDICATE"
    case .value(false): return "FALSEPREDICATE"
    case .block(let block):
      return "BLOCKPREDICATE(\(address(block.token)))"
    case .comparison(let comparison): return text(of: comparison)
    case .compound(.and, let members) where members.isEmpty: return "TRUEPREDICATE"
    case .compound(.or, let members) where members.isEmpty: return "FALSEPREDICATE"
    case .compound(.and, let members): return members.map(member).joined(separator: " AND ")
    case .compound(.or, let members): return members.map(member).joined(separator: " OR ")
    case .compound(.not, let members):
      return members.map { "NOT " + member($0) }.joined(separator: " AND ")
    }
  }

  static func address(_ object: ObjectIdentifier) -> String {
    "0x" + String(UInt(bitPattern: object), radix: 16)
  }

  /// A member of a compound; compounds inside compounds get parentheses, even of the same kind.
  private static func member(_ node: PredicateNode) -> String {
    guard case .compound(let type, let members) = node, type != .not, !members.isEmpty else {
      return text(of: node)
    }
    if members.count == 1 { return member(members[0]) }
    return "(\(text(of: node)))"
  }

  private static func text(of comparison: ComparisonNode) -> String {
    let modifier: String
    switch comparison.modifier {
    case .direct: modifier = ""
    case .any: modifier = "ANY "
    case .all: modifier = "ALL "
    }
    let sign = comparison.selector?.rawValue ?? comparison.type.sign
    let options = comparison.type == .customSelector ? "" : comparison.options.text
    return "\(modifier)\(text(of: comparison.left)) \(sign)\(options) \(text(of: comparison.right))"
  }
}

extension ComparisonPredicate.Operator {
  /// How the operator is written.
  package var sign: String {
    switch self {
    case .lessThan: return "<"
    case .lessThanOrEqualTo: return "<="
    case .greaterThan: return ">"
    case .greaterThanOrEqualTo: return ">="
    case .equalTo: return "=="
    case .notEqualTo: return "!="
    case .matches: return "MATCHES"
    case .like: return "LIKE"
    case .beginsWith: return "BEGINSWITH"
    case .endsWith: return "ENDSWITH"
    case .in: return "IN"
    case .customSelector: return "isEqual:"
    case .contains: return "CONTAINS"
    case .between: return "BETWEEN"
    }
  }
}

extension ComparisonPredicate.Options {
  /// `[cd]`, or nothing.
  fileprivate var text: String {
    var letters = ""
    if contains(.caseInsensitive) { letters += "c" }
    if contains(.diacriticInsensitive) { letters += "d" }
    if contains(.normalized) { letters += "n" }
    if contains(.localeSensitive) { letters += "l" }
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}
