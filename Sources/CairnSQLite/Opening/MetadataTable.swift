import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Reads and writes `Z_METADATA`.
enum MetadataTable {
  /// The version of Apple's framework whose format Cairn writes.
  static let frameworkVersion = 1448

  /// The whole dictionary, with the store's UUID and type merged in.
  static func read(_ connection: SQLiteConnection, path: String) throws -> [String: Any]? {
    let statement = try connection.statement(
      "SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    var metadata: [String: Any] = [:]
    if !statement.isNull(1) {
      let list = try? PropertyListReading.value(in: statement.data(1))
      guard let dictionary = list as? [String: Any] else {
        throw CoreDataError(
          .persistentStoreOpen,
          "The metadata of the store at \(path) is damaged: it is no property list. Restore a "
            + "copy of the store.", userInfo: [NSFilePathErrorKey: path])
      }
      metadata = dictionary
    }
    metadata[StoreMetadataKey.uuid] = statement.string(0)
    metadata[StoreMetadataKey.type] = metadata[StoreMetadataKey.type] ?? StoreTypeName.sqlite
    return metadata
  }

  /// What a store cannot be opened without; kept when new metadata lacks it.
  private static let keptKeys = [
    StoreMetadataKey.versionHashes, StoreMetadataKey.versionHashesVersion,
    StoreMetadataKey.versionHashesDigest, StoreMetadataKey.versionChecksum,
    StoreMetadataKey.versionIdentifiers, StoreMetadataKey.frameworkVersion,
    StoreMetadataKey.autoVacuumLevel,
  ]

  /// Writes the dictionary in place of the old one; its UUID goes to a column of its own.
  static func write(_ metadata: [String: Any], _ connection: SQLiteConnection) throws {
    var list = metadata
    let old = try read(connection, path: "") ?? [:]
    for key in keptKeys where list[key] == nil { list[key] = old[key] }
    let uuid = list.removeValue(forKey: StoreMetadataKey.uuid) as? String
    list[StoreMetadataKey.type] = list[StoreMetadataKey.type] ?? StoreTypeName.sqlite
    guard
      let data = try? PropertyListReading.data(of: list)
    else {
      throw CoreDataError(
        .persistentStoreSave,
        "The store's metadata holds a value that is no property list value; use strings, numbers, "
          + "dates, data, arrays and dictionaries only.")
    }
    let statement = try connection.statement(
      "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?1, ?2) "
        + "ON CONFLICT (Z_VERSION) DO UPDATE SET Z_UUID = IFNULL(?1, Z_UUID), Z_PLIST = ?2")
    defer { statement.reset() }
    if let uuid { statement.bind(uuid, at: 1) }
    statement.bind(data, at: 2)
    try statement.run()
  }

  /// The entries that tell which model a store was written with.
  static func modelEntries(of model: ManagedObjectModel) -> [String: Any] {
    [
      StoreMetadataKey.type: StoreTypeName.sqlite,
      StoreMetadataKey.frameworkVersion: frameworkVersion,
      StoreMetadataKey.autoVacuumLevel: "2",
      StoreMetadataKey.versionHashes: model.entityVersionHashesByName,
      StoreMetadataKey.versionHashesVersion: 3,
      StoreMetadataKey.versionHashesDigest: model.versionHashesDigest,
      StoreMetadataKey.versionChecksum: model.versionChecksum,
      StoreMetadataKey.versionIdentifiers: model.versionIdentifiers.compactMap { $0 as? String }
        .sorted(),
    ]
  }
}
