// What attributes without a value get when a store is migrated.

import Cairn
import Foundation
import TestSupport
import Testing

/// Specification: core-data-semantics 3.5 – a default is for new objects and for new mandatory
/// attributes.
@Suite struct DefaultValueMigrationTests {
  /// How a store gets to the next version.
  static let ways = ["SQLite", "XML", "Binary", "staged", "with objects"]

  /// One entity whose attribute `rank` is as given; without in the version before it is new.
  private func model(_ rank: AttributeDescription?, next: Bool = false) -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [
      Shelf.entity(
        "Item",
        [rank, Shelf.attribute("name", .string)].compactMap { $0 }
          + (next ? [Shelf.attribute("more", .string)] : []))
    ]
    return model
  }

  /// The ranks of an item without and of one with a value, migrated.
  private func migrated(
    _ way: String, from old: AttributeDescription?, to rank: AttributeDescription
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    var url = folder.fileURL("store")
    let type = way == "XML" || way == "Binary" ? way : "SQLite"
    let (first, second) = (model(old), model(rank, next: true))
    try Shelf.with(first, type, url) { context throws in
      for (name, value) in [("without", nil), ("with", 3)] as [(String, Int?)] {
        let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        if old != nil { item.setValue(value, forKey: "rank") }
      }
      try context.save()
    }
    var options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.migrationSourceModels: [first],
    ]
    if way == "staged" {
      options[StoreOptionKey.stagedMigrationManager] = StagedMigrationManager([
        LightweightMigrationStage([first.versionChecksum, second.versionChecksum])
      ])
      options[StoreOptionKey.migrationSourceModels] = [first, second]
    }
    if way == "with objects" {
      url = try Shelf.migrateObjects(at: url, type, from: first, to: second)
    }
    return try Shelf.with(second, type, url, options) { context throws in
      try Shelf.lines(context, "Item") {
        "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "rank") ?? "nil")"
      }
    }
  }

  private func rank(
    optional: Bool = true, transient: Bool = false, _ value: Int? = 7
  ) -> AttributeDescription {
    let rank = Shelf.attribute("rank", .integer32, optional: optional, value)
    rank.isTransient = transient
    return rank
  }

  @Test(arguments: ways)
  func anOptionalAttributeWithoutAValueStaysWithout(way: String) throws {
    #expect(try migrated(way, from: rank(nil), to: rank()) == ["with 3", "without nil"])
  }

  @Test(arguments: ways)
  func aMandatoryAttributeWithoutAValueGetsTheDefault(way: String) throws {
    #expect(
      try migrated(way, from: rank(nil), to: rank(optional: false)) == ["with 3", "without 7"])
  }

  @Test(arguments: ways)
  func aNewOptionalAttributeHasNoValue(way: String) throws {
    #expect(try migrated(way, from: nil, to: rank()) == ["with nil", "without nil"])
  }

  @Test(arguments: ways)
  func aNewMandatoryAttributeHasTheDefault(way: String) throws {
    #expect(try migrated(way, from: nil, to: rank(optional: false)) == ["with 7", "without 7"])
  }

  @Test(arguments: ways)
  func anAttributeThatWasNotStoredIsAsANewOne(way: String) throws {
    let old = rank(transient: true, nil)
    #expect(try migrated(way, from: old, to: rank()) == ["with nil", "without nil"])
    #expect(
      try migrated(way, from: old, to: rank(optional: false)) == ["with 7", "without 7"])
  }

  @Test(arguments: ways)
  func aNewMandatoryAttributeWithoutADefaultIsRefused(way: String) throws {
    #expect(
      Shelf.code { _ = try migrated(way, from: nil, to: rank(optional: false, nil)) } == .migration)
  }

  @Test(arguments: [true, false], [true, false])
  func aCompositeAttributeGoesOnOrHasNoValueWhenItIsNew(isNew: Bool, isInPlace: Bool) throws {
    func model(_ hasPlace: Bool, _ more: [AttributeDescription] = []) -> ManagedObjectModel {
      let place = CompositeAttributeDescription()
      place.name = "place"
      place.elements = [
        Shelf.attribute("city", .string, optional: true, "here"),
        Shelf.attribute("code", .integer32),
      ]
      let model = ManagedObjectModel()
      model.entities = [Shelf.entity("Item", more + (hasPlace ? [place] : []))]
      return model
    }
    let folder = try TemporaryFolder()
    var url = folder.fileURL("store")
    let next = model(true, [Shelf.attribute("more", .string)])
    try Shelf.with(model(!isNew), "SQLite", url) { context throws in
      let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
      if !isNew { item.setValue(["code": 3], forKey: "place") }
      try context.save()
    }
    let options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.migrationSourceModels: [model(!isNew)],
    ]
    if !isInPlace {
      let manager = MigrationManager(sourceModel: model(!isNew), destinationModel: next)
      manager.usesStoreSpecificMigrationManager = false
      let made = folder.fileURL("new")
      try manager.migrateStore(
        from: url, sourceType: "SQLite", options: nil, with: nil, toDestinationURL: made,
        destinationType: "SQLite", destinationOptions: nil)
      url = made
    }
    try Shelf.with(next, "SQLite", url, options) { context throws in
      let item = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")).first
      let place = item?.value(forKey: "place") as? [String: Any]
      #expect(place?["code"] as? Int == (isNew ? nil : 3))
      #expect(place?["city"] == nil)
    }
  }
}
