// Migration object by object: core-data-semantics chapter 22.4 and 22.5.

@_spi(Runtime) import Cairn
import Foundation
import TestSupport
import Testing

/// Splits a full name.
private final class NamePolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let writer = EntityDescription.insertNewObject(
      forEntityName: "Writer", into: manager.destinationContext)
    let words = (sInstance.value(forKey: "fullName") as? String ?? "").split(
      separator: " ", maxSplits: 1)
    writer.setValue(words.first.map(String.init), forKey: "firstName")
    writer.setValue(words.last.map(String.init), forKey: "lastName")
    writer.setValue(sInstance.value(forKey: "born"), forKey: "born")
    manager.associate(sourceInstance: sInstance, withDestinationInstance: writer, for: mapping)
  }
}

/// Writes down which methods are called.
private final class RecordingPolicy: EntityMigrationPolicy {
  nonisolated(unsafe) static var calls: [String] = []  // One test uses it, on one thread.
  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    Self.calls.append("begin")
  }
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    Self.calls.append("create")
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }
  override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { Self.calls.append("endCreation") }
  override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws { Self.calls.append("relate") }
  override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { Self.calls.append("endRelations") }
  override func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { Self.calls.append("validate") }
  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    Self.calls.append("end")
  }
}

private struct Refusal: Error {}

private final class RefusingPolicy: EntityMigrationPolicy {
  override func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { throw Refusal() }
}

@Suite struct MigrationManagerTests {
  private func expression(_ format: String) throws -> ObjectExpression {
    try ObjectExpression.parse(format)
  }

  private func mapping(
    _ name: String, _ source: String, _ destination: String, policy: String? = nil,
    attributes: [(String, String)], relationships: [(String, String)] = []
  ) throws -> EntityMapping {
    let mapping = EntityMapping()
    mapping.name = name
    mapping.mappingType = policy == nil ? .transformEntityMappingType : .customEntityMappingType
    mapping.sourceEntityName = source
    mapping.destinationEntityName = destination
    mapping.entityMigrationPolicyClassName = policy
    func property(_ pair: (String, String)) throws -> PropertyMapping {
      let property = PropertyMapping()
      property.name = pair.0
      property.valueExpression = try expression(pair.1)
      return property
    }
    mapping.attributeMappings = try attributes.map(property)
    mapping.relationshipMappings = try relationships.map(property)
    return mapping
  }

  private func model(authorPolicy: String = "NamePolicy") throws -> MappingModel {
    EntityMigrationPolicy.registerClass(NamePolicy.self, forName: "NamePolicy")
    let model = MappingModel()
    model.entityMappings = [
      try mapping(
        "AuthorToWriter", "Author", "Writer", policy: authorPolicy, attributes: [],
        relationships: [
          (
            "works",
            "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'BookToBook', $source.books)"
          )
        ]),
      try mapping(
        "BookToBook", "Book", "Book",
        attributes: [
          ("title", "$source.title"), ("pages", "CAST($source.pages, 'NSString')"),
        ]),
    ]
    return model
  }

  private func migrate(
    _ mapping: MappingModel?, from url: URL, type: String = "SQLite", to destination: URL,
    manager: MigrationManager = MigrationManager(
      sourceModel: Shelf.first(), destinationModel: Shelf.second())
  ) throws {
    try manager.migrateStore(
      from: url, sourceType: type, options: nil, with: mapping, toDestinationURL: destination,
      destinationType: type, destinationOptions: nil)
  }

  @Test func policiesAndExpressionsMakeTheDestination() throws {
    let folder = try TemporaryFolder()
    let source = try Shelf.store(in: folder.url)
    let destination = folder.fileURL("new.sqlite")
    try migrate(try model(), from: source, to: destination)
    try Shelf.with(Shelf.second(), "SQLite", destination) { context throws in
      #expect(
        try Shelf.lines(context, "Book") {
          let writer = $0.value(forKey: "writer") as? ManagedObject
          return "\($0.value(forKey: "title") ?? "") \($0.value(forKey: "pages") ?? "") "
            + "\($0.value(forKey: "shelf") ?? "") \(writer?.value(forKey: "lastName") ?? "-")"
        } == [
          "Beowulf 120 A -", "The Dispossessed 341 A Le Guin", "The Lathe of Heaven 184 A Le Guin",
        ])
      #expect(
        try Shelf.lines(context, "Writer") {
          "\($0.value(forKey: "firstName") ?? "") \(($0.value(forKey: "works") as? Set<ManagedObject>)?.count ?? -1)"
        } == ["Stanisław 0", "Ursula 2"])
    }
    try Shelf.with(Shelf.first(), "SQLite", source) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 3)
    }
  }

  @Test func theStoreKeepsItsUUID() throws {
    let folder = try TemporaryFolder()
    let source = try Shelf.store(in: folder.url)
    let destination = folder.fileURL("new.sqlite")
    try migrate(try model(), from: source, to: destination)
    func uuid(_ url: URL) throws -> String? {
      try PersistentStoreCoordinator.metadataForPersistentStore(ofType: "SQLite", at: url)[
        StoreMetadataKey.uuid] as? String
    }
    #expect(try uuid(source) == uuid(destination))
    #expect(try uuid(source) != nil)
  }

  @Test func aPolicyIsCalledInTheDocumentedOrder() throws {
    let folder = try TemporaryFolder()
    EntityMigrationPolicy.registerClass(RecordingPolicy.self, forName: "RecordingPolicy")
    let model = MappingModel()
    model.entityMappings = [
      try mapping(
        "BookToBook", "Book", "Book", policy: "RecordingPolicy",
        attributes: [("title", "$source.title")])
    ]
    try migrate(
      model, from: try Shelf.store(in: folder.url), to: folder.fileURL("new.sqlite"))
    #expect(
      RecordingPolicy.calls == [
        "begin", "create", "create", "create", "endCreation", "relate", "relate", "relate",
        "endRelations", "validate", "end",
      ])
  }

  @Test func whatAPolicyThrowsEndsTheMigrationAndLeavesNothing() throws {
    let folder = try TemporaryFolder()
    EntityMigrationPolicy.registerClass(RefusingPolicy.self, forName: "RefusingPolicy")
    let destination = folder.fileURL("new.sqlite")
    let model = MappingModel()
    model.entityMappings = [
      try mapping("BookToBook", "Book", "Book", policy: "RefusingPolicy", attributes: [])
    ]
    let source = try Shelf.store(in: folder.url)
    #expect(throws: Refusal.self) { try migrate(model, from: source, to: destination) }
    #expect(!FileManager.default.fileExists(atPath: destination.path))
  }

  @Test func aCancelledMigrationThrowsTheGivenError() throws {
    let folder = try TemporaryFolder()
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.second())
    manager.progressHandler = { [unowned manager] _ in manager.cancelMigrationWithError(Refusal()) }
    let source = try Shelf.store(in: folder.url)
    let destination = folder.fileURL("new.sqlite")
    #expect(throws: Refusal.self) {
      try migrate(try model(), from: source, to: destination, manager: manager)
    }
    #expect(!FileManager.default.fileExists(atPath: destination.path))
  }

  @Test func progressRisesFromNothingToOne() throws {
    let folder = try TemporaryFolder()
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.second())
    var seen: [Float] = []
    manager.progressHandler = { seen.append($0) }
    try migrate(
      try model(), from: try Shelf.store(in: folder.url),
      to: folder.fileURL("new.sqlite"), manager: manager)
    #expect(seen == seen.sorted() && seen.last == 1 && seen.count > 3)
    #expect(manager.migrationProgress == 1)
  }

  @Test(arguments: [
    ("Writer", "NoSuchPolicy", "title", "$source.title", CoreDataError.Code.entityMigrationPolicy),
    ("Nowhere", "NamePolicy", "title", "$source.title", .entityMigrationPolicy),
    ("Writer", "NamePolicy", "title", "$source.nothing.at.all", .entityMigrationPolicy),
    ("Writer", "NamePolicy", "title", "$source.pages", .entityMigrationPolicy),
    ("Writer", "NamePolicy", "nothing", "$source.title", .entityMigrationPolicy),
  ])
  func aMappingThatCannotBeFollowedSaysWhy(
    destination: String, policy: String, property: String, format: String,
    code: CoreDataError.Code
  ) throws {
    let folder = try TemporaryFolder()
    EntityMigrationPolicy.registerClass(NamePolicy.self, forName: "NamePolicy")
    let model = MappingModel()
    model.entityMappings = [
      try mapping("AuthorToWriter", "Author", destination, policy: policy, attributes: []),
      try mapping("BookToBook", "Book", "Book", attributes: [(property, format)]),
    ]
    let source = try Shelf.store(in: folder.url)
    let url = folder.fileURL("new.sqlite")
    #expect(Shelf.code { try migrate(model, from: source, to: url) } == code)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func aPlaceWithAStoreIsNotOverwritten() throws {
    let folder = try TemporaryFolder()
    let source = try Shelf.store(in: folder.url)
    let other = try Shelf.store(in: folder.url)
    let before = try Data(contentsOf: other)
    #expect(
      Shelf.code { try migrate(try model(), from: source, to: other) }
        == .migrationManagerDestinationStore)
    #expect(try Data(contentsOf: other) == before)
  }

  @Test func aMissingSourceIsNamed() throws {
    let folder = try TemporaryFolder()
    let destination = folder.fileURL("new.sqlite")
    #expect(
      Shelf.code {
        try migrate(try model(), from: folder.fileURL("none"), to: destination)
      } == .migrationManagerSourceStore)
    #expect(!FileManager.default.fileExists(atPath: destination.path))
  }

  @Test(arguments: [true, false])
  func anInferredMappingGivesTheSameInPlaceAndObjectByObject(inStore: Bool) throws {
    let folder = try TemporaryFolder()
    let destination = folder.fileURL("new.sqlite")
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.grown())
    manager.usesStoreSpecificMigrationManager = inStore
    try migrate(nil, from: try Shelf.store(in: folder.url), to: destination, manager: manager)
    try Shelf.with(Shelf.grown(), "SQLite", destination) { context throws in
      #expect(
        try Shelf.lines(context, "Book") {
          let author = $0.value(forKey: "author") as? ManagedObject
          return "\($0.value(forKey: "title") ?? "") \(author?.value(forKey: "born") ?? "-")"
        } == ["Beowulf -", "The Dispossessed 1929", "The Lathe of Heaven 1929"])
    }
  }
}
