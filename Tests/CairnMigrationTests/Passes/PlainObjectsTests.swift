// Migration with objects runs no code of the program's classes and none of the models' rules
// (Versioning Guide, "Three-Stage Migration"), and may be done in parts ("Multiple Passes"):
// core-data-semantics 22.4 and 22.5.

@_spi(Runtime) import Cairn
import Foundation
import Synchronization
import TestSupport
import Testing

/// Counts what migration must not call.
final class PlainBook: ManagedObject {
  static let calls = Atomic<Int>(0)
  override func awakeFromInsert() { Self.calls.wrappingAdd(1, ordering: .relaxed) }
  override func awakeFromFetch() { Self.calls.wrappingAdd(1, ordering: .relaxed) }
  override func willSave() { Self.calls.wrappingAdd(1, ordering: .relaxed) }
  override func validateForInsert() throws {
    Self.calls.wrappingAdd(1, ordering: .relaxed)
    throw CoreDataError(.managedObjectValidation, "A rule of the class.")
  }
}

/// Writes down the classes of what it sees.
private final class ClassPolicy: EntityMigrationPolicy {
  // One test uses it, on one thread.
  nonisolated(unsafe) static var classes: Set<String> = []
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    for object in made + [sInstance] { Self.classes.insert("\(type(of: object))") }
  }
}

@Suite struct PlainObjectsTests {
  @Test func migrationMakesPlainObjectsWhateverClassesTheModelsName() throws {
    let folder = try TemporaryFolder()
    EntityMigrationPolicy.registerClass(ClassPolicy.self, forName: "ClassPolicy")
    ManagedObject.registerClass(PlainBook.self, named: "PlainBook")
    let (source, destination) = (Shelf.first(), Shelf.grown())
    let store = try Shelf.store(in: folder.url)
    for model in [source, destination] {
      model.entitiesByName["Book"]?.managedObjectClassName = "PlainBook"
    }
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: source, destinationModel: destination)
    mapping.entityMappingsByName["IEM_Transform_Book"]?.entityMigrationPolicyClassName =
      "ClassPolicy"
    let manager = MigrationManager(sourceModel: source, destinationModel: destination)
    manager.usesStoreSpecificMigrationManager = false
    let new = folder.fileURL("new.sqlite")
    try manager.migrateStore(
      from: store, sourceType: "SQLite", options: nil, with: mapping, toDestinationURL: new,
      destinationType: "SQLite", destinationOptions: nil)
    #expect(ClassPolicy.classes == ["ManagedObject"])
    #expect(PlainBook.calls.load(ordering: .relaxed) == 0)
    try Shelf.with(destination, "SQLite", new) { context throws in
      let books = try context.fetch(FetchRequest<ManagedObject>(entityName: "Book"))
      #expect(books.count == 3)
      #expect(books.allSatisfy { $0 is PlainBook })
    }
  }

  @Test func valuesThatBreakTheModelsRulesAreMigrated() throws {
    let folder = try TemporaryFolder()
    let destination = Shelf.grown()
    let pages = try #require(destination.entitiesByName["Book"]?.attributesByName["pages"])
    pages.setValidationPredicates(
      [try ObjectPredicate.parse("SELF > 200")], withValidationWarnings: ["too short"])
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: destination)
    manager.usesStoreSpecificMigrationManager = false
    let new = folder.fileURL("new.sqlite")
    try manager.migrateStore(
      from: try Shelf.store(in: folder.url), sourceType: "SQLite", options: nil, with: nil,
      toDestinationURL: new, destinationType: "SQLite", destinationOptions: nil)
    try Shelf.with(destination, "SQLite", new) { context throws in
      #expect(
        try Shelf.lines(context, "Book") { "\($0.value(forKey: "pages") ?? "")" }
          == ["120", "184", "341"])
    }
  }

  @Test(arguments: ["NSEntityMigrationPolicy", "", nil])
  func theDefaultPolicyHasAName(name: String?) throws {
    let folder = try TemporaryFolder()
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: Shelf.first(), destinationModel: Shelf.grown())
    for entity in mapping.entityMappings { entity.entityMigrationPolicyClassName = name }
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.grown())
    manager.usesStoreSpecificMigrationManager = false
    let new = folder.fileURL("new.sqlite")
    try manager.migrateStore(
      from: try Shelf.store(in: folder.url), sourceType: "SQLite", options: nil, with: mapping,
      toDestinationURL: new, destinationType: "SQLite", destinationOptions: nil)
    try Shelf.with(Shelf.grown(), "SQLite", new) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 3)
    }
  }
}

@Suite struct MultiplePassesTests {
  /// A mapping model of one entity's attributes.
  private func part(_ name: String) throws -> MappingModel {
    let whole = try MappingModel.inferredMappingModel(
      forSourceModel: Shelf.first(), destinationModel: Shelf.grown())
    let part = MappingModel()
    part.entityMappings = whole.entityMappings.filter { $0.destinationEntityName == name }
    for mapping in part.entityMappings { mapping.relationshipMappings = [] }
    return part
  }

  private func migrate(
    _ mapping: MappingModel, with manager: MigrationManager, from source: URL, to new: URL,
    type: String
  ) throws {
    try manager.migrateStore(
      from: source, sourceType: type, options: nil, with: mapping, toDestinationURL: new,
      destinationType: type, destinationOptions: nil)
  }

  private func counts(_ url: URL, type: String) throws -> [Int] {
    try Shelf.with(Shelf.grown(), type, url) { context throws in
      try ["Author", "Book"].map {
        try context.count(for: FetchRequest<ManagedObject>(entityName: $0))
      }
    }
  }

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func mappingModelsMayBeRunOneAfterTheOtherIntoTheSameStore(type: String) throws {
    let folder = try TemporaryFolder()
    let source = try Shelf.store(type, in: folder.url)
    let new = folder.fileURL("new.store")
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.grown())
    for name in ["Author", "Book"] {
      try migrate(try part(name), with: manager, from: source, to: new, type: type)
    }
    #expect(try counts(new, type: type) == [2, 3])
  }

  @Test func aPassThatFailsLeavesWhatThePassesBeforeHaveMade() throws {
    let folder = try TemporaryFolder()
    let source = try Shelf.store(in: folder.url)
    let new = folder.fileURL("new.sqlite")
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.grown())
    try migrate(try part("Author"), with: manager, from: source, to: new, type: "SQLite")
    let broken = try part("Book")
    broken.entityMappings.first?.attributeMappings?.first?.valueExpression =
      try ObjectExpression.parse("$source.nothing.at.all")
    #expect(
      Shelf.code { try migrate(broken, with: manager, from: source, to: new, type: "SQLite") }
        == .entityMigrationPolicy)
    #expect(try counts(new, type: "SQLite") == [2, 0])
  }

  @Test func aStoreThatNoPassOfThisSourceMadeIsLeftAlone() throws {
    let folder = try TemporaryFolder()
    let source = try Shelf.store(in: folder.url)
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.grown())
    let other = try Shelf.store(in: folder.url, model: Shelf.grown())
    for url in [source, other] {
      #expect(
        Shelf.code {
          try migrate(try part("Book"), with: manager, from: source, to: url, type: "SQLite")
        } == .migrationManagerDestinationStore)
    }
    #expect(try counts(other, type: "SQLite") == [2, 3])
  }
}
