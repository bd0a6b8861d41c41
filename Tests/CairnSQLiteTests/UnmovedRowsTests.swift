import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSQLite

/// Migration in place where no row changes: the tables stay where they are, whatever their size.
@Suite struct UnmovedRowsTests {
  private func model(_ change: (EntityDescription) -> Void = { _ in }) -> ManagedObjectModel {
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(name: "title", type: .string),
        AttributeDescription(name: "count", type: .integer64),
      ])
    change(item)
    let model = ManagedObjectModel()
    model.entities = [item]
    return model
  }

  private func withStore(_ body: (URL) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("Store.sqlite")
    try StoreFixture.open(url, model()).close()
    try DatabaseQueue(path: url.path).write { database in
      for key in 1...50 {
        try database.execute(
          sql: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZCOUNT) VALUES (?, 1, 1, ?, ?)",
          arguments: [key, "t\(key)", key])
      }
      try database.execute(sql: "CREATE INDEX mine ON ZITEM (ZCOUNT)")
    }
    try body(url)
  }

  /// The place of the table of items in the schema: another one once it was made anew.
  private func place(_ url: URL) throws -> Int? {
    try DatabaseQueue(path: url.path).read {
      try Int.fetchOne($0, sql: "SELECT rowid FROM sqlite_master WHERE name = 'ZITEM'")
    }
  }

  private func migrate(_ url: URL, to next: ManagedObjectModel) throws -> SQLiteStore {
    try SQLiteStore.migrateInPlace(
      at: url, from: model(), to: next, options: StoreOptions())
    return try StoreFixture.open(url, next)
  }

  private func values(_ store: SQLiteStore, _ name: String) throws -> [AttributeValue] {
    let entity = try #require(store.managedObjectModel.entitiesByName["Item"])
    let slot = try #require(entity.layout.slotByName[name])
    var request = StoreFetchRequest(entity: entity)
    request.sortDescriptors = [ObjectSortDescriptor(key: "objectID", ascending: true)]
    let rows = try #require(try store.fetch(request).snapshots)
    return rows.map { $0[slot] }
  }

  @Test func anOptionalAttributeAnIndexAndAnEntityAreAddedToTablesThatStay() throws {
    try withStore { url in
      let before = try place(url)
      let next = model { item in
        item.properties.append(AttributeDescription(name: "added", type: .string))
        item.indexes = [
          FetchIndexDescription(
            name: "byTitle",
            elements: item.properties.prefix(1).map {
              FetchIndexElementDescription(property: $0, collationType: .binary)
            })
        ]
      }
      next.entities.append(
        EntityDescription(
          name: "Other", properties: [AttributeDescription(name: "x", type: .string)]))
      let store = try migrate(url, to: next)
      defer { try? store.close() }
      #expect(try place(url) == before)
      #expect(try values(store, "added") == Array(repeating: .null, count: 50))
      #expect(try values(store, "title").first == .string("t1"))
      #expect(try store.verifyIntegrity().isEmpty)
      let indexes = try DatabaseQueue(path: url.path).read {
        try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'index'")
      }
      #expect(indexes.contains("mine"))
      #expect(indexes.contains { $0.hasSuffix("byTitle") })
    }
  }

  @Test func anIndexThatTheModelLostIsDropped() throws {
    try withStore { url in
      try DatabaseQueue(path: url.path).write {
        try $0.execute(sql: "CREATE INDEX Z_Item_byCount ON ZITEM (ZCOUNT COLLATE BINARY ASC)")
      }
      let store = try migrate(
        url, to: model { $0.properties.append(AttributeDescription(name: "added", type: .string)) })
      defer { try? store.close() }
      let names = try DatabaseQueue(path: url.path).read {
        try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'index'")
      }
      #expect(names.contains("mine") && !names.contains("Z_Item_byCount"))
    }
  }

  @Test func valuesThatMustBeMadeAreWrittenToRowsThatMove() throws {
    try withStore { url in
      let store = try migrate(
        url,
        to: model {
          $0.properties.append(
            AttributeDescription(
              name: "added", type: .integer64, isOptional: false, defaultValue: 7))
        })
      defer { try? store.close() }
      #expect(try values(store, "added") == Array(repeating: .integer(7), count: 50))
      #expect(try values(store, "count").last == .integer(50))
    }
  }

  @Test func aColumnThatIsGivenUpAndTakenAgainIsEmpty() throws {
    try withStore { url in
      // The attribute is another one now: what its column held is not its own.
      let next = model { item in
        item.attributesByName["title"]?.renamingIdentifier = "nothing"
        item.properties.append(AttributeDescription(name: "added", type: .string))
      }
      let store = try migrate(url, to: next)
      defer { try? store.close() }
      let titles = try values(store, "title")
      let same = ModelDifference(from: model(), to: next).entities.first?
        .source(ofProperty: "title")
      #expect(titles.first == (same == nil ? .null : .string("t1")))
      #expect(titles.count == 50)
    }
  }

  // MARK: Beside tables that move

  /// Items have numbers behind those of `Ant`, and a place each that a location index holds.
  private func pair(_ change: ([EntityDescription]) -> Void = { _ in }) -> ManagedObjectModel {
    let ant = EntityDescription(
      name: "Ant", properties: [AttributeDescription(name: "legs", type: .integer64)])
    let item = EntityDescription(
      name: "Item",
      properties: ["x", "y"].map { AttributeDescription(name: $0, type: .double) })
    item.indexes = [
      FetchIndexDescription(
        name: "place",
        elements: item.properties.map {
          FetchIndexElementDescription(property: $0, collationType: .rTree)
        })
    ]
    change([ant, item])
    let model = ManagedObjectModel()
    model.entities = [ant, item]
    return model
  }

  private func rename(_ entities: [EntityDescription]) {
    entities[0].attributesByName["legs"]?.renamingIdentifier = "legs"
    entities[0].attributesByName["legs"]?.name = "feet"
  }

  private func withPair(_ body: (URL, DatabaseQueue) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("Store.sqlite")
    try StoreFixture.open(url, pair()).close()
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    try queue.write { database in
      try database.execute(
        sql: """
          INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (1, 2, 1, 3, 4), (2, 2, 1, 5, 6);
          INSERT INTO ZANT (Z_PK, Z_ENT, Z_OPT, ZLEGS) VALUES (1, 1, 1, 6);
          CREATE INDEX mine ON ZITEM (ZX);
          CREATE INDEX yours ON ZANT (Z_OPT);
          CREATE TABLE SEEN (x);
          CREATE TRIGGER watch AFTER UPDATE ON ZITEM BEGIN INSERT INTO SEEN VALUES (1); END
          """)
    }
    try body(url, queue)
  }

  private func places(_ queue: DatabaseQueue) throws -> [String: Int] {
    try queue.read { database in
      let rows = try Row.fetchAll(
        database,
        sql: "SELECT name, rowid FROM sqlite_master")
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"], $0["rowid"]) })
    }
  }

  private func migratePair(_ url: URL, to next: ManagedObjectModel) throws -> SQLiteStore {
    try SQLiteStore.migrateInPlace(at: url, from: pair(), to: next, options: StoreOptions())
    return try StoreFixture.open(url, next)
  }

  @Test func aTableBesideOneThatMovesStaysWithItsIndexes() throws {
    try withPair { url, queue in
      let before = try places(queue)
      let store = try migratePair(url, to: pair(rename))
      defer { try? store.close() }
      let after = try places(queue)
      for name in ["ZITEM", "mine", "Z_RT_Item_place_node"] {
        #expect(before[name] != nil && after[name] == before[name], "\(name)")
      }
      #expect(after["ZANT"] != before["ZANT"])
      #expect(after["yours"] != nil)
      let facts = try queue.read { database in
        try (
          Int.fetchOne(database, sql: "SELECT ZFEET FROM ZANT"),
          Int.fetchOne(database, sql: "SELECT count(*) FROM SEEN")
        )
      }
      #expect(facts == (6, 0))
    }
  }

  @Test func aLocationIndexThatStaysGoesOnBeingKept() throws {
    try withPair { url, queue in
      let next = pair { entities in
        rename(entities)
        let first = EntityDescription(
          name: "Aa", properties: [AttributeDescription(name: "a", type: .string)])
        entities[0].subentities = [first]
      }
      next.entities += next.entities.flatMap(\.subentities)
      let store = try migratePair(url, to: next)
      defer { try? store.close() }
      let (number, places) = try queue.write { database in
        // Items have another number, which the index's triggers must know.
        let number = try Int.fetchOne(database, sql: "SELECT Z_ENT FROM ZITEM WHERE Z_PK = 1")
        try database.execute(sql: "UPDATE ZITEM SET ZX = 30 WHERE Z_PK = 1")
        let places = try Double.fetchAll(
          database, sql: "SELECT ZX_MIN FROM Z_RT_Item_place ORDER BY Z_PK")
        return (number, places)
      }
      #expect(number == 3)
      #expect(places == [30, 5])
    }
  }

  @Test func othersTriggersDoNotSeeNewNumbersBeingWritten() throws {
    try withPair { url, queue in
      let next = pair()
      next.entities.append(
        EntityDescription(
          name: "Bee", properties: [AttributeDescription(name: "b", type: .string)]))
      let before = try places(queue)
      let store = try migratePair(url, to: next)
      defer { try? store.close() }
      #expect(try places(queue)["ZITEM"] == before["ZITEM"])
      let (seen, triggers, numbers) = try queue.read { database in
        try (
          Int.fetchOne(database, sql: "SELECT count(*) FROM SEEN"),
          Int.fetchOne(
            database, sql: "SELECT count(*) FROM sqlite_master WHERE name = 'watch'"),
          Int.fetchAll(database, sql: "SELECT Z_ENT FROM ZITEM")
        )
      }
      #expect(seen == 0)
      #expect(triggers == 1)
      #expect(numbers == [3, 3])
    }
  }
}
