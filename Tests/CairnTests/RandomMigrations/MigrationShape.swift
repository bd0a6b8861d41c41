// Model versions that a seed makes, as values with identities, so that what a migration must give can
// be computed without the library.

import Cairn
import CairnTesting
import Foundation
import ParitySamples

/// One version of a model.
///
/// Numbers identify what continues from version to version.
struct MigrationShape {
  struct Attribute {
    let id: Int
    var name: String
    /// The name in the version before, where it was renamed.
    var formerName: String?
    let type: AttributeType
    var isOptional = true
    /// As text, see ``MigrationValues``.
    var defaultValue: String?
    var isIndexed = false
  }
  struct End {
    let id: Int
    var name: String
    var formerName: String?
    let entity: Int
    let destination: Int
    var isToMany: Bool
    var isOrdered = false
  }
  struct Link {
    var end: End
    var inverse: End?
  }
  struct Entity {
    let id: Int
    var name: String
    var formerName: String?
    var parent: Int?
    var attributes: [Attribute] = []
  }

  private(set) var entities: [Entity] = []
  private(set) var links: [Link] = []
  /// What was done to the version before.
  private(set) var changes: [String] = []
  private var nextID = 0

  private static let types: [AttributeType] = [.integer32, .string, .double, .boolean, .date]

  init(_ random: inout ParityRandom) {
    for _ in 0..<(2 + random.below(3)) { addEntity(&random) }
    for _ in 0..<(1 + random.below(4)) { addLink(&random) }
    changes = []
  }

  private mutating func newID() -> Int {
    nextID += 1
    return nextID
  }

  // Names say nothing, are never used twice, and come in no order.
  private mutating func newName(_ prefix: String, _ random: inout ParityRandom) -> String {
    "\(prefix)\(random.pick(["m", "c", "x", "a"]))\(newID())"
  }

  private mutating func addEntity(_ random: inout ParityRandom) {
    let parent = random.below(3) == 0 && !entities.isEmpty ? random.pick(entities).id : nil
    var entity = Entity(id: newID(), name: newName("E", &random), parent: parent)
    for _ in 0..<(1 + random.below(4)) { entity.attributes.append(attribute(&random)) }
    entities.append(entity)
    changes.append("add \(entity.name)")
  }

  private mutating func attribute(_ random: inout ParityRandom) -> Attribute {
    var attribute = Attribute(
      id: newID(), name: newName("p", &random), type: random.pick(Self.types))
    attribute.isOptional = random.below(3) != 0
    if !attribute.isOptional || random.below(2) == 0 {
      attribute.defaultValue = MigrationValues.random(attribute.type, &random)
    }
    return attribute
  }

  private mutating func addLink(_ random: inout ParityRandom) {
    let (owner, destination) = (random.pick(entities).id, random.pick(entities).id)
    let first = end(owner, destination, &random)
    let inverse = random.below(4) == 0 ? nil : end(destination, owner, &random)
    links.append(Link(end: first, inverse: inverse))
    changes.append("link \(first.name)")
  }

  private mutating func end(
    _ entity: Int, _ destination: Int, _ random: inout ParityRandom
  ) -> End {
    let isToMany = random.below(2) == 0
    return End(
      id: newID(), name: newName("r", &random), entity: entity, destination: destination,
      isToMany: isToMany, isOrdered: isToMany && random.below(3) == 0)
  }

  // MARK: The next version

  /// What an inferred mapping can follow, one to five changes.
  func next(_ random: inout ParityRandom) -> MigrationShape {
    var next = self
    next.changes = []
    for index in next.entities.indices {
      next.entities[index].formerName = nil
      for place in next.entities[index].attributes.indices {
        next.entities[index].attributes[place].formerName = nil
      }
    }
    for index in next.links.indices {
      next.links[index].end.formerName = nil
      next.links[index].inverse?.formerName = nil
    }
    // A version that lacks nothing and has nothing more would be the same.
    next.changeAttributes(0, &random)
    for _ in 0..<(1 + random.below(5)) { next.change(&random) }
    return next
  }

  private mutating func change(_ random: inout ParityRandom) {
    let index = random.below(entities.count)
    let place = entities[index].attributes.indices.randomElement(&random)
    switch random.below(14) {
    case 0: addEntity(&random)
    case 1: removeEntity(&random)
    case 2:
      if entities[index].formerName == nil {
        entities[index].formerName = entities[index].name
        entities[index].name = newName("E", &random)
        changes.append("rename \(entities[index].formerName ?? "")")
      }
    case 3: move(index, &random)
    case 4, 5: changeAttributes(index, &random)
    case 6:
      if let place, entities[index].attributes.count > 1 {
        changes.append("remove \(entities[index].attributes[place].name)")
        entities[index].attributes.remove(at: place)
      }
    case 7:
      if let place, entities[index].attributes[place].formerName == nil {
        let old = entities[index].attributes[place].name
        entities[index].attributes[place].formerName = old
        entities[index].attributes[place].name = newName("p", &random)
        changes.append("rename \(old)")
      }
    case 8:
      if let place {
        var attribute = entities[index].attributes[place]
        attribute.isOptional.toggle()
        attribute.defaultValue = MigrationValues.random(attribute.type, &random)
        entities[index].attributes[place] = attribute
        changes.append("optional \(attribute.name)")
      }
    case 9:
      if let place { entities[index].attributes[place].isIndexed.toggle() }
      changes.append("index")
    case 10: addLink(&random)
    default: changeLink(&random)
    }
  }

  private mutating func changeAttributes(_ index: Int, _ random: inout ParityRandom) {
    let made = attribute(&random)
    entities[index].attributes.append(made)
    changes.append("add \(made.name)")
  }

  private mutating func removeEntity(_ random: inout ParityRandom) {
    guard entities.count > 2 else { return }
    let entity = random.pick(entities)
    guard !entities.contains(where: { $0.parent == entity.id }),
      !links.contains(where: { $0.end.entity == entity.id || $0.end.destination == entity.id })
    else { return }
    entities.removeAll { $0.id == entity.id }
    changes.append("remove \(entity.name)")
  }

  /// Under a new parent of its own, out of a hierarchy, or under another root.
  private mutating func move(_ index: Int, _ random: inout ParityRandom) {
    let entity = entities[index]
    guard !entities.contains(where: { $0.parent == entity.id }), entity.parent == nil else {
      return
    }
    var parent = Entity(id: newID(), name: newName("E", &random), parent: nil)
    parent.attributes.append(attribute(&random))
    entities[index].parent = parent.id
    entities.append(parent)
    changes.append("\(entity.name) under \(parent.name)")
  }

  private mutating func changeLink(_ random: inout ParityRandom) {
    guard let place = links.indices.randomElement(&random) else { return }
    var link = links[place]
    switch random.below(6) {
    case 0:
      if link.end.isToMany {
        link.end.isOrdered.toggle()
        changes.append("ordered \(link.end.name)")
      } else {
        link.end.isToMany = true
        changes.append("to-many \(link.end.name)")
      }
    case 1:
      if link.end.formerName == nil {
        changes.append("rename \(link.end.name)")
        link.end.formerName = link.end.name
        link.end.name = newName("r", &random)
      }
    case 2:
      // What is left leads one way.
      if let inverse = link.inverse {
        if random.below(2) == 0 { link.end = inverse }
        link.inverse = nil
        changes.append("\(link.end.name) without inverse")
      }
    case 3, 4:
      // One that it did not have, or another one.
      link.inverse = end(link.end.destination, link.end.entity, &random)
      changes.append("\(link.end.name) has the inverse \(link.inverse?.name ?? "")")
    default:
      links.remove(at: place)
      changes.append("unlink \(link.end.name)")
      return
    }
    links[place] = link
  }

  // MARK: Reading

  /// An entity and what is above it.
  func lineage(of id: Int) -> [Entity] {
    var result: [Entity] = []
    var next: Int? = id
    while let current = next, let entity = entities.first(where: { $0.id == current }) {
      result.append(entity)
      next = entity.parent
    }
    return result
  }

  /// The attributes of an entity, inherited ones too.
  func attributes(of id: Int) -> [Attribute] { lineage(of: id).flatMap(\.attributes) }

  /// The relationships of an entity, inherited ones too.
  func ends(of id: Int) -> [End] {
    let owners = Set(lineage(of: id).map(\.id))
    return links.flatMap { [$0.end, $0.inverse].compactMap { $0 } }
      .filter { owners.contains($0.entity) }
  }

  func entity(named name: String) -> Entity? { entities.first { $0.name == name } }
}

extension Range<Int> {
  fileprivate func randomElement(_ random: inout ParityRandom) -> Int? {
    isEmpty ? nil : lowerBound + random.below(count)
  }
}

// MARK: - As a model

extension MigrationShape {
  /// Every root has a number, by which its objects are known again.
  static let key = "uid"

  func make() -> ManagedObjectModel {
    let made = Dictionary(uniqueKeysWithValues: entities.map { ($0.id, EntityDescription()) })
    for entity in entities {
      guard let description = made[entity.id] else { continue }
      description.name = entity.name
      description.managedObjectClassName = "NSManagedObject"
      description.renamingIdentifier = entity.formerName
      description.subentities = entities.filter { $0.parent == entity.id }
        .compactMap { made[$0.id] }
      var properties = entity.attributes.map(Self.attribute)
      if entity.parent == nil {
        let key = AttributeDescription()
        key.name = Self.key
        key.attributeType = .integer64
        properties.append(key)
      }
      description.properties = properties
      description.indexes = zip(entity.attributes, properties).filter(\.0.isIndexed).map {
        FetchIndexDescription(
          name: "by\($0.id)",
          elements: [FetchIndexElementDescription(property: $1, collationType: .binary)])
      }
    }
    for link in links {
      let first = relationship(link.end, made)
      guard let inverse = link.inverse else { continue }
      let second = relationship(inverse, made)
      first.inverseRelationship = second
      second.inverseRelationship = first
    }
    let model = ManagedObjectModel()
    model.entities = entities.compactMap { made[$0.id] }
    return model
  }

  private static func attribute(_ attribute: Attribute) -> AttributeDescription {
    let result = AttributeDescription()
    result.name = attribute.name
    result.attributeType = attribute.type
    result.isOptional = attribute.isOptional
    result.renamingIdentifier = attribute.formerName
    result.defaultValue = attribute.defaultValue.map {
      MigrationValues.value($0, attribute.type)
    }
    return result
  }

  private func relationship(
    _ end: End, _ made: [Int: EntityDescription]
  ) -> RelationshipDescription {
    let result = RelationshipDescription()
    result.name = end.name
    result.renamingIdentifier = end.formerName
    result.destinationEntity = made[end.destination]
    result.minCount = 0
    result.maxCount = end.isToMany ? 0 : 1
    result.isOrdered = end.isOrdered
    made[end.entity]?.properties.append(result)
    return result
  }
}

/// Values as texts that stand for them.
enum MigrationValues {
  static func random(_ type: AttributeType, _ random: inout ParityRandom) -> String {
    switch type {
    case .string: return random.pick(["", "a", "Été", "it's", "名"])
    case .boolean: return random.pick(["0", "1"])
    default: return "\(random.below(2000) - 1000)"
    }
  }

  static func value(_ text: String, _ type: AttributeType) -> Any {
    switch type {
    case .string: return text
    case .date: return Date(timeIntervalSinceReferenceDate: Double(text) ?? 0)
    case .boolean: return NSNumber(value: text == "1")
    case .double: return NSNumber(value: Double(text) ?? 0)
    default: return NSNumber(value: Int64(text) ?? 0)
    }
  }

  static func text(_ value: Any?) -> String? {
    switch value {
    case nil, is NSNull: return nil
    case let text as String: return text
    case let date as Date: return "\(Int(date.timeIntervalSinceReferenceDate))"
    case let flag as Bool: return flag ? "1" : "0"
    case let number as NSNumber: return "\(number.int64Value)"
    case let other?: return "\(other)"
    }
  }
}
