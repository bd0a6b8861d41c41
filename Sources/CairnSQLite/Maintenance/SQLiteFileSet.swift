import Foundation

/// The files that belong to one store.
struct SQLiteFileSet {
  let path: String
  var url: URL { URL(fileURLWithPath: path) }
  /// The database, its write-ahead log, the log's index, a rollback journal, and the note of the last
  /// commit.
  private var databaseFiles: [String] {
    ["", "-wal", "-shm", "-journal"].map { path + $0 } + [AcknowledgedCommits.path(besides: path)]
  }

  var exists: Bool { FileManager.default.fileExists(atPath: path) }

  /// Removes the database but not the external data.
  func removeDatabase() {
    for file in databaseFiles { try? FileManager.default.removeItem(atPath: file) }
  }

  /// The next store at this place counts its own commits.
  func removeCommitNote() {
    try? FileManager.default.removeItem(atPath: AcknowledgedCommits.path(besides: path))
  }

  func removeExternalData() {
    try? FileManager.default.removeItem(at: ExternalDataFiles(store: url).supportFolder)
  }
}
