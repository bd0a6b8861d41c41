import CairnModel
import CairnModelFiles
import Foundation

/// Turns a compiled mapping model into mappings.
struct ArchivedMapping {
  let archive: MappingArchive

  func entityMappings() -> [EntityMapping] { archive.entities.map(mapping) }

  private func mapping(_ entity: MappingArchive.Entity) -> EntityMapping {
    let mapping = EntityMapping()
    mapping.name =
      entity.name
      ?? [entity.sourceName, entity.destinationName].compactMap { $0 }.joined(separator: "To")
    mapping.mappingType =
      EntityMappingType(rawValue: UInt(clamping: entity.type)) ?? .undefinedEntityMappingType
    mapping.sourceEntityName = entity.sourceName
    mapping.sourceEntityVersionHash = entity.sourceVersionHash
    mapping.destinationEntityName = entity.destinationName
    mapping.destinationEntityVersionHash = entity.destinationVersionHash
    mapping.entityMigrationPolicyClassName = entity.policyClassName.map(PolicyClasses.bareName)
    mapping.sourceExpression = entity.sourceExpression
    mapping.attributeMappings = entity.attributes.map(property)
    mapping.relationshipMappings = entity.relationships.map(property)
    mapping.userInfo = entity.userInfo
    return mapping
  }

  private func property(_ property: MappingArchive.Property) -> PropertyMapping {
    let mapping = PropertyMapping(property.name, property.expression)
    mapping.userInfo = property.userInfo
    return mapping
  }
}
