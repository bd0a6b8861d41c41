// Migration with objects needs memory for a batch of them, whatever the number of rows, and policies
// do not notice.

@_spi(Runtime) import Cairn
import Foundation
import TestSupport
import Testing

@testable import CairnMigration

/// What the policies of these tests saw; each test runs one migration on its own thread.
private final class Notes {
  var calls: [String] = []
  var sources: [ManagedObject] = []
  var destinations: [ManagedObject] = []
  var ids: [ManagedObjectID] = []
  var shared: [String: ManagedObject] = [:]
  var problems: [String] = []

  static func of(_ manager: MigrationManager) -> Notes {
    (manager.userInfo?["notes"] as? Notes) ?? Notes()
  }
  func check(_ condition: Bool, _ problem: String) {
    if !condition { problems.append(problem) }
  }
}

private class NotingPolicy: EntityMigrationPolicy {
  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    Notes.of(manager).calls.append("begin")
  }
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    Notes.of(manager).calls.append("create")
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }
  override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { Notes.of(manager).calls.append("endCreation") }
  override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    Notes.of(manager).calls.append("relate")
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }
  override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { Notes.of(manager).calls.append("endRelations") }
  override func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws { Notes.of(manager).calls.append("validate") }
  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    Notes.of(manager).calls.append("end")
  }
}

/// Holds all objects and IDs that it sees, and uses them at the end.
private final class HoldingPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let notes = Notes.of(manager)
    notes.sources.append(sInstance)
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    notes.check(made.count == 1, "no destination of a source")
    notes.destinations += made
    notes.ids += made.map(\.objectID)
  }

  override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let notes = Notes.of(manager)
    func all(_ objects: [ManagedObject]) -> [ObjectIdentifier] {
      objects.map(ObjectIdentifier.init)
    }
    notes.check(
      all(
        manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil))
        == all(notes.destinations), "not all destinations in their order")
    notes.check(
      all(manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: nil))
        == all(notes.sources), "not all sources in their order")
    for (source, destination) in zip(notes.sources, notes.destinations) {
      notes.check(
        source.value(forKey: "title") as? String == destination.value(forKey: "title") as? String,
        "a held object has lost its values")
      notes.check(
        manager.sourceInstances(
          forEntityMappingName: mapping.name, destinationInstances: [destination]
        ).first === source, "a held object has lost its source")
    }
  }

  override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let notes = Notes.of(manager)
    for (object, id) in zip(notes.destinations, notes.ids) {
      notes.check(
        !id.isTemporaryID && manager.destinationContext.object(with: id) === object,
        "an ID has changed")
      object.setValue("held", forKey: "shelf")
    }
  }
}

/// Makes two destination objects of each source, and one more that nothing is said of.
private final class TwinPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    for shelf in ["first", "second", "alone"] {
      let book = EntityDescription.insertNewObject(
        forEntityName: "Book", into: manager.destinationContext)
      book.setValue(sInstance.value(forKey: "title"), forKey: "title")
      book.setValue(shelf, forKey: "shelf")
      if shelf == "alone" { continue }
      manager.associate(sourceInstance: sInstance, withDestinationInstance: book, for: mapping)
    }
  }

  override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let notes = Notes.of(manager)
    let sources = manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance])
    let twins = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: sources)
    notes.check(
      twins.map { $0.value(forKey: "shelf") as? String } == ["first", "second"],
      "twins are not found in their order")
    notes.check(twins.contains { $0 === dInstance }, "an object is not among its twins")
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }
}

/// Makes one destination object for all sources with the same number of pages.
private final class SharingPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let notes = Notes.of(manager)
    let name = "pages \(sInstance.value(forKey: "pages") ?? "")"
    let book =
      notes.shared[name]
      ?? EntityDescription.insertNewObject(forEntityName: "Book", into: manager.destinationContext)
    notes.shared[name] = book
    book.setValue(name, forKey: "title")
    manager.associate(sourceInstance: sInstance, withDestinationInstance: book, for: mapping)
  }

  override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  override func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    for book in Notes.of(manager).shared.values {
      let sources = manager.sourceInstances(
        forEntityMappingName: mapping.name, destinationInstances: [book])
      book.setValue("\(sources.count)", forKey: "shelf")
    }
  }
}

/// Takes away what is there twice, when all has been made.
private final class UniquingPolicy: EntityMigrationPolicy {
  override func endInstanceCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {
    var titles: Set<String> = []
    let request = FetchRequest<ManagedObject>(entityName: "Book")
    for book in try manager.destinationContext.fetch(request)
    where !titles.insert(book.value(forKey: "title") as? String ?? "").inserted {
      manager.destinationContext.delete(book)
    }
  }
}

/// Refuses the last book.
private final class LatePolicy: EntityMigrationPolicy {
  struct Refusal: Error {}
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    if sInstance.value(forKey: "title") as? String == "Book 094" { throw Refusal() }
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }
}

@Suite struct MigrationBatchTests {
  private let folder: TemporaryFolder
  private let notes = Notes()

  init() throws { folder = try TemporaryFolder() }

  /// Books of seven authors.
  private func store(books count: Int) throws -> URL {
    let url = folder.fileURL("old.sqlite")
    try Shelf.with(Shelf.first(), "SQLite", url) { context throws in
      let authors = (0..<7).map { number in
        let author = EntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue("Author \(number)", forKey: "fullName")
        return author
      }
      for number in 0..<count {
        let book = EntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(String(format: "Book %03d", number), forKey: "title")
        book.setValue(number % 3, forKey: "pages")
        book.setValue(authors[number % 7], forKey: "author")
      }
      try context.save()
    }
    return url
  }

  private func inferred(
    _ policy: EntityMigrationPolicy.Type?, to destination: ManagedObjectModel
  ) throws -> MappingModel {
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: Shelf.first(), destinationModel: destination)
    if let policy {
      let name = String(describing: policy)
      EntityMigrationPolicy.registerClass(policy, forName: name)
      mapping.entityMappingsByName["IEM_Transform_Book"]?.entityMigrationPolicyClassName = name
    }
    return mapping
  }

  private func manager(
    batch size: Int, to destination: ManagedObjectModel = Shelf.grown()
  ) -> MigrationManager {
    let manager = MigrationManager(sourceModel: Shelf.first(), destinationModel: destination)
    manager.usesStoreSpecificMigrationManager = false
    manager.batchSize = size
    manager.userInfo = ["notes": notes]
    return manager
  }

  private func migrate(
    _ source: URL, with policy: EntityMigrationPolicy.Type? = nil, _ manager: MigrationManager
  ) throws -> URL {
    let new = folder.fileURL("new.sqlite")
    try manager.migrateStore(
      from: source, sourceType: "SQLite", options: nil,
      with: try inferred(policy, to: manager.destinationModel), toDestinationURL: new,
      destinationType: "SQLite", destinationOptions: nil)
    return new
  }

  private func books(
    _ url: URL, _ key: String, _ model: ManagedObjectModel = Shelf.grown()
  ) throws -> [String] {
    try Shelf.with(model, "SQLite", url) { context throws in
      try Shelf.lines(context, "Book") { "\($0.value(forKeyPath: key) ?? "-")" }
    }
  }

  /// What there is in the destination's place and beside it.
  private func made() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      !$0.hasPrefix("old.sqlite")
    }
  }

  @Test(arguments: [1, 2, 10, 94, 95, 1000])
  func relationshipsLeadFromBatchToBatch(size: Int) throws {
    let new = try migrate(try store(books: 95), manager(batch: size))
    try Shelf.with(Shelf.grown(), "SQLite", new) { context throws in
      let found = try Shelf.lines(context, "Book") {
        "\($0.value(forKey: "title") ?? "") \($0.value(forKeyPath: "author.fullName") ?? "-")"
      }
      #expect(
        found == (0..<95).map { String(format: "Book %03d", $0) + " Author \($0 % 7)" })
      let counts = try Shelf.lines(context, "Author") {
        "\(($0.value(forKey: "books") as? Set<ManagedObject>)?.count ?? -1)"
      }
      #expect(counts == ["13", "13", "13", "14", "14", "14", "14"])
    }
  }

  @Test func moreRowsThanABatchHasAreMigrated() throws {
    let new = try migrate(try store(books: 2500), manager(batch: MigrationBatches.size))
    #expect(try books(new, "author.fullName").count { $0 != "-" } == 2500)
  }

  @Test(arguments: [3, 1000])
  func policiesAreCalledInTheSameOrder(size: Int) throws {
    _ = try migrate(try store(books: 8), with: NotingPolicy.self, manager(batch: size))
    #expect(
      notes.calls == ["begin"] + Array(repeating: "create", count: 8) + ["endCreation"]
        + Array(repeating: "relate", count: 8) + ["endRelations", "validate", "end"])
  }

  @Test func objectsThatAPolicyHoldsStayUsable() throws {
    let new = try migrate(try store(books: 95), with: HoldingPolicy.self, manager(batch: 10))
    #expect(notes.problems == [])
    #expect(notes.destinations.count == 95)
    #expect(try books(new, "shelf") == Array(repeating: "held", count: 95))
  }

  @Test func severalObjectsOfASourceAreFoundInAnyBatch() throws {
    let new = try migrate(try store(books: 25), with: TwinPolicy.self, manager(batch: 4))
    #expect(notes.problems == [])
    let authors = try Shelf.with(Shelf.grown(), "SQLite", new) { context throws in
      try Shelf.lines(context, "Book") {
        "\($0.value(forKey: "shelf") ?? "") \($0.value(forKey: "author") == nil)"
      }
    }
    for (shelf, isAlone) in [("first", "false"), ("second", "false"), ("alone", "true")] {
      #expect(authors.count { $0 == "\(shelf) \(isAlone)" } == 25)
    }
  }

  @Test func oneObjectOfManySourcesKnowsThemAll() throws {
    let new = try migrate(try store(books: 95), with: SharingPolicy.self, manager(batch: 10))
    #expect(try books(new, "title") == ["pages 0", "pages 1", "pages 2"])
    #expect(try books(new, "shelf") == ["31", "32", "32"])
  }

  @Test func whatIsUniqueOnlyInTheEndIsMigrated() throws {
    let source = try store(books: 40)
    try Shelf.with(Shelf.first(), "SQLite", source) { context throws in
      for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
        book.setValue("Book \((book.value(forKey: "pages") as? Int ?? 0))", forKey: "title")
      }
      try context.save()
    }
    let model = Shelf.grown()
    model.entitiesByName["Book"]?.uniquenessConstraints = [["title"]]
    let new = try migrate(source, with: UniquingPolicy.self, manager(batch: 5, to: model))
    #expect(try books(new, "title", model) == ["Book 0", "Book 1", "Book 2"])
  }

  @Test func whatAPolicyDeletesIsRelatedToNothing() throws {
    let source = try store(books: 40)
    try Shelf.with(Shelf.first(), "SQLite", source) { context throws in
      for book in try context.fetch(FetchRequest<ManagedObject>(entityName: "Book")) {
        book.setValue("Book \((book.value(forKey: "pages") as? Int ?? 0))", forKey: "title")
      }
      try context.save()
    }
    let new = try migrate(source, with: UniquingPolicy.self, manager(batch: 5))
    try Shelf.with(Shelf.grown(), "SQLite", new) { context throws in
      #expect(
        try Shelf.lines(context, "Book") {
          "\($0.value(forKey: "title") ?? "") \($0.value(forKeyPath: "author.books.@count") ?? "")"
        } == ["Book 0 1", "Book 1 1", "Book 2 1"])
      let counts = try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")).map {
        ($0.value(forKey: "books") as? Set<ManagedObject>)?.count ?? -1
      }
      #expect(counts.reduce(0, +) == 3)
    }
  }

  @Test func memoryHoldsABatchOfObjects() throws {
    let source = try store(books: 600)
    let manager = manager(batch: 20)
    var most = (source: 0, destination: 0)
    var reports = 0
    manager.progressHandler = { [unowned manager] _ in
      reports += 1
      most.source = max(most.source, manager.sourceContext.registeredObjects.count)
      most.destination = max(most.destination, manager.destinationContext.registeredObjects.count)
    }
    let new = try migrate(source, manager)
    // Each author leads to 86 books, which are there while its relationships are made.
    #expect(most.source < 200 && most.destination < 200, "\(most)")
    #expect(reports > 60)
    #expect(try books(new, "title").count == 600)
  }

  @Test func progressRisesBatchByBatch() throws {
    let manager = manager(batch: 10)
    var seen: [Float] = [0]
    manager.progressHandler = { seen.append($0) }
    _ = try migrate(try store(books: 100), manager)
    #expect(seen == seen.sorted())
    let steps = zip(seen, seen.dropFirst()).map { $1 - $0 }
    #expect((steps.max() ?? 1) < 0.16, "\(steps)")
    #expect(Set(seen).count > 20)
  }

  @Test func aMigrationThatFailsLateLeavesNothing() throws {
    let source = try store(books: 95)
    #expect(throws: LatePolicy.Refusal.self) {
      _ = try migrate(source, with: LatePolicy.self, manager(batch: 10))
    }
    #expect(try made() == [])
  }

  @Test func aMigrationThatIsCancelledLateLeavesNothing() throws {
    let source = try store(books: 95)
    let manager = manager(batch: 10)
    manager.progressHandler = { [unowned manager] progress in
      if progress > 0.5 { manager.cancelMigrationWithError(LatePolicy.Refusal()) }
    }
    #expect(throws: LatePolicy.Refusal.self) { _ = try migrate(source, manager) }
    #expect(try made() == [])
  }

  @Test func aLaterPassAddsAllOfItsObjectsOrNone() throws {
    let source = try store(books: 95)
    let mapping = try inferred(LatePolicy.self, to: Shelf.grown())
    func pass(_ name: String) throws {
      let part = MappingModel()
      part.entityMappings = [mapping.entityMappingsByName[name]].compactMap { $0 }
      try manager(batch: 10).migrateStore(
        from: source, sourceType: "SQLite", options: nil, with: part,
        toDestinationURL: folder.fileURL("new.sqlite"), destinationType: "SQLite",
        destinationOptions: nil)
    }
    try pass("IEM_Copy_Author")
    #expect(throws: LatePolicy.Refusal.self) { try pass("IEM_Transform_Book") }
    let new = folder.fileURL("new.sqlite")
    #expect(try books(new, "title") == [])
    mapping.entityMappingsByName["IEM_Transform_Book"]?.entityMigrationPolicyClassName = nil
    try pass("IEM_Transform_Book")
    #expect(try books(new, "title").count == 95)
  }
}
