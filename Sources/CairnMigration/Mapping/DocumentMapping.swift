import CairnModel
import CairnModelFiles
import CairnPredicates
import Foundation

/// Turns the editor's mapping document into mappings.
///
/// Where the editor recorded no expression, one follows from the source's property of the same
/// name; ``MappingModel/deriveExpressions(from:)`` fills it in when the models are at hand.
struct DocumentMapping {
  let document: MappingDocument

  func entityMappings() -> [EntityMapping] { document.entities.map(mapping) }

  private func mapping(_ entity: MappingDocument.Entity) -> EntityMapping {
    let mapping = EntityMapping()
    mapping.name =
      entity.name
      ?? [entity.sourceName, entity.destinationName].compactMap { $0 }.joined(separator: "To")
    mapping.sourceEntityName = entity.sourceName
    mapping.destinationEntityName = entity.destinationName
    mapping.entityMigrationPolicyClassName = entity.policyClassName.map(PolicyClasses.bareName)
    switch (entity.sourceName, entity.destinationName) {
    case (nil, _): mapping.mappingType = .addEntityMappingType
    case (_, nil): mapping.mappingType = .removeEntityMappingType
    case (.some, .some):
      mapping.mappingType =
        entity.policyClassName == nil ? .transformEntityMappingType : .customEntityMappingType
    }
    guard let source = entity.sourceName else { return mapping }
    mapping.sourceExpression =
      entity.sourceExpression ?? MappingExpressions.all(ofSourceEntity: source)
    mapping.attributeMappings = entity.attributes.map(property)
    mapping.relationshipMappings = entity.relationships.map(property)
    return mapping
  }

  private func property(_ property: MappingDocument.Property) -> PropertyMapping {
    (property.expression ?? relationship(property)).map { PropertyMapping(property.name, $0) }
      ?? PropertyMapping(derived: property.name)
  }

  private func relationship(_ property: MappingDocument.Property) -> ObjectExpression? {
    guard let keyPath = property.sourceKeyPath else { return nil }
    // The editor writes `$source.children` or the bare path.
    let path = keyPath.replacingOccurrences(of: "$source.", with: "")
    return property.sourceMappingName.map {
      MappingExpressions.destinations(of: path, mappingNamed: $0)
    } ?? MappingExpressions.destinations(of: path)
  }
}

extension MappingModel {
  /// Gives every mapping whose expression follows from the names its expression: the value of the
  /// source's property of the same name, or nothing when the source has none.
  package func deriveExpressions(from source: ManagedObjectModel) {
    for mapping in entityMappings ?? [] {
      let entity = mapping.sourceEntityName.flatMap { source.entitiesByName[$0] }
      for property in mapping.attributeMappings ?? [] where property.isDerived {
        guard let name = property.name, entity?.attributesByName[name] != nil else { continue }
        property.valueExpression = MappingExpressions.source(name)
      }
      for property in mapping.relationshipMappings ?? [] where property.isDerived {
        guard let name = property.name, entity?.relationshipsByName[name] != nil else { continue }
        property.valueExpression = MappingExpressions.destinations(of: name)
      }
    }
  }
}
