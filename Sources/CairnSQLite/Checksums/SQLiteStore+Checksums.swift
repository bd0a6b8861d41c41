import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

// Sums of rows: kept by every write once the store has them, compared by `verifyIntegrity()`.

extension SQLiteStore {
  /// Makes the sums if the options want them, and finds out whether commits are missing.
  func openChecksums(
    _ database: any DatabaseWriter, schema: SQLSchema, identifier: String
  ) throws -> ChecksumKeeping? {
    let wants = configuration.options.flag(StoreOptionKey.rowChecksums)
    return try database.writeWithoutTransaction { connection -> ChecksumKeeping? in
      let wrapped = SQLiteConnection(database: connection)
      func kind() throws -> (exists: Bool, hasEarlier: Bool) {
        let exists = try ChecksumTable.exists(wrapped)
        return (exists, try !exists && wrapped.hasTable(ChecksumTable.earlierName))
      }
      let (exists, hasEarlier) = try kind()
      guard exists || hasEarlier || wants else { return nil }
      let tables = try ChecksumTable.tables(of: schema, wrapped)
      let table = ChecksumTable(tables, wrapped, files: files)
      if !exists {
        try connection.inTransaction(.immediate) {
          // Another process may have made them while this one waited.
          let (exists, hasEarlier) = try kind()
          if hasEarlier {
            try table.replaceEarlier()
          } else if !exists {
            try table.rebuild()
          }
          return .commit
        }
      }
      let acknowledged = AcknowledgedCommits(store: path, identifier: identifier)
      // In this order: others may be saving, and note what they have committed.
      let noted = acknowledged.read()
      let stored = try table.progress().commits
      var findings: [String] = []
      if exists || hasEarlier, noted > stored {
        findings = [
          "The store at \(path) has commits up to number \(stored), but number \(noted) was "
            + "acknowledged: its write-ahead log was cut short or is damaged, or an older copy of "
            + "the file was put in its place. What was saved last is missing."
        ]
      }
      let limit: Duration? =
        try ChecksumTable.hasTriggers(wrapped)
        ? .seconds(max(configuration.options.timeout, 0.1)) : nil
      return ChecksumKeeping(
        tables, acknowledged: acknowledged, known: noted, findings: findings, limit: limit)
    }
  }

  /// Takes away the sums of files that a transaction gives up.
  func forgetSums(ofFiles names: [String], _ connection: SQLiteConnection) throws {
    if names.isEmpty || state.withLock({ $0.checksums == nil }) { return }
    try ChecksumTable.forget(names, connection)
  }

  public var findings: [String] { state.withLock { $0.checksums?.findings ?? [] } }

  public func lostRows() throws -> [ManagedObjectID] { try rows { try $0.lostKeys() } }

  public func changedRows() throws -> [ManagedObjectID] { try rows { try $0.changedKeys() } }

  public func unsavedRows() throws -> [ManagedObjectID] { try rows { try $0.unsavedKeys() } }

  private func rows(
    _ find: (ChecksumCheck) throws -> [(table: SummedTable, keys: [Int64])]
  ) throws -> [ManagedObjectID] {
    try readConsistently { lookup in
      try find(ChecksumCheck(lookup: lookup)).flatMap { table, keys in
        table.root.map { root in keys.map { lookup.reader.objectID(root, key: $0) } } ?? []
      }
    }
  }

  public func acceptLostRows(of objects: [ManagedObjectID]?) throws {
    if let objects {
      return try changeSums(of: objects, doing: "be told what is gone") { sums, keys, table in
        try sums.forgetLost(keys, of: table)
      }
    }
    try changeSums(doing: "be told what is gone") { lookup, _, sums in
      for (table, keys) in try ChecksumCheck(lookup: lookup).lostKeys() {
        try sums.forgetLost(keys, of: table)
      }
    }
  }

  public func acceptChangedRows(of objects: [ManagedObjectID]) throws {
    try changeSums(of: objects, doing: "be told what counts as saved") { sums, keys, table in
      try sums.sum(KeyRuns(keys), of: table, hasDeletions: false)
      if let root = table.root { try sums.connection.reserveKeys(0, of: root) }
    }
  }

  public func acceptChangedLinks() throws {
    try changeSums(doing: "be told what counts as saved") { lookup, tables, sums in
      for table in tables where table.root == nil {
        try sums.sum(KeyRuns(merging: [.min ... .max]), of: table, hasDeletions: true)
      }
    }
  }

  /// Changes the sums of the rows of objects, table by table.
  private func changeSums(
    of objects: [ManagedObjectID], doing task: String,
    _ change: (ChecksumTable, [Int64], SummedTable) throws -> Void
  ) throws {
    if objects.isEmpty { return }
    let byRoot = Dictionary(grouping: objects) { $0.entity.rootEntity.name }
    try changeSums(doing: task) { _, tables, sums in
      for table in tables where table.root != nil {
        let keys = (byRoot[table.root?.name] ?? []).compactMap { object -> Int64? in
          guard case .row(let key) = object.key else { return nil }
          return key
        }
        if !keys.isEmpty { try change(sums, keys, table) }
      }
    }
  }

  /// Changes the sums in a transaction; does nothing where the store has none.
  private func changeSums(
    doing task: String, _ change: (RowLookup, [SummedTable], ChecksumTable) throws -> Void
  ) throws {
    if state.withLock({ $0.checksums == nil }) { return }
    _ = try write(doing: task) { lookup -> Bool? in
      let tables = try ChecksumTable.tables(of: lookup.schema, lookup.connection)
      try change(lookup, tables, ChecksumTable(tables, lookup.connection, files: files))
      return true
    }
  }
}
