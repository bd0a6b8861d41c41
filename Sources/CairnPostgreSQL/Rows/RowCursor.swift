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

  /// Results that are larger are not read ahead, so that they are not held twice.
  private static let longestAhead = 1 << 20
  /// The server gives more rows at a time where they are small, up to so many, which take about so many bytes.
  private static let mostRows = 2000
  private static let portionBytes = 1 << 19

  private static func fetch(_ count: Int) -> String { "FETCH FORWARD \(count) FROM \(name)" }

  /// Reads rows; the first portion is one round trip.
  ///
  /// Once more, it goes on in the snapshot that it began with, whatever the server did not take meanwhile.
  ///
  /// - Parameters:
  ///   - portion: How many rows are read at first.
  ///   - readsAhead: Whether the server finds the next rows while those before are taken: nothing else may use the
  ///     connection then.
  func read(
    _ select: SQLFragment, portion: Int, readsAhead: Bool = false,
    _ take: (PostgreSQLRows) throws -> Void
  ) throws {
    let select = try NumberedStatement(select)
    let portion = max(1, min(portion, Int(Int32.max)))
    var count = portion
    let next = Statement(Self.fetch(count), isKept: false)
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
      let isLast = rows.count < count
      let size = rows.byteCount
      if readsAhead {
        let wanted = min(Self.mostRows, count * Self.portionBytes / max(1, size))
        // Whole portions: those who take them get each at the size that they asked for.
        count = portion * max(1, wanted / portion)
      }
      let goesAhead = readsAhead && !isLast && size < Self.longestAhead
      if goesAhead { try connection.begin(Self.fetch(count)) }
      do {
        if rows.count > 0 { try take(rows) }
      } catch {
        if goesAhead { _ = try? connection.finishStatement() }
        throw error
      }
      if isLast { return }
      rows =
        goesAhead
        ? try connection.finishStatement() : try connection.run(Self.fetch(count), isKept: false)
    }
  }
}
