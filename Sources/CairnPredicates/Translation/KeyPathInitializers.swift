import Foundation

// Expressions and sort descriptors from Swift key paths.

extension ObjectExpression {
  /// The value at a key path: `ObjectExpression(forKeyPath: \Person.company?.name)`.
  ///
  /// The names of the steps must be known to ``PropertyNames``; a path whose name is not known is a
  /// programmer's error and traps.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    self.init(node: .path(PropertyNames.nameOrTrap(keyPath)))
  }
}

extension ObjectSortDescriptor {
  /// Sorts by the value at a key path: `ObjectSortDescriptor(keyPath: \Person.name, ascending: true)`.
  ///
  /// The names of the steps must be known to ``PropertyNames``; a path whose name is not known is a
  /// programmer's error and traps.
  public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(
      key: PropertyNames.nameOrTrap(keyPath), ascending: ascending, selector: nil,
      keyPath: keyPath)
  }

  /// Sorts the values at a key path by a closure; only in memory.
  public convenience init<Root, Value>(
    keyPath: KeyPath<Root, Value>, ascending: Bool, comparator cmptr: @escaping Comparator
  ) {
    self.init(
      key: PropertyNames.nameOrTrap(keyPath), ascending: ascending, keyPath: keyPath,
      comparator: cmptr)
  }
}

extension PropertyNames {
  fileprivate static func nameOrTrap(_ keyPath: AnyKeyPath) -> String {
    guard let name = name(of: keyPath) else {
      // A key path is written in the program's source; nothing from outside becomes one.
      fatalError(
        "Could not extract a String from KeyPath \(keyPath): its name is not known. Let the "
          + "build plugin generate its module's table, or add the name to PropertyNames.")
    }
    return name
  }
}
