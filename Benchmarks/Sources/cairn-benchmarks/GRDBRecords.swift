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

  func lookUp(_ ids: [Int64]) throws -> [ItemRecord] {
    try queue.read { database in
      try ids.compactMap { try ItemRecord.fetchOne(database, key: $0) }
    }
  }

  func fetchIDs() throws -> [Int64] {
    try queue.read { try ItemRecord.select(Column("id"), as: Int64.self).fetchAll($0) }
  }

  func update(_ records: [ItemRecord]) throws {
    try queue.write { database in
      for var record in records {
        try record.updateChanges(database) {
          $0.sample.count = $0.id &* 3
          $0.sample.title = "changed \($0.id)"
        }
      }
    }
  }

  func fetchParents() throws -> [ParentRecord] {
    try queue.read { try ParentRecord.fetchAll($0) }
  }

  func delete(_ parents: [ParentRecord]) throws {
    try queue.write { database in for parent in parents { try parent.delete(database) } }
  }

  func deleteAllParents() throws {
    _ = try queue.write { try ParentRecord.filter(Column("name") == "p").deleteAll($0) }
  }

  func ranges(_ groups: Int) throws -> [[ItemRecord]] {
    try queue.read { database in
      try (0..<groups).map { try ItemRecord.filter(Column("grp") == $0).fetchAll(database) }
    }
  }

  /// The children of each parent: all at once, or parent by parent.
  func traverse(together: Bool) throws -> (families: [FamilyRecord], sum: Int) {
    try queue.read { database in
      let families: [FamilyRecord]
      if together {
        families = try ParentRecord.including(all: ParentRecord.children)
          .asRequest(of: FamilyRecord.self).fetchAll(database)
      } else {
        families = try ParentRecord.fetchAll(database).map {
          FamilyRecord(
            parent: $0, children: try $0.request(for: ParentRecord.children).fetchAll(database))
        }
      }
      let sum = families.reduce(0) { $1.children.reduce($0) { $0 + $1.sample.name.utf8.count } }
      return (families, sum)
    }
  }
}

/// An owner with its members.
struct FamilyRecord: FetchableRecord {
  let parent: ParentRecord
  let children: [ChildRecord]

  init(parent: ParentRecord, children: [ChildRecord]) {
    self.parent = parent
    self.children = children
  }

  init(row: Row) {
    parent = ParentRecord(row: row)
    children = row["children"]
  }
}

/// The owner of a family.
struct ParentRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "parent"
  static let children = hasMany(ChildRecord.self, key: "children")
  let id: Int64
  let name: String

  init(row: Row) {
    id = row[0]
    name = row[1]
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["name"] = name
  }
}

/// A member of a family.
struct ChildRecord: FetchableRecord, TableRecord {
  static let databaseTableName = "child"
  let id: Int64
  let sample: Sample
  let parent: Int64

  init(row: Row) {
    id = row[0]
    sample = Sample(row: row)
    parent = row[11]
  }
}
