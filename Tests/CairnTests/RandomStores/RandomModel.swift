// Models that a seed makes, kept as values so that a next version can be made of one.

import Cairn
import CairnTesting
import Foundation
import ParitySamples

/// A model with inheritance, every type of attribute, relationships of every kind, derived
/// attributes, uniqueness constraints and indexes.
struct RandomModel {
  struct Attribute {
    var name: String
    var type: AttributeType
    /// Its name in the version before.
    var formerName: String?
    var isExternal = false
    var isKeptOnDeletion = false
    /// Mandatory with a default value, as only a later version adds them.
    var isMandatory = false
  }
  struct Derived {
    let name: String
    let type: AttributeType
    let expression: String
    /// Properties that must stay as they are, of whichever entity.
    let uses: Set<String>
  }
  struct End {
    let name: String
    let entity: Int
    let isToMany: Bool
    var isOrdered: Bool
    let cascades: Bool
  }
  struct Link {
    var end: End
    /// Nil for a relationship without inverse, or one that is its own.
    var inverse: End?
    let destination: Int
    let isReflexive: Bool
  }
  struct Entity {
    let id: Int
    let name: String
    let parent: Int?
    let isAbstract: Bool
    var attributes: [Attribute] = []
    var derived: [Derived] = []
    var unique: String?
    var indexes: [[String]] = []
    var hasTree = false
  }

  private(set) var entities: [Entity] = []
  private(set) var links: [Link] = []
  private var nextID = 0
  /// Names of what earlier versions had; Core Data would take them for the same properties.
  private var retired: Set<String> = []

  // MARK: Making

  private static let entityNames = [
    "Zebra", "apple", "Book", "case2", "Dune", "elk", "Fox", "gnu", "Hill", "iris",
  ]
  private static let attributeNames = [
    "name", "title", "Value", "count", "isOld", "aURL", "note", "order", "select", "x1", "X2",
    "city", "number2", "data", "group",
  ]
  private static let linkNames = [
    "owner", "items", "next", "parts", "whole", "friends", "Home", "guests", "link", "back", "to",
    "from", "index",
  ]
  private static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .boolean, .decimal, .double, .float, .date, .string,
    .string, .uuid, .uri, .binaryData, .transformable, .composite,
  ]

  init(_ random: inout ParityRandom) {
    for _ in 0..<(3 + random.below(4)) { addEntity(&random) }
    for _ in 0..<(3 + random.below(6)) { addLink(&random) }
    for index in entities.indices {
      if random.below(2) == 0 { addDerived(to: index, &random) }
      if random.below(3) == 0 { addDerived(to: index, &random) }
      addIndexes(to: index, &random)
    }
  }

  private mutating func addEntity(_ random: inout ParityRandom) {
    let free = Self.entityNames.filter { name in !entities.contains { $0.name == name } }
    guard !free.isEmpty else { return }
    let parent = random.below(2) == 0 ? nil : entities.indices.randomIndex(&random)
    nextID += 1
    entities.append(
      Entity(
        id: nextID, name: random.pick(free), parent: parent.map { entities[$0].id },
        isAbstract: parent == nil && random.below(6) == 0))
    for _ in 0..<(2 + random.below(4)) { addAttribute(to: entities.count - 1, &random) }
  }

  private mutating func addAttribute(
    to index: Int, _ random: inout ParityRandom, isMandatory: Bool = false
  ) {
    let free = Self.attributeNames.filter { isFree($0, in: index) }
    guard !free.isEmpty else { return }
    var attribute = Attribute(name: random.pick(free), type: random.pick(Self.types))
    if isMandatory {
      attribute.type = random.pick([.string, .integer32, .boolean])
      attribute.isMandatory = true
    }
    attribute.isExternal = attribute.type == .binaryData && random.below(2) == 0
    attribute.isKeptOnDeletion =
      ![.binaryData, .transformable, .composite].contains(attribute.type) && random.below(4) == 0
    entities[index].attributes.append(attribute)
  }

  private mutating func addLink(_ random: inout ParityRandom) {
    let owner = random.below(entities.count)
    let destination = random.below(entities.count)
    func end(_ index: Int, toMany: Bool) -> End? {
      let free = Self.linkNames.filter { isFree($0, in: index) }
      guard !free.isEmpty else { return nil }
      return End(
        name: random.pick(free), entity: entities[index].id, isToMany: toMany,
        isOrdered: toMany && random.below(3) == 0, cascades: random.below(5) == 0)
    }
    let kind = random.below(8)
    guard let first = end(owner, toMany: [0, 1, 2, 4, 6].contains(kind)) else { return }
    let (ownerID, otherID) = (entities[owner].id, entities[destination].id)
    if kind >= 6 || (owner == destination && random.below(2) == 0 && (kind == 0 || kind == 5)) {
      var plain = first
      // Kinds 0 and 5: its own inverse, which cannot be ordered. Others have none.
      let isReflexive = kind < 6
      if isReflexive { plain.isOrdered = false }
      links.append(
        Link(
          end: plain, inverse: nil, destination: isReflexive ? ownerID : otherID,
          isReflexive: isReflexive))
      return
    }
    links.append(Link(end: first, inverse: nil, destination: otherID, isReflexive: false))
    guard let second = end(destination, toMany: kind <= 1) else { return }
    links[links.count - 1].inverse = second
  }

  private mutating func addDerived(to index: Int, _ random: inout ParityRandom) {
    let family = family(of: index, up: true, down: false)
    let name = "d\(nextID)"
    nextID += 1
    var choices: [Derived] = []
    for position in family {
      for attribute in entities[position].attributes where attribute.type == .string {
        choices.append(
          Derived(
            name: name, type: .string,
            expression: random.pick(["canonical", "uppercase", "lowercase"])
              + ":(\(attribute.name))", uses: [attribute.name]))
        choices.append(
          Derived(name: name, type: .string, expression: attribute.name, uses: [attribute.name]))
      }
      for (key, toMany, destination) in ends(of: position) {
        let numbers = entities[destination].attributes.filter {
          [.integer32, .integer64, .double].contains($0.type)
        }
        if toMany {
          choices.append(
            Derived(name: name, type: .integer64, expression: "\(key).@count", uses: [key]))
          for number in numbers {
            choices.append(
              Derived(
                name: name, type: .double,
                expression: "\(key).\(number.name).@\(random.pick(["sum", "max", "min"]))",
                uses: [key, number.name]))
          }
        } else {
          for attribute in entities[destination].attributes
          where [.string, .integer32, .date].contains(attribute.type) {
            choices.append(
              Derived(
                name: name, type: attribute.type, expression: "\(key).\(attribute.name)",
                uses: [key, attribute.name]))
          }
          for (next, toMany, end) in ends(of: destination) where !toMany {
            for attribute in entities[end].attributes where attribute.type == .string {
              choices.append(
                Derived(
                  name: name, type: .string, expression: "\(key).\(next).\(attribute.name)",
                  uses: [key, next, attribute.name]))
            }
          }
        }
      }
    }
    if let choice = choices.isEmpty ? nil : random.pick(choices) {
      entities[index].derived.append(choice)
    }
  }

  private mutating func addIndexes(
    to index: Int, _ random: inout ParityRandom, isNew: Bool = true
  ) {
    let plain = entities[index].attributes.filter {
      ![.binaryData, .transformable, .composite].contains($0.type)
    }
    if random.below(2) == 0, let attribute = plain.isEmpty ? nil : random.pick(plain) {
      entities[index].indexes.append([attribute.name])
    }
    // What is there already may not be unique.
    if isNew, random.below(3) == 0, let unique = plain.first(where: { $0.type == .string }) {
      entities[index].unique = unique.name
    }
    if random.below(4) == 0 {
      let places = ["px", "py"].filter { isFree($0, in: index) }
      guard places.count == 2 else { return }
      entities[index].attributes += places.map { Attribute(name: $0, type: .double) }
      entities[index].hasTree = true
    }
  }

  // MARK: The next version

  /// Changes that Core Data can infer a mapping for.
  mutating func evolve(_ random: inout ParityRandom) {
    for index in entities.indices {
      for place in entities[index].attributes.indices {
        entities[index].attributes[place].formerName = nil
      }
    }
    // A version that only lacks things is taken for an older one.
    nextID += 1
    entities[random.below(entities.count)].attributes.append(
      Attribute(name: "added\(nextID)", type: random.pick(Self.types)))
    for _ in 0..<(1 + random.below(4)) {
      let index = random.below(entities.count)
      switch random.below(8) {
      case 0: addEntity(&random)
      case 1: addAttribute(to: index, &random, isMandatory: random.below(2) == 0)
      case 2:
        let kept = entities[index].attributes.filter { isUsed($0) || random.below(3) != 0 }
        retired.formUnion(entities[index].attributes.map(\.name))
        entities[index].attributes = kept
      case 3: rename(in: index, &random)
      case 4: addLink(&random)
      case 5:
        if let place = links.indices.randomIndex(&random), !isUsed(links[place]) {
          retired.formUnion([links[place].end.name, links[place].inverse?.name].compactMap { $0 })
          links.remove(at: place)
        }
      case 6: addDerived(to: index, &random)
      default: addIndexes(to: index, &random, isNew: false)
      }
    }
  }

  private mutating func rename(in index: Int, _ random: inout ParityRandom) {
    let free = Self.attributeNames.filter { isFree($0, in: index) }
    guard let place = entities[index].attributes.indices.randomIndex(&random), !free.isEmpty,
      !isUsed(entities[index].attributes[place])
    else { return }
    var attribute = entities[index].attributes[place]
    // A name that was given up just now would be taken for the same attribute.
    retired.insert(attribute.name)
    attribute.formerName = attribute.formerName ?? attribute.name
    attribute.name = random.pick(free)
    entities[index].attributes[place] = attribute
  }

  private func isUsed(_ attribute: Attribute) -> Bool {
    entities.contains { entity in
      entity.unique == attribute.name || entity.indexes.contains([attribute.name])
        || entity.derived.contains { $0.uses.contains(attribute.name) }
        || ["px", "py"].contains(attribute.name)
    }
  }

  private func isUsed(_ link: Link) -> Bool {
    let names = [link.end.name, link.inverse?.name].compactMap { $0 }
    return entities.contains { entity in
      entity.derived.contains { !$0.uses.isDisjoint(with: names) }
    }
  }

  // MARK: Names

  /// The entity and its ancestors, descendants or both, by position.
  private func family(of index: Int, up: Bool, down: Bool) -> [Int] {
    var result = [index]
    var next = entities[index].parent
    while up, let id = next, let position = entities.firstIndex(where: { $0.id == id }) {
      result.append(position)
      next = entities[position].parent
    }
    guard down else { return result }
    for (position, entity) in entities.enumerated() where position != index {
      var above = entity.parent
      while let id = above, let place = entities.firstIndex(where: { $0.id == id }) {
        if place == index { result.append(position) }
        above = entities[place].parent
      }
    }
    return result
  }

  /// The ends of links at an entity: name, whether to-many, position of the destination.
  private func ends(of index: Int) -> [(String, Bool, Int)] {
    links.flatMap { link -> [(String, Bool, Int)] in
      let ends =
        [(link.end, link.destination)] + (link.inverse.map { [($0, link.end.entity)] } ?? [])
      return ends.compactMap { end, destination in
        guard end.entity == entities[index].id,
          let place = entities.firstIndex(where: { $0.id == destination })
        else { return nil }
        return (end.name, end.isToMany, place)
      }
    }
  }

  private func isFree(_ name: String, in index: Int) -> Bool {
    !retired.contains(name)
      && !family(of: index, up: true, down: true).contains { position in
        entities[position].attributes.contains { $0.name == name || $0.formerName == name }
          || ends(of: position).contains { $0.0 == name }
      }
  }
}

extension Range<Int> {
  /// Nil for an empty range.
  fileprivate func randomIndex(_ random: inout ParityRandom) -> Int? {
    isEmpty ? nil : lowerBound + random.below(count)
  }
}

// MARK: - As text

extension RandomModel: CustomStringConvertible {
  /// The relationships: what leads from where to where, and back.
  var description: String {
    func name(_ id: Int) -> String { entities.first { $0.id == id }?.name ?? "" }
    func text(_ end: End) -> String {
      name(end.entity) + "." + end.name + (end.isOrdered ? " ordered" : end.isToMany ? " many" : "")
        + (end.cascades ? " cascade" : "")
    }
    return links.map { link in
      text(link.end) + " to " + name(link.destination) + " / "
        + (link.inverse.map(text) ?? (link.isReflexive ? "itself" : "none"))
    }.joined(separator: "; ")
      + entities.compactMap { entity in entity.unique.map { "; unique \(entity.name).\($0)" } }
      .joined()
  }
}

// MARK: - As a model

extension RandomModel {
  func make() throws -> ManagedObjectModel {
    let made = Dictionary(
      uniqueKeysWithValues: entities.map { ($0.id, EntityDescription(name: $0.name)) })
    for entity in entities {
      guard let description = made[entity.id] else { continue }
      description.isAbstract = entity.isAbstract
      description.subentities = entities.filter { $0.parent == entity.id }.compactMap {
        made[$0.id]
      }
      description.properties =
        entity.attributes.map(Self.make)
        + entity.derived.map {
          DerivedAttributeDescription($0.name, $0.type, from: $0.expression)
        }
    }
    for link in links { connect(link, made) }
    for entity in entities {
      guard let description = made[entity.id] else { continue }
      let byName = Dictionary(
        description.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      description.uniquenessConstraints = entity.unique.map { [[$0]] } ?? []
      description.indexes = entity.indexes.enumerated().map { number, names in
        FetchIndexDescription(
          name: "by\(number)",
          elements: names.compactMap { byName[$0] }.map {
            let element = FetchIndexElementDescription(property: $0, collationType: .binary)
            element.isAscending = number % 2 == 0
            return element
          })
      }
      if entity.hasTree {
        description.indexes.append(
          FetchIndexDescription(
            name: "place",
            elements: ["px", "py"].compactMap { byName[$0] }.map {
              FetchIndexElementDescription(property: $0, collationType: .rTree)
            }))
      }
    }
    let model = ManagedObjectModel()
    model.entities = entities.compactMap { made[$0.id] }
    return model
  }

  private static func make(_ attribute: Attribute) -> AttributeDescription {
    let result: AttributeDescription
    if attribute.type == .composite {
      let composite = CompositeAttributeDescription()
      composite.elements = [
        AttributeDescription(name: "city", type: .string),
        AttributeDescription(name: "level", type: .integer32),
      ]
      result = composite
    } else {
      result = AttributeDescription()
      result.attributeType = attribute.type
    }
    result.name = attribute.name
    result.isOptional = !attribute.isMandatory
    if attribute.isMandatory {
      result.defaultValue =
        attribute.type == .string ? "given" : attribute.type == .boolean ? true : 7
    }
    result.renamingIdentifier = attribute.formerName
    result.allowsExternalBinaryDataStorage = attribute.isExternal
    result.preservesValueInHistoryOnDeletion = attribute.isKeptOnDeletion
    return result
  }

  private func connect(_ link: Link, _ made: [Int: EntityDescription]) {
    func relationship(_ end: End, to destination: Int) -> RelationshipDescription {
      let result = RelationshipDescription()
      result.name = end.name
      result.destinationEntity = made[destination]
      result.maxCount = end.isToMany ? 0 : 1
      result.isOrdered = end.isOrdered
      result.deleteRule = end.cascades ? .cascade : .nullify
      made[end.entity]?.properties.append(result)
      return result
    }
    let first = relationship(link.end, to: link.destination)
    if link.isReflexive { first.inverseRelationship = first }
    guard let inverse = link.inverse else { return }
    let second = relationship(inverse, to: link.end.entity)
    first.inverseRelationship = second
    second.inverseRelationship = first
  }
}
