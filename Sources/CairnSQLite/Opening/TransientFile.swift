import CairnStore
import Foundation

/// The file behind a store whose URL is `/dev/null`: Core Data's way to ask for a SQLite store that
/// no program keeps, usual in tests and previews.
///
/// Each such store has a folder of its own among the temporary ones, which goes when the store is
/// closed or freed.
struct TransientFile {
  let folder: URL
  var path: String { folder.appendingPathComponent("store.sqlite").path }

  /// Nil for a URL that names a real place.
  init?(for url: URL) {
    guard url.path == "/dev/null" else { return nil }
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-\(UUID().uuidString)", isDirectory: true)
  }

  /// - Throws: 134080 when the folder for temporary files cannot be written.
  func create() throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw CoreDataError(
        .persistentStoreOpen,
        "A store at /dev/null is kept among the temporary files, and \(folder.path) cannot be made.",
        userInfo: [NSFilePathErrorKey: folder.path], underlyingError: error)
    }
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
