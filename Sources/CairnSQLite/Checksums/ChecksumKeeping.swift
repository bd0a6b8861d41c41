import CairnSQL
import GRDB
import GRDBSQLite

/// Keeps the sums of an open store: every write transaction brings those of what it wrote up to date.
// Unchecked: what changes is used only by the one connection that writes, which does one thing at a
// time.
final class ChecksumKeeping: @unchecked Sendable {
  /// What was noticed when the store was opened.
  let findings: [String]
  private let tables: [SummedTable]
  private let acknowledged: AcknowledgedCommits
  /// The commits that were acknowledged before the store was opened.
  private let known: Int64
  private let touched: TouchedRows
  /// How long the sums of one transaction may take; nil for as long as they need.
  private let limit: Duration?
  /// What this connection committed last, and the version of the database that this made; nil when it
  /// must be looked up.
  private var last: (progress: SumProgress, version: UInt32)?

  init(
    _ tables: [SummedTable], acknowledged: AcknowledgedCommits, known: Int64, findings: [String],
    limit: Duration?
  ) {
    self.tables = tables
    self.acknowledged = acknowledged
    self.known = known
    self.findings = findings
    self.limit = limit
    touched = TouchedRows(tables.map(\.name) + [Self.historyTable])
  }

  private static let historyTable = "ATRANSACTION"

  /// Runs the work of a transaction and brings the sums of what it wrote up to date.
  ///
  /// - Parameter isCounted: Whether the commit must not get lost unnoticed, even if it writes none of
  ///   the tables with sums.
  /// - Returns: How far the sums go then, to be passed to ``didCommit(_:_:)``; nil when the work came
  ///   to nothing.
  func summing(
    _ database: Database, files: ExternalDataFiles, isCounted: Bool, _ work: () throws -> Bool
  ) throws -> Commit? {
    guard let handle = database.sqliteConnection else {
      return try work() ? Commit(progress: SumProgress(), isNew: false) : nil
    }
    let table = ChecksumTable(tables, SQLiteConnection(database: database), files: files)
    var progress: SumProgress
    if let last, last.version == Self.version(of: handle) {
      progress = last.progress
    } else {
      progress = try Deadline.holding(limit, on: handle) { try table.adopt() }
    }
    // Known again when the transaction has committed.
    last = nil
    let before = progress
    touched.start(on: handle)
    do {
      defer { touched.stop() }
      guard try work() else { return nil }
    }
    return try Deadline.holding(limit, on: handle) {
      try sum(table, progress, before, isCounted: isCounted)
    }
  }

  /// Brings the sums of what was written up to date.
  private func sum(
    _ table: ChecksumTable, _ adopted: SumProgress, _ before: SumProgress, isCounted: Bool
  ) throws -> Commit {
    var progress = adopted
    var hasWritten = false
    for (place, summed) in tables.enumerated() {
      let written = touched[place]
      if written.runs.isEmpty { continue }
      hasWritten = true
      try table.sum(
        KeyRuns(merging: written.runs), of: summed, hasDeletions: written.hasDeletions)
    }
    for run in touched[tables.count].runs {
      progress.transaction = max(progress.transaction, run.upperBound)
    }
    let isNew = isCounted || hasWritten || progress != before
    if isNew {
      progress.commits = max(progress.commits, known) + 1
      try table.set(progress)
    }
    return Commit(progress: progress, isNew: isNew)
  }

  /// What a transaction came to.
  struct Commit {
    fileprivate let progress: SumProgress
    /// Whether it has a number of its own.
    fileprivate let isNew: Bool
  }

  /// Notes that a transaction has committed, and acknowledges it.
  func didCommit(_ commit: Commit, _ database: Database) {
    if let handle = database.sqliteConnection, let version = Self.version(of: handle) {
      last = (commit.progress, version)
    }
    if commit.isNew { acknowledged.write(commit.progress.commits) }
  }

  /// A number that every commit changes, of this connection or another: inside a write transaction
  /// the one that was read after the last commit says that no connection has committed since.
  private static func version(of handle: OpaquePointer) -> UInt32? {
    var version: UInt32 = 0
    let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return code == SQLITE_OK ? version : nil
  }
}
