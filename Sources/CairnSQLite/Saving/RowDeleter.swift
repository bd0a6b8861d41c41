import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Deletes rows of entity tables, with the links that no slot of another object carries and the
/// files that they name.
///
/// Keys in a row are one range for SQLite, which deletes it in less than half the time that one
/// statement a row takes; a list of keys in one statement would gain nothing.
final class RowDeleter {
  let lookup: RowLookup
  /// Files whose rows were deleted; removed once the transaction has committed.
  private(set) var obsoleteFiles: [String] = []
  private var statements: [Shape: SQLiteStatement] = [:]
  private var unlinking: [Int: [Unlinking]] = [:]

  private struct Shape: Hashable {
    let entity: Int
    let isRange: Bool
    let isForced: Bool
  }

  /// The beginning of a statement that ends with a condition on a column of keys.
  private struct Unlinking {
    let action: String
    let column: String
  }

  init(lookup: RowLookup) {
    self.lookup = lookup
  }

  private var connection: SQLiteConnection { lookup.connection }

  /// Deletes one row; false when it is not at the expected version.
  ///
  /// - Parameter expected: nil deletes whatever version is there.
  func delete(_ key: Int64, entity: SQLEntity, expected: Int64?) throws -> Bool {
    let files = try files(of: [key], entity: entity)
    guard try run(key...key, entity, expected) == 1 else { return false }
    obsoleteFiles += files
    for unlinking in unlinkings(of: entity) {
      let statement = try connection.statement(
        "\(unlinking.action) WHERE \(unlinking.column) = ?")
      defer { statement.reset() }
      statement.bind(key, at: 1)
      try statement.run()
    }
    return true
  }

  /// Deletes rows of one entity; false when one of them is not at the expected version: the others
  /// are deleted then, and the caller does not learn which one it was.
  ///
  /// - Parameter expected: nil deletes whatever versions are there.
  func delete(_ keys: [Int64], entity: SQLEntity, expected: Int64?) throws -> Bool {
    obsoleteFiles += try files(of: keys, entity: entity)
    let runs = KeyRuns(keys)
    var deleted = 0
    for range in runs.ranges { deleted += try run(range, entity, expected) }
    for unlinking in unlinkings(of: entity) {
      for portion in runs.portions {
        let statement = try connection.statement(
          "\(unlinking.action) WHERE \(portion.condition(on: unlinking.column))")
        defer { statement.reset() }
        portion.bind(to: statement)
        try statement.run()
      }
    }
    return deleted == keys.count
  }

  /// - Returns: How many rows were deleted.
  private func run(
    _ keys: ClosedRange<Int64>, _ entity: SQLEntity, _ expected: Int64?
  ) throws -> Int {
    let isRange = keys.lowerBound != keys.upperBound
    let shape = Shape(entity: entity.number, isRange: isRange, isForced: expected == nil)
    let statement: SQLiteStatement
    if let known = statements[shape] {
      statement = known
    } else {
      let chosen = isRange ? "BETWEEN ?1 AND ?2" : "= ?1"
      let version = shape.isForced ? "" : " AND (Z_OPT = ?3 OR Z_OPT IS NULL)"
      statement = try connection.statement(
        "DELETE FROM \(entity.table) WHERE Z_PK \(chosen)\(version)")
      statements[shape] = statement
    }
    statement.bind(keys.lowerBound, at: 1)
    if isRange { statement.bind(keys.upperBound, at: 2) }
    if let expected { statement.bind(expected, at: 3) }
    try statement.run()
    return connection.changes
  }

  private func unlinkings(of entity: SQLEntity) -> [Unlinking] {
    if let known = unlinking[entity.number] { return known }
    var list = lookup.schema.joinColumns(of: entity).map {
      Unlinking(action: "DELETE FROM \($0.table)", column: $0.column)
    }
    for case .foreignKey(let table, let column, _, _, true) in entity.links where column != "NULL" {
      list.append(Unlinking(action: "UPDATE \(table) SET \(column) = NULL", column: column))
    }
    unlinking[entity.number] = list
    return list
  }

  /// The files that rows name.
  private func files(of keys: [Int64], entity: SQLEntity) throws -> [String] {
    if entity.externalSlots.isEmpty { return [] }
    var files: [String] = []
    let columns = entity.externalSlots.compactMap { entity.slots[$0].column }
    // The first 38 bytes hold the tag and, for a file, its name.
    let list = columns.map { "substr(\($0), 1, 38)" }.joined(separator: ", ")
    for portion in KeyRuns(keys).portions {
      let statement = try connection.statement(
        "SELECT \(list) FROM \(entity.table) WHERE \(portion.condition(on: "Z_PK"))")
      defer { statement.reset() }
      portion.bind(to: statement)
      while try statement.step() {
        for column in columns.indices {
          if let file = ExternalDataFiles.fileName(ofColumn: statement.data(Int32(column))) {
            files.append(file)
          }
        }
      }
    }
    return files
  }
}
