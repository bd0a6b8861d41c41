import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

// Care of an open store's file.

extension SQLiteStore {
  /// Moves the write-ahead log into the database file and empties the log.
  package func checkpoint() throws {
    if let failure { throw failure }
    try checkFilePlace()
    do {
      guard let pool = try database as? DatabasePool else { return }
      state.withLock { $0.heldReader }?.letGo()
      try onWriter(of: pool) { _ = try $0.checkpoint(.truncate) }
    } catch {
      throw failed(error, doing: "be checkpointed")
    }
  }
}

extension SQLiteStore: IntegrityChecking {
  /// What is wrong with the file; empty when all is well.
  ///
  /// What was noticed at opening comes first, then SQLite's own words, what the format asks of the
  /// tables, and the objects whose rows or files are not as they were saved, where the store has
  /// sums of them. Reads everything, so it takes its time.
  public func verifyIntegrity() throws -> [String] {
    try findings + fileFindings().filter { $0.severity == .damage }.map(\.description)
  }

  /// Everything that breaks the format's rules, or is worth knowing of the file.
  func fileFindings() throws -> [StoreFinding] {
    try readConsistently(findings(in:)).confirmed(namedFiles)
  }

  func findings(in lookup: RowLookup) throws -> [StoreFinding] {
    let catalog = try SQLiteFileFacts.catalog(lookup.connection)
    return try StoreCheck(
      connection: lookup.connection, catalog: catalog,
      schema: SQLSchema(model: configuration.model, catalog: catalog), files: files,
      metadata: try? MetadataTable.read(lookup.connection, path: path)
    ).findings()
  }

  /// For rows whose entity a program changed with SQL of its own.
  public func restoreEntities(of objects: [ManagedObjectID]) throws {
    if objects.isEmpty { return }
    _ = try write(doing: "be given back the entities of rows") { lookup -> Bool? in
      for object in objects {
        guard let key = object.rowKey else { continue }
        let entity = lookup.schema.entity(object.entity)
        let statement = try lookup.connection.statement(
          "UPDATE \(entity.table) SET Z_ENT = ?1, Z_OPT = Z_OPT + 1 "
            + "WHERE Z_PK = ?2 AND Z_ENT <> ?1")
        defer { statement.reset() }
        statement.bind(Int64(entity.number), at: 1)
        statement.bind(key, at: 2)
        _ = try statement.step()
      }
      return true
    }
  }
}

extension SQLiteStore: WriterReporting {}

extension SQLiteStore: ResourceReleasing {
  public func releaseMemory() {
    let (database, held) = state.withLock { ($0.database, $0.heldReader) }
    held?.releaseMemory()
    if let pool = database as? DatabasePool {
      pool.releaseMemory()
    } else {
      (database as? DatabaseQueue)?.releaseMemory()
    }
  }
}
