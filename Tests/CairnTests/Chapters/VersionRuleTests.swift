// Versions of models and what leads from one to the next, rule by rule.

import CoreData
import TestSupport
import Testing

/// Chapter 22 of the specification; inference is shown in `CairnModelTests/Versioning`, passes and
/// stages in `CairnMigrationTests`.
@Suite struct VersionRuleTests {
  private func changed(_ change: (NSManagedObjectModel) throws -> Void) rethrows
    -> NSManagedObjectModel
  {
    let model = Company.model()
    try change(model)
    return model
  }

  private func metadata(of model: NSManagedObjectModel) -> [String: Any] {
    [NSStoreModelVersionHashesKey: model.entityVersionHashesByName]
  }

  // MARK: 22.1

  /// What is no part of the hashes.
  private static let harmless: [(String, @Sendable (NSManagedObjectModel) -> Void)] = [
    ("class", { $0.entitiesByName["Clerk"]?.managedObjectClassName = "Other" }),
    ("user info", { $0.entitiesByName["Clerk"]?.userInfo = ["a": 1] }),
    (
      "user info of a property",
      { $0.entitiesByName["Clerk"]?.propertiesByName["name"]?.userInfo = ["a": 1] }
    ),
    ("default", { $0.entitiesByName["Clerk"]?.attributesByName["age"]?.defaultValue = 7 }),
    (
      "validation",
      {
        $0.entitiesByName["Clerk"]?.attributesByName["age"]?.setValidationPredicates(
          [NSPredicate(format: "SELF > 0")], withValidationWarnings: ["x"])
      }
    ),
    (
      "delete rule",
      { $0.entitiesByName["Office"]?.relationshipsByName["clerks"]?.deleteRule = .denyDeleteRule }
    ),
    ("localization", { $0.localizationDictionary = ["Entity/Clerk": "Angestellte"] }),
    (
      "template",
      {
        $0.setFetchRequestTemplate(
          NSFetchRequest<any NSFetchRequestResult>(entityName: "Clerk"), forName: "all")
      }
    ),
    (
      "spotlight",
      { $0.entitiesByName["Clerk"]?.attributesByName["name"]?.isIndexedBySpotlight = true }
    ),
    (
      "index",
      { model in
        guard let name = model.entitiesByName["Clerk"]?.propertiesByName["name"] else { return }
        let element = NSFetchIndexElementDescription(property: name, collationType: .binary)
        model.entitiesByName["Clerk"]?.indexes = [
          NSFetchIndexDescription(name: "byName", elements: [element])
        ]
      }
    ),
    ("identifiers", { $0.versionIdentifiers = ["2"] }),
    (
      "renaming identifier",
      { $0.entitiesByName["Clerk"]?.attributesByName["age"]?.renamingIdentifier = "years" }
    ),
  ]

  @Test func whatStoresDoNotHoldIsNoPartOfTheHashes() throws {
    let before = Company.model()
    for (what, change) in Self.harmless {
      let after = changed(change)
      #expect(after.entityVersionHashesByName == before.entityVersionHashesByName, "\(what)")
      #expect(
        after.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata(of: before)),
        "\(what)")
    }
  }

  /// What is part of the hashes of clerks.
  private static let harmful: [(String, @Sendable (NSManagedObjectModel) -> Void)] = [
    ("optional", { $0.entitiesByName["Clerk"]?.propertiesByName["name"]?.isOptional = true }),
    ("transient", { $0.entitiesByName["Clerk"]?.propertiesByName["age"]?.isTransient = true }),
    (
      "type",
      {
        let age = $0.entitiesByName["Clerk"]?.attributesByName["age"]
        age?.attributeType = .integer64AttributeType
      }
    ),
    ("name", { $0.entitiesByName["Clerk"]?.propertiesByName["age"]?.name = "years" }),
    (
      "modifier",
      { $0.entitiesByName["Clerk"]?.propertiesByName["age"]?.versionHashModifier = "2" }
    ),
    ("modifier of the entity", { $0.entitiesByName["Clerk"]?.versionHashModifier = "2" }),
    ("abstract", { $0.entitiesByName["Clerk"]?.isAbstract = true }),
    ("constraint", { $0.entitiesByName["Clerk"]?.uniquenessConstraints = [["name"]] }),
    ("count", { $0.entitiesByName["Clerk"]?.relationshipsByName["office"]?.maxCount = 2 }),
    ("property", { $0.entitiesByName["Clerk"]?.properties.removeAll { $0.name == "age" } }),
  ]

  @Test func whatStoresHoldIsPartOfTheHashes() throws {
    let before = Company.model()
    for (what, change) in Self.harmful {
      let after = changed(change)
      #expect(
        after.entityVersionHashesByName["Clerk"] != before.entityVersionHashesByName["Clerk"],
        "\(what)")
      #expect(after.versionChecksum != before.versionChecksum, "\(what)")
      #expect(
        !after.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata(of: before)),
        "\(what)")
    }
    #expect(before.entityVersionHashesByName.values.allSatisfy { $0.count == 32 })
    #expect(Data(base64Encoded: before.versionChecksum)?.count == 32)
  }

  @Test func aConfigurationIsComparedByItsOwnEntities() throws {
    let before = Company.model()
    let after = try changed { model in
      model.setEntities([try #require(model.entitiesByName["Clerk"])], forConfigurationName: "C")
      model.setEntities([try #require(model.entitiesByName["Office"])], forConfigurationName: "O")
      model.entitiesByName["Clerk"]?.versionHashModifier = "2"
    }
    func fits(_ name: String?) -> Bool {
      after.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata(of: before))
    }
    #expect(!fits(nil) && !fits("C") && fits("O"))
  }

  @Test func aStoreOfAnotherVersionIsOpenedOnlyWhenVersioningIsIgnored() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      let first = try Company.coordinator(NSSQLiteStoreType, at: url)
      try first.remove(try #require(first.persistentStores.first))
      let next = Company.model(extra: "more")
      let error = Company.error {
        _ = try Company.coordinator(NSSQLiteStoreType, at: url, model: next)
      }
      #expect(error?.domain == NSCocoaErrorDomain)
      #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
      #expect((error?.userInfo["reason"] as? String)?.contains("PF_DEFAULT") == true)
      let stored = error?.userInfo["metadata"] as? [String: Any]
      #expect(stored?[NSStoreModelVersionHashesKey] != nil && stored?[NSStoreTypeKey] != nil)
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: url, options: [NSIgnorePersistentStoreVersioningOption: true],
        model: next)
      #expect(coordinator.persistentStores.count == 1)
    }
  }

  // MARK: 22.2 and 22.3

  /// A store of the first version with one clerk, and the error of opening it with another model.
  private func opening(
    _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]
  ) throws -> NSError? {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("a.sqlite")
      let first = try Company.coordinator(NSSQLiteStoreType, at: url)
      let context = Company.context(first)
      try context.performAndWait { () throws -> Void in
        _ = try Company.clerk("Ada", in: context)
        try context.save()
      }
      try first.remove(try #require(first.persistentStores.first))
      let error = Company.error {
        _ = try Company.coordinator(NSSQLiteStoreType, at: url, options: options, model: model)
      }
      // Whatever failed, the store is as it was.
      if error != nil {
        let again = Company.context(try Company.coordinator(NSSQLiteStoreType, at: url))
        #expect(try again.performAndWait { try Company.names(in: again) } == ["Ada"])
      }
      return error
    }
  }

  private let both: [AnyHashable: Any] = [
    NSMigratePersistentStoresAutomaticallyOption: true,
    NSInferMappingModelAutomaticallyOption: true,
  ]

  @Test func withoutInferenceTheMissingMappingIsNamedWithBothModels() throws {
    let next = Company.model(extra: "more")
    let error = try opening(next, [NSMigratePersistentStoresAutomaticallyOption: true])
    #expect(error?.code == NSMigrationMissingMappingModelError)
    #expect(error?.userInfo["reason"] as? String == "Can't find mapping model for migration")
    #expect(error?.userInfo["destinationModel"] as? NSManagedObjectModel === next)
    #expect(error?.userInfo["sourceModel"] as? NSManagedObjectModel == Company.model())
  }

  @Test func aNewMandatoryAttributeWithoutDefaultIsNamed() throws {
    let next = changed {
      let code = Company.attribute("code", .stringAttributeType, optional: false)
      $0.entitiesByName["Clerk"]?.properties += [code]
    }
    let error = try opening(next, both)
    #expect(error?.code == NSMigrationError)
    #expect(error?.userInfo["attribute"] as? String == "code")
    #expect(error?.userInfo["entity"] as? String == "Clerk")
    let reason = error?.userInfo["reason"] as? String
    #expect(
      reason?.contains("Validation error missing attribute values on mandatory destination") == true
    )
  }

  @Test func aNewMandatoryAttributeTakesItsDefault() throws {
    let next = changed {
      let code = Company.attribute("code", .stringAttributeType, optional: false, default: "none")
      $0.entitiesByName["Clerk"]?.properties += [code]
    }
    #expect(try opening(next, both) == nil)
  }

  @Test func whatCannotBeInferredSaysWhy() throws {
    let next = changed {
      let age = $0.entitiesByName["Clerk"]?.attributesByName["age"]
      age?.attributeType = .stringAttributeType
      age?.defaultValue = nil
    }
    let error = try opening(next, both)
    #expect(error?.code == NSInferredMappingModelError)
    #expect((error?.userInfo["reason"] as? String)?.contains("age") == true)
  }

  // MARK: 22.4 to 22.8

  @Test func newMappingsAreEmpty() {
    let mapping = NSEntityMapping()
    #expect(mapping.name == nil && mapping.mappingType == .undefinedEntityMappingType)
    #expect(mapping.sourceEntityName == nil && mapping.destinationEntityName == nil)
    #expect(mapping.sourceEntityVersionHash == nil && mapping.destinationEntityVersionHash == nil)
    #expect(mapping.attributeMappings?.isEmpty ?? true)
    #expect(mapping.relationshipMappings?.isEmpty ?? true)
    #expect(mapping.sourceExpression == nil && mapping.entityMigrationPolicyClassName == nil)
    #expect(mapping.userInfo?.isEmpty ?? true)
    let property = NSPropertyMapping()
    #expect(property.name == nil && property.valueExpression == nil)
    #expect(property.userInfo?.isEmpty ?? true)
    #expect(NSMappingModel(contentsOf: URL(fileURLWithPath: "/nonexistent.cdm")) == nil)
    #expect(NSMappingModel(contentsOf: nil) == nil)
  }

  @Test func mappingTypesHaveCoreDatasNumbers() {
    let types: [NSEntityMappingType] = [
      .undefinedEntityMappingType, .customEntityMappingType, .addEntityMappingType,
      .removeEntityMappingType, .copyEntityMappingType, .transformEntityMappingType,
    ]
    #expect(types.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
  }

  @Test func inferredMappingsFetchEverySourceObjectAndFollowRelationships() throws {
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Company.model(), destinationModel: Company.model(extra: "more"))
    let clerks = try #require(mapping.entityMappingsByName["IEM_Transform_Clerk"])
    #expect(mapping.entityMappingsByName["IEM_Copy_Office"]?.mappingType == .copyEntityMappingType)
    #expect(
      clerks.sourceExpression.map { "\($0)" }
        == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\" , "
        + "\"Clerk\", \"TRUEPREDICATE\"), $manager.sourceContext, NO)")
    let attributes = Dictionary(
      uniqueKeysWithValues: (clerks.attributeMappings ?? []).map { ($0.name ?? "", $0) })
    #expect(attributes["name"]?.valueExpression?.description == "$source.name")
    #expect(Set(attributes.keys) == ["name", "age", "tags", "more"])
    #expect(clerks.relationshipMappings?.map(\.name) == ["office"])
  }

  @Test func aNewManagerHasDoneNothing() {
    let (source, destination) = (Company.model(), Company.model(extra: "more"))
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    #expect(manager.usesStoreSpecificMigrationManager && manager.migrationProgress == 0)
    #expect(manager.sourceModel === source && manager.destinationModel === destination)
    #expect(manager.userInfo?.isEmpty ?? true)
  }
}
