// What a store has beside its file, and what it may still grow by.
import CairnPlatform
import Foundation

/// The log of a store, and the room on its disk.
struct StoreRoom: Sendable, Hashable {
  /// What was committed and is not in the store's file yet, in bytes.
  var logBytes: Int?
  /// What the daemon may still write to the disk, in bytes.
  var freeBytes: Int?

  init(logBytes: Int? = nil, freeBytes: Int? = nil) {
    self.logBytes = logBytes
    self.freeBytes = freeBytes
  }

  /// Looks at the store of a file; where there is none, nothing is known.
  init(path: String) {
    guard (try? FileFacts(path: path))?.isRegularFile == true else { return }
    // SQLite takes its log away with the last connection.
    logBytes = (try? FileFacts(path: path + "-wal").size).map(Int.init) ?? 0
    let facts = try? FileManager.default.attributesOfFileSystem(forPath: path)
    freeBytes = (facts?[.systemFreeSize] as? NSNumber)?.intValue
  }
}
