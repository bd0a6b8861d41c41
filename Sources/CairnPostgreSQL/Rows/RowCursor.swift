import CairnSQL
import CairnStore

/// Reads what a SELECT finds in portions, so that a million rows are never held at once; and what else belongs to the same
/// snapshot.
final class RowCursor {
  private let connection: PostgreSQLConnection
  private var hasBegun = false
  /// Whether the transaction is that of a query generation, which stays open.
  private let isHeld: Bool

  private static let name = "cairn_rows"
  private static let savepoint = "cairn_beginning"

  init(connection: PostgreSQLConnection) {
    self.connection = connection
    isHeld = connection.transactionStatus != .idle
  }

  /// Runs what reads with the cursor; what is read in it afterwards is of the same snapshot.
  ///
  /// Nothing is sent for it before the first ``read(_:portion:_:)``.
  func consistently<Result>(_ body: () throws -> Result) throws -> Result {
    defer {
      if isHeld {
        if hasBegun, connection.end == nil {
          _ = try? connection.run("ROLLBACK TO SAVEPOINT \(Self.savepoint)")
          _ = try? connection.run("RELEASE SAVEPOINT \(Self.savepoint)")
        }
      } else if connection.end == nil, connection.transactionStatus != .idle {
        PostgreSQLTransaction(begunOn: connection).rollBack()
      }
    }
    return try body()
  }

  /// Reads rows; the first portion is one round trip.
  ///
  /// Once more, it goes on in the snapshot that it began with, whatever the server did not take meanwhile.
  func read(
    _ select: SQLFragment, portion: Int, _ take: (PostgreSQLRows) throws -> Void
  ) throws {
    let select = try NumberedStatement(select)
    let count = max(1, min(portion, Int(Int32.max)))
    let next = Statement("FETCH FORWARD \(count) FROM \(Self.name)", isKept: false)
    let beginning =
      hasBegun
      ? [Statement("ROLLBACK TO SAVEPOINT \(Self.savepoint)", isKept: false)]
      : (isHeld ? [] : [PostgreSQLTransaction.beginning(.repeatableRead, readOnly: true)])
        + [Statement("SAVEPOINT \(Self.savepoint)")]
    hasBegun = true
    let declaration = Statement(
      "DECLARE \(Self.name) NO SCROLL CURSOR FOR \(select.text)", select.parameters, isKept: false)
    guard var rows = try connection.run(beginning + [declaration, next]).last else { return }
    while true {
      if rows.count > 0 { try take(rows) }
      if rows.count < count { return }
      rows = try connection.run(next.text, isKept: false)
    }
  }
}
