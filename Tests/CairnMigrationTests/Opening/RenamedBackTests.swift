// A store of a version that renamed something is opened with the version before.

import Cairn
import Foundation
import TestSupport
import Testing

/// Specification: core-data-semantics 22.2 and 22.3, "rename by renaming identifier"; format, chapter 12.
@Suite struct RenamedBackTests {
  /// Authors and their books; each name may come with a renaming identifier.
  private func model(
    author: (String, String?) = ("Author", nil), name: (String, String?) = ("fullName", nil),
    books: (String, String?) = ("books", nil), extra: [AttributeDescription] = []
  ) -> ManagedObjectModel {
    let model = Shelf.first()
    let entity = model.entitiesByName["Author"]
    entity?.propertiesByName["fullName"]?.renamingIdentifier = name.1
    entity?.propertiesByName["fullName"]?.name = name.0
    entity?.propertiesByName["books"]?.renamingIdentifier = books.1
    entity?.propertiesByName["books"]?.name = books.0
    entity?.properties += extra
    entity?.renamingIdentifier = author.1
    entity?.name = author.0
    return model
  }

  private func migrating(_ known: ManagedObjectModel? = nil) -> [AnyHashable: Any] {
    var options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: NSNumber(value: true),
      StoreOptionKey.inferMappingModel: NSNumber(value: true),
    ]
    if let known { options[StoreOptionKey.migrationSourceModels] = [known] }
    return options
  }

  private func renamed() -> ManagedObjectModel {
    model(author: ("Writer", "Author"), name: ("name", "fullName"), books: ("works", "books"))
  }

  private func authors(_ context: ManagedObjectContext) throws -> [String] {
    try Shelf.lines(context, "Author") { author in
      let books = author.value(forKey: "books") as? Set<ManagedObject> ?? []
      let titles = books.map { "\($0.value(forKey: "title") ?? "")" }.sorted()
      return "\(author.value(forKey: "fullName") ?? "nil"): \(titles.joined(separator: ", "))"
    }
  }

  private let everyone = [
    "Stanisław Lem: ", "Ursula Le Guin: The Dispossessed, The Lathe of Heaven",
  ]

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func valuesMoveBackInEveryKindOfStore(type: String) throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(type, in: folder.url)
    try Shelf.with(renamed(), type, url, migrating(Shelf.first())) { context throws in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Writer")) == 2)
    }
    // SQLite stores remember the newer model; for the others the program has to know it.
    let known = type == "SQLite" ? nil : renamed()
    try Shelf.with(Shelf.first(), type, url, migrating(known)) { context throws in
      #expect(try authors(context) == everyone)
    }
    // And forwards once more.
    try Shelf.with(renamed(), type, url, migrating(Shelf.first())) { context throws in
      #expect(
        try Shelf.lines(context, "Writer") { "\($0.value(forKey: "name") ?? "nil")" }
          == ["Stanisław Lem", "Ursula Le Guin"])
    }
  }

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func withoutMigrationTheStoreIsRefused(type: String) throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(type, in: folder.url)
    try Shelf.with(renamed(), type, url, migrating(Shelf.first())) { _ in }
    let before = try Data(contentsOf: url)
    #expect(
      Shelf.code { try Shelf.with(Shelf.first(), type, url) { _ in } }
        == .persistentStoreIncompatibleVersionHash)
    #expect(try Data(contentsOf: url) == before)
  }

  @Test(arguments: ["XML", "Binary"])
  func aStoreThatRemembersNoModelIsRefusedWhenTheProgramDoesNotKnowItEither(
    type: String
  ) throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(type, in: folder.url)
    try Shelf.with(renamed(), type, url, migrating(Shelf.first())) { _ in }
    let before = try Data(contentsOf: url)
    #expect(
      Shelf.code { try Shelf.with(Shelf.first(), type, url, migrating()) { _ in } }
        == .migrationMissingSourceModel)
    #expect(try Data(contentsOf: url) == before)
  }

  /// The store's version, the version that opens it, and what the error names.
  static let refusals: [(String, @Sendable (RenamedBackTests) -> ManagedObjectModel, String)] = [
    ("a rename over two versions", { $0.model(name: ("label", "name")) }, "Author.label"),
    ("an entity renamed twice", { $0.model(author: ("Poet", "Writer")) }, "Poet"),
    ("a relationship renamed twice", { $0.model(books: ("works", "volumes")) }, "Author.works"),
    (
      "a rename and an addition",
      {
        $0.model(
          name: ("name", "fullName"), extra: [Shelf.attribute("nickname", .string)])
      }, "Author.nickname"
    ),
    (
      "a rename to the name of something that was removed",
      { test in
        let model = test.model()
        let author = model.entitiesByName["Author"]
        author?.properties = author?.properties.filter { $0.name != "born" } ?? []
        author?.propertiesByName["fullName"]?.name = "nick"
        author?.propertiesByName["nick"]?.renamingIdentifier = "fullName"
        return model
      }, "Author.fullName"
    ),
  ]

  @Test(arguments: refusals.indices)
  func whatCannotBeFollowedBackIsRefusedBeforeAnythingIsWritten(index: Int) throws {
    let (_, make, name) = Self.refusals[index]
    let folder = try TemporaryFolder()
    let url = folder.fileURL("store")
    let newer = make(self)
    try Shelf.with(newer, "SQLite", url) { context throws in
      let entity = try #require(newer.entities.first { $0.name != "Book" }?.name)
      _ = EntityDescription.insertNewObject(forEntityName: entity, into: context)
      try context.save()
    }
    // In the last case the opening version has both the old name and the one it was renamed to.
    let older = model(extra: index == 4 ? [Shelf.attribute("nick", .string)] : [])
    let before = try Data(contentsOf: url)
    do {
      try Shelf.with(older, "SQLite", url, migrating()) { _ in }
      Issue.record("did not throw")
    } catch {
      #expect((error as NSError).code == CoreDataError.Code.migrationMissingSourceModel.rawValue)
      #expect("\(error)".contains(name), "\(error)")
    }
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func whatIsNoLongerStoredCountsAsMissing() throws {
    let folder = try TemporaryFolder()
    let url = try Shelf.store(in: folder.url)
    let older = Shelf.first()
    older.entitiesByName["Author"]?.propertiesByName["born"]?.isTransient = true
    #expect(
      Shelf.code { try Shelf.with(older, "SQLite", url, migrating()) { _ in } }
        == .migrationMissingSourceModel)
  }
}
