import CairnModel
import CairnSQL
import CairnStore
import GRDBSQLite

/// Inserts rows of one entity through one prepared statement.
///
/// Goes over the values of a row once, without asking the entity again what its columns are.
final class RowInsertion {
  let statement: SQLiteStatement
  private let lookup: RowLookup
  private let arena: BindingArena
  private let binds: [ColumnBinding]
  /// What the version's parameter is bound to; it stays so from row to row.
  private var version: Int64?

  init(entity: SQLEntity, lookup: RowLookup, arena: BindingArena) throws {
    self.lookup = lookup
    self.arena = arena
    binds = entity.slots.map(ColumnBinding.init)
    let columns = entity.slots.flatMap(\.columns)
    let names = columns.map { ", \($0)" }.joined()
    let marks = String(repeating: ", ?", count: columns.count)
    statement = try lookup.connection.statement(
      "INSERT INTO \(entity.table) (Z_PK, Z_ENT, Z_OPT\(names)) "
        + "VALUES (?, \(entity.number), ?\(marks))")
  }

  /// Inserts a row.
  ///
  /// - Parameter addFile: Called with each file that was written for a value.
  /// - Returns: Whether all values will be read back as they are.
  func insert(
    _ snapshot: RowSnapshot, version: Int64, addFile: (String) -> Void
  ) throws -> Bool {
    let objectID = snapshot.objectID
    guard let key = objectID.rowKey else {
      throw CoreDataError(
        .persistentStoreSave,
        "The new object \(objectID) has no permanent ID of the store.")
    }
    // Slots are read without a bound below.
    guard binds.count <= snapshot.count else {
      throw CoreDataError(
        .persistentStoreSave, "The new object \(objectID) has the row of another entity.")
    }
    arena.startRow()
    let handle = statement.handle
    sqlite3_bind_int64(handle, 1, key)
    if self.version != version {
      sqlite3_bind_int64(handle, 2, version)
      self.version = version
    }
    var isExact = true
    var next: Int32 = 3
    let slots = snapshot.slotPointer
    try binds.withUnsafeBufferPointer { binds in
      for index in 0..<binds.count {
        switch binds[index] {
        case .skip:
          // Contexts leave transient values out.
          if !slots[index].isNull { isExact = false }
          continue
        case .plain:
          if !bind(slots[index], at: next, of: handle) { isExact = false }
        case .external:
          if case .data(let data) = slots[index] {
            let (bytes, file) = try lookup.reader.files.column(for: data)
            if let file { addFile(file) }
            arena.bind(bytes, at: next, of: statement)
          } else {
            statement.bind(slots[index], at: next)
          }
        case .toOne(let hasCompanion):
          try lookup.bind(
            slots[index], hasCompanion: hasCompanion, at: next, of: statement)
          if hasCompanion { next += 1 }
        }
        next += 1
      }
    }
    try statement.run()
    return isExact
  }

  /// Binds the value of an attribute; says whether it will be read back as it is.
  @inline(__always)
  private func bind(
    _ value: AttributeValue, at index: Int32, of handle: OpaquePointer
  ) -> Bool {
    switch value {
    case .null: sqlite3_bind_null(handle, index)
    case .boolean(let flag): sqlite3_bind_int64(handle, index, flag ? 1 : 0)
    case .integer(let number): sqlite3_bind_int64(handle, index, number)
    case .float(let number):
      sqlite3_bind_double(handle, index, Double(number))
      return !number.isNaN
    case .double(let number):
      sqlite3_bind_double(handle, index, number)
      return !number.isNaN
    case .date(let date):
      let number = date.timeIntervalSinceReferenceDate
      sqlite3_bind_double(handle, index, number)
      return !number.isNaN
    case .string(let text): arena.bind(text, at: index, of: statement)
    case .data(let data): arena.bind(data, at: index, of: statement)
    case .decimal, .uuid, .url, .object:
      statement.bind(value, at: index)
      return StoredForm.isExact(value)
    }
    return true
  }
}

/// How a slot is bound: what of ``SQLSlot`` matters for it, without its names.
enum ColumnBinding {
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

extension SQLSlot {
  /// The columns that hold the slot's value.
  var columns: [String] {
    switch self {
    case .transient: return []
    case .attribute(let column, _, _): return [column]
    case .toOne(let column, let companion, _): return [column] + [companion].compactMap { $0 }
    }
  }
}

extension RowLookup {
  /// Binds the destination of a to-one relationship, and its entity in the parameter behind it where
  /// there is a column for that.
  func bind(
    _ value: AttributeValue, hasCompanion: Bool, at index: Int32, of statement: SQLiteStatement
  ) throws {
    guard case .object(let destination) = value else {
      statement.bindNull(at: index)
      if hasCompanion { statement.bindNull(at: index + 1) }
      return
    }
    guard let key = destination.rowKey else {
      throw CoreDataError(
        .persistentStoreSave,
        "A saved object refers to \(destination), which has no permanent ID of the store.")
    }
    statement.bind(key, at: index)
    if hasCompanion {
      statement.bind(Int64(schema.entity(destination.entity).number), at: index + 1)
    }
  }
}
