import Foundation
import GRDB

/// Where SQLite keeps what does not fit into its caches: rows that it sorts, what takes a statement back, a file that it
/// packs.
///
/// Without a folder for that, as in a container whose file system is read-only, it fails with what reads like a broken
/// disk. Then it keeps all of that in memory.
enum TemporaryFiles {
  /// Those that SQLite tries, in its order.
  ///
  /// Source: sqlite.org/tempfiles.html, 5.
  private static var candidates: [String] {
    ["SQLITE_TMPDIR", "TMPDIR"].compactMap { ProcessInfo.processInfo.environment[$0] }
      + ["/var/tmp", "/usr/tmp", "/tmp", "."]
  }

  /// The folder that SQLite takes; nil where there is none that the process may write to.
  static func folder(
    among candidates: [String] = candidates, mayWrite: (String) -> Bool = mayWrite
  ) -> String? {
    candidates.first(where: mayWrite)
  }

  static func install(on database: Database) throws {
    if folder() == nil { try database.execute(sql: "PRAGMA temp_store = MEMORY") }
  }

  /// As SQLite looks: a folder that may be written and searched.
  private static func mayWrite(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
      && FileManager.default.isWritableFile(atPath: path)
      && FileManager.default.isExecutableFile(atPath: path)
  }
}
