// Names of properties behind Swift key paths, which on Linux do not know them.

import Synchronization

/// Which property a Swift key path leads to: `\Item.name` is `"name"`.
///
/// Filled from tables that the build plugin generates for the managed object classes of a target,
/// and by hand for others. Safe to use from every thread.
public enum PropertyNames {
  /// Adds names, for generated code and for classes in targets that do not use the build plugin.
  ///
  /// A name that is added again replaces the older one.
  public static func add(_ names: [AnyKeyPath: String]) {
    table.withLock { $0.add(names) }
  }

  /// The key (or key path, `"owner.name"`) of the property, nil when Cairn does not know it.
  ///
  /// Longer paths are put together from the names of their steps; steps through optionals (`?` and
  /// `!`) leave no trace, and stored properties need no table.
  public static func name(of keyPath: AnyKeyPath) -> String? {
    GeneratedModules.load()
    let steps = KeyPathText.steps(of: keyPath)
    return table.withLock { table in
      if let name = table.names[keyPath] { return name }
      let names = steps.compactMap { table.steps[$0] ?? KeyPathText.property($0) }
      return names.isEmpty || names.count < steps.count ? nil : names.joined(separator: ".")
    }
  }

  // Unchecked: key paths are immutable, and the table is only used inside the mutex.
  private struct Table: @unchecked Sendable {
    var names: [AnyKeyPath: String] = [:]
    /// Names by the text of a step, for the steps of longer paths.
    var steps: [String: String] = [:]

    mutating func add(_ added: [AnyKeyPath: String]) {
      for (keyPath, name) in added {
        names[keyPath] = name
        let written = KeyPathText.steps(of: keyPath)
        if written.count == 1 { steps[written[0]] = name }
      }
    }
  }
  private static let table = Mutex(Table())
}
