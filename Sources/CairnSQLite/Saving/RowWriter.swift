import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Writes rows of entity tables: one prepared statement for each entity and set of columns.
final class RowWriter {
  let lookup: RowLookup
  /// Files written for new values; removed again when the transaction does not commit.
  private(set) var newFiles: [String] = []
  /// Files whose values were replaced or deleted; removed once the transaction has committed.
  private(set) var obsoleteFiles: [String] = []
  private let arena = BindingArena()
  private var inserts: [Int: SQLiteStatement] = [:]
  /// The statement of the last insert; a save seldom changes entity from row to row.
  private var recentInsert: (number: Int, statement: SQLiteStatement, binds: [Bind])?
  private var unlinking: [Int: [String]] = [:]
  private var updates: [UpdateShape: SQLiteStatement] = [:]
  /// The statement of the last update.
  private var recentUpdate: (shape: UpdateShape, statement: SQLiteStatement)?
  private var deletes: [Int: SQLiteStatement] = [:]

  /// Call it after the last row, inside the transaction: the statements stay in the connection's
  /// cache and must not refer to the arena any more.
  func finish() {
    for statement in inserts.values { statement.reset() }
    for statement in updates.values { statement.reset() }
  }

  /// How a slot is bound: what of ``SQLSlot`` matters for it, without its names.
  private enum Bind {
    case skip
    case plain
    case external
    case toOne(hasCompanion: Bool)

    init(_ slot: SQLSlot) {
      switch slot {
      case .transient: self = .skip
      case .attribute(_, _, let isExternal): self = isExternal ? .external : .plain
      case .toOne(_, let companion, _): self = .toOne(hasCompanion: companion != nil)
      }
    }
  }

  private struct UpdateShape: Hashable {
    let entity: Int
    let slots: [Int]
    let isForced: Bool
  }

  init(lookup: RowLookup) {
    self.lookup = lookup
  }

  private var connection: SQLiteConnection { lookup.connection }

  // MARK: Insert

  func insert(_ snapshot: RowSnapshot, entity: SQLEntity, version: Int64) throws {
    if recentInsert?.number != entity.number {
      recentInsert = (entity.number, try insertStatement(entity), entity.slots.map(Bind.init))
    }
    guard let (_, statement, binds) = recentInsert else { return }
    guard let key = snapshot.objectID.rowKey else {
      throw CoreDataError(
        .persistentStoreSave,
        "The new object \(snapshot.objectID) has no permanent ID of the store.")
    }
    // Slots are read without a bound below.
    guard binds.count <= snapshot.count else {
      throw CoreDataError(
        .persistentStoreSave, "The new object \(snapshot.objectID) has the row of another entity.")
    }
    arena.startRow()
    statement.bind(key, at: 1)
    statement.bind(version, at: 2)
    var next: Int32 = 3
    let slots = snapshot.slotPointer
    for index in binds.indices { try bind(slots[index], binds[index], statement, &next) }
    try statement.run()
  }

  private func insertStatement(_ entity: SQLEntity) throws -> SQLiteStatement {
    if let known = inserts[entity.number] { return known }
    let columns = entity.slots.flatMap(Self.columns)
    let names = columns.map { ", \($0)" }.joined()
    let marks = String(repeating: ", ?", count: columns.count)
    let statement = try connection.statement(
      "INSERT INTO \(entity.table) (Z_PK, Z_ENT, Z_OPT\(names)) "
        + "VALUES (?, \(entity.number), ?\(marks))")
    inserts[entity.number] = statement
    return statement
  }

  private static func columns(_ slot: SQLSlot) -> [String] {
    switch slot {
    case .transient: return []
    case .attribute(let column, _, _): return [column]
    case .toOne(let column, let companion, _): return [column] + [companion].compactMap { $0 }
    }
  }

  private func bind(
    _ value: AttributeValue, _ slot: Bind, _ statement: SQLiteStatement, _ next: inout Int32
  ) throws {
    switch slot {
    case .skip: return
    case .external:
      if case .data(let data) = value {
        let (bytes, file) = try lookup.reader.files.column(for: data)
        if let file { newFiles.append(file) }
        arena.bind(bytes, at: next, of: statement)
      } else {
        statement.bind(value, at: next)
      }
      next += 1
    case .plain:
      switch value {
      case .string(let text): arena.bind(text, at: next, of: statement)
      case .data(let data): arena.bind(data, at: next, of: statement)
      case .null, .boolean, .integer, .float, .double, .decimal, .date, .uuid, .url, .object:
        statement.bind(value, at: next)
      }
      next += 1
    case .toOne(let hasCompanion):
      if case .object(let destination) = value, destination.rowKey == nil {
        throw CoreDataError(
          .persistentStoreSave,
          "A saved object refers to \(destination), which has no permanent ID of the store.")
      }
      statement.bind(value, at: next)
      next += 1
      guard hasCompanion else { return }
      if case .object(let destination) = value {
        statement.bind(Int64(lookup.schema.entity(destination.entity).number), at: next)
      } else {
        statement.bindNull(at: next)
      }
      next += 1
    }
  }

  // MARK: Update

  /// Writes changed slots and advances the version; false when the row is not at `expected`.
  ///
  /// - Parameter expected: nil writes whatever version is there, but only if there is a row.
  func update(
    _ snapshot: RowSnapshot, slots: [Int], entity: SQLEntity, to version: Int64, expected: Int64?
  ) throws -> Bool {
    let key = snapshot.objectID.rowKey ?? 0
    let external =
      entity.externalSlots.isEmpty ? [] : slots.filter { entity.externalSlots.contains($0) }
    let replaced = try externalFiles(of: key, entity: entity, slots: external)
    let shape = UpdateShape(entity: entity.number, slots: slots, isForced: expected == nil)
    let statement: SQLiteStatement
    if let recentUpdate, recentUpdate.shape == shape {
      statement = recentUpdate.statement
    } else {
      statement = try updateStatement(shape, entity)
      recentUpdate = (shape, statement)
    }
    arena.startRow()
    var next: Int32 = 1
    for slot in slots { try bind(snapshot[slot], Bind(entity.slots[slot]), statement, &next) }
    statement.bind(version, at: next)
    statement.bind(key, at: next + 1)
    if let expected { statement.bind(expected, at: next + 2) }
    try statement.run()
    guard connection.changes > 0 else { return false }
    if !replaced.isEmpty { obsoleteFiles += replaced }
    return true
  }

  private func updateStatement(_ shape: UpdateShape, _ entity: SQLEntity) throws -> SQLiteStatement
  {
    if let known = updates[shape] { return known }
    let columns = shape.slots.flatMap { Self.columns(entity.slots[$0]) }
    let settings = columns.map { "\($0) = ?, " }.joined()
    let condition = shape.isForced ? "" : " AND (Z_OPT = ? OR Z_OPT IS NULL)"
    let statement = try connection.statement(
      "UPDATE \(entity.table) SET \(settings)Z_OPT = ? WHERE Z_PK = ?\(condition)")
    updates[shape] = statement
    return statement
  }

  /// The version of a row as it is stored now, nil when there is none.
  func storedVersion(of key: Int64, entity: SQLEntity) throws -> Int64? {
    try connection.integer("SELECT IFNULL(Z_OPT, 0) FROM \(entity.table) WHERE Z_PK = ?", key)
  }

  /// Empties columns of a row, so that unique values can move between rows in one save.
  func clear(_ columns: [String], of key: Int64, entity: SQLEntity, expected: Int64?) throws {
    let settings = columns.map { "\($0) = NULL" }.joined(separator: ", ")
    let condition = expected == nil ? "" : " AND (Z_OPT = ? OR Z_OPT IS NULL)"
    let statement = try connection.statement(
      "UPDATE \(entity.table) SET \(settings) WHERE Z_PK = ?\(condition)")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    if let expected { statement.bind(expected, at: 2) }
    try statement.run()
  }

  // MARK: Delete

  /// Deletes a row, its links and its files; false when it is not at the expected version.
  func delete(_ objectID: ManagedObjectID, entity: SQLEntity, expected: Int64?) throws -> Bool {
    let key = objectID.rowKey ?? 0
    let files = try externalFiles(of: key, entity: entity, slots: entity.externalSlots)
    let statement: SQLiteStatement
    if expected == nil {
      statement = try connection.statement("DELETE FROM \(entity.table) WHERE Z_PK = ?")
    } else if let known = deletes[entity.number] {
      statement = known
    } else {
      statement = try connection.statement(
        "DELETE FROM \(entity.table) WHERE Z_PK = ? AND (Z_OPT = ? OR Z_OPT IS NULL)")
      deletes[entity.number] = statement
    }
    statement.bind(key, at: 1)
    if let expected { statement.bind(expected, at: 2) }
    try statement.run()
    guard connection.changes > 0 else { return false }
    if !files.isEmpty { obsoleteFiles += files }
    try unlink(key, entity: entity)
    return true
  }

  /// Removes a deleted row's links that no slot of another object carries.
  func unlink(_ key: Int64, entity: SQLEntity) throws {
    for sql in unlinkingStatements(of: entity) {
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      statement.bind(key, at: 1)
      try statement.run()
    }
  }

  private func unlinkingStatements(of entity: SQLEntity) -> [String] {
    if let known = unlinking[entity.number] { return known }
    var statements = lookup.schema.joinColumns(of: entity).map {
      "DELETE FROM \($0.table) WHERE \($0.column) = ?"
    }
    for case .foreignKey(let table, let column, _, _, true) in entity.links where column != "NULL" {
      statements.append("UPDATE \(table) SET \(column) = NULL WHERE \(column) = ?")
    }
    unlinking[entity.number] = statements
    return statements
  }

  /// Deletes many rows of one entity, their links and their files, whatever their versions.
  func delete(keys: [Int64], entity: SQLEntity) throws {
    if keys.isEmpty { return }
    let list = KeyList.json(keys)
    let chosen = "IN (SELECT value FROM json_each(?))"
    for slot in entity.externalSlots {
      guard let column = entity.slots[slot].column else { continue }
      let select = try connection.statement(
        "SELECT substr(\(column), 1, 38) FROM \(entity.table) WHERE Z_PK \(chosen)")
      defer { select.reset() }
      select.bind(list, at: 1)
      while try select.step() {
        if let file = ExternalDataFiles.fileName(ofColumn: select.data(0)) {
          obsoleteFiles.append(file)
        }
      }
    }
    var statements = ["DELETE FROM \(entity.table) WHERE Z_PK \(chosen)"]
    statements += lookup.schema.joinColumns(of: entity).map {
      "DELETE FROM \($0.table) WHERE \($0.column) \(chosen)"
    }
    for case .foreignKey(let table, let column, _, _, true) in entity.links where column != "NULL" {
      statements.append("UPDATE \(table) SET \(column) = NULL WHERE \(column) \(chosen)")
    }
    for sql in statements {
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      statement.bind(list, at: 1)
      try statement.run()
    }
  }

  // MARK: Files

  private func externalFiles(of key: Int64, entity: SQLEntity, slots: [Int]) throws -> [String] {
    if slots.isEmpty { return [] }
    let columns = slots.compactMap { entity.slots[$0].column }
    // The first 38 bytes hold the tag and, for a file, its name.
    let list = columns.map { "substr(\($0), 1, 38)" }.joined(separator: ", ")
    let statement = try connection.statement("SELECT \(list) FROM \(entity.table) WHERE Z_PK = ?")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.step() else { return [] }
    return columns.indices.compactMap {
      ExternalDataFiles.fileName(ofColumn: statement.data(Int32($0)))
    }
  }
}
