// Models under Swift's own protocols: models and entities can be iterated over directly, as Core Data's can
// in Objective-C, and the enumerations of models and mappings have all their values.
import CairnMigration
import CairnModel

extension ManagedObjectModel: Sequence {
  /// The model's entities, one after the other.
  public func makeIterator() -> IndexingIterator<[EntityDescription]> { entities.makeIterator() }
}

extension EntityDescription: Sequence {
  /// The entity's properties, inherited ones first.
  public func makeIterator() -> IndexingIterator<[PropertyDescription]> {
    properties.makeIterator()
  }
}

extension AttributeType: CaseIterable {
  public static let allCases: [AttributeType] = [
    .undefined, .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean,
    .date, .binaryData, .uuid, .uri, .transformable, .objectID, .composite,
  ]
}

extension DeleteRule: CaseIterable {
  public static let allCases: [DeleteRule] = [.noAction, .nullify, .cascade, .deny]
}

extension EntityMappingType: CaseIterable {
  public static let allCases: [EntityMappingType] = [
    .undefinedEntityMappingType, .customEntityMappingType, .addEntityMappingType,
    .removeEntityMappingType, .copyEntityMappingType, .transformEntityMappingType,
  ]
}
