import Foundation

/// The total order in which sort descriptors put values; see `ValueComparison.swift`.
package enum ValueSorting {
  /// Whether a selector is one that sorting knows.
  package static func supports(_ selector: SelectorName) -> Bool {
    switch selector {
    case .compare, .caseInsensitiveCompare, .localizedCompare, .localizedCaseInsensitiveCompare,
      .localizedStandardCompare:
      return true
    default: return false
    }
  }

  /// How two values compare by a selector.
  ///
  /// A selector Cairn does not know is a programmer's error and traps.
  package static func compare(
    _ a: PredicateValue, _ b: PredicateValue, by selector: SelectorName
  ) -> ComparisonResult {
    if selector != .compare, let a = a.text, let b = b.text {
      return compareText(a, b, by: selector)
    }
    if let result = a.compared(to: b) { return result }
    let kind = (a.kind, b.kind)
    if kind.0 != kind.1 {
      return kind.0.rawValue < kind.1.rawValue ? .orderedAscending : .orderedDescending
    }
    switch kind.0 {
    case .reference:
      guard let a = a.identity, let b = b.identity else { return .orderedSame }
      return a.order(comparedTo: b)
    case .array: return compare(a.elements ?? [], b.elements ?? [], by: selector)
    case .null, .number, .text, .bytes, .set, .dictionary, .object: return .orderedSame
    }
  }

  /// How two texts compare by a selector; collations in SQL call it too.
  package static func compareText(
    _ a: String, _ b: String, by selector: SelectorName
  ) -> ComparisonResult {
    switch selector {
    case .compare: return TextOrder.compare(a, b)
    case .caseInsensitiveCompare:
      return TextOrder.compare(
        StringFolding.fold(a, options: .caseInsensitive),
        StringFolding.fold(b, options: .caseInsensitive))
    case .localizedCompare: return a.compare(b, locale: .current)
    case .localizedCaseInsensitiveCompare:
      return a.compare(b, options: .caseInsensitive, locale: .current)
    case .localizedStandardCompare: return a.localizedStandardCompare(b)
    // Sort descriptors and messages ask supports(_:) first; what is left is a comparator that the
    // program called with a selector of its own.
    default: fatalError("unsupported NSSortDescriptor selector: \(selector.rawValue)")
    }
  }

  /// The members of a set in this order.
  package static func sorted(_ members: Set<PredicateValue>) -> [PredicateValue] {
    members.sorted { compare($0, $1, by: .compare) == .orderedAscending }
  }

  private static func compare(
    _ a: [PredicateValue], _ b: [PredicateValue], by selector: SelectorName
  ) -> ComparisonResult {
    for (a, b) in zip(a, b) {
      let result = compare(a, b, by: selector)
      if result != .orderedSame { return result }
    }
    return a.count == b.count
      ? .orderedSame : (a.count < b.count ? .orderedAscending : .orderedDescending)
  }
}
