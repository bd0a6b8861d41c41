import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Reading and purging persistent history.

extension SQLiteStore: HistoryKeeping {
  public func lastTransactionNumber() throws -> Int64 {
    try readBriefly { lookup in
      guard try lookup.connection.hasTable("ATRANSACTION") else { return 0 }
      return try Self.lastNumber(lookup.connection)
    }
  }

  public func readHistory(
    _ request: HistoryReadRequest
  ) throws -> [HistoryTransactionRecord] {
    try readConsistently(count: request.limit == 0 ? .max : request.limit) { lookup in
      guard try lookup.connection.hasTable("ATRANSACTION") else { return [] }
      if let after = request.after { try checkNotExpired(after, lookup.connection) }
      let transactions = try HistoryReader(lookup: lookup).transactions(request)
      guard request.includesChanges else { return transactions }
      return try HistoryReader(lookup: lookup).addChanges(to: transactions)
    }
  }

  public func births(of objects: [ManagedObjectID]) throws -> [ManagedObjectID: RowBirth] {
    try readConsistently(count: objects.count) { lookup in
      guard try lookup.connection.hasTable("ATRANSACTION") else { return [:] }
      return try HistoryReader(lookup: lookup).births(of: Set(objects))
    }
  }

  private static func lastNumber(_ connection: SQLiteConnection) throws -> Int64 {
    try connection.lastKey(ofEntity: HistoryTables.transactionNumber, table: "ATRANSACTION")
  }

  /// A position is expired when transactions after it have been purged, and unknown when the store
  /// has never come that far (another store, or one restored from an older copy).
  private func checkNotExpired(_ number: Int64, _ connection: SQLiteConnection) throws {
    let last = try Self.lastNumber(connection)
    let first = try connection.integer("SELECT MIN(Z_PK) FROM ATRANSACTION") ?? last + 1
    guard number > last || number + 1 < first else { return }
    throw CoreDataError(
      .persistentHistoryTokenExpired,
      "History after transaction \(number) is not there: the store at \(path) keeps transactions "
        + "\(first) to \(last). Start again from the store's present content.")
  }

  public func purgeHistory(before number: Int64?, date: Date?) throws -> Int {
    try write(doing: "purge history", deletes: true) { lookup -> Int? in
      let connection = lookup.connection
      guard try connection.hasTable("ATRANSACTION") else { return 0 }
      var limit = number ?? 0
      if let date {
        let kept = try connection.statement(
          "SELECT MIN(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?")
        defer { kept.reset() }
        kept.bind(date.timeIntervalSinceReferenceDate, at: 1)
        let first = try kept.step() && !kept.isNull(0) ? kept.integer(0) : Int64.max
        limit = max(limit, first)
      }
      try BirthKeeping(lookup: lookup).keep(before: limit)
      for sql in [
        "DELETE FROM ACHANGE WHERE ZTRANSACTIONID < ?", "DELETE FROM ATRANSACTION WHERE Z_PK < ?",
      ] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        statement.bind(limit, at: 1)
        try statement.run()
      }
      return connection.changes
    } ?? 0
  }
}

extension SQLiteStore {
  /// Whether commits are recorded in history.
  var recordsHistory: Bool {
    state.withLock { $0.recordsHistory || $0.snapshots?.othersRecordHistory == true }
  }

  /// Whether a write transaction is to be recorded.
  ///
  /// Where another program has switched history on, its tables get what this store's model needs of
  /// them.
  func beginHistory(_ lookup: RowLookup) throws -> Bool {
    if state.withLock({ $0.recordsHistory }) { return true }
    guard recordsHistory else { return false }
    try HistoryTables.create(for: lookup.schema, lookup.connection)
    return true
  }
}

/// Makes records of history rows.
struct HistoryReader {
  let lookup: RowLookup

  func births(of objects: Set<ManagedObjectID>) throws -> [ManagedObjectID: RowBirth] {
    let statement = try lookup.connection.statement(
      "SELECT c.ZENTITY, c.ZENTITYPK, t.Z_PK, t.ZTIMESTAMP FROM ACHANGE c "
        + "JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID WHERE c.ZCHANGETYPE = 0 "
        + "AND c.ZENTITYPK IN (SELECT value FROM json_each(?1)) ORDER BY t.Z_PK")
    defer { statement.reset() }
    statement.bind(KeyList.json(objects.compactMap(\.rowKey)), at: 1)
    var births: [ManagedObjectID: RowBirth] = [:]
    while try statement.step() {
      let object = lookup.reader.objectID(
        entity: Int(truncatingIfNeeded: statement.integer(0)), key: statement.integer(1))
      guard let object, objects.contains(object) else { continue }
      births[object] = RowBirth(
        transaction: statement.integer(2),
        date: Date(timeIntervalSinceReferenceDate: statement.double(3)))
    }
    return births
  }

  func transactions(_ request: HistoryReadRequest) throws -> [HistoryTransactionRecord] {
    let strings = try columns()
    var sql =
      "SELECT t.Z_PK, t.ZTIMESTAMP, \(strings.joined(separator: ", ")) FROM ATRANSACTION t "
      + "WHERE t.Z_PK > ?1"
    if request.afterDate != nil { sql += " AND t.ZTIMESTAMP > ?2" }
    sql += " ORDER BY t.Z_PK"
    if request.limit > 0 { sql += " LIMIT ?3" }
    let statement = try lookup.connection.statement(sql)
    defer { statement.reset() }
    statement.bind(request.after ?? -1, at: 1)
    if let date = request.afterDate {
      statement.bind(date.timeIntervalSinceReferenceDate, at: 2)
    }
    if request.limit > 0 { statement.bind(Int64(request.limit), at: 3) }
    var result: [HistoryTransactionRecord] = []
    while try statement.step() {
      func text(_ column: Int32) -> String? {
        statement.isNull(column) ? nil : statement.string(column)
      }
      result.append(
        HistoryTransactionRecord(
          number: statement.integer(0),
          date: Date(timeIntervalSinceReferenceDate: statement.double(1)), author: text(2),
          contextName: text(3), bundleID: text(4), processID: text(5), changes: []))
    }
    return result
  }

  /// The four strings of a transaction: interned, in the legacy columns, or either.
  private func columns() throws -> [String] {
    let existing = try Set(HistoryTables.columns(of: "ATRANSACTION", lookup.connection))
    let hasStrings = try lookup.connection.hasTable("ATRANSACTIONSTRING")
    return ["ZAUTHOR", "ZCONTEXTNAME", "ZBUNDLEID", "ZPROCESSID"].map { name in
      let interned =
        hasStrings && existing.contains(name + "TS")
        ? "(SELECT s.ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.\(name)TS)" : "NULL"
      return existing.contains(name) ? "IFNULL(\(interned), t.\(name))" : interned
    }
  }

  func addChanges(
    to transactions: [HistoryTransactionRecord]
  ) throws -> [HistoryTransactionRecord] {
    guard let first = transactions.first?.number, let last = transactions.last?.number else {
      return []
    }
    let tombstones = try HistoryTables.columns(of: "ACHANGE", lookup.connection)
      .filter { $0.hasPrefix("ZTOMBSTONE") }.count
    let extra = (0..<tombstones).map { ", ZTOMBSTONE\($0)" }.joined()
    let statement = try lookup.connection.statement(
      "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(extra) FROM ACHANGE "
        + "WHERE ZTRANSACTIONID BETWEEN ? AND ? ORDER BY ZTRANSACTIONID, Z_PK")
    defer { statement.reset() }
    statement.bind(first, at: 1)
    statement.bind(last, at: 2)
    var changes: [Int64: [HistoryChangeRecord]] = [:]
    while try statement.step() {
      if let change = change(statement, tombstones: tombstones) {
        changes[statement.integer(4), default: []].append(change)
      }
    }
    return transactions.map {
      HistoryTransactionRecord(
        number: $0.number, date: $0.date, author: $0.author, contextName: $0.contextName,
        bundleID: $0.bundleID, processID: $0.processID, changes: changes[$0.number] ?? [])
    }
  }

  private func change(_ statement: SQLiteStatement, tombstones: Int) -> HistoryChangeRecord? {
    guard let kind = HistoryChangeKind(rawValue: Int(truncatingIfNeeded: statement.integer(1))),
      let entity = lookup.schema.entity(number: Int(truncatingIfNeeded: statement.integer(2)))
    else { return nil }
    var values: [String: AttributeValue] = [:]
    if kind == .delete {
      for (index, slot) in entity.history.tombstoneSlots.prefix(tombstones).enumerated() {
        guard case .attribute(_, let type, _) = entity.slots[slot] else { continue }
        let value = statement.value(
          Int32(6 + index), type: type, isExternal: false, files: lookup.reader.files)
        if !value.isNull { values[entity.layout.slots[slot].name] = value }
      }
    }
    return HistoryChangeRecord(
      number: statement.integer(0), kind: kind,
      objectID: lookup.reader.objectID(entity, key: statement.integer(3)),
      changedProperties: kind == .update && !statement.isNull(5)
        ? entity.history.properties(in: statement.data(5)) : nil,
      tombstone: values)
  }
}
