// Proof that symbols of the inventory exist, with labels and types: this file compiles.
// Chapters II.2 of the specification.

import CoreData
import Testing

/// Constants have the values of Apple's.
@Suite struct InventoryII2 {
  @Test func constantsOfChapterII2() {
    #expect(NSAttributeType.undefinedAttributeType.rawValue == 0)
    #expect(NSAttributeType.integer16AttributeType.rawValue == 100)
    #expect(NSAttributeType.integer32AttributeType.rawValue == 200)
    #expect(NSAttributeType.integer64AttributeType.rawValue == 300)
    #expect(NSAttributeType.decimalAttributeType.rawValue == 400)
    #expect(NSAttributeType.doubleAttributeType.rawValue == 500)
    #expect(NSAttributeType.floatAttributeType.rawValue == 600)
    #expect(NSAttributeType.stringAttributeType.rawValue == 700)
    #expect(NSAttributeType.booleanAttributeType.rawValue == 800)
    #expect(NSAttributeType.dateAttributeType.rawValue == 900)
    #expect(NSAttributeType.binaryDataAttributeType.rawValue == 1000)
    #expect(NSAttributeType.UUIDAttributeType.rawValue == 1100)
    #expect(NSAttributeType.URIAttributeType.rawValue == 1200)
    #expect(NSAttributeType.transformableAttributeType.rawValue == 1800)
    #expect(NSAttributeType.objectIDAttributeType.rawValue == 2000)
    #expect(NSAttributeType.compositeAttributeType.rawValue == 2100)
    #expect(NSDeleteRule.noActionDeleteRule.rawValue == 0)
    #expect(NSDeleteRule.nullifyDeleteRule.rawValue == 1)
    #expect(NSDeleteRule.cascadeDeleteRule.rawValue == 2)
    #expect(NSDeleteRule.denyDeleteRule.rawValue == 3)
    #expect(NSFetchIndexElementType.binary.rawValue == 0)
    #expect(NSFetchIndexElementType.rTree.rawValue == 1)
  }
}

// None of these functions is called; as deprecated ones they may use what Apple deprecated.

private func any<T>() -> T { fatalError("never called") }

@available(*, deprecated)
private func uses_NSManagedObjectModel(_ x: NSManagedObjectModel) throws {
  let _: [String: NSFetchRequest<any NSFetchRequestResult>] = x.fetchRequestTemplatesByName
  let _: NSManagedObjectModel.Type = NSManagedObjectModel.self
  _ = (x as any NSCoding)
  _ = (x as any NSCopying)
  _ = (x as any Sequence)
  let _: ([Bundle]?) -> NSManagedObjectModel? = NSManagedObjectModel.mergedModel(from:)
  let _: ([NSManagedObjectModel]?) -> NSManagedObjectModel? = NSManagedObjectModel.init(byMerging:)
  _ = NSManagedObjectModel()
  let _: (URL) -> NSManagedObjectModel? = NSManagedObjectModel.init(contentsOf:)
  let _: [String: NSEntityDescription] = x.entitiesByName
  do { let v: [NSEntityDescription] = x.entities; x.entities = v }
  let _: [String] = x.configurations
  let _: (String?) -> [NSEntityDescription]? = x.entities(forConfigurationName:)
  let _: ([NSEntityDescription], String) -> Void = x.setEntities(_:forConfigurationName:)
  let _: (NSFetchRequest<any NSFetchRequestResult>?, String) -> Void = x.setFetchRequestTemplate(
    _:forName:)
  let _: (String) -> NSFetchRequest<any NSFetchRequestResult>? = x.fetchRequestTemplate(forName:)
  let _: (String, [String: Any]) -> NSFetchRequest<any NSFetchRequestResult>? = x
    .fetchRequestFromTemplate(withName:substitutionVariables:)
  do { let v: [String: String]? = x.localizationDictionary; x.localizationDictionary = v }
  let _: ([Bundle]?, [String: Any]) -> NSManagedObjectModel? = NSManagedObjectModel.mergedModel(
    from:forStoreMetadata:)
  let _: ([NSManagedObjectModel], [String: Any]) -> NSManagedObjectModel? = NSManagedObjectModel
    .init(byMerging:forStoreMetadata:)
  do { let v: Set<AnyHashable> = x.versionIdentifiers; x.versionIdentifiers = v }
  let _: (String?, [String: Any]) -> Bool = x.isConfiguration(withName:compatibleWithStoreMetadata:)
  let _: [String: Data] = x.entityVersionHashesByName
  let _: String = x.versionChecksum
}
@available(*, deprecated)
private func uses_NSManagedObjectModelReference(_ x: NSManagedObjectModelReference) throws {
  let _: NSManagedObjectModelReference.Type = NSManagedObjectModelReference.self
  let _: NSManagedObjectModel = x.resolvedModel
  let _: String = x.versionChecksum
  let _: (NSManagedObjectModel, String) -> NSManagedObjectModelReference =
    NSManagedObjectModelReference.init(model:versionChecksum:)
  let _: (URL, String) -> NSManagedObjectModelReference = NSManagedObjectModelReference.init(
    fileURL:versionChecksum:)
  let _: ([AnyHashable: Any], Bundle?, String) -> NSManagedObjectModelReference =
    NSManagedObjectModelReference.init(entityVersionHashes:in:versionChecksum:)
  let _: (String, Bundle?, String) -> NSManagedObjectModelReference = NSManagedObjectModelReference
    .init(name:in:versionChecksum:)
}
@available(*, deprecated)
private func uses_NSEntityDescription(_ x: NSEntityDescription) throws {
  let _: NSEntityDescription.Type = NSEntityDescription.self
  _ = (x as any NSCoding)
  _ = (x as any NSCopying)
  _ = (x as any Sequence)
  let _: (String, NSManagedObjectContext) -> NSEntityDescription? = NSEntityDescription.entity(
    forEntityName:in:)
  let _: (String, NSManagedObjectContext) -> NSManagedObject = NSEntityDescription.insertNewObject(
    forEntityName:into:)
  let _: NSManagedObjectModel = x.managedObjectModel
  do { let v: String? = x.managedObjectClassName; x.managedObjectClassName = v }
  do { let v: String? = x.name; x.name = v }
  do { let v: Bool = x.isAbstract; x.isAbstract = v }
  let _: [String: NSEntityDescription] = x.subentitiesByName
  do { let v: [NSEntityDescription] = x.subentities; x.subentities = v }
  let _: NSEntityDescription? = x.superentity
  let _: [String: NSPropertyDescription] = x.propertiesByName
  do { let v: [NSPropertyDescription] = x.properties; x.properties = v }
  do { let v: [AnyHashable: Any]? = x.userInfo; x.userInfo = v }
  let _: [String: NSAttributeDescription] = x.attributesByName
  let _: [String: NSRelationshipDescription] = x.relationshipsByName
  let _: (NSEntityDescription) -> [NSRelationshipDescription] = x.relationships(forDestination:)
  let _: (NSEntityDescription) -> Bool = x.isKindOf(entity:)
  let _: Data = x.versionHash
  do { let v: String? = x.versionHashModifier; x.versionHashModifier = v }
  do { let v: String? = x.renamingIdentifier; x.renamingIdentifier = v }
  do { let v: [NSFetchIndexDescription] = x.indexes; x.indexes = v }
  do { let v: [[Any]] = x.uniquenessConstraints; x.uniquenessConstraints = v }
  do { let v: [[Any]] = x.compoundIndexes; x.compoundIndexes = v }
}
@available(*, deprecated)
private func uses_NSPropertyDescription(_ x: NSPropertyDescription) throws {
  let _: NSPropertyDescription.Type = NSPropertyDescription.self
  _ = (x as any NSCoding)
  _ = (x as any NSCopying)
  let _: NSEntityDescription = x.entity
  do { let v: String = x.name; x.name = v }
  do { let v: Bool = x.isOptional; x.isOptional = v }
  do { let v: Bool = x.isTransient; x.isTransient = v }
  let _: [NSPredicate] = x.validationPredicates
  let _: [Any] = x.validationWarnings
  let _: ([NSPredicate]?, [String]?) -> Void = x.setValidationPredicates(_:withValidationWarnings:)
  do { let v: [AnyHashable: Any]? = x.userInfo; x.userInfo = v }
  do { let v: Bool = x.isIndexed; x.isIndexed = v }
  let _: Data = x.versionHash
  do { let v: String? = x.versionHashModifier; x.versionHashModifier = v }
  do { let v: Bool = x.isIndexedBySpotlight; x.isIndexedBySpotlight = v }
  do { let v: Bool = x.isStoredInExternalRecord; x.isStoredInExternalRecord = v }
  do { let v: String? = x.renamingIdentifier; x.renamingIdentifier = v }
}
@available(*, deprecated)
private func uses_NSAttributeType() throws {
  let _: NSAttributeType.Type = NSAttributeType.self
}
@available(*, deprecated)
private func uses_NSAttributeDescription(_ x: NSAttributeDescription) throws {
  let _: NSAttributeDescription.Type = NSAttributeDescription.self
  let _: NSPropertyDescription.Type = NSAttributeDescription.self
  do { let v: NSAttributeType = x.attributeType; x.attributeType = v }
  do { let v: String? = x.attributeValueClassName; x.attributeValueClassName = v }
  do { let v: Any? = x.defaultValue; x.defaultValue = v }
  let _: Data = x.versionHash
  do { let v: String? = x.valueTransformerName; x.valueTransformerName = v }
  do { let v: Bool = x.allowsExternalBinaryDataStorage; x.allowsExternalBinaryDataStorage = v }
  do { let v: Bool = x.preservesValueInHistoryOnDeletion; x.preservesValueInHistoryOnDeletion = v }
  do { let v: Bool = x.allowsCloudEncryption; x.allowsCloudEncryption = v }
  do { let v: NSAttributeDescription.AttributeType = x.type; x.type = v }
}
@available(*, deprecated)
private func uses_NSAttributeDescription_AttributeType() throws {
  let _: NSAttributeDescription.AttributeType.Type = NSAttributeDescription.AttributeType.self
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.undefined
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.integer16
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.integer32
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.integer64
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.decimal
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.double
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.float
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.string
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.boolean
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.date
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.binaryData
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.uuid
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.uri
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.transformable
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.objectID
  let _: NSAttributeDescription.AttributeType = NSAttributeDescription.AttributeType.composite
  let _: (NSAttributeType) -> NSAttributeDescription.AttributeType =
    NSAttributeDescription.AttributeType.init(rawValue:)
}
@available(*, deprecated)
private func uses_NSAttributeDescription_AttributeType_2(
  _ x: NSAttributeDescription.AttributeType
) throws {
  let _: NSAttributeType = x.rawValue
}
@available(*, deprecated)
private func uses_NSDerivedAttributeDescription(_ x: NSDerivedAttributeDescription) throws {
  let _: NSDerivedAttributeDescription.Type = NSDerivedAttributeDescription.self
  let _: NSAttributeDescription.Type = NSDerivedAttributeDescription.self
  do { let v: NSExpression? = x.derivationExpression; x.derivationExpression = v }
}
@available(*, deprecated)
private func uses_NSCompositeAttributeDescription(_ x: NSCompositeAttributeDescription) throws {
  let _: NSCompositeAttributeDescription.Type = NSCompositeAttributeDescription.self
  let _: NSAttributeDescription.Type = NSCompositeAttributeDescription.self
  do { let v: [NSAttributeDescription] = x.elements; x.elements = v }
}
@available(*, deprecated)
private func uses_NSDeleteRule() throws {
  let _: NSDeleteRule.Type = NSDeleteRule.self
}
@available(*, deprecated)
private func uses_NSRelationshipDescription(_ x: NSRelationshipDescription) throws {
  let _: NSRelationshipDescription.Type = NSRelationshipDescription.self
  let _: NSPropertyDescription.Type = NSRelationshipDescription.self
  do { let v: NSEntityDescription? = x.destinationEntity; x.destinationEntity = v }
  do { let v: NSRelationshipDescription? = x.inverseRelationship; x.inverseRelationship = v }
  do { let v: Int = x.maxCount; x.maxCount = v }
  do { let v: Int = x.minCount; x.minCount = v }
  do { let v: NSDeleteRule = x.deleteRule; x.deleteRule = v }
  let _: Bool = x.isToMany
  let _: Data = x.versionHash
  do { let v: Bool = x.isOrdered; x.isOrdered = v }
}
@available(*, deprecated)
private func uses_NSFetchedPropertyDescription(_ x: NSFetchedPropertyDescription) throws {
  do { let v: NSFetchRequest<any NSFetchRequestResult>? = x.fetchRequest; x.fetchRequest = v }
  let _: NSFetchedPropertyDescription.Type = NSFetchedPropertyDescription.self
  let _: NSPropertyDescription.Type = NSFetchedPropertyDescription.self
}
@available(*, deprecated)
private func uses_NSExpressionDescription(_ x: NSExpressionDescription) throws {
  let _: NSExpressionDescription.Type = NSExpressionDescription.self
  let _: NSPropertyDescription.Type = NSExpressionDescription.self
  do { let v: NSExpression? = x.expression; x.expression = v }
  do { let v: NSAttributeType = x.expressionResultType; x.expressionResultType = v }
  do { let v: NSAttributeDescription.AttributeType = x.resultType; x.resultType = v }
}
@available(*, deprecated)
private func uses_NSFetchIndexDescription(_ x: NSFetchIndexDescription) throws {
  let _: NSFetchIndexDescription.Type = NSFetchIndexDescription.self
  _ = (x as any NSCoding)
  _ = (x as any NSCopying)
  let _: (String, [NSFetchIndexElementDescription]?) -> NSFetchIndexDescription =
    NSFetchIndexDescription.init(name:elements:)
  do { let v: String = x.name; x.name = v }
  do { let v: [NSFetchIndexElementDescription] = x.elements; x.elements = v }
  let _: NSEntityDescription? = x.entity
  do { let v: NSPredicate? = x.partialIndexPredicate; x.partialIndexPredicate = v }
}
@available(*, deprecated)
private func uses_NSFetchIndexElementType() throws {
  let _: NSFetchIndexElementType.Type = NSFetchIndexElementType.self
}
@available(*, deprecated)
private func uses_NSFetchIndexElementDescription(_ x: NSFetchIndexElementDescription) throws {
  let _: NSFetchIndexElementDescription.Type = NSFetchIndexElementDescription.self
  _ = (x as any NSCoding)
  _ = (x as any NSCopying)
  let _: (NSPropertyDescription, NSFetchIndexElementType) -> NSFetchIndexElementDescription =
    NSFetchIndexElementDescription.init(property:collationType:)
  let _: NSPropertyDescription? = x.property
  let _: String? = x.propertyName
  do { let v: NSFetchIndexElementType = x.collationType; x.collationType = v }
  do { let v: Bool = x.isAscending; x.isAscending = v }
  let _: NSFetchIndexDescription? = x.indexDescription
}
