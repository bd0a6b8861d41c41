// Notices commits of other processes to the group's files.

import CairnPlatform
import Foundation
import Synchronization

/// Watches the write-ahead log of every open store file.
///
/// A watch that cannot be set (the folder is not there yet) is no error: links look for changes
/// now and then in any case. Mutable state: `watches`, inside the mutex.
final class StoreWatches: Sendable {
  private let watches = Mutex<[String: FileWatch]>([:])

  /// Watches the file at `path` under a name, in place of an older watch of that name.
  func watch(_ name: String, path: String, onChange: @escaping @Sendable () -> Void) {
    let url = URL(fileURLWithPath: path)
    let file = url.lastPathComponent
    let watch = try? FileWatch(
      folder: url.deletingLastPathComponent().path, names: [file, file + "-wal"],
      debounce: .milliseconds(5), onChange: onChange)
    let old = watches.withLock { watches in
      defer { watches[name] = watch }
      return watches[name]
    }
    old?.cancel()
  }

  func stop(_ name: String) {
    watches.withLock { $0.removeValue(forKey: name) }?.cancel()
  }

  func stopAll() {
    let all = watches.withLock { watches in
      defer { watches = [:] }
      return Array(watches.values)
    }
    for watch in all { watch.cancel() }
  }
}
