import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Appends one transaction to history, inside the transaction that it describes.
struct HistoryWriter {
  let lookup: RowLookup
  /// The number of the transaction; its row is written with the first change.
  private(set) var number: Int64?
  private let author: String?
  private let contextName: String?
  private let date: Date
  private var nextChange: Int64 = 0
  private let insertChange: SQLiteStatement

  private var connection: SQLiteConnection { lookup.connection }

  init(lookup: RowLookup, author: String?, contextName: String?, date: Date) throws {
    self.lookup = lookup
    self.author = author
    self.contextName = contextName
    self.date = date
    insertChange = try lookup.connection.statement(
      "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)"
        + " VALUES (?, \(HistoryTables.changeNumber), ?, ?, ?, ?, ?)")
  }

  /// Records a change of one object.
  ///
  /// - Parameters:
  ///   - columns: the bit field of an update.
  ///   - tombstone: the values a deleted object leaves, in the order of the columns.
  mutating func record(
    _ kind: HistoryChangeKind, entity: SQLEntity, key: Int64, columns: [UInt8]? = nil,
    tombstone: [AttributeValue] = []
  ) throws {
    let transaction = try begin()
    let statement =
      tombstone.isEmpty ? insertChange : try insertWithTombstone(count: tombstone.count)
    // Every parameter is bound anew for each change.
    statement.bind(nextChange, at: 1)
    statement.bind(Int64(kind.rawValue), at: 2)
    statement.bind(Int64(entity.number), at: 3)
    statement.bind(key, at: 4)
    statement.bind(transaction, at: 5)
    if let columns {
      statement.bind(columns, at: 6)
    } else {
      statement.bindNull(at: 6)
    }
    for (index, value) in tombstone.enumerated() { statement.bind(value, at: Int32(7 + index)) }
    try statement.run()
    nextChange += 1
  }

  /// Writes the counter of changes back.
  ///
  /// Call it once, after the last change.
  func finish() throws {
    guard number != nil else { return }
    insertChange.reset()
    try setMaximum(nextChange - 1, of: HistoryTables.changeNumber)
  }

  private func insertWithTombstone(count: Int) throws -> SQLiteStatement {
    let names = (0..<count).map { ", ZTOMBSTONE\($0)" }.joined()
    let marks = String(repeating: ", ?", count: count)
    return try connection.statement(
      "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS"
        + "\(names)) VALUES (?, \(HistoryTables.changeNumber), ?, ?, ?, ?, ?\(marks))")
  }

  private mutating func begin() throws -> Int64 {
    if let number { return number }
    let transaction = try maximum(of: HistoryTables.transactionNumber, "ATRANSACTION") + 1
    nextChange = try maximum(of: HistoryTables.changeNumber, "ACHANGE") + 1
    let statement = try connection.statement(
      "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS,"
        + " ZTIMESTAMP) VALUES (?, \(HistoryTables.transactionNumber), ?, ?, ?, ?, ?)")
    defer { statement.reset() }
    statement.bind(transaction, at: 1)
    let strings = [
      author, Bundle.main.bundleIdentifier, contextName, ProcessInfo.processInfo.processName,
    ]
    for (index, string) in strings.enumerated() {
      let position = Int32(2 + index)
      if let string {
        statement.bind(try intern(string), at: position)
      } else {
        statement.bindNull(at: position)
      }
    }
    statement.bind(date.timeIntervalSinceReferenceDate, at: 6)
    try statement.run()
    try setMaximum(transaction, of: HistoryTables.transactionNumber)
    number = transaction
    return transaction
  }

  /// The key of a string in `ATRANSACTIONSTRING`, which gets it if need be.
  private func intern(_ string: String) throws -> Int64 {
    let find = try connection.statement("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?")
    defer { find.reset() }
    find.bind(string, at: 1)
    if try find.step() { return find.integer(0) }
    let key = try maximum(of: HistoryTables.stringNumber, "ATRANSACTIONSTRING") + 1
    let insert = try connection.statement(
      "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) "
        + "VALUES (?, \(HistoryTables.stringNumber), ?)")
    defer { insert.reset() }
    insert.bind(key, at: 1)
    insert.bind(string, at: 2)
    try insert.run()
    try setMaximum(key, of: HistoryTables.stringNumber)
    return key
  }

  private func maximum(of number: Int, _ table: String) throws -> Int64 {
    try connection.lastKey(ofEntity: number, table: table)
  }

  private func setMaximum(_ value: Int64, of number: Int) throws {
    let statement = try connection.statement("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
    defer { statement.reset() }
    statement.bind(value, at: 1)
    statement.bind(Int64(number), at: 2)
    try statement.run()
  }
}
