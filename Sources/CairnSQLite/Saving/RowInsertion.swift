import CairnModel
import CairnSQL
import CairnStore
import GRDBSQLite

/// Inserts rows of one entity, one at a time or many with one statement.
///
/// Goes over the values of a row once, without asking the entity again what its columns are.
final class RowInsertion {
  /// How many rows one statement takes, where so many follow each other; 1 for never.
  let blockCount: Int
  private let entity: SQLEntity
  private let lookup: RowLookup
  private let arena: BindingArena
  private let binds: [ColumnBinding]
  private let single: SQLiteStatement
  /// Made when it is needed for the first time.
  private var block: SQLiteStatement?

  /// More rows a statement save little, and more parameters cost more than that.
  private static let maximumBlock = (rows: 16, parameters: 512)

  init(entity: SQLEntity, lookup: RowLookup, arena: BindingArena) throws {
    self.entity = entity
    self.lookup = lookup
    self.arena = arena
    binds = entity.slots.map(ColumnBinding.init)
    let parameters = entity.slots.reduce(1) { $0 + $1.columns.count }
    // A block that is refused is written again row by row; files would be written twice.
    blockCount =
      entity.externalSlots.isEmpty
      ? max(1, min(Self.maximumBlock.rows, Self.maximumBlock.parameters / parameters)) : 1
    single = try Self.statement(entity, rows: 1, lookup)
  }

  /// The first parameter is the version of all rows.
  private static func statement(
    _ entity: SQLEntity, rows: Int, _ lookup: RowLookup
  ) throws -> SQLiteStatement {
    let columns = entity.slots.flatMap(\.columns)
    let names = columns.map { ", \($0)" }.joined()
    let values = (0..<rows).map { row in
      let first = 2 + row * (columns.count + 1)
      let marks = columns.indices.map { ", ?\(first + 1 + $0)" }.joined()
      return "(?\(first), \(entity.number), ?1\(marks))"
    }
    return try lookup.connection.statement(
      "INSERT INTO \(entity.table) (Z_PK, Z_ENT, Z_OPT\(names)) "
        + "VALUES \(values.joined(separator: ", "))")
  }

  /// The statements stay in the connection's cache and must not refer to the arena any more.
  func finish() {
    single.reset()
    block?.reset()
  }

  /// Inserts a row.
  ///
  /// - Parameter addFile: Called with each file that was written for a value.
  /// - Returns: Whether all values will be read back as they are.
  func insert(
    _ snapshot: RowSnapshot, version: Int64, addFile: (String) -> Void
  ) throws -> Bool {
    arena.startRow()
    var next: Int32 = 2
    let isExact = try bind(snapshot, to: single, from: &next, addFile: addFile)
    single.bind(version, at: 1)
    try single.run()
    try checkInserted(1)
    return isExact
  }

  /// Inserts ``blockCount`` rows with the version 1.
  ///
  /// - Parameter note: Called for each row with whether all its values will be read back as they are.
  /// - Returns: False, with none of the rows inserted, when one violates a constraint: which one shows
  ///   when they are inserted singly.
  func insert(
    _ rows: ArraySlice<SaveChangesRequest.Insertion>, note: (RowSnapshot, Bool) -> Void
  ) throws -> Bool {
    let statement: SQLiteStatement
    if let block {
      statement = block
    } else {
      statement = try Self.statement(entity, rows: blockCount, lookup)
      statement.bind(1 as Int64, at: 1)
      block = statement
    }
    arena.startRow()
    var next: Int32 = 2
    var inexact: UInt64 = 0
    for (place, row) in rows.enumerated() {
      if try !bind(row.snapshot, to: statement, from: &next, addFile: { _ in }) {
        inexact |= 1 << UInt64(place)
      }
    }
    do {
      try statement.run()
    } catch let failure as SQLiteFailure where failure.code & 0xFF == SQLITE_CONSTRAINT {
      return false
    }
    try checkInserted(blockCount)
    for (place, row) in rows.enumerated() {
      note(row.snapshot, inexact & (1 << UInt64(place)) == 0)
    }
    return true
  }

  /// A trigger that another program made can leave rows out in silence (`RAISE(IGNORE)`): a save would claim what
  /// is not there.
  private func checkInserted(_ count: Int) throws {
    if lookup.connection.changes == count { return }
    throw SQLiteFailure(
      code: SQLiteResultCode.refusalByTrigger,
      message: "a trigger leaves a row of \(entity.table) out")
  }

  /// Binds key and values of a row; says whether all of them will be read back as they are.
  @inline(__always)
  private func bind(
    _ snapshot: RowSnapshot, to statement: SQLiteStatement, from next: inout Int32,
    addFile: (String) -> Void
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
    sqlite3_bind_int64(statement.handle, next, key)
    next += 1
    var isExact = true
    let slots = snapshot.slots
    try binds.withUnsafeBufferPointer { binds in
      for index in 0..<binds.count {
        switch binds[index] {
        case .skip:
          // Contexts leave transient values out.
          if !slots[index].isNull { isExact = false }
          continue
        case .plain:
          if !bind(slots[index], at: next, of: statement) { isExact = false }
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
    return isExact
  }

  /// Binds the value of an attribute; says whether it will be read back as it is.
  @inline(__always)
  private func bind(
    _ value: AttributeValue, at index: Int32, of statement: SQLiteStatement
  ) -> Bool {
    let handle = statement.handle
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
