import CairnModel
import CairnSQL
import CairnStore

extension SQLiteStore {
  public func strayValues(
    in objectIDs: [ManagedObjectID]?
  ) throws -> [ManagedObjectID: Set<Int>] {
    try readConsistently(count: objectIDs?.count ?? .max) { lookup in
      var found: [ManagedObjectID: Set<Int>] = [:]
      guard let objectIDs else {
        for entity in lookup.schema.entities where !entity.entity.isAbstract {
          try StrayValueSearch(entity).run(nil, lookup, into: &found)
        }
        return found
      }
      var keys: [Int: [Int64]] = [:]
      for object in objectIDs {
        guard let key = object.rowKey else { continue }
        keys[lookup.schema.entity(object.entity).number, default: []].append(key)
      }
      for (number, keys) in keys {
        guard let entity = lookup.schema.entity(number: number) else { continue }
        try StrayValueSearch(entity).run(keys, lookup, into: &found)
      }
      return found
    }
  }
}

/// Looks for values of the wrong type in the rows of one entity, and for those that name a file which is not there.
private struct StrayValueSearch {
  let entity: SQLEntity
  /// The slots that can hold such values, each with the condition that it does.
  private var conditions: [(slot: Int, sql: String)] = []
  /// The slots whose values may be in files, and their columns.
  private var external: [(slot: Int, column: String)] = []

  init(_ entity: SQLEntity) {
    self.entity = entity
    for (slot, stored) in entity.slots.enumerated() {
      switch stored {
      case .transient: continue
      case .toOne(let key, _, _):
        conditions.append((slot, "typeof(\(key)) NOT IN ('integer', 'null')"))
      case .attribute(let name, let type, let isExternal):
        if isExternal { external.append((slot, name)) }
        if let stray = Self.stray(type, name) { conditions.append((slot, stray)) }
      }
    }
  }

  /// - Parameter keys: Of the rows to look at; nil for all.
  func run(
    _ keys: [Int64]?, _ lookup: RowLookup, into found: inout [ManagedObjectID: Set<Int>]
  ) throws {
    if !external.isEmpty { try findLostFiles(keys, lookup, into: &found) }
    if conditions.isEmpty { return }
    let columns = conditions.map(\.sql)
    let statement = try lookup.connection.statement(
      "SELECT Z_PK, \(columns.joined(separator: ", ")) FROM \(entity.table) WHERE Z_ENT = ?1"
        + (keys == nil ? "" : " AND Z_PK IN (SELECT value FROM json_each(?2))")
        + " AND (\(columns.joined(separator: " OR ")))")
    defer { statement.reset() }
    statement.bind(Int64(entity.number), at: 1)
    if let keys { statement.bindText(KeyList.bytes(keys), at: 2) }
    while try statement.step() {
      let slots = conditions.indices.filter { statement.integer(Int32($0 + 1)) != 0 }
        .map { conditions[$0].slot }
      found[lookup.reader.objectID(entity, key: statement.integer(0)), default: []]
        .formUnion(slots)
    }
  }

  /// What reading makes null of, though the row has a value: the file is gone, or the column names none.
  private func findLostFiles(
    _ keys: [Int64]?, _ lookup: RowLookup, into found: inout [ManagedObjectID: Set<Int>]
  ) throws {
    let files = lookup.reader.files
    for (slot, column) in external {
      // Data inside the row are not read, only what tells them from a file's name.
      let statement = try lookup.connection.statement(
        "SELECT Z_PK, substr(\(column), 1, 38) FROM \(entity.table) WHERE Z_ENT = ?1"
          + (keys == nil ? "" : " AND Z_PK IN (SELECT value FROM json_each(?2))")
          + " AND typeof(\(column)) = 'blob' AND substr(\(column), 1, 1) = x'02'")
      defer { statement.reset() }
      statement.bind(Int64(entity.number), at: 1)
      if let keys { statement.bindText(KeyList.bytes(keys), at: 2) }
      while try statement.step() {
        if let name = ExternalDataFiles.fileName(ofColumn: statement.data(1)) {
          if files.operations.exists(files.folder.appendingPathComponent(name)) { continue }
          // Replaced, perhaps, since the rows were read: then they are read again.
          files.trouble?.noteMissing(name)
        }
        found[lookup.reader.objectID(entity, key: statement.integer(0)), default: []].insert(slot)
      }
    }
  }

  /// The condition that a column holds what reading has to make something else of; nil for a type that takes
  /// anything.
  private static func stray(_ type: AttributeType, _ column: String) -> String? {
    func isNone(of types: String) -> String { "typeof(\(column)) NOT IN ('null', \(types))" }
    switch type {
    case .integer16, .integer32, .integer64, .boolean: return isNone(of: "'integer'")
    case .double, .float, .date: return isNone(of: "'real', 'integer'")
    case .decimal: return isNone(of: "'real', 'integer', 'text'")
    case .string, .uri: return isNone(of: "'text'")
    case .binaryData, .transformable: return isNone(of: "'blob'")
    // Reading takes the text of a UUID, too.
    case .uuid: return isNone(of: "'blob', 'text'")
    case .undefined, .objectID, .composite: return nil
    }
  }
}
