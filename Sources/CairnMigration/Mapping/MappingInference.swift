import CairnModel
import CairnPredicates
import Foundation

/// Writes the difference between two models down as mappings.
struct MappingInference {
  let difference: ModelDifference

  func entityMappings() -> [EntityMapping] {
    let kept = difference.entities.map(mapping)
    let removed = difference.removedEntities.map { entity in
      let mapping = EntityMapping()
      mapping.mappingType = .removeEntityMappingType
      mapping.sourceEntityName = entity.name
      mapping.sourceEntityVersionHash = entity.versionHash
      return mapping
    }
    for mapping in kept + removed { mapping.name = Self.name(of: mapping) }
    return kept + removed
  }

  /// The name that Core Data gives an inferred mapping, `IEM_Transform_Person`.
  private static func name(of mapping: EntityMapping) -> String {
    let entity = mapping.destinationEntityName ?? mapping.sourceEntityName ?? ""
    switch mapping.mappingType {
    case .addEntityMappingType: return "IEM_Add_\(entity)"
    case .removeEntityMappingType: return "IEM_Remove_\(entity)"
    case .copyEntityMappingType: return "IEM_Copy_\(entity)"
    case .transformEntityMappingType, .customEntityMappingType, .undefinedEntityMappingType:
      return "IEM_Transform_\(entity)"
    }
  }

  private func mapping(_ change: ModelDifference.EntityChange) -> EntityMapping {
    let mapping = EntityMapping()
    let destination = change.destination
    mapping.destinationEntityName = destination.name
    mapping.destinationEntityVersionHash = destination.versionHash
    guard let source = change.source else {
      mapping.mappingType = .addEntityMappingType
      return mapping
    }
    mapping.mappingType =
      change.isChanged || change.isRenamed ? .transformEntityMappingType : .copyEntityMappingType
    mapping.sourceEntityName = source.name
    mapping.sourceEntityVersionHash = source.versionHash
    mapping.sourceExpression = MappingExpressions.all(ofSourceEntity: source.name ?? "")
    var attributes: [PropertyMapping] = []
    var relationships: [PropertyMapping] = []
    for property in change.properties where !property.destination.isTransient {
      let name = property.destination.name
      let origin = property.source.flatMap { $0.isTransient ? nil : $0.name }
      switch property.destination {
      case is DerivedAttributeDescription: continue
      case let attribute as AttributeDescription:
        if let origin, Self.changesElements(property) {
          attributes += Self.elements(of: property, name, from: origin)
          continue
        }
        attributes.append(
          PropertyMapping(
            name, origin.map(MappingExpressions.source) ?? Self.valueOfNew(attribute)))
      case is RelationshipDescription:
        relationships.append(
          PropertyMapping(name, origin.map { MappingExpressions.destinations(of: $0) }))
      default: continue
      }
    }
    mapping.attributeMappings = attributes
    mapping.relationshipMappings = relationships
    return mapping
  }

  /// Whether an element of a composite attribute, at any depth, is new or has another name: the
  /// dictionary of the source is none for the destination then.
  private static func changesElements(_ property: ModelDifference.PropertyChange) -> Bool {
    property.elements.contains { $0.isAdded || $0.isRenamed || changesElements($0) }
  }

  /// A mapping for each leaf of a composite attribute, by the leaf's path.
  private static func elements(
    of composite: ModelDifference.PropertyChange, _ path: String, from origin: String
  ) -> [PropertyMapping] {
    composite.elements.flatMap { element -> [PropertyMapping] in
      let path = "\(path).\(element.destination.name)"
      let origin = element.source.map { "\(origin).\($0.name)" }
      if let group = element.destination as? CompositeAttributeDescription {
        if let origin { return elements(of: element, path, from: origin) }
        return group.flattenedPaths(below: path).map {
          PropertyMapping($0, ObjectExpression(forConstantValue: nil))
        }
      }
      return [
        PropertyMapping(
          path,
          origin.map(MappingExpressions.source) ?? ObjectExpression(forConstantValue: nil))
      ]
    }
  }

  /// The objects that there are stay without a value for a new attribute that needs none: only what
  /// is mandatory keeps the default that a new object has.
  private static func valueOfNew(_ attribute: AttributeDescription) -> ObjectExpression? {
    let isNil =
      attribute is CompositeAttributeDescription
      || attribute.isOptional && attribute.defaultValue != nil
    return isNil ? ObjectExpression(forConstantValue: nil) : nil
  }
}
