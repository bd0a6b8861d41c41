// Staged migration of real stores: core-data-semantics chapter 22.6.

import Cairn
import Foundation
import TestSupport
import Testing

@Suite struct StagedMigrationTests {
  /// Versions of a book: a full name, then also two parts, then only the parts.
  private static func version(_ number: Int) -> ManagedObjectModel {
    var attributes = [Shelf.attribute("title", .string)]
    if number <= 2 { attributes.append(Shelf.attribute("author", .string)) }
    if number >= 2 {
      attributes += [Shelf.attribute("first", .string), Shelf.attribute("last", .string)]
    }
    if number >= 4 { attributes.append(Shelf.attribute("shelf", .string)) }
    let model = ManagedObjectModel()
    model.entities = [Shelf.entity("Book", attributes)]
    return model
  }

  private struct Failure: Error {}

  private func reference(_ number: Int) -> ManagedObjectModelReference {
    let model = Self.version(number)
    return ManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  /// Stages 1 → 2, with the names split after it, and 2 → 3 → 4.
  private func manager(
    splitting: @escaping (ManagedObjectContext) throws -> Void = Self.split
  ) -> StagedMigrationManager {
    let split = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    split.didMigrateHandler = { manager, stage in
      let container = try #require(manager.container)
      #expect(manager.runningStage === stage)
      let context = container.newBackgroundContext()
      try context.performAndWait {
        try splitting(context)
        try context.save()
      }
    }
    return StagedMigrationManager([
      split,
      LightweightMigrationStage([2, 3, 4].map { Self.version($0).versionChecksum }),
    ])
  }

  private static func split(_ context: ManagedObjectContext) throws {
    for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
      let words = (book.value(forKey: "author") as? String ?? "").split(separator: " ")
      book.setValue(words.first.map(String.init), forKey: "first")
      book.setValue(words.last.map(String.init), forKey: "last")
    }
  }

  private func options(_ manager: StagedMigrationManager) -> [AnyHashable: Any] {
    [
      StoreOptionKey.migrateAutomatically: NSNumber(value: true),
      StoreOptionKey.inferMappingModel: NSNumber(value: true),
      StoreOptionKey.stagedMigrationManager: manager,
      StoreOptionKey.migrationSourceModels: (1...4).map(Self.version),
    ]
  }

  private func store(in folder: URL, version: Int = 1) throws -> URL {
    let url = folder.appendingPathComponent("\(UUID().uuidString).sqlite")
    try Shelf.with(Self.version(version), "SQLite", url) { context throws in
      let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue("Solaris", forKey: "title")
      if version <= 2 { book.setValue("Stanisław Lem", forKey: "author") }
      try context.save()
    }
    return url
  }

  @Test func handlersSeeTheStoreBetweenTheSteps() throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder.url)
    try Shelf.with(Self.version(4), "SQLite", url, options(manager())) { context throws in
      let book = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")).first)
      #expect(book.value(forKey: "last") as? String == "Lem")
      #expect(book.entity.attributesByName["author"] == nil)
    }
  }

  @Test func aFailedStageLeavesTheStoreAtTheOneBefore() throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder.url)
    #expect(throws: Failure.self) {
      try Shelf.with(
        Self.version(4), "SQLite", url, options(manager(splitting: { _ in throw Failure() }))
      ) { _ in }
    }
    // The schema step was committed by itself, the names are still whole.
    try Shelf.with(Self.version(2), "SQLite", url) { context throws in
      let book = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")).first)
      #expect(book.value(forKey: "author") as? String == "Stanisław Lem")
    }
  }

  /// Also where the stage leads to the version that the program has.
  @Test(arguments: [2, 4])
  func aHandlerThatFailedAfterTheStepIsCalledAgainAtTheNextOpening(version: Int) throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder.url)
    func names(_ manager: StagedMigrationManager) throws -> [String] {
      var names: [String] = []
      try Shelf.with(Self.version(version), "SQLite", url, options(manager)) { context throws in
        names = try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")).map {
          "\($0.value(forKey: "first") ?? "-") \($0.value(forKey: "last") ?? "-")"
        }
      }
      return names
    }
    for _ in 0..<2 {
      #expect(throws: Failure.self) { _ = try names(manager(splitting: { _ in throw Failure() })) }
    }
    #expect(try names(manager()) == ["Stanisław Lem"])
    let again = manager(splitting: { _ in throw Failure() })
    #expect(try names(again) == ["Stanisław Lem"], "it is done, and not called any more")
  }

  @Test func aStageFindsTheVersionThatTheStoreKeeps() throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder.url, version: 2)
    let stages = StagedMigrationManager([
      LightweightMigrationStage([2, 3].map { Self.version($0).versionChecksum })
    ])
    var options = options(stages)
    options[StoreOptionKey.migrationSourceModels] = nil
    try Shelf.with(Self.version(3), "SQLite", url, options) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 1)
    }
  }

  @Test func stagesThatAreDoneAreSkipped() throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder.url, version: 3)
    let manager = manager(splitting: { _ in throw Failure() })
    try Shelf.with(Self.version(4), "SQLite", url, options(manager)) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 1)
    }
    #expect(manager.runningStage == nil && manager.container == nil)
  }

  @Test func aStoreOfAnotherVersionIsRefused() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    #expect(
      Shelf.code { try Shelf.with(Self.version(4), "SQLite", url, options(manager())) { _ in } }
        == .managedObjectModelReferenceNotFound)
  }

  @Test func aStoreNewerThanTheProgramIsRefusedAndUnchanged() throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder.url, version: 4)
    #expect(
      Shelf.code { try Shelf.with(Self.version(2), "SQLite", url, options(manager())) { _ in } }
        == .stagedMigrationBackwardMigration)
    try Shelf.with(Self.version(4), "SQLite", url) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 1)
    }
  }

  @Test func aModelThatIsNowhereIsNamed() throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder.url, version: 2)
    var given = options(manager())
    given[StoreOptionKey.migrationSourceModels] = [Self.version(2)]
    #expect(
      Shelf.code { try Shelf.with(Self.version(4), "SQLite", url, given) { _ in } }
        == .managedObjectModelReferenceNotFound)
  }
}
