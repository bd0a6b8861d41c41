// Entities of ten, a hundred and a thousand attributes, with as many values in all.

@_spi(Generated) import Cairn
import Foundation
import GRDBSQLite

extension Cases {
  /// Inserts, saves and fetches `rows` values in objects of so many attributes, all integers.
  func wide(_ width: Int) throws -> CaseResult {
    let count = max(rows / width, 1)
    return try measure(
      "insert, save, fetch; \(width) attributes, per value", units: count * width, rounds: rounds,
      [
        Contestant(name: "raw") {
          let file = workspace.newFile()
          defer { workspace.remove(file) }
          let database = try RawDatabase(file)
          return try timed { try database.writeAndReadWide(count: count, width: width) }
        },
        Contestant(name: "Cairn") {
          let file = workspace.newFile()
          defer { workspace.remove(file) }
          let coordinator = PersistentStoreCoordinator(managedObjectModel: wideModel(width))
          let store = try coordinator.addPersistentStore(
            ofType: "SQLite", configurationName: nil, at: file,
            options: ["NSSQLitePragmasOption": ["synchronous": "NORMAL"]])
          let seconds = try writeAndRead(coordinator, count: count, width: width)
          try coordinator.remove(store)
          return seconds
        },
      ])
  }

  private func wideModel(_ width: Int) -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [
      EntityDescription(
        name: "Wide",
        properties: (0..<width).map {
          AttributeDescription(name: String(format: "value%04d", $0), type: .integer64)
        })
    ]
    return model
  }

  private func writeAndRead(
    _ coordinator: PersistentStoreCoordinator, count: Int, width: Int
  ) throws -> Double {
    let writer = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    writer.persistentStoreCoordinator = coordinator
    let writing = try writer.performAndWait {
      guard let entity = coordinator.managedObjectModel.entitiesByName["Wide"] else { return 0.0 }
      return try timed {
        for row in 0..<count {
          let object = ManagedObject(entity: entity, insertInto: writer)
          for slot in 0..<width { object.setStoredValue(.integer(Int64(row &+ slot)), at: slot) }
        }
        try writer.save()
      }
    }
    let reader = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = coordinator
    return try reader.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Wide")
      request.returnsObjectsAsFaults = false
      var objects: [ManagedObject] = []
      let reading = try timed { objects = try reader.fetch(request) }
      keep(objects)
      return writing + reading
    }
  }
}

extension RawDatabase {
  fileprivate func writeAndReadWide(count: Int, width: Int) throws {
    let names = (0..<width).map { "value\($0)" }
    try execute(
      "CREATE TABLE wide (id INTEGER PRIMARY KEY, "
        + names.map { $0 + " INTEGER" }.joined(separator: ", ") + ")")
    try execute("BEGIN IMMEDIATE")
    let marks = Array(repeating: "?", count: width + 1).joined(separator: ",")
    let insertion = try prepare("INSERT INTO wide VALUES (\(marks))")
    defer { sqlite3_finalize(insertion) }
    for row in 0..<count {
      sqlite3_bind_int64(insertion, 1, Int64(row + 1))
      for slot in 0..<width {
        sqlite3_bind_int64(insertion, Int32(slot + 2), Int64(row &+ slot))
      }
      _ = try step(insertion)
      sqlite3_reset(insertion)
    }
    try execute("COMMIT")
    let query = try prepare("SELECT id, \(names.joined(separator: ", ")) FROM wide")
    defer { sqlite3_finalize(query) }
    var sum: Int64 = 0
    while try step(query) {
      for column in 0...Int32(width) { sum &+= sqlite3_column_int64(query, column) }
    }
    keep(sum)
  }
}
