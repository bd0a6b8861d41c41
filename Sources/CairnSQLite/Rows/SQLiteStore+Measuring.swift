import CairnModel
import CairnSQL
import CairnStore
import Foundation

// How large rows are, by what SQLite knows of them without reading their values.

extension SQLiteStore {
  public func rowSizes(of objectIDs: [ManagedObjectID]) throws -> [Int] {
    if objectIDs.isEmpty { return [] }
    return try readConsistently(count: objectIDs.count) { try $0.sizes(of: objectIDs) }
  }

  public func totalRowSize(of objectIDs: [ManagedObjectID]) throws -> Int {
    if objectIDs.isEmpty { return 0 }
    return try readConsistently(count: objectIDs.count) { try $0.totalSize(of: objectIDs) }
  }
}

/// The columns of an entity whose values have any size.
private struct VaryingColumns {
  let names: [String]
  /// Those that may name a file, which are short then.
  let external: [String]

  init(_ entity: SQLEntity) {
    var (names, external): ([String], [String]) = ([], [])
    for slot in entity.slots {
      guard case .attribute(let column, let type, let isExternal) = slot, Self.varies(type) else {
        continue
      }
      names.append(column.quotedAsName)
      if isExternal { external.append(column.quotedAsName) }
    }
    (self.names, self.external) = (names, external)
  }

  /// What SQLite knows of them without reading them.
  var sum: String { names.map { "IFNULL(LENGTH(\($0)), 0)" }.joined(separator: " + ") }

  private static func varies(_ type: AttributeType) -> Bool {
    switch type {
    case .undefined, .string, .binaryData, .uri, .transformable: return true
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .date, .uuid,
      .objectID, .composite:
      return false
    }
  }
}

extension RowLookup {
  fileprivate func sizes(of objectIDs: [ManagedObjectID]) throws -> [Int] {
    var sizes = [Int](repeating: 0, count: objectIDs.count)
    let places = Dictionary(grouping: objectIDs.indices) { objectIDs[$0].entity }
    for (description, places) in places {
      let entity = schema.entity(description)
      let columns = VaryingColumns(entity)
      if columns.names.isEmpty { continue }
      var keys = KeyPositions()
      for place in places { if let key = objectIDs[place].rowKey { keys.add(key, place) } }
      keys.sort()
      let files = columns.external.map { ", CASE WHEN LENGTH(\($0)) < 64 THEN \($0) END" }.joined()
      let statement = try connection.statement(
        "SELECT Z_PK, \(columns.sum)\(files) FROM \(entity.table.quotedAsName) "
          + "WHERE Z_PK IN (SELECT value FROM json_each(?1))")
      defer { statement.reset() }
      keys.bind(to: statement, at: 1)
      while try statement.step() {
        var size = Int(clamping: statement.integer(1))
        for column in columns.external.indices where !statement.isNull(Int32(2 + column)) {
          size += fileSize(statement.data(Int32(2 + column)))
        }
        for place in keys.places(of: statement.integer(0)) {
          sizes[keys.pairs[place].position] = size
        }
      }
    }
    return sizes
  }

  fileprivate func totalSize(of objectIDs: [ManagedObjectID]) throws -> Int {
    var total = 0
    var rest = objectIDs[...]
    // IDs come in runs of one entity.
    while let description = rest.first?.entity {
      let run = rest.prefix { $0.entity === description }
      rest = rest[run.endIndex...]
      let entity = schema.entity(description)
      let columns = VaryingColumns(entity)
      if columns.names.isEmpty { continue }
      guard columns.external.isEmpty else {
        total += try sizes(of: Array(run)).reduce(0, +)
        continue
      }
      let keys = run.compactMap(\.rowKey).sorted()
      guard let first = keys.first, let last = keys.last else { continue }
      // Rows that came together most often have keys in a row.
      let isRange = zip(keys, keys.dropFirst()).allSatisfy { $0 &+ 1 == $1 }
      let condition = isRange ? "BETWEEN ?1 AND ?2" : "IN (SELECT value FROM json_each(?1))"
      let statement = try connection.statement(
        "SELECT SUM(\(columns.sum)) FROM \(entity.table.quotedAsName) WHERE Z_PK \(condition)")
      defer { statement.reset() }
      if isRange {
        statement.bind(first, at: 1)
        statement.bind(last, at: 2)
      } else {
        statement.bindText(KeyList.bytes(keys), at: 1)
      }
      if try statement.step() { total += Int(clamping: statement.integer(0)) }
    }
    return total
  }

  private func fileSize(_ column: Data) -> Int {
    guard let name = ExternalDataFiles.fileName(ofColumn: column) else { return 0 }
    let path = reader.files.folder.appendingPathComponent(name).path
    let facts = try? FileManager.default.attributesOfItem(atPath: path)
    return (facts?[.size] as? NSNumber)?.intValue ?? 0
  }
}
