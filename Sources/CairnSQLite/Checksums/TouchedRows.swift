import Foundation
import GRDBSQLite

/// Hears from SQLite which rows of entity tables a transaction writes, through triggers as well.
// Used by the one thread that has the connection.
final class TouchedRows {
  private struct Table {
    let name: [CChar]
    /// The table's place in the list that was given; nil for tables that are of no interest.
    let place: Int?
  }
  private var tables: [Table]
  private var recent = 0
  /// Keys as they were reported, by the table's place.
  private(set) var written: [[Int64]]
  private(set) var hasDeletions: [Bool]
  private let connection: OpaquePointer

  /// Listens until ``stop()``.
  init(_ names: [String], on connection: OpaquePointer) {
    self.connection = connection
    tables = names.enumerated().map { Table(name: Array($0.element.utf8CString), place: $0.offset) }
    written = names.map { _ in [] }
    hasDeletions = names.map { _ in false }
    sqlite3_update_hook(
      connection,
      { context, operation, _, table, key in
        guard let context, let table else { return }
        Unmanaged<TouchedRows>.fromOpaque(context).takeUnretainedValue()
          .note(table, key, isDeletion: operation == SQLITE_DELETE)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func stop() { sqlite3_update_hook(connection, nil, nil) }

  private func note(_ name: UnsafePointer<CChar>, _ key: Int64, isDeletion: Bool) {
    guard let place = place(of: name) else { return }
    written[place].append(key)
    if isDeletion { hasDeletions[place] = true }
  }

  private func place(of name: UnsafePointer<CChar>) -> Int? {
    // Rows come in runs of one table, or of one table and those of history.
    if strcmp(name, tables[recent].name) == 0 { return tables[recent].place }
    if let index = tables.firstIndex(where: { strcmp(name, $0.name) == 0 }) {
      recent = index
      return tables[index].place
    }
    tables.append(
      Table(name: Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1)), place: nil))
    recent = tables.count - 1
    return nil
  }
}
