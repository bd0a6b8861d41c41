// GRDB doing what a context does: one object for each row, however often it is fetched.

import Foundation
import GRDB

/// A row as an object; without a sample it is a fault.
final class ItemObject {
  let id: Int64
  var sample: Sample?

  init(id: Int64, sample: Sample? = nil) {
    self.id = id
    self.sample = sample
  }
}

/// The objects that there are, by key.
final class ItemObjects {
  var byKey: [Int64: ItemObject] = [:]
}

extension GRDBDatabase {
  func fetchUniqued(into table: ItemObjects) throws -> [ItemObject] {
    try queue.read { database in
      var result: [ItemObject] = []
      let rows = try Row.fetchCursor(database, ItemRecord.all())
      while let row = try rows.next() {
        let key: Int64 = row[0]
        if let known = table.byKey[key] {
          if known.sample == nil { known.sample = Sample(row: row) }
          result.append(known)
          continue
        }
        let object = ItemObject(id: key, sample: Sample(row: row))
        table.byKey[key] = object
        result.append(object)
      }
      return result
    }
  }

  /// Deletes parents, and knows which children went with them.
  ///
  /// - Returns: The children, which are objects of the table no longer.
  func delete(_ parents: [ParentRecord], telling table: ItemObjects) throws -> [ItemObject] {
    try queue.write { database in
      var children: [ItemObject] = []
      let owners = parents.map(\.id)
      for start in stride(from: 0, to: owners.count, by: 1000) {
        let some = owners[start..<min(start + 1000, owners.count)]
        let keys = try ChildRecord.filter(some.contains(Column("parent")))
          .select(Column("id"), as: Int64.self).fetchCursor(database)
        while let key = try keys.next() {
          let object = table.byKey[key] ?? ItemObject(id: key)
          table.byKey[key] = object
          children.append(object)
        }
      }
      for parent in parents { try parent.delete(database) }
      for child in children { table.byKey[child.id] = nil }
      return children
    }
  }

  func fetchFaults(into table: ItemObjects) throws -> [ItemObject] {
    try queue.read { database in
      var result: [ItemObject] = []
      let keys = try ItemRecord.select(Column("id"), as: Int64.self).fetchCursor(database)
      while let key = try keys.next() {
        if let known = table.byKey[key] {
          result.append(known)
          continue
        }
        let object = ItemObject(id: key)
        table.byKey[key] = object
        result.append(object)
      }
      return result
    }
  }
}
