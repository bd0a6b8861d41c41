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
}
