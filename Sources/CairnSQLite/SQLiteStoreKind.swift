import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

/// SQLite stores as coordinators know them, and what can be done to their files while closed.
public struct SQLiteStoreKind: StoreKind {
  public init() {}

  public var type: String { StoreTypeName.sqlite }
  public var storeClass: PersistentStore.Type { SQLiteStore.self }

  public func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
    try requireFile(url)
    let facts = try RemovedLog(of: url.path, LockWait(seconds: options.timeout)).trusting {
      try SQLiteFileFacts.read(at: url.path, options: options)
    }
    // A file without any table is no store yet, such as a destroyed one: opening it makes one.
    return facts.metadata ?? [:]
  }

  public func setMetadata(
    _ metadata: [String: Any], at url: URL, options: StoreOptions
  ) throws {
    if try self.metadata(at: url, options: options).isEmpty {
      throw CoreDataError(
        .persistentStoreInvalidType,
        "\(url.path) is an empty database, not a store that takes metadata.",
        userInfo: [NSFilePathErrorKey: url.path])
    }
    try StoreFileAccess.write(url, options: options, doing: "take new metadata") { connection in
      try MetadataTable.write(metadata, connection)
    }
  }

  /// Empties the database instead of unlinking it, because other processes may have it open.
  public func destroy(at url: URL, options: StoreOptions) throws {
    let files = SQLiteFileSet(path: url.path, options: options)
    // What an earlier attempt could not remove.
    guard files.exists else { return try files.removeExternalData() }
    if !options.flag(StoreOptionKey.forceDestroy) {
      // What is no store of Core Data is not destroyed by accident.
      _ = try SQLiteFileFacts.read(at: url.path, options: options)
      try StoreFileAccess.empty(url, options: options)
    } else {
      try files.removeDatabase()
    }
    try files.removeExternalData()
  }

  public func replace(
    at destination: URL, withStoreAt source: URL, options: StoreOptions
  ) throws {
    if try metadata(at: source, options: options).isEmpty {
      throw CoreDataError(
        .persistentStoreInvalidType,
        "\(source.path) is an empty database, not a store to copy.",
        userInfo: [NSFilePathErrorKey: source.path])
    }
    try StoreFileAccess.copy(from: source, to: destination, options: options)
  }

  private func requireFile(_ url: URL) throws {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw CoreDataError(
        .persistentStoreOpen, "There is no store at \(url.path).",
        userInfo: [NSFilePathErrorKey: url.path])
    }
  }
}
