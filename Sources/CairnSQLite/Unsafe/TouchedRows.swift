import Foundation
import GRDBSQLite

/// Hears from SQLite which rows of some tables a transaction writes, through triggers as well.
// Used by the one thread that has the connection.
final class TouchedRows {
  /// What was written of one table.
  struct Table {
    /// The table's name as SQLite gives it.
    fileprivate let name: UnsafeMutablePointer<CChar>
    /// Keys as they were reported, those that followed one another together.
    fileprivate(set) var runs: [ClosedRange<Int64>] = []
    fileprivate(set) var hasDeletions = false

    fileprivate mutating func note(_ key: Int64) {
      if let last = runs.last {
        if last.contains(key) { return }
        if last.upperBound &+ 1 == key, key != .min {
          runs[runs.count - 1] = last.lowerBound...key
          return
        }
      }
      runs.append(key...key)
    }
  }

  /// The tables in the order in which they were given, then those that are of no interest.
  private var tables: [Table]
  /// How many of them are of interest.
  private let count: Int
  private var recent = 0
  private var connection: OpaquePointer?

  init(_ names: [String]) {
    tables = names.map { Table(name: Self.copy($0)) }
    count = names.count
  }

  deinit { for table in tables { table.name.deallocate() } }

  private static func copy(_ name: UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar> {
    let size = strlen(name) + 1
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: size)
    copy.update(from: name, count: size)
    return copy
  }

  /// What was written of a table since ``start(on:)``, by its place.
  subscript(place: Int) -> Table { tables[place] }

  /// Listens until ``stop()``; what was written before is forgotten.
  func start(on connection: OpaquePointer) {
    for place in 0..<count {
      if !tables[place].runs.isEmpty { tables[place].runs = [] }
      tables[place].hasDeletions = false
    }
    self.connection = connection
    sqlite3_update_hook(
      connection,
      { context, operation, _, table, key in
        guard let table else { return }
        CallbackContext.object(context, as: TouchedRows.self)?
          .note(table, key, isDeletion: operation == SQLITE_DELETE)
      }, CallbackContext.unretained(self))
  }

  func stop() {
    guard let connection else { return }
    sqlite3_update_hook(connection, nil, nil)
    self.connection = nil
  }

  private func note(_ name: UnsafePointer<CChar>, _ key: Int64, isDeletion: Bool) {
    // Rows come in runs of one table, or of one table and those of history.
    if strcmp(name, tables[recent].name) != 0 { recent = place(of: name) }
    if recent >= count { return }
    tables[recent].note(key)
    if isDeletion { tables[recent].hasDeletions = true }
  }

  private func place(of name: UnsafePointer<CChar>) -> Int {
    if let place = tables.firstIndex(where: { strcmp(name, $0.name) == 0 }) { return place }
    tables.append(Table(name: Self.copy(name)))
    return tables.count - 1
  }
}
