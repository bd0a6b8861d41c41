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
    let matching = PropertyMatching(from: origin.properties, to: all)
    let parent = entity.superentity.flatMap { self.origin(of: $0) }
    let wasMoved =
      parent !== origin.superentity
      || (entity.superentity == nil) != (origin.superentity == nil)
    return ModelDifference.EntityChange(
      destination: entity, source: origin, properties: matching.changes,
      removedProperties: matching.removed, uncertainProperties: matching.uncertain,
      isMoved: wasMoved)
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

/// What became of the properties of an entity, or of the elements of a composite attribute.
private struct PropertyMatching {
  /// In the order of the destination.
  private(set) var changes: [ModelDifference.PropertyChange] = []
  let removed: [PropertyDescription]
  /// Names, and paths of elements, that may continue one of two things.
  private(set) var uncertain: [String]

  init(from old: [PropertyDescription], to new: [PropertyDescription]) {
    func elements(
      _ properties: [PropertyDescription], _ kind: PropertyKind
    ) -> [RenameMatching.Element] {
      properties.filter { PropertyKind($0) == kind }.map {
        RenameMatching.Element($0.name, identifier: $0.explicitRenamingIdentifier)
      }
    }
    let matchings = PropertyKind.allCases.map {
      RenameMatching(from: elements(old, $0), to: elements(new, $0))
    }
    let names = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    uncertain = matchings.flatMap(\.ambiguous)
    for property in new {
      let origin = matchings[PropertyKind(property).rawValue].origins[property.name]
        .flatMap { names[$0] }
      guard let composite = property as? CompositeAttributeDescription,
        let former = origin as? CompositeAttributeDescription
      else {
        changes.append(ModelDifference.PropertyChange(destination: property, source: origin))
        continue
      }
      let parts = PropertyMatching(from: former.elements, to: composite.elements)
      changes.append(
        ModelDifference.PropertyChange(
          destination: composite, source: former, elements: parts.changes))
      uncertain += parts.uncertain.map { "\(composite.name).\($0)" }
    }
    let continued = Set(changes.compactMap { $0.source.map(ObjectIdentifier.init) })
    removed = old.filter { !continued.contains(ObjectIdentifier($0)) }
  }
}
