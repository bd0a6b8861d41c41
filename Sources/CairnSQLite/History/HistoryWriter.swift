import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Appends one transaction to history, inside the transaction that it describes.
final class HistoryWriter {
  let lookup: RowLookup
  /// The number of the transaction; its row is written with the first change.
  private(set) var number: Int64?
  private let author: String?
  private let contextName: String?
  private let date: Date
  private var nextChange: Int64 = 0
  /// Whether the change before ``nextChange`` stands in the table, as its last row.
  ///
  /// Then SQLite gives those that follow the same keys as they would be given here, and neither looks
  /// for one that is taken nor keeps copies of pages to take the statement back.
  private var isAtEnd = false
  private let insertChange: SQLiteStatement
  /// The same for a full run of updates.
  private var insertUpdates: SQLiteStatement?
  /// The same as ``insertChange`` with values of deleted objects, by their number.
  private var insertTombstones: [Int: SQLiteStatement] = [:]
  /// Insertions that were recorded and are not written yet: rows of one table with keys in a row.
  private var run: InsertionRun?
  /// The same for updates of one entity that changed the same properties.
  private var updates: UpdateRun?

  private struct InsertionRun {
    let entity: SQLEntity
    let firstKey: Int64
    var count: Int64 = 1

    /// From here on it is one statement for all: a shorter run is not worth another one.
    var isLong: Bool { count >= 8 }
  }

  private struct UpdateRun {
    /// As many as go with one statement: with more of them the rest costs more than is won.
    static let fullCount = 16
    let entity: SQLEntity
    let columns: [UInt8]
    var keys: [Int64] = []
  }

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
  func record(
    _ kind: HistoryChangeKind, entity: SQLEntity, key: Int64, columns: [UInt8]? = nil,
    tombstone: [AttributeValue] = []
  ) throws {
    try begin()
    if isAtEnd {
      if kind == .insert { return try recordInsertion(entity, key) }
      if let columns, kind == .update { return try recordUpdate(entity, key, columns) }
    }
    try writeRuns()
    let statement =
      tombstone.isEmpty ? insertChange : try insertWithTombstone(count: tombstone.count)
    for (index, value) in tombstone.enumerated() { statement.bind(value, at: Int32(7 + index)) }
    try write(kind, entity, key, columns, with: statement)
  }

  /// Writes the next change.
  private func write(
    _ kind: HistoryChangeKind, _ entity: SQLEntity, _ key: Int64, _ columns: [UInt8]?,
    with statement: SQLiteStatement
  ) throws {
    // Every parameter is bound anew for each change.
    statement.bind(nextChange, at: 1)
    statement.bind(Int64(kind.rawValue), at: 2)
    statement.bind(Int64(entity.number), at: 3)
    statement.bind(key, at: 4)
    statement.bind(number ?? 0, at: 5)
    try statement.run(binding: columns, at: 6)
    nextChange += 1
    isAtEnd = true
  }

  /// New rows most often come with keys in a row, and the row itself says all there is to record.
  private func recordInsertion(_ entity: SQLEntity, _ key: Int64) throws {
    if let known = run, known.entity === entity, known.firstKey &+ known.count == key {
      run?.count += 1
    } else {
      try writeRuns()
      run = InsertionRun(entity: entity, firstKey: key)
    }
  }

  /// Many objects most often change in the same properties, and one statement for several is much
  /// cheaper than one for each.
  private func recordUpdate(
    _ entity: SQLEntity, _ key: Int64, _ columns: [UInt8]
  ) throws {
    if updates == nil || updates?.entity !== entity || updates?.columns != columns {
      try writeRuns()
      updates = UpdateRun(entity: entity, columns: columns)
    }
    updates?.keys.append(key)
    if updates?.keys.count == UpdateRun.fullCount { try writeFullRun() }
  }

  /// Writes what was recorded and is not written yet: changes are numbered in the order of the
  /// records.
  private func writeRuns() throws {
    if let updates {
      self.updates = nil
      for key in updates.keys {
        try write(.update, updates.entity, key, updates.columns, with: insertChange)
      }
    }
    guard let run else { return }
    self.run = nil
    if run.isLong, try writeAtOnce(run) { return }
    for place in 0..<run.count {
      try write(.insert, run.entity, run.firstKey &+ place, nil, with: insertChange)
    }
  }

  /// Writes the changes of a full run of updates, and keeps the run for those to come.
  private func writeFullRun() throws {
    guard let run = updates else { return }
    let statement = try insertUpdates ?? makeInsertUpdates()
    insertUpdates = statement
    statement.bind(Int64(HistoryChangeKind.update.rawValue), at: 1)
    statement.bind(Int64(run.entity.number), at: 2)
    statement.bind(number ?? 0, at: 3)
    for (place, key) in run.keys.enumerated() { statement.bind(key, at: Int32(5 + place)) }
    try statement.run(binding: run.columns, at: 4)
    nextChange += Int64(UpdateRun.fullCount)
    updates?.keys.removeAll(keepingCapacity: true)
  }

  private func makeInsertUpdates() throws -> SQLiteStatement {
    let rows = (0..<UpdateRun.fullCount).map { place in
      "(\(HistoryTables.changeNumber), ?1, ?2, ?\(5 + place), ?3, ?4)"
    }
    return try connection.statement(
      "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)"
        + " VALUES \(rows.joined(separator: ", "))")
  }

  /// Writes the changes of a run with one statement, from the rows that are in the table by now.
  ///
  /// - Returns: False, with nothing written, when not all of them are: another program's trigger may
  ///   delete rows.
  private func writeAtOnce(_ run: InsertionRun) throws -> Bool {
    let statement = try connection.statement(
      "INSERT INTO ACHANGE (Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)"
        + " SELECT \(HistoryTables.changeNumber), ?1, ?2, Z_PK, ?3"
        + " FROM \(run.entity.table) WHERE Z_PK BETWEEN ?4 AND ?5 ORDER BY Z_PK")
    defer { statement.reset() }
    statement.bind(Int64(HistoryChangeKind.insert.rawValue), at: 1)
    statement.bind(Int64(run.entity.number), at: 2)
    statement.bind(number ?? 0, at: 3)
    statement.bind(run.firstKey, at: 4)
    statement.bind(run.firstKey &+ (run.count - 1), at: 5)
    try statement.run()
    if connection.changes == Int(run.count) {
      nextChange += run.count
      return true
    }
    let undoing = try connection.statement("DELETE FROM ACHANGE WHERE Z_PK >= ?")
    defer { undoing.reset() }
    undoing.bind(nextChange, at: 1)
    try undoing.run()
    return false
  }

  /// Writes what is left, and the counter of changes back.
  ///
  /// Call it once, after the last change.
  func finish() throws {
    guard number != nil else { return }
    try writeRuns()
    insertChange.reset()
    insertUpdates?.reset()
    for statement in insertTombstones.values { statement.reset() }
    try setMaximum(nextChange - 1, of: HistoryTables.changeNumber)
  }

  private func insertWithTombstone(count: Int) throws -> SQLiteStatement {
    if let known = insertTombstones[count] { return known }
    let names = (0..<count).map { ", ZTOMBSTONE\($0)" }.joined()
    let marks = String(repeating: ", ?", count: count)
    let statement = try connection.statement(
      "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS"
        + "\(names)) VALUES (?, \(HistoryTables.changeNumber), ?, ?, ?, ?, ?\(marks))")
    insertTombstones[count] = statement
    return statement
  }

  private func begin() throws {
    if number != nil { return }
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
