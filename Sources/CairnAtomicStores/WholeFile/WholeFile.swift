import CairnPlatform
import CairnStore
import Foundation

/// The file of a store: read whole, replaced whole, so that a crash leaves the old content or the
/// new.
struct WholeFile {
  let url: URL

  /// The path behind symbolic links, which stay.
  var path: String { url.resolvingSymlinksInPath().path }
  /// Whether it is Core Data's name for no file at all; Foundation reads no device.
  private var isNowhere: Bool { path == "/dev/null" }
  var exists: Bool { FileManager.default.fileExists(atPath: path) }

  /// What tells one state of the file from another; nil without a file.
  var facts: FileFacts? { try? FileFacts(path: path) }

  /// - Throws: 134080 when the file is missing or cannot be read, 259 when it is empty.
  func read() throws -> Data {
    if isNowhere { return Data() }
    guard exists else {
      throw CoreDataError(
        .persistentStoreOpen, "There is no store at \(path).",
        userInfo: [NSFilePathErrorKey: path])
    }
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw CoreDataError(
        .persistentStoreOpen, "The store at \(path) cannot be read: \(error.localizedDescription)",
        userInfo: [NSFilePathErrorKey: path], underlyingError: error)
    }
    // No store leaves one; a file that was cut to nothing must not become a new store.
    if data.isEmpty {
      throw CoreDataError(
        .fileReadCorruptFile,
        "The file \(path) is empty, which no store is. Restore a copy of it; if it never was a "
          + "store, remove the file.",
        userInfo: [NSFilePathErrorKey: path, "reason": "The file is empty."])
    }
    return data
  }

  /// Replaces the file, keeping its permissions; a new one is the user's own.
  ///
  /// - Parameter known: What the file must still be like, so that no other writer's changes are lost;
  ///   nil when that does not matter. A file that has gone is written anew.
  /// - Returns: What the file is like now.
  /// - Throws: 134050 when another writer has changed the file, 134030 when it cannot be written;
  ///   the old file is untouched then.
  @discardableResult
  func write(_ data: Data, replacing known: FileFacts?? = .none) throws -> FileFacts? {
    // What is written is gone, and the device stays one.
    if isNowhere { return facts }
    do {
      // Held by the old file: a writer that waits for it finds a new one and another content.
      let lock = exists ? try AdvisoryLock.wait(path: path) : nil
      defer { lock?.release() }
      let mode = facts?.mode ?? 0o600
      guard let known else {
        try AtomicFileWrite.replace(path: path, with: data, mode: mode)
        return facts
      }
      let isReplaced = try AtomicFileWrite.replace(path: path, with: data, mode: mode) { old in
        // A file that has gone is written anew.
        try old.map { try FileFacts(path: $0) == known } ?? true
      }
      guard isReplaced else {
        throw CoreDataError(
          .persistentStoreSaveConflicts,
          "The store at \(path) was changed by another program since it was read. Nothing was "
            + "written; open it again and repeat the changes.",
          userInfo: [NSFilePathErrorKey: path])
      }
      return facts
    } catch let error as PlatformError {
      throw CoreDataError(
        .persistentStoreSave, "The store at \(path) was not written: \(error).",
        userInfo: [NSFilePathErrorKey: path], underlyingError: error)
    }
  }

  /// - Throws: 134080 when the file cannot be removed.
  func remove() throws {
    guard exists, !isNowhere else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
      try AtomicFileWrite.synchronize(folder: (path as NSString).deletingLastPathComponent)
    } catch {
      throw CoreDataError(
        .persistentStoreOpen, "The store at \(path) cannot be removed: \(error)",
        userInfo: [NSFilePathErrorKey: path], underlyingError: error)
    }
  }
}
