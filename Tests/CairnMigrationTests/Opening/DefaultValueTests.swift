// What attributes without a value get when a store is migrated.

import Cairn
import Foundation
import Testing

@Suite struct DefaultValueMigrationTests {
  /// One entity whose attribute `rank` is as given, and one attribute more in the next version.
  private func model(_ rank: AttributeDescription, next: Bool = false) -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [
      Shelf.entity(
        "Item",
        [rank, Shelf.attribute("name", .string)]
          + (next ? [Shelf.attribute("more", .string)] : []))
    ]
    return model
  }

  /// The ranks of an item without and of one with a value, migrated.
  private func migrated(_ type: String, _ rank: AttributeDescription) throws -> [String] {
    let folder = try Shelf.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("store")
    let first = model(Shelf.attribute("rank", .integer32))
    try Shelf.with(first, type, url) { context throws in
      for (name, value) in [("without", nil), ("with", 3)] as [(String, Int?)] {
        let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        item.setValue(value, forKey: "rank")
      }
      try context.save()
    }
    let options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: NSNumber(value: true),
      StoreOptionKey.inferMappingModel: NSNumber(value: true),
      StoreOptionKey.migrationSourceModels: [first],
    ]
    return try Shelf.with(model(rank, next: true), type, url, options) { context throws in
      try Shelf.lines(context, "Item") {
        "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "rank") ?? "nil")"
      }
    }
  }

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func anOptionalAttributeWithoutAValueStaysWithout(type: String) throws {
    #expect(
      try migrated(type, Shelf.attribute("rank", .integer32, 7)) == ["with 3", "without nil"])
  }

  @Test(arguments: ["SQLite", "XML", "Binary"])
  func aMandatoryAttributeWithoutAValueGetsTheDefault(type: String) throws {
    #expect(
      try migrated(type, Shelf.attribute("rank", .integer32, optional: false, 7))
        == ["with 3", "without 7"])
  }
}
