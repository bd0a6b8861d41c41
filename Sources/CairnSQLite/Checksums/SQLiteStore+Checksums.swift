import CairnSQL
import CairnStore
import Foundation
import GRDB

// Sums of rows: kept by every write once the store has them, compared by `verifyIntegrity()`.

/// What an open store knows of its sums.
struct ChecksumKeeping: Sendable {
  let tables: [SummedTable]
  let acknowledged: AcknowledgedCommits
  /// What was acknowledged before the store was opened.
  let known: Int64
  /// What was noticed when the store was opened.
  let findings: [String]
}

extension SQLiteStore {
  /// Makes the sums if the options want them, and finds out whether commits are missing.
  func openChecksums(
    _ database: any DatabaseWriter, schema: SQLSchema, identifier: String
  ) throws -> ChecksumKeeping? {
    let wants = configuration.options.flag(StoreOptionKey.rowChecksums)
    return try database.writeWithoutTransaction { connection -> ChecksumKeeping? in
      let wrapped = SQLiteConnection(database: connection)
      let exists = try ChecksumTable.exists(wrapped)
      guard exists || wants else { return nil }
      let tables = try ChecksumTable.tables(of: schema, wrapped)
      let table = ChecksumTable(tables, wrapped, files: files)
      if try !exists || !table.coversLinks() {
        try connection.inTransaction(.immediate) {
          if exists { try table.rebuildLinks() } else { try table.rebuild() }
          return .commit
        }
      }
      let acknowledged = AcknowledgedCommits(store: path, identifier: identifier)
      let (stored, noted) = (try table.commits(), acknowledged.read())
      var findings: [String] = []
      if exists, noted > stored {
        findings = [
          "The store at \(path) has commits up to number \(stored), but number \(noted) was "
            + "acknowledged: its write-ahead log was cut short or is damaged, or an older copy of "
            + "the file was put in its place. What was saved last is missing."
        ]
      }
      return ChecksumKeeping(
        tables: tables, acknowledged: acknowledged, known: noted, findings: findings)
    }
  }

  public var findings: [String] { state.withLock { $0.checksums?.findings ?? [] } }

  /// Runs the work of a transaction and brings the sums of what it wrote up to date.
  ///
  /// - Returns: The number of the commit, nil when the work came to nothing.
  func summing(
    _ keeping: ChecksumKeeping, _ database: Database, _ work: () throws -> Bool
  ) throws -> Int64? {
    guard let handle = database.sqliteConnection else { return try work() ? 0 : nil }
    let table = ChecksumTable(
      keeping.tables, SQLiteConnection(database: database), files: files)
    try table.adopt()
    let touched = TouchedRows(keeping.tables.map(\.name), on: handle)
    let hasWorked: Bool
    do {
      defer { touched.stop() }
      hasWorked = try work()
    }
    return hasWorked ? try table.finish(touched, after: keeping.known) : nil
  }
}
