// What is committed while a store is migrated with objects is not lost: decision 15.

@_spi(Runtime) import Cairn
import Foundation
import TestSupport
import Testing

/// Lets another program save to the store when everything of it has been read.
private final class DisturbedPolicy: EntityMigrationPolicy {
  /// What to do, once; set by the test of the store type that is the mapping's note.
  // Guarded by the suite, which runs its tests one after the other.
  nonisolated(unsafe) static var disturb: (() -> Void)?
  /// The same, before the objects of the next mapping are read.
  nonisolated(unsafe) static var disturbEarly: (() -> Void)?
  override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let disturb = Self.disturbEarly
    Self.disturbEarly = nil
    disturb?()
  }
  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    let disturb = Self.disturb
    Self.disturb = nil
    disturb?()
  }
}

/// Specification: core-data-semantics 22.2 and 22.5.
@Suite(.serialized) struct CommitsDuringMigrationTests {
  private func mapping() throws -> MappingModel {
    EntityMigrationPolicy.registerClass(DisturbedPolicy.self, forName: "DisturbedPolicy")
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: Shelf.first(), destinationModel: Shelf.grown())
    mapping.entityMappings.last?.entityMigrationPolicyClassName = "DisturbedPolicy"
    return mapping
  }

  private func options(_ more: [AnyHashable: Any] = [:]) throws -> [AnyHashable: Any] {
    [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.migrationSourceModels: [Shelf.first()],
      StoreOptionKey.migrationMappingModels: [try mapping()],
    ].merging(more) { _, new in new }
  }

  private func titles(_ url: URL, _ type: String) throws -> [String] {
    try Shelf.with(Shelf.grown(), type, url) { context throws in
      try Shelf.lines(context, "Book") { $0.value(forKey: "title") as? String ?? "" }
    }
  }

  private static let titles = ["Beowulf", "The Dispossessed", "The Lathe of Heaven"]

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func whatAnotherProgramCommitsMeanwhileIsMigratedOrRefused(type: String) throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(type, in: folder.url)
    let other = PersistentStoreCoordinator(managedObjectModel: Shelf.first())
    let opened = try other.addPersistentStore(
      ofType: type, configurationName: nil, at: url,
      options: [StoreOptionKey.timeout: 0.1])
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = other
    var isSaved: Bool?
    DisturbedPolicy.disturb = {
      context.performAndWait {
        let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue("A new one", forKey: "title")
        isSaved = (try? context.save()) != nil
      }
    }
    try Shelf.with(Shelf.grown(), type, url, options()) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) >= 3)
    }
    try other.remove(opened)
    // A database holds writers off, a file is read again.
    #expect(isSaved == (type != "SQLite"))
    #expect(try titles(url, type) == (isSaved == true ? ["A new one"] : []) + Self.titles)
  }

  @Test(arguments: ["SQLite", "SQLite with a rollback journal", "XML"])
  func aMigrationIntoAnotherFileReadsOneStateOfTheStore(way: String) throws {
    let folder = try TemporaryFolder()
    let type = way == "XML" ? way : "SQLite"
    let url = try Shelf.store(type, in: folder.url)
    let pragmas: [AnyHashable: Any] =
      way.contains("journal") ? [StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]] : [:]
    let other = PersistentStoreCoordinator(managedObjectModel: Shelf.first())
    let opened = try other.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: pragmas)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = other
    let given = try mapping()
    // Authors are read before, books after what another program commits.
    #expect(given.entityMappings.map(\.destinationEntityName) == ["Author", "Book"])
    given.entityMappings.first?.entityMigrationPolicyClassName = "DisturbedPolicy"
    var isSaved = false
    DisturbedPolicy.disturbEarly = {
      context.performAndWait {
        let author = EntityDescription.insertNewObject(forEntityName: "Author", into: context)
        let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(author, forKey: "author")
        isSaved = (try? context.save()) != nil
      }
    }
    let made = folder.fileURL("made")
    try MigrationManager(sourceModel: Shelf.first(), destinationModel: Shelf.grown()).migrateStore(
      from: url, sourceType: type, options: nil, with: given, toDestinationURL: made,
      destinationType: type, destinationOptions: nil)
    try other.remove(opened)
    #expect(isSaved)
    #expect(try titles(made, type) == Self.titles)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.contains("migrating") }, "\(left)")
  }

  @Test(arguments: [["journal_mode": "DELETE"], ["page_size": "8192"]])
  func storesWithOtherJournalsAndPagesAreMigrated(pragmas: [String: String]) throws {
    let folder = try TemporaryFolder()
    let url = folder.fileURL("old.sqlite")
    try Shelf.with(
      Shelf.first(), "SQLite", url, [StoreOptionKey.sqlitePragmas: pragmas]
    ) { context throws in
      let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue("Beowulf", forKey: "title")
      try context.save()
    }
    try Shelf.with(Shelf.grown(), "SQLite", url, options()) { _ in }
    #expect(try titles(url, "SQLite") == ["Beowulf"])
  }

  @Test func afterAFailureTheStoreMayBeWrittenAgain() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let broken = try mapping()
    broken.entityMappings.last?.attributeMappings?.first?.valueExpression =
      try ObjectExpression.parse("$source.nothing.at.all")
    let given = try options([StoreOptionKey.migrationMappingModels: [broken]])
    #expect(
      Shelf.code { try Shelf.with(Shelf.grown(), "SQLite", url, given) { _ in } }
        == .entityMigrationPolicy)
    try Shelf.with(Shelf.first(), "SQLite", url) { context throws in
      let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue("A new one", forKey: "title")
      try context.save()
    }
    try Shelf.with(Shelf.grown(), "SQLite", url, options()) { _ in }
    #expect(try titles(url, "SQLite") == ["A new one"] + Self.titles)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.contains("migrating") }, "\(left)")
  }

  @Test func whoWaitedForAMigrationDoesNotMigrateAgain() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    // Between this program's look at the file and its lock another program migrates, and saves.
    let look = Shelf.first()
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
      ofType: "SQLite", at: url)
    try Shelf.with(Shelf.grown(), "SQLite", url, options()) { context throws in
      for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
        book.setValue("top", forKey: "shelf")
      }
      try context.save()
    }
    try LateMigration.run(
      at: url, from: look, to: Shelf.grown(), metadata: metadata, options: options())
    try Shelf.with(Shelf.grown(), "SQLite", url) { context throws in
      #expect(
        try Shelf.lines(context, "Book") { $0.value(forKey: "shelf") as? String ?? "" }
          == ["top", "top", "top"])
    }
  }
}
