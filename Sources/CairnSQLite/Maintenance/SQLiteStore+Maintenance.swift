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
      try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    } catch {
      throw failed(error, doing: "be checkpointed")
    }
  }

  /// What is wrong with the file; empty when all is well.
  ///
  /// What was noticed at opening comes first, then SQLite's own words, what Core Data's bookkeeping
  /// says, and the objects whose rows or files are not as they were saved, where the store has sums
  /// of them. Reads everything, so it takes its time.
  package func verifyIntegrity() throws -> [String] {
    try findings
      + readConsistently { lookup in
        var problems: [String] = []
        let check = try lookup.connection.statement("PRAGMA integrity_check(100)")
        defer { check.reset() }
        while try check.step() {
          let line = check.string(0)
          if line != "ok" { problems.append(line) }
        }
        for entity in lookup.schema.entities where entity.superNumber == 0 {
          do {
            problems += try Self.problems(of: entity.number, entity.table, entity.subtree, lookup)
          } catch {
            guard let failure = SQLiteResultCode.failure(in: error) else { throw error }
            problems.append("\(entity.table): the rows cannot be read: \(failure.message)")
          }
        }
        return try problems + ChecksumCheck(lookup: lookup).problems()
      }
  }

  private static func problems(
    of number: Int, _ table: String, _ numbers: ClosedRange<Int>, _ lookup: RowLookup
  ) throws -> [String] {
    var problems: [String] = []
    let highest = try lookup.connection.integer("SELECT MAX(Z_PK) FROM \(table)") ?? 0
    let counter =
      try lookup.connection.integer(
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", Int64(number)) ?? 0
    if highest > counter {
      problems.append("\(table): key \(highest) is beyond the counter in Z_PRIMARYKEY, \(counter)")
    }
    let strange = try lookup.connection.integer(
      "SELECT COUNT(*) FROM \(table) WHERE Z_ENT IS NULL OR Z_ENT NOT BETWEEN ? AND ?",
      Int64(numbers.lowerBound), Int64(numbers.upperBound))
    if let strange, strange > 0 {
      problems.append("\(table): \(strange) rows of entities that are not in this table")
    }
    return problems
  }
}
