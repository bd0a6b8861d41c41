import Foundation

/// Finds what the entities and properties of one model version were in another.
struct ElementMatching {
  private let sources: [String: EntityDescription]
  private let byIdentifier: [String: EntityDescription]
  /// Source entities that several destinations continue.
  let ambiguities: [InferenceRefusal]

  init(source: ManagedObjectModel, destination: ManagedObjectModel) {
    sources = source.entitiesByName
    byIdentifier = Dictionary(
      source.entities.map { ($0.renamingIdentifier ?? "", $0) },
      uniquingKeysWith: { first, _ in first })
    var claimed: [ObjectIdentifier: EntityDescription] = [:]
    var found: [InferenceRefusal] = []
    for entity in destination.entities {
      guard let origin = Self.origin(of: entity, byIdentifier, sources) else { continue }
      if let first = claimed[ObjectIdentifier(origin)] {
        found.append(
          InferenceRefusal(
            code: .entitySplit, entity: entity.name ?? "", property: nil,
            reason: "\(first.name ?? "") and \(entity.name ?? "") both continue "
              + "\(origin.name ?? ""); an entity cannot be split without a mapping model."))
      } else {
        claimed[ObjectIdentifier(origin)] = entity
      }
    }
    ambiguities = found
  }

  private static func origin(
    of entity: EntityDescription, _ byIdentifier: [String: EntityDescription],
    _ sources: [String: EntityDescription]
  ) -> EntityDescription? {
    // An explicit identifier is the name, or the identifier, in the source.
    if let identifier = entity.explicitRenamingIdentifier {
      if let found = byIdentifier[identifier] ?? sources[identifier] { return found }
    }
    return sources[entity.name ?? ""]
  }

  func change(of entity: EntityDescription) -> ModelDifference.EntityChange {
    guard let origin = Self.origin(of: entity, byIdentifier, sources) else {
      return ModelDifference.EntityChange(
        destination: entity, source: nil,
        properties: sorted(entity).map {
          ModelDifference.PropertyChange(destination: $0, source: nil)
        }, removedProperties: [], isMoved: false)
    }
    let names = origin.propertiesByName
    let identifiers = Dictionary(
      origin.properties.map { ($0.renamingIdentifier ?? "", $0) },
      uniquingKeysWith: { first, _ in first })
    let properties = sorted(entity).map { property in
      ModelDifference.PropertyChange(
        destination: property, source: source(of: property, names, identifiers))
    }
    let continued = Set(properties.compactMap { $0.source.map(ObjectIdentifier.init) })
    let parent = entity.superentity.flatMap { Self.origin(of: $0, byIdentifier, sources) }
    let wasMoved =
      parent !== origin.superentity
      || (entity.superentity == nil) != (origin.superentity == nil)
    return ModelDifference.EntityChange(
      destination: entity, source: origin, properties: properties,
      removedProperties: origin.properties.filter { !continued.contains(ObjectIdentifier($0)) },
      isMoved: wasMoved)
  }

  private func sorted(_ entity: EntityDescription) -> [PropertyDescription] {
    entity.properties.sorted { $0.name.precedesByCodePoints($1.name) }
  }

  /// The property that another continues; one that was of a different kind is a new one.
  private func source(
    of property: PropertyDescription, _ names: [String: PropertyDescription],
    _ identifiers: [String: PropertyDescription]
  ) -> PropertyDescription? {
    var found: PropertyDescription?
    if let identifier = property.explicitRenamingIdentifier {
      found = identifiers[identifier] ?? names[identifier]
    }
    guard let candidate = found ?? names[property.name] else { return nil }
    let isAttribute = property is AttributeDescription
    let isRelationship = property is RelationshipDescription
    return isAttribute == (candidate is AttributeDescription)
      && isRelationship == (candidate is RelationshipDescription) ? candidate : nil
  }
}
