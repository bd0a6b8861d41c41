// The best peer: GRDB with hand-written record coding.

import Foundation
import GRDB

/// The sample row as a GRDB record.
struct ItemRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "item"
  var id: Int64
  var sample: Sample

  init(_ sample: Sample) {
    id = sample.number + 1
    self.sample = sample
  }

  init(row: Row) {
    id = row[0]
    sample = Sample(row: row)
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["number"] = sample.number
    container["grp"] = sample.group
    container["count"] = sample.count
    container["ratio"] = sample.ratio
    container["weight"] = sample.weight
    container["created"] = sample.created
    container["code"] = sample.code
    container["name"] = sample.name
    container["title"] = sample.title
    container["payload"] = sample.payload
  }
}

extension Sample {
  init(row: Row) {
    number = row[1]
    group = row[2]
    count = row[3]
    ratio = row[4]
    weight = row[5]
    created = row[6]
    code = row[7]
    name = row[8]
    title = row[9]
    payload = row[10]
  }
}

/// One GRDB queue on a file with the sample table.
struct GRDBDatabase {
  let queue: DatabaseQueue

  init(_ file: URL) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
    queue = try DatabaseQueue(path: file.path, configuration: configuration)
    try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
  }

  func insert(_ rows: [Sample]) throws {
    try queue.write { database in
      for row in rows { try ItemRecord(row).insert(database) }
    }
  }

  func fetchAll() throws -> [ItemRecord] { try queue.read { try ItemRecord.fetchAll($0) } }

  func lookUp(_ ids: [Int64]) throws -> Int {
    try queue.read { database in
      let statement = try database.cachedStatement(sql: "SELECT * FROM item WHERE id = ?")
      var found = 0
      for id in ids where try ItemRecord.fetchOne(statement, arguments: [id]) != nil { found += 1 }
      return found
    }
  }

  func update(_ records: [ItemRecord]) throws {
    try queue.write { database in
      for record in records {
        try database.cachedStatement(sql: "UPDATE item SET count = ?, title = ? WHERE id = ?")
          .execute(arguments: [record.id &* 3, "changed \(record.id)", record.id])
      }
    }
  }

  func deleteParents(_ count: Int) throws {
    try queue.write { database in
      let statement = try database.cachedStatement(sql: "DELETE FROM parent WHERE id = ?")
      for id in 1...count { try statement.execute(arguments: [id]) }
    }
  }
}
