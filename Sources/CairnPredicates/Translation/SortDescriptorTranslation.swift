import Foundation

// Swift's `SortDescriptor` as a sort descriptor that stores understand.

extension ObjectSortDescriptor {
  /// The order of one of Swift's sort descriptors.
  ///
  /// A key path whose name ``PropertyNames`` knows, with the standard comparators, becomes a key and
  /// a selector. Anything else becomes a comparator of whole objects, which sorts in memory and
  /// which stores refuse with an error.
  public convenience init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
    let ascending = sortDescriptor.order == .forward
    if let keyPath = sortDescriptor.keyPath, let key = PropertyNames.name(of: keyPath),
      let selector = SortTranslation.selector(of: sortDescriptor)
    {
      self.init(key: key, ascending: ascending, selector: selector, keyPath: keyPath)
      return
    }
    self.init(key: nil, ascending: true, keyPath: sortDescriptor.keyPath) { a, b in
      guard let a = a as? Compared, let b = b as? Compared else { return .orderedSame }
      return sortDescriptor.compare(a, b)
    }
  }
}

/// What stands behind a `SortDescriptor`.
private enum SortTranslation {
  /// The selector of the comparator; nil for comparators of the program's own.
  static func selector<Compared>(of descriptor: SortDescriptor<Compared>) -> SelectorName? {
    if let comparator = descriptor.stringComparator { return selector(of: comparator) }
    // Only the description tells a comparator of the program's own from the order of the values.
    return comparatorName(descriptor).map(isPlain) == true ? .compare : nil
  }

  private static func selector(of comparator: String.StandardComparator) -> SelectorName? {
    var forward = comparator
    forward.order = .forward
    if forward == .lexical { return .compare }
    // Foundation on Linux offers the plain comparison only; what else there may be is compared by
    // Foundation itself.
    return nil
  }

  private static func isPlain(_ name: String) -> Bool {
    name.hasPrefix("ComparableComparator<") || name.hasPrefix("OptionalComparator<Comparable")
  }

  /// The type of the comparator that a descriptor wraps.
  private static func comparatorName(_ value: Any, depth: Int = 0) -> String? {
    let name = "\(type(of: value))"
    if name.hasPrefix("ComparableComparator<") || name.hasPrefix("OptionalComparator<") {
      return name
    }
    if depth > 6 { return nil }
    for child in Mirror(reflecting: value).children {
      if let found = comparatorName(child.value, depth: depth + 1) { return found }
    }
    return nil
  }
}
