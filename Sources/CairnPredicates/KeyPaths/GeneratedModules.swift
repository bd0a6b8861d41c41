// What code that the build plugin generated tells about its module, once the program asks.

import Synchronization

/// The modules whose sources the build plugin has read.
///
/// Linux has no Objective-C runtime that could list classes and their properties. The companion
/// file that the plugin generates for a module registers one function before `main` runs; the
/// function describes the module (``PropertyNames/add(_:)``, classes of entities) and is called
/// when the first name is looked up.
public enum GeneratedModules {
  /// Tells Cairn of a module.
  ///
  /// For generated code. Runs before `main`: it must do nothing but remember the function.
  public static func register(_ describe: @escaping @convention(c) () -> Void) {
    waiting.withLock { $0.append(describe) }
    isWaiting.store(true, ordering: .releasing)
  }

  /// Lets the modules that were registered since the last call describe themselves.
  package static func load() {
    guard isWaiting.load(ordering: .acquiring) else { return }
    // One at a time, and every caller waits: one that comes second must find the names.
    loading.withLock { _ in
      let functions = waiting.withLock { functions in
        defer { functions = [] }
        return functions
      }
      for function in functions { function() }
      waiting.withLock { functions in
        if functions.isEmpty { isWaiting.store(false, ordering: .releasing) }
      }
    }
  }

  private static let waiting = Mutex<[@convention(c) () -> Void]>([])
  private static let isWaiting = Atomic<Bool>(false)
  private static let loading = Mutex(())
}
