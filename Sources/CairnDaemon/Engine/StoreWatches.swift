// Notices commits of other processes to the group's files.

import CairnPlatform
import Foundation
import Synchronization

/// Watches the write-ahead log of every open store file.
///
/// A watch that cannot be set (the folder is not there yet) is no error: links look for changes
/// now and then in any case, and ``renew(_:)`` tries again. Mutable state: `watches`, inside the
/// mutex.
final class StoreWatches: Sendable {
  private struct Entry {
    let path: String
    let onChange: @Sendable () -> Void
    /// Nil while the folder cannot be watched.
    var watch: FileWatch?
  }
  private let watches = Mutex<[String: Entry]>([:])

  /// Watches the file at `path` under a name, in place of an older watch of that name.
  ///
  /// Returns at once, whatever the mount does; `onChange` is called when the watch is set.
  func watch(_ name: String, path: String, onChange: @escaping @Sendable () -> Void) {
    let entry = Entry(path: path, onChange: onChange, watch: nil)
    let old = watches.withLock { $0.updateValue(entry, forKey: name) }
    old?.watch?.cancel()
    Task { try? await Blocking.run { self.renew(name) } }
  }

  /// Sets a watch that could not be set before: the folder may be there by now.
  func renew(_ name: String) {
    let missing = watches.withLock { watches in
      watches[name].flatMap { $0.watch == nil ? $0 : nil }
    }
    guard let missing, let watch = Self.make(missing.path, missing.onChange) else { return }
    let isWanted = watches.withLock { watches -> Bool in
      guard watches[name]?.path == missing.path, watches[name]?.watch == nil else { return false }
      watches[name]?.watch = watch
      return true
    }
    guard isWanted else { return watch.cancel() }
    // What was written between the store's opening and the watch nobody has noticed.
    missing.onChange()
  }

  func stop(_ name: String) {
    watches.withLock { $0.removeValue(forKey: name) }?.watch?.cancel()
  }

  func stopAll() {
    let all = watches.withLock { watches in
      defer { watches = [:] }
      return watches.values.compactMap(\.watch)
    }
    for watch in all { watch.cancel() }
  }

  private static func make(
    _ path: String, _ onChange: @escaping @Sendable () -> Void
  ) -> FileWatch? {
    let url = URL(fileURLWithPath: path, isDirectory: false)
    let file = url.lastPathComponent
    return try? FileWatch(
      folder: url.deletingLastPathComponent().path, names: [file, file + "-wal"],
      debounce: .milliseconds(5), onChange: onChange)
  }
}
