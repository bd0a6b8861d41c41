import CairnPlatform
import CairnStore
import Foundation

/// A folder beside a store, in which a migration makes the new file before it takes the old one's
/// place.
///
/// For `App.sqlite` it is in `.App.sqlite.migrating`, and locked for as long as the migration runs; a
/// crash has left one that no process has locked.
package struct MigrationFolder {
  package let url: URL
  private let parent: URL
  private let lock: AdvisoryLock?

  /// Makes one.
  ///
  /// - Throws: 134110 when the folder of the store cannot be written.
  package init(for store: URL) throws {
    parent = Self.parent(for: store)
    var failure: (any Error)?
    // Who removes leftovers may take it, or the folder around it, before it is locked.
    for _ in 0..<100 {
      let folder = parent.appendingPathComponent(UUID().uuidString, isDirectory: true)
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      } catch {
        failure = error
        continue
      }
      let attempt = Result { try AdvisoryLock.attempt(folder: folder.path) }
      guard FileManager.default.fileExists(atPath: folder.path) else { continue }
      switch attempt {
      case .success(nil): continue
      case .success(let lock): self.lock = lock
      // Without locks nothing is taken for left, either.
      case .failure: lock = nil
      }
      url = folder
      return
    }
    throw CoreDataError(
      .migration,
      "The store at \(store.path) cannot be migrated: the new file is made in \(parent.path), which "
        + "cannot be made. Check the permissions of the folder and the disk.",
      userInfo: [NSFilePathErrorKey: store.path], underlyingError: failure)
  }

  /// Removes it with all that is in it.
  package func remove() {
    try? FileManager.default.removeItem(at: url)
    lock?.release()
    EmptyFolder.remove(path: parent.path)
  }

  /// Removes what migrations of the store left that were broken off by a crash.
  static func removeLeftovers(of store: URL) {
    let parent = parent(for: store)
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: parent.path) else {
      return
    }
    for name in names where UUID(uuidString: name) != nil {
      let folder = parent.appendingPathComponent(name, isDirectory: true)
      guard let lock = try? AdvisoryLock.attempt(folder: folder.path) else { continue }
      try? FileManager.default.removeItem(at: folder)
      lock.release()
    }
    EmptyFolder.remove(path: parent.path)
  }

  private static func parent(for store: URL) -> URL {
    store.deletingLastPathComponent()
      .appendingPathComponent(".\(store.lastPathComponent).migrating", isDirectory: true)
  }
}
