import CairnModel
import CairnPredicates
import CairnStore

// Sort descriptors as ORDER BY terms.

extension SQLCompiler {
  /// The ORDER BY list.
  ///
  /// - Throws: ``SQLUnsupported`` when memory must sort, ``CoreDataError`` for what nothing sorts.
  func ordering(_ descriptors: [ObjectSortDescriptor]) throws -> [SQLFragment] {
    try descriptors.flatMap { descriptor in
      try sortTerms(descriptor).map { $0 + dialect.direction(ascending: descriptor.ascending) }
    }
  }

  /// What a descriptor sorts by.
  private func sortTerms(_ descriptor: ObjectSortDescriptor) throws -> [SQLFragment] {
    guard !descriptor.hasCustomComparator, let selector = descriptor.selector,
      let collation = SQLCollation.name(for: selector)
    else { throw SQLQueryError.unsupportedSort(descriptor) }
    let term: SQLTerm
    if let key = descriptor.key {
      term = try self.term(.keyPath(key))
    } else {
      term = object(root.alias, root.entity)
    }
    switch term.kind {
    case .integer, .boolean, .double, .decimal, .string, .date, .object, .uuid, .url, .null: break
    case .data, .opaqueData, .entity: throw SQLUnsupported()
    }
    return try dialect.sortTerms(term, collation: term.kind == .string ? collation.text : nil)
  }

  /// That a row comes behind a place in the order that ``ordering(_:)`` and then the keys make.
  func condition(
    behind place: StoreFetchRequest.Place, in descriptors: [ObjectSortDescriptor]
  ) throws -> SQLFragment {
    var rest = SQLFragment("\(key(root.alias, root.entity)) > ?", [.integer(place.key)])
    for (descriptor, value) in zip(descriptors, place.values).reversed() {
      // The last one decides alone; what stands before it is for an index.
      guard let term = try sortTerms(descriptor).last else { throw SQLQueryError.placeInMemory }
      rest = condition(term, behind: value, isAscending: descriptor.ascending, else: rest)
    }
    return rest
  }

  /// - Parameter rest: What decides between rows with the same value.
  private func condition(
    _ term: SQLFragment, behind value: AttributeValue, isAscending: Bool, else rest: SQLFragment
  ) -> SQLFragment {
    // NULL is less than everything else, in both directions.
    if value.isNull {
      return "(" + term + (isAscending ? " IS NOT NULL OR " : " IS NULL AND ") + rest + ")"
    }
    let sign = isAscending ? ">" : "<"
    let parameter = dialect.parameter(ofRow: value)
    // The first comparison says nothing more; it is the one by which an index is entered.
    let behind =
      "(" + term + " \(sign)= " + parameter + " AND (" + term + " \(sign) " + parameter
      + " OR " + rest + "))"
    return isAscending ? behind : "(" + term + " IS NULL OR " + behind + ")"
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
