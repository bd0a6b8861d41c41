// What becomes of the links of a relationship that is kept in another place of the store afterwards:
// core-data-semantics chapter 22.3, "to-one → to-many; non-ordered ↔ ordered; change of inverse".

import Cairn
import Foundation
import TestSupport
import Testing

/// A relationship `items` from boxes to items, and its inverse `box`.
struct LinkShape: Sendable, CustomTestStringConvertible {
  enum End: String, CaseIterable {
    case one, many, ordered
    var isToMany: Bool { self != .one }
  }
  let items: End
  let box: End?
  var testDescription: String { "\(items.rawValue)/\(box?.rawValue ?? "none")" }

  static let all = End.allCases.flatMap { items in
    ([nil] + End.allCases).map { LinkShape(items: items, box: $0) }
  }

  /// - Parameters:
  ///   - back: The name of the inverse.
  ///   - isBelow: Whether items are below a new entity, which the relationship leads to.
  func model(back: String = "box", isBelow: Bool = false) -> ManagedObjectModel {
    let box = Shelf.entity("Box", [Shelf.attribute("name", .string)])
    let item = Shelf.entity("Item", [Shelf.attribute("name", .string)])
    let thing = Shelf.entity("Thing", [])
    if isBelow { thing.subentities = [item] }
    let destination = isBelow ? thing : item
    func make(_ name: String, _ end: End, _ destination: EntityDescription)
      -> RelationshipDescription
    {
      let relationship = RelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.minCount = 0
      relationship.maxCount = end.isToMany ? 0 : 1
      relationship.isOrdered = end == .ordered
      return relationship
    }
    let items = make("items", self.items, destination)
    box.properties.append(items)
    if let end = self.box {
      let inverse = make(back, end, box)
      inverse.inverseRelationship = items
      items.inverseRelationship = inverse
      destination.properties.append(inverse)
    }
    let model = ManagedObjectModel()
    model.entities = [box, item] + (isBelow ? [thing] : [])
    return model
  }

  /// Whether an item can be in one box only.
  var isExclusive: Bool { box == .one || (box == nil && items.isToMany) }

  /// The items of each box that a store of this shape is filled with.
  var contents: [String: [String]] {
    switch (items, isExclusive) {
    case (.one, true): return ["a": ["z"], "b": ["x"], "c": []]
    case (.one, false): return ["a": ["x"], "b": ["y"], "c": ["x"]]
    case (.many, true), (.ordered, true): return ["a": ["z", "x"], "b": ["y"], "c": []]
    case (.many, false), (.ordered, false): return ["a": ["z", "x"], "b": ["y", "x"], "c": []]
    }
  }

  /// What is left of them in a store of the next shape: an item that may be in one box stays in the
  /// last one.
  func contents(in next: LinkShape) -> [String: [String]] {
    var seen: Set<String> = []
    var result: [String: [String]] = [:]
    for (box, items) in contents.sorted(by: { $0.key > $1.key }) {
      let kept = next.isExclusive ? items.filter { seen.insert($0).inserted } : items
      result[box] = self.items == .ordered && next.items == .ordered ? kept : kept.sorted()
    }
    return result
  }

  /// Whether nothing but a mapping model can tell what becomes of the links.
  func isRefused(as next: LinkShape, newInverse: Bool) -> Bool {
    if items.isToMany, !next.items.isToMany { return true }
    guard !newInverse, let box, let other = next.box else { return false }
    return box.isToMany && !other.isToMany
  }
}

@Suite struct LinkMigrationTests {
  private func fill(_ url: URL, _ shape: LinkShape) throws {
    try Shelf.with(shape.model(), "SQLite", url) { context throws in
      func make(_ entity: String, _ name: String) -> ManagedObject {
        let object = EntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      let items = ["x", "y", "z"].map { make("Item", $0) }
      // Keys in the order of the names.
      try context.save()
      for name in ["a", "b", "c"] {
        let box = make("Box", name)
        try context.save()
        let members = (shape.contents[name] ?? []).compactMap { name in
          items.first { $0.value(forKey: "name") as? String == name }
        }
        switch shape.items {
        case .one: box.setValue(members.first, forKey: "items")
        case .many: box.setValue(NSSet(array: members), forKey: "items")
        case .ordered: box.setValue(NSOrderedSet(array: members), forKey: "items")
        }
      }
      try context.save()
    }
  }

  private func names(_ value: Any?, isOrdered: Bool) -> [String] {
    let objects: [Any]
    switch value {
    case let one as ManagedObject: objects = [one]
    case let list as NSOrderedSet: objects = list.array
    case let set as NSSet: objects = set.allObjects
    default: objects = []
    }
    let names = objects.compactMap { ($0 as? ManagedObject)?.value(forKey: "name") as? String }
    return isOrdered ? names : names.sorted()
  }

  /// The items of each box, and the boxes of each item.
  private func read(
    _ url: URL, _ shape: LinkShape, _ model: ManagedObjectModel, _ back: String,
    ordered: Bool, _ options: [AnyHashable: Any]? = nil
  ) throws -> (items: [String: [String]], boxes: [String: [String]]) {
    try Shelf.with(model, "SQLite", url, options) { context throws in
      var (items, boxes): ([String: [String]], [String: [String]]) = ([:], [:])
      for box in try context.fetch(FetchRequest<ManagedObject>(entityName: "Box")) {
        items[box.value(forKey: "name") as? String ?? ""] = names(
          box.value(forKey: "items"), isOrdered: ordered)
      }
      for item in try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
      where shape.box != nil {
        boxes[item.value(forKey: "name") as? String ?? ""] = names(
          item.value(forKey: back), isOrdered: false)
      }
      return (items, boxes)
    }
  }

  private func inverted(_ contents: [String: [String]]) -> [String: [String]] {
    Dictionary(
      uniqueKeysWithValues: ["x", "y", "z"].map { item in
        (item, contents.filter { $0.value.contains(item) }.keys.sorted())
      })
  }

  /// In place and with objects.
  private func check(
    _ old: LinkShape, _ new: LinkShape, newInverse: Bool = false, isBelow: Bool = false
  ) throws {
    let folder = try TemporaryFolder()
    let (url, made) = (
      folder.fileURL("old"), folder.fileURL("new")
    )
    try fill(url, old)
    let back = newInverse ? "holder" : "box"
    func model() -> ManagedObjectModel { new.model(back: back, isBelow: isBelow) }
    let wanted = old.contents(in: new)
    let isOrdered = old.items == .ordered && new.items == .ordered
    let way = "\(old.testDescription) to \(new.testDescription) \(newInverse) \(isBelow)"

    let manager = MigrationManager(sourceModel: old.model(), destinationModel: model())
    manager.usesStoreSpecificMigrationManager = false
    try manager.migrateStore(
      from: url, sourceType: "SQLite", options: nil, with: nil, toDestinationURL: made,
      destinationType: "SQLite", destinationOptions: nil)
    let withObjects = try read(made, new, model(), back, ordered: isOrdered)
    #expect(withObjects.items == wanted, "with objects, \(way)")

    let inPlace = try read(
      url, new, model(), back, ordered: isOrdered,
      [
        StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
        StoreOptionKey.migrationSourceModels: [old.model()],
      ])
    #expect(inPlace.items == wanted, "in place, \(way)")
    if new.box != nil {
      #expect(withObjects.boxes == inverted(wanted), "with objects, \(way)")
      #expect(inPlace.boxes == inverted(wanted), "in place, \(way)")
    }
    let damage = try StoreInspection(contentsOf: url, model: model(), isStrict: true).damage
    #expect(damage.isEmpty, "\(way): \(damage)")
  }

  @Test(arguments: LinkShape.all)
  func linksGoOnWhateverBecomesOfTheInverse(old: LinkShape) throws {
    for new in LinkShape.all where !old.isRefused(as: new, newInverse: false) {
      try check(old, new)
    }
  }

  @Test(arguments: LinkShape.all.filter { $0.box != nil })
  func linksGoOnWhenTheInverseIsAnotherRelationship(old: LinkShape) throws {
    for new in LinkShape.all
    where new.box != nil && !old.isRefused(as: new, newInverse: true) {
      try check(old, new, newInverse: true)
    }
  }

  @Test(arguments: LinkShape.all)
  func linksGoOnWhenTheirDestinationComesUnderAParent(old: LinkShape) throws {
    try check(old, old, isBelow: true)
    let other = LinkShape(items: old.items == .one ? .many : .ordered, box: nil)
    try check(old, other, isBelow: true)
  }

  // MARK: Up and down a hierarchy

  /// Boxes and crates, each with items of its own or both with those of holders.
  private func holders(isShared: Bool, box: LinkShape.End?) -> ManagedObjectModel {
    let holder = Shelf.entity("Holder", [Shelf.attribute("name", .string)])
    let item = Shelf.entity("Item", [Shelf.attribute("name", .string)])
    let children = ["Box", "Crate"].map { Shelf.entity($0, []) }
    holder.subentities = children
    for (owner, back) in isShared
      ? [(holder, "in")] : [(children[0], "inBox"), (children[1], "inCrate")]
    {
      let items = RelationshipDescription()
      items.name = "items"
      items.destinationEntity = item
      items.maxCount = 0
      items.isOrdered = true
      owner.properties.append(items)
      guard let box else { continue }
      let inverse = RelationshipDescription()
      inverse.name = back
      inverse.destinationEntity = owner
      inverse.maxCount = box.isToMany ? 0 : 1
      inverse.inverseRelationship = items
      items.inverseRelationship = inverse
      item.properties.append(inverse)
    }
    let model = ManagedObjectModel()
    model.entities = [holder, item] + children
    return model
  }

  @Test(arguments: [nil, LinkShape.End.one, .many], [true, false])
  func linksGoOnWhenTheRelationshipMovesInItsHierarchy(
    box: LinkShape.End?, isUp: Bool
  ) throws {
    let folder = try TemporaryFolder()
    let (url, made) = (
      folder.fileURL("old"), folder.fileURL("new")
    )
    func old() -> ManagedObjectModel { holders(isShared: !isUp, box: box) }
    func new() -> ManagedObjectModel { holders(isShared: isUp, box: box) }
    try Shelf.with(old(), "SQLite", url) { context throws in
      func make(_ entity: String, _ name: String) -> ManagedObject {
        let object = EntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      let items = ["x", "y", "z"].map { make("Item", $0) }
      make("Box", "a").setValue(NSOrderedSet(array: [items[2], items[0]]), forKey: "items")
      make("Crate", "b").setValue(NSOrderedSet(array: [items[1]]), forKey: "items")
      try context.save()
    }
    func read(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> [[String]] {
      try Shelf.with(new(), "SQLite", url, options) { context throws in
        try ["Box", "Crate"].flatMap { entity in
          try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map {
            names($0.value(forKey: "items"), isOrdered: true)
          }
        }
      }
    }
    let manager = MigrationManager(sourceModel: old(), destinationModel: new())
    manager.usesStoreSpecificMigrationManager = false
    try manager.migrateStore(
      from: url, sourceType: "SQLite", options: nil, with: nil, toDestinationURL: made,
      destinationType: "SQLite", destinationOptions: nil)
    #expect(try read(made) == [["z", "x"], ["y"]], "with objects")
    let inPlace = try read(
      url,
      [
        StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
        StoreOptionKey.migrationSourceModels: [old()],
      ])
    #expect(inPlace == [["z", "x"], ["y"]], "in place")
    let damage = try StoreInspection(contentsOf: url, model: new(), isStrict: true).damage
    #expect(damage.isEmpty, "\(damage)")
  }

  @Test func linksToWhatTheRelationshipDoesNotLeadToAnyMoreGo() throws {
    // From things to some of them, and to something else.
    func model(_ destination: String) -> ManagedObjectModel {
      let thing = Shelf.entity("Thing", [Shelf.attribute("name", .string)])
      let children = ["Box", "Crate"].map { Shelf.entity($0, []) }
      thing.subentities = children
      let other = Shelf.entity("Other", [Shelf.attribute("name", .string)])
      let owner = Shelf.entity("Owner", [])
      for (name, isToMany) in [("one", false), ("some", true)] {
        let relationship = RelationshipDescription()
        relationship.name = name
        relationship.maxCount = isToMany ? 0 : 1
        relationship.destinationEntity = ([thing, other] + children).first {
          $0.name == destination
        }
        owner.properties.append(relationship)
      }
      let model = ManagedObjectModel()
      model.entities = [thing, other, owner] + children
      return model
    }
    for (destination, some) in [("Box", ["a"]), ("Other", [])] {
      for isInPlace in [true, false] {
        let folder = try TemporaryFolder()
        var url = folder.fileURL("old")
        try Shelf.with(model("Thing"), "SQLite", url) { context throws in
          let owner = EntityDescription.insertNewObject(forEntityName: "Owner", into: context)
          let things = [("Box", "a"), ("Crate", "b")].map { entity, name in
            let thing = EntityDescription.insertNewObject(forEntityName: entity, into: context)
            thing.setValue(name, forKey: "name")
            return thing
          }
          for name in ["c", "d", "e"] {
            EntityDescription.insertNewObject(forEntityName: "Other", into: context)
              .setValue(name, forKey: "name")
          }
          owner.setValue(things[1], forKey: "one")
          owner.setValue(NSSet(array: things), forKey: "some")
          try context.save()
        }
        var options: [AnyHashable: Any]?
        if isInPlace {
          options = [
            StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
            StoreOptionKey.migrationSourceModels: [model("Thing")],
          ]
        } else {
          let manager = MigrationManager(
            sourceModel: model("Thing"), destinationModel: model(destination))
          manager.usesStoreSpecificMigrationManager = false
          let made = folder.fileURL("new")
          try manager.migrateStore(
            from: url, sourceType: "SQLite", options: nil, with: nil, toDestinationURL: made,
            destinationType: "SQLite", destinationOptions: nil)
          url = made
        }
        try Shelf.with(model(destination), "SQLite", url, options) { context throws in
          let owner = try context.fetch(FetchRequest<ManagedObject>(entityName: "Owner")).first
          #expect(owner?.value(forKey: "one") == nil)
          #expect(names(owner?.value(forKey: "some"), isOrdered: false) == some)
        }
        let damage = try StoreInspection(contentsOf: url, model: model(destination)).damage
        #expect(damage.isEmpty, "\(damage)")
      }
    }
  }
}
