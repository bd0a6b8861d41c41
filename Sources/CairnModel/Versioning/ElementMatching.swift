import Foundation

/// Finds what the entities and properties of one model version were in another.
struct ElementMatching {
  private let sources: [String: EntityDescription]
  private let origins: [String: String]
  /// Source entities that several destinations continue.
  let ambiguities: [InferenceRefusal]
  /// Entities of the destination whose origin names and renaming identifiers answer differently.
  let uncertainEntities: [String]

  init(source: ManagedObjectModel, destination: ManagedObjectModel) {
    sources = source.entitiesByName
    let matching = RenameMatching(
      from: source.entities.map(Self.element), to: destination.entities.map(Self.element))
    origins = matching.origins
    uncertainEntities = matching.ambiguous
    var claimed: [String: EntityDescription] = [:]
    var found: [InferenceRefusal] = []
    for entity in destination.entities {
      guard let origin = matching.origins[entity.name ?? ""] else { continue }
      if let first = claimed[origin] {
        found.append(
          InferenceRefusal(
            code: .entitySplit, entity: entity.name ?? "", property: nil,
            reason: "\(first.name ?? "") and \(entity.name ?? "") both continue "
              + "\(origin); an entity cannot be split without a mapping model."))
      } else {
        claimed[origin] = entity
      }
    }
    ambiguities = found
  }

  private static func element(_ entity: EntityDescription) -> RenameMatching.Element {
    RenameMatching.Element(entity.name ?? "", identifier: entity.explicitRenamingIdentifier)
  }

  private func origin(of entity: EntityDescription) -> EntityDescription? {
    origins[entity.name ?? ""].flatMap { sources[$0] }
  }

  func change(of entity: EntityDescription) -> ModelDifference.EntityChange {
    let all = entity.properties.sorted { $0.name.precedesByCodePoints($1.name) }
    guard let origin = origin(of: entity) else {
      return ModelDifference.EntityChange(
        destination: entity, source: nil,
        properties: all.map { ModelDifference.PropertyChange(destination: $0, source: nil) },
        removedProperties: [], uncertainProperties: [], isMoved: false)
    }
    let names = origin.propertiesByName
    let matchings = PropertyKind.allCases.map { kind in
      PropertyMatching(kind, from: origin.properties, to: all)
    }
    let properties = all.map { property in
      let former = matchings[PropertyKind(property).rawValue].matching.origins[property.name]
      return ModelDifference.PropertyChange(
        destination: property, source: former.flatMap { names[$0] })
    }
    let continued = Set(properties.compactMap { $0.source.map(ObjectIdentifier.init) })
    let parent = entity.superentity.flatMap { self.origin(of: $0) }
    let wasMoved =
      parent !== origin.superentity
      || (entity.superentity == nil) != (origin.superentity == nil)
    return ModelDifference.EntityChange(
      destination: entity, source: origin, properties: properties,
      removedProperties: origin.properties.filter { !continued.contains(ObjectIdentifier($0)) },
      uncertainProperties: matchings.flatMap(\.matching.ambiguous), isMoved: wasMoved)
  }
}

/// Properties continue properties of the same kind; one that was of a different kind is a new one.
private enum PropertyKind: Int, CaseIterable {
  case attribute
  case relationship
  case other

  init(_ property: PropertyDescription) {
    if property is AttributeDescription {
      self = .attribute
    } else if property is RelationshipDescription {
      self = .relationship
    } else {
      self = .other
    }
  }
}

private struct PropertyMatching {
  let matching: RenameMatching

  init(_ kind: PropertyKind, from old: [PropertyDescription], to new: [PropertyDescription]) {
    func elements(_ properties: [PropertyDescription]) -> [RenameMatching.Element] {
      properties.filter { PropertyKind($0) == kind }.map {
        RenameMatching.Element($0.name, identifier: $0.explicitRenamingIdentifier)
      }
    }
    matching = RenameMatching(from: elements(old), to: elements(new))
  }
}
