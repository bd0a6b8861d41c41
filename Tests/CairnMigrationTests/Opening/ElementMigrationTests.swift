// What becomes of the elements of composite attributes when a store is migrated.

import Cairn
import Foundation
import TestSupport
import Testing

/// Specification: core-data-semantics 3.5 and 22.3 – lightweight migration of composites works like
/// that of attributes.
@Suite struct ElementMigrationTests {
  /// How a store gets to the next version.
  static let ways = ["SQLite", "XML", "with objects"]

  private static func group(
    _ name: String, optional: Bool = true, was former: String? = nil,
    _ elements: [AttributeDescription]
  ) -> CompositeAttributeDescription {
    let group = CompositeAttributeDescription()
    group.name = name
    group.isOptional = optional
    group.renamingIdentifier = former ?? name
    group.elements = elements
    return group
  }

  private static func element(
    _ name: String, _ type: AttributeType = .string, optional: Bool = true,
    was former: String? = nil, _ value: Any? = nil
  ) -> AttributeDescription {
    let element = Shelf.attribute(name, type, optional: optional, value)
    element.renamingIdentifier = former ?? name
    return element
  }

  private static func model(_ group: CompositeAttributeDescription) -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [Shelf.entity("Item", [group, Shelf.attribute("name", .string)])]
    return model
  }

  /// An address with a place in it.
  private static func first() -> ManagedObjectModel {
    model(group("addr", [element("city"), group("geo", [element("lat", .double)])]))
  }

  /// The items `with` an address and `without` one after a migration, by the elements asked for.
  private func migrated(
    _ way: String, to next: ManagedObjectModel, showing paths: [String]
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    var url = folder.fileURL("store")
    let type = way == "XML" ? way : "SQLite"
    let first = Self.first()
    try Shelf.with(first, type, url) { context throws in
      for name in ["with", "without"] {
        let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        if name == "with" {
          item.setValue(["city": "Bonn", "geo": ["lat": 1.5]] as [String: Any], forKey: "addr")
        }
      }
      try context.save()
    }
    let options: [AnyHashable: Any] = [
      StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
      StoreOptionKey.migrationSourceModels: [first],
    ]
    if way == "with objects" {
      url = try Shelf.migrateObjects(at: url, type, from: first, to: next)
    }
    return try Shelf.with(next, type, url, options) { context throws in
      let lines = try Shelf.lines(context, "Item") { item in
        let values = paths.map { "\(item.value(forKeyPath: $0) ?? "nil")" }
        return "\(item.value(forKey: "name") ?? ""): \(values.joined(separator: " "))"
      }
      // What a migration leaves can be saved.
      for item in try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
        item.setValue("saved", forKey: "name")
      }
      try context.save()
      return lines
    }
  }

  @Test(arguments: ways)
  func renamedElementsKeepTheirValues(way: String) throws {
    let home = Self.group(
      "home", was: "addr",
      [
        Self.element("place", was: "city"),
        Self.group("point", was: "geo", [Self.element("north", .double, was: "lat")]),
      ])
    let lines = try migrated(
      way, to: Self.model(home), showing: ["home.place", "home.point.north"])
    #expect(lines == ["with: Bonn 1.5", "without: nil nil"])
  }

  @Test(arguments: ways)
  func aNewMandatoryElementGetsItsDefaultWhereTheCompositeHasAValue(way: String) throws {
    var elements: [AttributeDescription] = [Self.element("city")]
    elements.append(Self.group("geo", [Self.element("lat", .double)]))
    elements.append(Self.element("land", optional: false, "DE"))
    let next = Self.model(Self.group("addr", elements))
    let lines = try migrated(way, to: next, showing: ["addr.city", "addr.land"])
    #expect(lines == ["with: Bonn DE", "without: nil nil"])
  }

  @Test(arguments: ways)
  func aNewMandatoryElementWithoutADefaultIsRefused(way: String) throws {
    let next = Self.model(
      Self.group("addr", [Self.element("city"), Self.element("land", optional: false)]))
    #expect(
      Shelf.code { _ = try migrated(way, to: next, showing: ["addr.city"]) } == .migration)
  }

  @Test func theTypeOfAnElementCannotChange() throws {
    let next = Self.model(
      Self.group("addr", [Self.element("city"), Self.group("geo", [Self.element("lat")])]))
    #expect(
      Shelf.code {
        _ = try MappingModel.inferredMappingModel(
          forSourceModel: Self.first(), destinationModel: next)
      } == .inferredMappingModel)
  }
}
