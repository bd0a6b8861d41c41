import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// Stores that Apple's framework wrote, copied before they are opened.
@Suite struct AppleStoreTests {
  private static let folder = ProcessInfo.processInfo.environment["CAIRN_APPLE_FIXTURES"].map {
    URL(fileURLWithPath: $0)
  }

  private func stores() throws -> [URL] {
    guard let folder = Self.folder else { return [] }
    let stores = folder.appendingPathComponent("apple-stores")
    return try FileManager.default.contentsOfDirectory(at: stores, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "sqlite" }
      .sorted { $0.path < $1.path }
  }

  /// Runs `body` on a copy of every store, with the model it was written with.
  private func onCopies(_ body: (URL, ManagedObjectModel) throws -> Void) throws {
    let folder = try TemporaryFolder()
    for store in try stores() {
      let copy = folder.url.appendingPathComponent(store.lastPathComponent)
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
        try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy.path + suffix)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o600], ofItemAtPath: copy.path + suffix)
      }
      guard let model = try SQLiteStore.cachedModel(at: copy, options: StoreOptions()) else {
        continue
      }
      try model.prepareForUse()
      try body(copy, model)
    }
  }

  @Test(.enabled(if: folder != nil, "CAIRN_APPLE_FIXTURES is not set"))
  func everyStoreOpensWithTheModelItRemembersAndItsRowsAreRead() throws {
    var opened = 0
    try onCopies { url, model in
      let store = try StoreFixture.open(url, model)
      opened += 1
      let name = url.lastPathComponent
      #expect(
        model.isConfiguration(
          withName: nil, compatibleWithStoreMetadata: store.metadata), "\(name)")
      for entity in model.entities {
        guard
          case .snapshots(let rows) = try store.fetch(StoreFetchRequest(entity: entity)),
          case .count(let count) = try store.fetch(
            StoreFetchRequest(entity: entity, result: .count))
        else { continue }
        #expect(rows.count == count, "\(name) \(entity.name ?? "")")
        for relationship in entity.layout.toManys {
          let members = try store.members(of: relationship, owners: rows.map(\.objectID))
          #expect(members.count == rows.count)
        }
      }
      #expect(try store.verifyIntegrity().isEmpty, "\(name)")
      try store.close()
    }
    #expect(opened >= 12)
  }

  @Test(.enabled(if: folder != nil, "CAIRN_APPLE_FIXTURES is not set"))
  func aChangeToEveryStoreIsKeptAndForeignTablesStay() throws {
    try onCopies { url, model in
      let name = url.lastPathComponent
      try StoreFileAccess.write(url, options: StoreOptions(), doing: "be changed") {
        try $0.execute("CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)")
      }
      let store = try StoreFixture.open(url, model)
      var known = store.metadata ?? [:]
      known["unknown key"] = "kept"
      store.metadata = known
      var request = SaveChangesRequest()
      for entity in model.entities where !entity.isAbstract {
        let id = try store.obtainPermanentIDs(for: [entity])[0]
        request.insertions.append(
          .init(
            snapshot: .make(
              objectID: id, version: 0, values: entity.layout.slots.map { _ in .null })))
        guard
          case .snapshots(let rows) = try store.fetch(
            StoreFetchRequest(entity: entity, includesSubentities: false, limit: 2))
        else { continue }
        request.updates += rows.map { row in
          .init(snapshot: row, changedSlots: entity.layout.persistentSlots)
        }
      }
      guard case .saved(let receipt) = try store.save(request) else {
        Issue.record("\(name) was not saved")
        return
      }
      try store.close()
      let again = try StoreFixture.open(url, model)
      let stored = try again.snapshots(for: receipt.snapshots.map(\.objectID))
      for (row, expected) in zip(stored, receipt.snapshots) {
        #expect(row?.version == expected.version, "\(name)")
        #expect(row?.values == expected.values, "\(name)")
      }
      #expect(again.metadata["unknown key"] as? String == "kept")
      #expect(again.identifier == store.identifier)
      #expect(try again.verifyIntegrity().isEmpty, "\(name)")
      try again.close()
    }
  }

  @Test(.enabled(if: folder != nil, "CAIRN_APPLE_FIXTURES is not set"))
  func aNewStoreOfTheSameModelHasTheSameTables() throws {
    try onCopies { url, model in
      // Older frameworks named indexes and constraints differently; tables they named alike.
      let fresh = try StoreFixture(model: model)
      func tables(_ url: URL) throws -> [String: Set<String>] {
        try StoreFileAccess.write(url, options: StoreOptions(), doing: "be read") {
          try SQLiteFileFacts.catalog($0).tables.mapValues(Set.init)
        }
      }
      let apple = try tables(url).filter { !$0.key.hasPrefix("A") }
      #expect(try tables(fresh.url) == apple, "\(url.lastPathComponent)")
    }
  }

  /// The model of the recipes sample, whose store remembers none.
  private func recipesModel() throws -> ManagedObjectModel {
    let recipe = EntityDescription(name: "Recipe")
    let ingredient = EntityDescription(name: "Ingredient")
    let image = EntityDescription(name: "Image")
    let type = EntityDescription(name: "RecipeType")
    let parts = SampleModel.toMany("ingredients", ingredient)
    let whole = SampleModel.toOne("recipe", recipe)
    SampleModel.connect(parts, whole)
    let picture = SampleModel.toOne("image", image)
    let pictured = SampleModel.toOne("recipe", recipe)
    SampleModel.connect(picture, pictured)
    let kind = SampleModel.toOne("type", type)
    let kinds = SampleModel.toMany("recipes", recipe)
    SampleModel.connect(kind, kinds)
    // What the version hashes in the store tell of the model.
    for relationship in [whole, picture, pictured, kind] { relationship.minCount = 1 }
    pictured.isOptional = false
    func text(_ names: String...) -> [PropertyDescription] {
      names.map { AttributeDescription(name: $0, type: .string) }
    }
    recipe.properties =
      text("prepTime", "name", "instructions", "overview") + [
        AttributeDescription(name: "thumbnailImage", type: .transformable), parts, picture, kind,
      ]
    ingredient.properties =
      text("amount") + [
        AttributeDescription(name: "name", type: .string, isOptional: false),
        AttributeDescription(name: "displayOrder", type: .integer16, isOptional: false), whole,
      ]
    image.properties = [AttributeDescription(name: "image", type: .transformable), pictured]
    type.properties = text("name") + [kinds]
    let model = ManagedObjectModel()
    model.entities = [recipe, ingredient, image, type]
    try model.prepareForUse()
    return model
  }

  @Test(.enabled(if: folder != nil, "CAIRN_APPLE_FIXTURES is not set"))
  func aStoreOfAVeryOldFrameworkIsReadWithItsModel() throws {
    let folder = try #require(Self.folder)
    let source = folder.appendingPathComponent("apple-stores/Recipes.sqlite")
    let fixture = try StoreFixture()
    let copy = fixture.folder.appendingPathComponent("Recipes.sqlite")
    try FileManager.default.copyItem(at: source, to: copy)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
    #expect(try SQLiteStore.cachedModel(at: copy, options: StoreOptions()) == nil)
    let model = try recipesModel()
    let metadata = try SQLiteStoreKind().metadata(at: copy, options: StoreOptions())
    let hashes = try #require(metadata[StoreMetadataKey.versionHashes] as? [String: Data])
    #expect(model.entityVersionHashesByName == hashes)
    let store = try StoreFixture.open(copy, model)
    let recipe = try #require(model.entitiesByName["Recipe"])
    let request = StoreFetchRequest(
      entity: recipe, predicate: ObjectPredicate(format: "ingredients.@count > 0"),
      sortDescriptors: [ObjectSortDescriptor(key: "name", ascending: true)])
    let rows = try #require(try store.fetch(request).snapshots)
    #expect(!rows.isEmpty)
    for row in rows {
      guard case .string(let name) = fixture.value(row, "name") else {
        Issue.record("a recipe without name")
        continue
      }
      #expect(!name.isEmpty)
    }
    try store.close()
  }

  /// Chains of versions of one schema, oldest first.
  private static let chains = [
    ["Moody-1", "Moody-2", "Moody-3"],
    ["CoreDataPlus-SampleModel2-V1", "CoreDataPlus-SampleModel2-V2"],
    ["ReviewJournal-1", "ReviewJournal-2"],
  ]

  @Test(.enabled(if: folder != nil, "CAIRN_APPLE_FIXTURES is not set"))
  func aStoreIsMigratedToTheNextVersionAndKeepsItsRows() throws {
    var models: [String: ManagedObjectModel] = [:]
    try onCopies { url, model in
      models[url.deletingPathExtension().lastPathComponent] = model
    }
    var migrated = 0
    try onCopies { url, model in
      let name = url.deletingPathExtension().lastPathComponent
      for chain in Self.chains {
        guard let index = chain.firstIndex(of: name), index + 1 < chain.count,
          let next = models[chain[index + 1]], ModelDifference(from: model, to: next).isInferable
        else { continue }
        let before = try SQLiteStoreKind().metadata(at: url, options: StoreOptions())
        try SQLiteStore.migrateInPlace(
          at: url, from: model, to: next, options: StoreOptions())
        migrated += 1
        let store = try StoreFixture.open(url, next)
        #expect(store.identifier == before[StoreMetadataKey.uuid] as? String)
        #expect(
          next.isConfiguration(withName: nil, compatibleWithStoreMetadata: store.metadata))
        #expect(try store.verifyIntegrity().isEmpty)
        try store.close()
      }
    }
    #expect(migrated >= 2)
  }
}
