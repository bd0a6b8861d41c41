import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Writes rows of entity tables: one prepared statement for each entity and set of columns.
final class RowWriter {
  let lookup: RowLookup
  /// Files written for new values; removed again when the transaction does not commit.
  private(set) var newFiles: [String] = []
  /// Files whose values were replaced; removed once the transaction has committed.
  private(set) var obsoleteFiles: [String] = []
  private let arena = BindingArena()
  private var inserts: [Int: RowInsertion] = [:]
  private var updates: [UpdateKey: SQLiteStatement] = [:]
  /// The statement of the last update, which is most often that of the next.
  private var recentUpdate: PreparedUpdate?

  /// Call it after the last row, inside the transaction: the statements stay in the connection's
  /// cache and must not refer to the arena any more.
  func finish() {
    for insertion in inserts.values { insertion.finish() }
    for statement in updates.values { statement.reset() }
  }

  private struct UpdateKey: Hashable {
    let entity: Int
    let slots: [Int]
    let isForced: Bool
  }

  private final class PreparedUpdate {
    let shape: UpdateKey
    let statement: SQLiteStatement
    let binds: [ColumnBinding]

    init(_ shape: UpdateKey, _ entity: SQLEntity, _ statement: SQLiteStatement) {
      self.shape = shape
      self.statement = statement
      binds = shape.slots.map { ColumnBinding(entity.slots[$0]) }
    }
  }

  init(lookup: RowLookup) {
    self.lookup = lookup
  }

  private var connection: SQLiteConnection { lookup.connection }

  // MARK: Insert

  /// What inserts the rows of an entity.
  func insertion(_ entity: SQLEntity) throws -> RowInsertion {
    if let known = inserts[entity.number] { return known }
    let insertion = try RowInsertion(entity: entity, lookup: lookup, arena: arena)
    inserts[entity.number] = insertion
    return insertion
  }

  /// Notes a file written for a new value, so that it goes when the transaction does not commit.
  func addNewFile(_ file: String) { newFiles.append(file) }

  /// Inserts one row; for many, see ``insertion(_:)``.
  func insert(_ snapshot: RowSnapshot, entity: SQLEntity, version: Int64) throws {
    _ = try insertion(entity).insert(snapshot, version: version, addFile: addNewFile)
  }

  private func bind(
    _ value: AttributeValue, _ slot: ColumnBinding, _ statement: SQLiteStatement,
    _ next: inout Int32
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
      try lookup.bind(value, hasCompanion: hasCompanion, at: next, of: statement)
      next += hasCompanion ? 2 : 1
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
    let update = try prepared(
      UpdateKey(entity: entity.number, slots: slots, isForced: expected == nil), entity)
    let statement = update.statement
    arena.startRow()
    var next: Int32 = 1
    for place in slots.indices {
      try bind(snapshot[slots[place]], update.binds[place], statement, &next)
    }
    statement.bind(version, at: next)
    statement.bind(key, at: next + 1)
    if let expected { statement.bind(expected, at: next + 2) }
    try statement.run()
    guard connection.changes > 0 else { return false }
    if !replaced.isEmpty { obsoleteFiles += replaced }
    return true
  }

  private func prepared(_ shape: UpdateKey, _ entity: SQLEntity) throws -> PreparedUpdate {
    if let recentUpdate, recentUpdate.shape == shape { return recentUpdate }
    let update = PreparedUpdate(shape, entity, try updateStatement(shape, entity))
    recentUpdate = update
    return update
  }

  private func updateStatement(_ shape: UpdateKey, _ entity: SQLEntity) throws -> SQLiteStatement {
    if let known = updates[shape] { return known }
    let columns = shape.slots.flatMap { entity.slots[$0].columns }
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
