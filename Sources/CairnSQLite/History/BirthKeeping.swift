import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// A purge calls this to keep, of inserts that leave history, the births of rows that sync has not taken up.
///
/// Works inside the transaction that purges, a page at a time, by the index that the purge uses, too.
struct BirthKeeping {
  private struct Change {
    let kind: HistoryChangeKind?
    let entity: SQLEntity
    let row: Int64
    let birth: RowBirth
  }

  let lookup: RowLookup
  private static let page: Int64 = 1000

  /// - Parameter limit: The first transaction that stays.
  func keep(before limit: Int64) throws {
    var last: (transaction: Int64, change: Int64) = (.min, .min)
    var tables: Set<String> = []
    while true {
      let (changes, end) = try read(after: last, before: limit)
      for change in changes { try keep(change, &tables) }
      guard let end else { return }
      last = end
    }
  }

  /// - Returns: The inserts and deletes of a page, and where it ends; nil for the last page.
  private func read(
    after last: (transaction: Int64, change: Int64), before limit: Int64
  ) throws -> (changes: [Change], end: (transaction: Int64, change: Int64)?) {
    let statement = try lookup.connection.statement(
      "SELECT c.ZTRANSACTIONID, c.Z_PK, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, t.ZTIMESTAMP "
        + "FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID "
        + "WHERE (c.ZTRANSACTIONID, c.Z_PK) > (?1, ?2) AND c.ZTRANSACTIONID < ?3 "
        + "ORDER BY c.ZTRANSACTIONID, c.Z_PK LIMIT ?4")
    defer { statement.reset() }
    statement.bind(last.transaction, at: 1)
    statement.bind(last.change, at: 2)
    statement.bind(limit, at: 3)
    statement.bind(Self.page, at: 4)
    var changes: [Change] = []
    var count: Int64 = 0
    var end = last
    while try statement.step() {
      count += 1
      end = (statement.integer(0), statement.integer(1))
      let kind = HistoryChangeKind(rawValue: Int(truncatingIfNeeded: statement.integer(2)))
      guard kind == .insert || kind == .delete,
        let entity = lookup.schema.entity(number: Int(truncatingIfNeeded: statement.integer(3)))
      else { continue }
      let date = Date(timeIntervalSinceReferenceDate: statement.double(5))
      changes.append(
        Change(
          kind: kind, entity: entity, row: statement.integer(4),
          birth: RowBirth(transaction: end.transaction, date: date)))
    }
    return (changes, count < Self.page ? nil : end)
  }

  private func keep(_ change: Change, _ tables: inout Set<String>) throws {
    let object = lookup.reader.objectID(change.entity, key: change.row)
    guard let key = RowBirth.key(of: object) else { return }
    let sidecar = SidecarTables(connection: lookup.connection)
    let place = SidecarKey(map: RowBirth.map, key: key)
    if change.kind == .delete {
      _ = try sidecar.execute(.remove(place), known: &tables)
      return
    }
    guard try sidecar.value(for: SidecarKey(map: RowBirth.takenUpMap, key: key)) == nil,
      try isThere(change)
    else { return }
    _ = try sidecar.execute(.put(place, change.birth.encoded), known: &tables)
  }

  private func isThere(_ change: Change) throws -> Bool {
    let statement = try lookup.connection.statement(
      "SELECT 1 FROM \(change.entity.table.quotedAsName) WHERE Z_PK = ?")
    defer { statement.reset() }
    statement.bind(change.row, at: 1)
    return try statement.step()
  }
}
