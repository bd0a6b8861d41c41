// All values of the enumerations of models and mappings.
import CairnMigration
import CairnModel

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
