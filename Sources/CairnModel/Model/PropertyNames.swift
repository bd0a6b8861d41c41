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
    table.withLock { $0.names.merge(names) { $1 } }
  }

  /// The key (or key path, `"owner.name"`) of the property, nil when nobody told.
  public static func name(of keyPath: AnyKeyPath) -> String? {
    GeneratedModules.load()
    return table.withLock { $0.names[keyPath] }
  }

  // Unchecked: key paths are immutable, and the table is only used inside the mutex.
  private struct Table: @unchecked Sendable {
    var names: [AnyKeyPath: String] = [:]
  }
  private static let table = Mutex(Table())
}
