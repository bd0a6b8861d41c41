import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

// What the metadata of some files lack, such as those of very old frameworks.

extension SQLiteStore {
  /// The metadata with a UUID: a file that has none gets one, as the IDs of its objects begin with it.
  ///
  /// - Throws: 134080 for one that is only to be read.
  func identified(
    _ metadata: [String: Any], _ database: any DatabaseWriter
  ) throws -> [String: Any] {
    func has(_ metadata: [String: Any]) -> Bool {
      (metadata[StoreMetadataKey.uuid] as? String ?? "").isEmpty == false
    }
    if has(metadata) { return metadata }
    if isReadOnly {
      throw CoreDataError(
        .persistentStoreOpen,
        "The store at \(path) has no UUID, and none can be written because it is to be read-only. "
          + "Open it once without \(StoreOptionKey.readOnly).",
        userInfo: [NSFilePathErrorKey: path])
    }
    return try database.writeWithoutTransaction { connection in
      let wrapped = SQLiteConnection(database: connection)
      // Another process may have written one meanwhile.
      let update = try wrapped.statement(
        "UPDATE Z_METADATA SET Z_UUID = ?1 WHERE IFNULL(Z_UUID, '') = ''")
      defer { update.reset() }
      update.bind(identity.identifier, at: 1)
      try update.run()
      return try MetadataTable.read(wrapped, path: path) ?? metadata
    }
  }

  /// Checks the tables of a file that does not say which version of the model wrote it.
  ///
  /// - Throws: 134100 when they are not those of the model.
  func checkUnversioned(
    _ schema: SQLSchema, _ catalog: SQLCatalog, _ database: any DatabaseWriter
  ) throws {
    var problems: [String] = []
    func require(_ columns: [String], of table: String) {
      guard let found = catalog.tables[table] else { return problems.append("no table \(table)") }
      for column in columns where !found.contains(column) {
        problems.append("no column \(table).\(column)")
      }
    }
    for table in schema.tables { require(table.columns.map(\.name), of: table.name) }
    for table in schema.joinTables.values.joined() { require(table.columns, of: table.name) }
    // A row tells its entity by its number only.
    let numbers = Dictionary(
      schema.entities.map { (Int64($0.number), $0.entity.name ?? "") },
      uniquingKeysWith: { first, _ in first })
    if problems.isEmpty, try numberedEntities(database) != numbers {
      problems.append("other entities in Z_PRIMARYKEY")
    }
    if problems.isEmpty { return }
    throw CoreDataError(
      .persistentStoreIncompatibleVersionHash,
      "The store at \(path) does not say which version of the model wrote it, and it does not fit "
        + "this one: \(problems.sorted().joined(separator: ", ")). Open it with the model that wrote "
        + "it, or set \(StoreOptionKey.ignoreVersioning) to read what fits.",
      userInfo: [NSFilePathErrorKey: path, "reason": "The store has no version hashes."])
  }

  private func numberedEntities(_ database: any DatabaseWriter) throws -> [Int64: String] {
    try database.read { connection in
      let select = try SQLiteConnection(database: connection).statement(
        "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < \(HistoryTables.changeNumber)")
      defer { select.reset() }
      var result: [Int64: String] = [:]
      while try select.step() { result[select.integer(0)] = select.string(1) }
      return result
    }
  }
}
