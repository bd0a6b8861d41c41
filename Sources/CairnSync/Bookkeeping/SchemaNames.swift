import CairnModel
import Crypto
import Foundation

/// The names that a store's bookkeeping uses for entities, properties and links, with the renaming
/// identifiers that tell what continues what when the model changes.
struct SchemaNames: Hashable, Sendable {
  struct Entity: Hashable, Sendable {
    var identifier: String
    /// The entity at the top of the inheritance tree.
    var root: String
    /// Identifiers by name, of what travels.
    var properties: [String: String]
  }
  var entities: [String: Entity] = [:]
  /// The relationships that travel as links, as their canonical sides name them.
  var links: Set<String> = []

  init(
    entities plans: [String: SyncSchema.EntityPlan],
    links plansOfLinks: [String: SyncSchema.LinkPlan]
  ) {
    for (name, plan) in plans {
      let entity = plan.entity
      var properties: [String: String] = [:]
      for column in plan.columns {
        properties[column.name] = Self.identifier(of: column.name, in: entity)
      }
      for side in plan.linkSides {
        let relationship = side.relationship
        properties[relationship.name] = relationship.renamingIdentifier ?? relationship.name
      }
      entities[name] = Entity(
        identifier: entity.renamingIdentifier ?? name, root: entity.rootEntity.name ?? name,
        properties: properties)
    }
    links = Set(plansOfLinks.keys)
  }

  /// The identifiers of a composite attribute and of its elements, joined as their names are in the path.
  private static func identifier(of path: String, in entity: EntityDescription) -> String {
    if let property = entity.propertiesByName[path] { return property.renamingIdentifier ?? path }
    var properties = entity.properties
    let identifiers = path.split(separator: ".").map { part in
      let property = properties.first { $0.name == part }
      properties = (property as? CompositeAttributeDescription)?.elements ?? []
      return property?.renamingIdentifier ?? String(part)
    }
    return identifiers.joined(separator: ".")
  }

  /// Tells versions apart; never 0.
  var digest: UInt64 {
    var value: UInt64 = 0
    for byte in SHA256.hash(data: encoded).prefix(8) { value = value << 8 | UInt64(byte) }
    return max(value, 1)
  }

  // Bytes: version 1 · entities (name, identifier, root, properties (name, identifier)) · links
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.count(entities.count)
    for (name, entity) in entities.sorted(by: { $0.key < $1.key }) {
      writer.string(name)
      writer.string(entity.identifier)
      writer.string(entity.root)
      writer.count(entity.properties.count)
      for (property, identifier) in entity.properties.sorted(by: { $0.key < $1.key }) {
        writer.string(property)
        writer.string(identifier)
      }
    }
    writer.count(links.count)
    for link in links.sorted() { writer.string(link) }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    for _ in 0..<(try reader.count()) {
      let name = try reader.string()
      var entity = Entity(
        identifier: try reader.string(), root: try reader.string(), properties: [:])
      for _ in 0..<(try reader.count()) {
        let property = try reader.string()
        entity.properties[property] = try reader.string()
      }
      entities[name] = entity
    }
    for _ in 0..<(try reader.count()) { links.insert(try reader.string()) }
  }
}

/// The properties that migrations added to entities, and up to which place of the change order the
/// records were there before.
///
/// What a migration fills in is the same in every store, so it is the same write everywhere:
/// ``PropertyWrite/filledIn``.
struct SchemaAdditions: Hashable, Sendable {
  struct Addition: Hashable, Sendable {
    let property: String
    let sequence: UInt64
  }
  var byEntity: [String: [Addition]] = [:]

  init() {}

  /// Gives an entry the writes of what was added after its last change.
  func complete(_ entry: inout RecordEntry) {
    guard let added = byEntity[entry.entity], entry.base != nil else { return }
    for addition in added where entry.sequence <= addition.sequence {
      let name = addition.property
      if entry.writes[name] == nil, entry.overlay[name] == nil { entry.writes[name] = .filledIn }
    }
  }

  /// Says of an entry that stays at its place what the writes of its additions are, so that they are
  /// not taken for filled in.
  func settle(_ entry: inout RecordEntry) {
    guard let added = byEntity[entry.entity], let base = entry.base else { return }
    for addition in added where entry.sequence <= addition.sequence {
      let name = addition.property
      if entry.writes[name] == nil, entry.overlay[name] == nil { entry.writes[name] = base }
    }
  }

  // Bytes: version 1 · entities (name, additions (property, sequence 8))
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.count(byEntity.count)
    for (entity, additions) in byEntity.sorted(by: { $0.key < $1.key }) {
      writer.string(entity)
      writer.count(additions.count)
      for addition in additions {
        writer.string(addition.property)
        writer.fixed(addition.sequence)
      }
    }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    for _ in 0..<(try reader.count()) {
      let entity = try reader.string()
      for _ in 0..<(try reader.count()) {
        let property = try reader.string()
        byEntity[entity, default: []].append(
          Addition(property: property, sequence: try reader.sequence()))
      }
    }
  }
}

extension PropertyWrite {
  /// What a migration filled in: older than any write, and the same in all stores.
  static let filledIn = PropertyWrite(
    stamp: Stamp(clock: ClockReading(bits: 1), store: StoreID(high: 0, low: 0)))
}
