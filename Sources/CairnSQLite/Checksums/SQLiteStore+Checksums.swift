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
      let exists = try ChecksumTable.exists(wrapped)
      let hasEarlier = try !exists && wrapped.hasTable(ChecksumTable.earlierName)
      guard exists || hasEarlier || wants else { return nil }
      let tables = try ChecksumTable.tables(of: schema, wrapped)
      let table = ChecksumTable(tables, wrapped, files: files)
      if !exists {
        try connection.inTransaction(.immediate) {
          if hasEarlier { try table.replaceEarlier() } else { try table.rebuild() }
          return .commit
        }
      }
      let acknowledged = AcknowledgedCommits(store: path, identifier: identifier)
      let (stored, noted) = (try table.progress().commits, acknowledged.read())
      var findings: [String] = []
      if exists || hasEarlier, noted > stored {
        findings = [
          "The store at \(path) has commits up to number \(stored), but number \(noted) was "
            + "acknowledged: its write-ahead log was cut short or is damaged, or an older copy of "
            + "the file was put in its place. What was saved last is missing."
        ]
      }
      return ChecksumKeeping(tables, acknowledged: acknowledged, known: noted, findings: findings)
    }
  }

  public var findings: [String] { state.withLock { $0.checksums?.findings ?? [] } }
}
