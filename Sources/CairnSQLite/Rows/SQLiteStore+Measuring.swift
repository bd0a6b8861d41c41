import CairnModel
import CairnSQL
import CairnStore
import Foundation

// How large rows are, by what SQLite knows of them without reading their values.

extension SQLiteStore: RowMeasuring {
  public func rowSizes(of objectIDs: [ManagedObjectID]) throws -> [Int] {
    if objectIDs.isEmpty { return [] }
    return try readConsistently(count: objectIDs.count) { try $0.sizes(of: objectIDs) }
  }
}

extension RowLookup {
  fileprivate func sizes(of objectIDs: [ManagedObjectID]) throws -> [Int] {
    var sizes = [Int](repeating: 0, count: objectIDs.count)
    let places = Dictionary(grouping: objectIDs.indices) { objectIDs[$0].entity }
    for (description, places) in places {
      let entity = schema.entity(description)
      let columns = entity.slots.compactMap { slot -> (name: String, isExternal: Bool)? in
        guard case .attribute(let column, let type, let isExternal) = slot,
          Self.varies(type)
        else { return nil }
        return (column, isExternal)
      }
      if columns.isEmpty { continue }
      var keys = KeyPositions()
      for place in places { if let key = objectIDs[place].rowKey { keys.add(key, place) } }
      keys.sort()
      let sum = columns.map { "IFNULL(LENGTH(\($0.name.quotedAsName)), 0)" }
        .joined(separator: " + ")
      // A column that names a file is short.
      let external = columns.filter(\.isExternal).map(\.name.quotedAsName)
      let files = external.map { ", CASE WHEN LENGTH(\($0)) < 64 THEN \($0) END" }.joined()
      let statement = try connection.statement(
        "SELECT Z_PK, \(sum)\(files) FROM \(entity.table.quotedAsName) "
          + "WHERE Z_PK IN (SELECT value FROM json_each(?1))")
      defer { statement.reset() }
      keys.bind(to: statement, at: 1)
      while try statement.step() {
        var size = Int(clamping: statement.integer(1))
        for column in external.indices where !statement.isNull(Int32(2 + column)) {
          size += fileSize(statement.data(Int32(2 + column)))
        }
        for place in keys.places(of: statement.integer(0)) {
          sizes[keys.pairs[place].position] = size
        }
      }
    }
    return sizes
  }

  private static func varies(_ type: AttributeType) -> Bool {
    switch type {
    case .undefined, .string, .binaryData, .uri, .transformable: return true
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .date, .uuid,
      .objectID, .composite:
      return false
    }
  }

  private func fileSize(_ column: Data) -> Int {
    guard let name = ExternalDataFiles.fileName(ofColumn: column) else { return 0 }
    let path = reader.files.folder.appendingPathComponent(name).path
    let facts = try? FileManager.default.attributesOfItem(atPath: path)
    return (facts?[.size] as? NSNumber)?.intValue ?? 0
  }
}
