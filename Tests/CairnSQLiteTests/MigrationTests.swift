import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// Lightweight migration inside the database: core-data-semantics 22.3; format, chapter 12.
@Suite struct MigrationTests {
  /// The sample model, changed: an entity before all others moves every number, an attribute is
  /// renamed, one is new with a default, one is gone, `data` may be external and `boss` is too.
  private func nextModel(
    _ change: ([String: EntityDescription]) -> Void = { _ in }
  ) throws -> ManagedObjectModel {
    let model = ManagedObjectModel()
    let sample = try SampleModel.make()
    var copies: [String: EntityDescription] = [:]
    for entity in sample.entities {
      let copy = EntityDescription()
      copy.name = entity.name
      copy.uniquenessConstraints = entity.constraintNames
      copy.properties = entity.declaredProperties.map { $0.copyProperty() }
      copies[entity.name ?? ""] = copy
    }
    copies["Employee"]?.subentities = [copies["Manager"]].compactMap { $0 }
    for entity in sample.entities {
      for case let relationship as RelationshipDescription in entity.declaredProperties {
        let copy =
          copies[entity.name ?? ""]?.propertiesByName[relationship.name] as? RelationshipDescription
        copy?.destinationEntity = copies[relationship.destinationEntity?.name ?? ""]
        copy?.inverseRelationship =
          copies[relationship.inverseRelationship?.entity?.name ?? ""]?
          .propertiesByName[relationship.inverseRelationship?.name ?? ""]
          as? RelationshipDescription
      }
    }
    let added = EntityDescription(
      name: "Aardvark", properties: [AttributeDescription(name: "weight", type: .double)])
    change(copies)
    model.entities = [added] + sample.entities.compactMap { copies[$0.name ?? ""] }
    try model.prepareForUse()
    return model
  }

  private func filled() throws -> StoreFixture {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    let company = try fixture.row("Company", ["name": .string("C")])
    let boss = try fixture.row(
      "Manager",
      [
        "name": .string("M"), "company": .object(company.objectID),
        "data": .data(Data([1, 0, 2])), "level": .integer(2),
      ])
    let worker = try fixture.row(
      "Employee",
      [
        "name": .string("W"), "company": .object(company.objectID),
        "boss": .object(boss.objectID), "email": .string("w@c"),
      ])
    let project = try fixture.row("Project", ["title": .string("P")])
    let note = try fixture.row("Note", ["text": .string("N")])
    var request = SaveChangesRequest()
    request.insertions = [company, boss, worker, project, note].map { .init(snapshot: $0) }
    request.links = [
      .init(
        relationship: try fixture.relationship("Project", "members"), owner: project.objectID,
        added: [worker.objectID, boss.objectID], order: [worker.objectID, boss.objectID]),
      .init(
        relationship: try fixture.relationship("Company", "employees"), owner: company.objectID,
        order: [worker.objectID, boss.objectID]),
      .init(
        relationship: try fixture.relationship("Employee", "notes"), owner: worker.objectID,
        added: [note.objectID], order: [note.objectID]),
    ]
    let receipt = try fixture.receipt(fixture.store.save(request))
    var update = SaveChangesRequest()
    update.updates = [fixture.update(receipt.snapshots[2], ["age": .integer(40)])]
    _ = try fixture.receipt(fixture.store.save(update))
    fixture.store.metadata["mine"] = "kept"
    _ = try fixture.receipt(fixture.store.save(SaveChangesRequest()))
    try fixture.store.close()
    return fixture
  }

  private func rows(_ store: SQLiteStore, _ entity: String) throws -> [RowSnapshot] {
    let description = try #require(store.managedObjectModel.entitiesByName[entity])
    var request = StoreFetchRequest(entity: description)
    request.sortDescriptors = [ObjectSortDescriptor(key: "objectID", ascending: true)]
    return try #require(try store.fetch(request).snapshots)
  }

  private func relationship(
    _ store: SQLiteStore, _ entity: String, _ name: String
  ) throws -> RelationshipDescription {
    try #require(
      store.managedObjectModel.entitiesByName[entity]?.relationshipsByName[name])
  }

  @Test func everythingFollowsToTheNewVersion() throws {
    let fixture = try filled()
    let next = try nextModel { entities in
      guard let employee = entities["Employee"] else { return }
      employee.propertiesByName["name"]?.renamingIdentifier = "name"
      employee.propertiesByName["name"]?.name = "fullName"
      (employee.propertiesByName["data"] as? AttributeDescription)?
        .allowsExternalBinaryDataStorage = true
      employee.properties =
        employee.properties.filter { $0.name != "rating" } + [
          AttributeDescription(
            name: "grade", type: .integer16, isOptional: false, defaultValue: 5)
        ]
    }
    try SQLiteStore.migrateInPlace(
      at: fixture.url, from: fixture.model, to: next, options: StoreOptions())
    let store = try StoreFixture.open(fixture.url, next)
    defer { try? store.close() }
    #expect(store.identifier == fixture.store.identifier)
    #expect(store.metadata["mine"] as? String == "kept")
    #expect(next.isConfiguration(withName: nil, compatibleWithStoreMetadata: store.metadata))
    let people = try rows(store, "Employee")
    #expect(people.map { $0.objectID.entity.name } == ["Manager", "Employee"])
    #expect(people.map { fixture.value($0, "fullName") } == [.string("M"), .string("W")])
    #expect(people.map { fixture.value($0, "grade") } == [.integer(5), .integer(5)])
    #expect(fixture.value(people[0], "data") == .data(Data([1, 0, 2])))
    #expect(fixture.value(people[1], "boss") == .object(people[0].objectID))
    #expect(people.map(\.version) == [1, 2])
    let company = try rows(store, "Company")[0].objectID
    let project = try rows(store, "Project")[0].objectID
    let order = [people[1].objectID, people[0].objectID]
    #expect(
      try store.members(of: relationship(store, "Company", "employees"), owners: [company])
        == [order])
    #expect(
      try store.members(of: relationship(store, "Project", "members"), owners: [project])
        == [order])
    #expect(
      try store.members(of: relationship(store, "Employee", "notes"), owners: [order[0]])
        == [try rows(store, "Note").map(\.objectID)])
    let history = try store.readHistory(HistoryReadRequest())
    #expect(history.flatMap(\.changes).count == 6)
    #expect(history[1].changes[0].objectID == people[1].objectID)
    #expect(history[1].changes[0].changedProperties == ["age"])
    #expect(try store.verifyIntegrity().isEmpty)
    #expect(
      try store.obtainPermanentIDs(for: [people[0].objectID.entity]).map(\.rowKey) == [3])
    let remembered = try SQLiteStore.cachedModel(at: fixture.url, options: StoreOptions())
    #expect(remembered?.entityVersionHashesByName == next.entityVersionHashesByName)
    #expect(
      try fixture.column("SELECT name FROM sqlite_master WHERE name LIKE 'CAIRN_OLD%'").isEmpty)
  }

  @Test func aMigratedStoreHasTheSchemaOfANewOne() throws {
    let fixture = try filled()
    let next = try nextModel()
    try SQLiteStore.migrateInPlace(
      at: fixture.url, from: fixture.model, to: next, options: StoreOptions())
    let fresh = try StoreFixture(options: [StoreOptionKey.historyTracking: true], model: next)
    let query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql"
    #expect(try fixture.column(query) == fresh.column(query))
  }

  @Test func whatCannotBeInferredIsRefusedAndLeavesTheFileAlone() throws {
    let fixture = try filled()
    let before = try fixture.column("SELECT sql FROM sqlite_master")
    let next = try nextModel { entities in
      (entities["Employee"]?.propertiesByName["age"] as? AttributeDescription)?.attributeType =
        .string
    }
    let error = #expect(throws: CoreDataError.self) {
      try SQLiteStore.migrateInPlace(
        at: fixture.url, from: fixture.model, to: next, options: StoreOptions())
    }
    #expect(error?.code == .inferredMappingModel)
    #expect(try fixture.column("SELECT sql FROM sqlite_master") == before)
  }

  @Test func aMandatoryAttributeWithoutDefaultFailsWhenThereAreObjects() throws {
    let fixture = try filled()
    let next = try nextModel { entities in
      guard let project = entities["Project"] else { return }
      project.properties += [
        AttributeDescription(name: "code", type: .string, isOptional: false)
      ]
    }
    let error = #expect(throws: CoreDataError.self) {
      try SQLiteStore.migrateInPlace(
        at: fixture.url, from: fixture.model, to: next, options: StoreOptions())
    }
    #expect(error?.code == .migration)
    let store = try fixture.another()
    #expect(try rows(store, "Project").count == 1)
  }

  @Test func duplicatesUnderANewConstraintFailAndLeaveTheFileAlone() throws {
    let fixture = try StoreFixture()
    try fixture.insert([
      try fixture.row("Project", ["title": .string("x")]),
      try fixture.row("Project", ["title": .string("x")]),
    ])
    try fixture.store.close()
    let next = try nextModel { $0["Project"]?.uniquenessConstraints = [["title"]] }
    let error = #expect(throws: CoreDataError.self) {
      try SQLiteStore.migrateInPlace(
        at: fixture.url, from: fixture.model, to: next, options: StoreOptions())
    }
    #expect(error?.code == .migrationConstraintViolation)
    #expect(try rows(fixture.another(), "Project").count == 2)
  }
}
