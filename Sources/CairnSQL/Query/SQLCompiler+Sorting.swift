import CairnModel
import CairnStore

// Sort descriptors as ORDER BY terms.

extension SQLCompiler {
  /// The ORDER BY list.
  ///
  /// - Throws: ``SQLUnsupported`` when memory must sort, ``CoreDataError`` for what nothing sorts.
  func ordering(_ descriptors: [ObjectSortDescriptor]) throws -> [SQLFragment] {
    try descriptors.map { descriptor in
      guard !descriptor.hasCustomComparator, let selector = descriptor.selector,
        let collation = SQLCollation.name(for: selector)
      else { throw SQLQueryError.unsupportedSort(descriptor) }
      let term: SQLTerm
      if let key = descriptor.key {
        term = try self.term(.keyPath(key))
      } else {
        term = object(root.alias, root.entity)
      }
      let direction = descriptor.ascending ? " ASC" : " DESC"
      if term.kind == .string, let text = collation.text {
        return term.fragment + " COLLATE \(text)\(direction)"
      }
      switch term.kind {
      case .integer, .boolean, .double, .decimal, .string, .date, .object, .uuid, .url, .null:
        return term.fragment + direction
      case .data, .opaqueData, .entity: throw SQLUnsupported()
      }
    }
  }
}

/// The collations that Cairn registers, which compare as the evaluator's sort does.
package enum SQLCollation {
  package static let all: [(name: String, selector: SelectorName)] = [
    ("CairnCaseInsensitive", .caseInsensitiveCompare),
    ("CairnLocalized", .localizedCompare),
    ("CairnLocalizedCaseInsensitive", .localizedCaseInsensitiveCompare),
    ("CairnLocalizedStandard", .localizedStandardCompare),
  ]

  /// Nil for a selector that stores do not know; no text for the plain comparison of bytes.
  static func name(for selector: SelectorName) -> (text: String?, Void)? {
    if selector == .compare { return (nil, ()) }
    return all.first { $0.selector == selector }.map { ($0.name, ()) }
  }
}
