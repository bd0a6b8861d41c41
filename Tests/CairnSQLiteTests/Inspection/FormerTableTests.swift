import CairnModel
import CairnStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSQLite

/// Tables of entities that have the name from before a migration, as Apple's frameworks may leave them:
/// format, chapter 12.
@Suite struct FormerTableTests {
  private func model(
    identifier: String?, _ more: [PropertyDescription] = []
  ) -> ManagedObjectModel {
    let item = EntityDescription(
      name: "Item", properties: [AttributeDescription(name: "title", type: .string)] + more)
    let part = EntityDescription(name: "Part")
    let owner = RelationshipDescription()
    (owner.name, owner.destinationEntity, owner.maxCount) = ("item", item, 1)
    let parts = RelationshipDescription()
    (parts.name, parts.destinationEntity, parts.inverseRelationship) = ("parts", part, owner)
    owner.inverseRelationship = parts
    item.properties.append(parts)
    part.properties.append(owner)
    item.renamingIdentifier = identifier
    let model = ManagedObjectModel()
    model.entities = [item, part]
    return model
  }

  private func titles(_ store: SQLiteStore) throws -> [AttributeValue] {
    let entity = try #require(store.managedObjectModel.entitiesByName["Item"])
    let slot = try #require(entity.layout.slotByName["title"])
    let rows = try #require(try store.fetch(StoreFetchRequest(entity: entity)).snapshots)
    return rows.map { $0[slot] }
  }

  @Test(arguments: ["Thing", nil])
  func theStoreIsUsedAndTheNameIsRemarkedOn(identifier: String?) throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("Store.sqlite")
    try StoreFixture.open(url, model(identifier: identifier)).close()
    try DatabaseQueue(path: url.path).write { database in
      try database.execute(
        sql: """
          ALTER TABLE ZITEM RENAME TO ZTHING;
          INSERT INTO ZTHING (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'one');
          UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 1;
          """)
    }
    let inspection = try StoreInspection(
      contentsOf: url, model: model(identifier: identifier), isStrict: true)
    #expect(inspection.damage.isEmpty, "\(inspection.damage)")
    #expect(inspection.findings.contains { $0.severity == .remark && $0.table == "ZTHING" })
    #expect(inspection.entities.first { $0.name == "Item" }?.count == 1)

    let store = try StoreFixture.open(url, model(identifier: identifier))
    #expect(try titles(store) == [.string("one")])
    let entity = try #require(store.managedObjectModel.entitiesByName["Item"])
    var request = SaveChangesRequest()
    request.insertions = [
      .init(
        snapshot: .make(
          objectID: try store.obtainPermanentIDs(for: [entity])[0], version: 0,
          values: entity.layout.slots.map { _ in .string("two") }))
    ]
    guard case .saved = try store.save(request) else {
      Issue.record("not saved")
      return
    }
    #expect(try titles(store) == [.string("one"), .string("two")])
    #expect(try store.verifyIntegrity().isEmpty)
    try store.close()

    let next = model(identifier: identifier, [AttributeDescription(name: "more", type: .string)])
    try SQLiteStore.migrateInPlace(
      at: url, from: model(identifier: identifier), to: next, options: StoreOptions())
    let migrated = try StoreFixture.open(url, next)
    #expect(try titles(migrated) == [.string("one"), .string("two")])
    try migrated.close()
    let tables = try DatabaseQueue(path: url.path).read {
      try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    #expect(tables.contains("ZITEM") && !tables.contains("ZTHING"))
  }

  @Test func aTableThatIsMissingAndOneOfAnotherProgramAreDamage() throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("Store.sqlite")
    try StoreFixture.open(url, model(identifier: nil)).close()
    try DatabaseQueue(path: url.path).write { database in
      try database.execute(
        sql: "ALTER TABLE ZITEM RENAME TO ZTHING; ALTER TABLE ZTHING ADD COLUMN ZX")
    }
    let inspection = try StoreInspection(contentsOf: url, model: model(identifier: nil))
    #expect(inspection.damage.contains { $0.rule == .schema && $0.table == "ZITEM" })
    #expect(throws: CoreDataError.self) {
      _ = try StoreFixture.open(url, model(identifier: nil))
    }
  }
}
