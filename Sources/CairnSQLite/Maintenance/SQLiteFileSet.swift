import CairnStore
import Foundation

/// The files that belong to one store.
struct SQLiteFileSet {
  let path: String
  private let externalData: ExternalDataFiles
  private var operations: any StoreFileOperations { externalData.operations }

  init(path: String, options: StoreOptions) {
    self.path = path
    externalData = ExternalDataFiles(store: URL(fileURLWithPath: path), options: options)
  }

  /// The database, its write-ahead log, the log's index, a rollback journal, and the note of the last
  /// commit.
  private var databaseFiles: [String] {
    ["", "-wal", "-shm", "-journal"].map { path + $0 } + [AcknowledgedCommits.path(besides: path)]
  }

  var exists: Bool { FileManager.default.fileExists(atPath: path) }
  var hasExternalData: Bool {
    FileManager.default.fileExists(atPath: externalData.supportFolder.path)
  }

  /// Removes the database but not the external data.
  func removeDatabase() throws {
    for file in databaseFiles { try remove(URL(fileURLWithPath: file)) }
  }

  /// The next store at this place counts its own commits.
  func removeCommitNote() throws {
    try remove(URL(fileURLWithPath: AcknowledgedCommits.path(besides: path)))
  }

  func removeExternalData() throws { try remove(externalData.supportFolder) }

  private func remove(_ url: URL) throws {
    do {
      try operations.remove(url)
    } catch {
      throw CoreDataError(
        .persistentStoreOperation,
        "\(url.path) could not be removed, so that something is left of the store at \(path). Check "
          + "the folder's permissions and the disk, then destroy the store again.",
        userInfo: [NSFilePathErrorKey: url.path], underlyingError: error)
    }
  }

  /// Makes what happened to the names of the files durable.
  func synchronizeFolder() throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    do {
      try operations.synchronize(folder: folder)
    } catch {
      throw CoreDataError(
        .persistentStoreSave,
        "The folder \(folder.path) could not be written to disk; whether the store at \(path) would "
          + "outlast a power cut is not known.",
        userInfo: [NSFilePathErrorKey: path], underlyingError: error)
    }
  }
}
