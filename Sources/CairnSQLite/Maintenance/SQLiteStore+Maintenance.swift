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
