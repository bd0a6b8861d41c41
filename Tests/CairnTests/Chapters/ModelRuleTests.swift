// Models and their parts, rule by rule: what a program that builds or inspects one relies on.

import CoreData
import TestSupport
import Testing

/// Chapter 3 of the specification.
@Suite struct ModelRuleTests {
  private func entity(_ name: String, _ properties: [NSPropertyDescription] = [])
    -> NSEntityDescription
  {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  private func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  // MARK: Defaults

  @Test func aNewEntityHasCoreDatasDefaults() {
    let entity = NSEntityDescription()
    #expect(entity.name == nil && entity.managedObjectClassName == "NSManagedObject")
    #expect(!entity.isAbstract && entity.superentity == nil && entity.subentities.isEmpty)
    #expect(entity.properties.isEmpty && entity.propertiesByName.isEmpty)
    #expect(entity.userInfo?.isEmpty ?? true)
    #expect(entity.versionHashModifier == nil && entity.renamingIdentifier == nil)
    #expect(entity.indexes.isEmpty && entity.uniquenessConstraints.isEmpty)
    entity.name = "E"
    #expect(entity.renamingIdentifier == "E")
    entity.managedObjectClassName = "Other"
    entity.managedObjectClassName = nil
    #expect(entity.managedObjectClassName == "NSManagedObject")
  }

  @Test func aNewAttributeHasCoreDatasDefaults() {
    let attribute = NSAttributeDescription()
    #expect(attribute.name == "" && attribute.isOptional && !attribute.isTransient)
    #expect(attribute.attributeType == .undefinedAttributeType && attribute.type == .undefined)
    #expect(attribute.defaultValue == nil && attribute.valueTransformerName == nil)
    #expect(attribute.attributeValueClassName == nil)
    #expect(!attribute.allowsExternalBinaryDataStorage)
    #expect(!attribute.preservesValueInHistoryOnDeletion && !attribute.isIndexedBySpotlight)
    #expect(attribute.validationPredicates.isEmpty && attribute.validationWarnings.isEmpty)
    #expect(attribute.userInfo?.isEmpty ?? true)
    #expect(attribute.versionHashModifier == nil)
    attribute.name = "a"
    #expect(attribute.renamingIdentifier == "a")
    attribute.renamingIdentifier = "old"
    #expect(attribute.renamingIdentifier == "old")
  }

  @Test func aNewRelationshipHasCoreDatasDefaults() {
    let relationship = NSRelationshipDescription()
    #expect(relationship.minCount == 0 && relationship.maxCount == 0 && relationship.isToMany)
    #expect(relationship.deleteRule == .nullifyDeleteRule && !relationship.isOrdered)
    #expect(relationship.isOptional && relationship.destinationEntity == nil)
    #expect(relationship.inverseRelationship == nil)
    relationship.maxCount = 1
    #expect(!relationship.isToMany)
    relationship.maxCount = 5
    #expect(relationship.isToMany)
  }

  @Test func newDescriptionsOfOtherKindsAreEmpty() {
    #expect(NSFetchedPropertyDescription().fetchRequest == nil)
    let column = NSExpressionDescription()
    #expect(column.expression == nil && column.expressionResultType == .undefinedAttributeType)
    #expect(NSDerivedAttributeDescription().derivationExpression == nil)
    let composite = NSCompositeAttributeDescription()
    #expect(composite.elements.isEmpty && composite.attributeType == .compositeAttributeType)
    let index = NSFetchIndexDescription(name: "i", elements: nil)
    #expect(index.elements.isEmpty && index.partialIndexPredicate == nil && index.entity == nil)
    let element = NSFetchIndexElementDescription(
      property: Company.attribute("a", .stringAttributeType), collationType: .binary)
    #expect(element.isAscending && element.indexDescription == nil)
    let model = NSManagedObjectModel()
    #expect(model.versionIdentifiers.isEmpty && model.localizationDictionary?.isEmpty ?? true)
    #expect(model.fetchRequestTemplatesByName.isEmpty && model.entityVersionHashesByName.isEmpty)
  }

  @Test func deleteRulesHaveCoreDatasNumbers() {
    let rules: [NSDeleteRule] = [
      .noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule,
    ]
    #expect(rules.map(\.rawValue) == [0, 1, 2, 3])
  }

  /// The class of each type's values.
  private static let classes: [(NSAttributeType, String?)] = [
    (.integer16AttributeType, "NSNumber"), (.integer32AttributeType, "NSNumber"),
    (.integer64AttributeType, "NSNumber"), (.doubleAttributeType, "NSNumber"),
    (.floatAttributeType, "NSNumber"), (.booleanAttributeType, "NSNumber"),
    (.decimalAttributeType, "NSDecimalNumber"), (.stringAttributeType, "NSString"),
    (.dateAttributeType, "NSDate"), (.binaryDataAttributeType, "NSData"),
    (.UUIDAttributeType, "NSUUID"), (.URIAttributeType, "NSURL"),
    (.transformableAttributeType, nil),
  ]

  @Test(arguments: classes)
  func theValueClassFollowsTheType(_ type: NSAttributeType, _ name: String?) {
    let attribute = NSAttributeDescription()
    attribute.attributeType = type
    #expect(attribute.attributeValueClassName == name)
    attribute.attributeValueClassName = "Color"
    #expect(attribute.attributeValueClassName == "Color")
  }

  // MARK: Entities

  @Test func anEntityIsOfTheKindOfItsTwinInACopyOfTheModel() throws {
    func family() throws -> (model: NSManagedObjectModel, [NSEntityDescription]) {
      let names = ["Top", "Middle", "Bottom"]
      let all = names.map { entity($0, [Company.attribute($0, .stringAttributeType)]) }
      all[0].subentities = [all[1]]
      all[1].subentities = [all[2]]
      return (model(all), all)
    }
    let (one, a) = try family()
    let (two, b) = try family()
    defer { withExtendedLifetime((one, two)) {} }
    let copy = try #require(one.copy() as? NSManagedObjectModel)
    for (first, second) in [(a, a), (a, b), (b, a)] {
      #expect(first[2].isKindOf(entity: second[0]) && first[2].isKindOf(entity: second[2]))
      #expect(!first[0].isKindOf(entity: second[2]) && !first[1].isKindOf(entity: second[2]))
    }
    let bottom = try #require(copy.entitiesByName["Bottom"])
    #expect(bottom.isKindOf(entity: a[0]) && a[2].isKindOf(entity: bottom))
    // Another version of an entity is another entity.
    let (third, changed) = try family()
    defer { withExtendedLifetime(third) {} }
    changed[0].properties += [Company.attribute("more", .stringAttributeType)]
    #expect(!a[2].isKindOf(entity: changed[0]))
  }

  @Test func aClassFindsItsEntityAmongObjectsOfAnotherCopyOfItsModel() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      let copy = Company.model()
      #expect(clerk.entity.isKindOf(entity: try #require(copy.entitiesByName["Clerk"])))
      #expect(!clerk.entity.isKindOf(entity: try #require(copy.entitiesByName["Office"])))
      // An entity whose model has gone is compared with nobody, and can still be printed.
      let orphan = try #require(Company.model().entitiesByName["Clerk"])
      #expect(!clerk.entity.isKindOf(entity: orphan))
      #expect("\(orphan)".contains("destination entity (null)"))
    }
  }

  @Test func constraintsAreGivenAsNamesOrDescriptionsAndComeBackAsNames() {
    let code = Company.attribute("code", .stringAttributeType)
    let area = Company.attribute("area", .stringAttributeType)
    let entity = entity("E", [code, area])
    entity.uniquenessConstraints = [[code], ["code", area]]
    #expect(entity.uniquenessConstraints as? [[String]] == [["code"], ["code", "area"]])
  }

  @Test func warningsAreAsManyAsPredicates() async {
    let attribute = Company.attribute("a", .integer32AttributeType)
    attribute.setValidationPredicates(
      [NSPredicate(format: "SELF > 0")], withValidationWarnings: ["too small"])
    #expect(attribute.validationPredicates.map(\.predicateFormat) == ["SELF > 0"])
    #expect(attribute.validationWarnings as? [String] == ["too small"])
    attribute.setValidationPredicates(nil, withValidationWarnings: nil)
    #expect(attribute.validationPredicates.isEmpty)
    await #expect(processExitsWith: .failure) {
      let attribute = NSAttributeDescription()
      attribute.setValidationPredicates(
        [NSPredicate(format: "SELF > 0")], withValidationWarnings: [])
    }
  }

  // MARK: Text

  @Test func aModelsTextListsItsEntitiesWithTheirProperties() throws {
    let model = Company.model(extra: "email")
    model.setFetchRequestTemplate(
      NSFetchRequest<any NSFetchRequestResult>(entityName: "Clerk"), forName: "everybody")
    let text = "\(model)"
    #expect(text.hasPrefix("(<NSManagedObjectModel: 0x"))
    for part in [
      "isEditable 1, entities {", "Clerk = \"(<NSEntityDescription: 0x",
      "name Office, managedObjectClassName \(NSStringFromClass(Office.self))",
      "renamingIdentifier Clerk, isAbstract 0, superentity name (null)",
      "email = \"(<NSAttributeDescription: 0x", "attributeType 700",
      "attributeValueClassName NSString", "defaultValue Nobody",
      "destination entity Office, inverseRelationship clerks, minCount 0, maxCount 1",
      "deleteRule 2", "fetch request templates {", "everybody",
    ] {
      #expect(text.contains(part), "\(part) is missing in \(text)")
    }
    #expect(model.debugDescription == text)
    let clerk = try #require(model.entitiesByName["Clerk"])
    #expect(clerk.description.hasPrefix("(<NSEntityDescription: 0x"))
    let office = try #require(clerk.relationshipsByName["office"])
    #expect(office.description.contains("name office, isOptional 1, isTransient 0, entity Clerk"))
    _ = try Company.coordinator(model: model)
    #expect("\(model)".contains("isEditable 0"))
  }

  // MARK: Transformables

  @Test func aChangeInsideATransformableValueIsNotSeen() throws {
    try TemporaryFolder.with { folder in
      let context = Company.context(
        try Company.coordinator(NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite")))
      try context.performAndWait { () throws -> Void in
        let clerk = try Company.clerk("Ada", in: context)
        let tags = NSMutableArray(array: ["a"])
        clerk.setValue(tags, forKey: "tags")
        try context.save()
        tags.add("b")
        #expect(!context.hasChanges && !clerk.hasChanges)
        context.refresh(clerk, mergeChanges: false)
        #expect(clerk.value(forKey: "tags") as? [String] == ["a"])
        clerk.setValue(["a", "b"], forKey: "tags")
        try context.save()
        context.refresh(clerk, mergeChanges: false)
        #expect(clerk.value(forKey: "tags") as? [String] == ["a", "b"])
      }
    }
  }

  @Test(arguments: ["NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromData"])
  func storesKeepTransformablesUnderFoundationsNames(_ name: String) throws {
    try TemporaryFolder.with { folder in
      let model = Company.model()
      model.entitiesByName["Clerk"]?.attributesByName["tags"]?.valueTransformerName = name
      let context = Company.context(
        try Company.coordinator(
          NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"), model: model))
      try context.performAndWait { () throws -> Void in
        let clerk = try Company.clerk("Ada", in: context)
        clerk.setValue(["k": [1, 2]], forKey: "tags")
        try context.save()
        context.reset()
        let read = try context.fetch(NSFetchRequest<Clerk>(entityName: "Clerk")).first
        #expect((read?.value(forKey: "tags") as? [String: [Int]]) == ["k": [1, 2]])
      }
    }
  }

  @Test func whatHasNoTransformerFailsTheSaveWithItsName() throws {
    let model = Company.model()
    model.entitiesByName["Clerk"]?.attributesByName["tags"]?.valueTransformerName =
      "NSUnarchiveFromData"
    try TemporaryFolder.with { folder in
      let context = Company.context(
        try Company.coordinator(
          NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"), model: model))
      try context.performAndWait { () throws -> Void in
        let clerk = try Company.clerk("Ada", in: context)
        clerk.setValue(["a"], forKey: "tags")
        let error = try #require(Company.error { try context.save() })
        #expect("\(error)".contains("NSUnarchiveFromData") && "\(error)".contains("tags"))
        #expect(clerk.isInserted)
      }
    }
  }
}
