// Mapping models, managers, policies and stages as programs use them.

import CoreData
import TestSupport
import Testing

/// Asks its manager everything while it migrates clerks.
final class ClerkPolicy: NSEntityMigrationPolicy {
  /// What the manager answered; the manager of a test carries it.
  final class Notes {
    var calls: [String] = []
    var answers: [Bool] = []
  }
  private func notes(_ manager: NSMigrationManager) -> Notes? {
    manager.userInfo?["notes"] as? Notes
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    try super.begin(mapping, with: manager)
    notes(manager)?.calls.append("begin")
    notes(manager)?.answers += [
      manager.currentEntityMapping === mapping,
      manager.mappingModel.entityMappingsByName[mapping.name ?? ""] === mapping,
      manager.sourceEntity(for: mapping)?.managedObjectModel === manager.sourceModel,
      manager.destinationEntity(for: mapping)?.managedObjectModel === manager.destinationModel,
    ]
  }
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    notes(manager)?.calls.append("create")
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    notes(manager)?.answers += [
      sInstance.managedObjectContext === manager.sourceContext,
      made.first?.managedObjectContext === manager.destinationContext,
    ]
    made.first?.setValue("migrated", forKey: "more")
  }
  override func endInstanceCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.endInstanceCreation(forMapping: mapping, manager: manager)
    notes(manager)?.calls.append("created")
  }
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    notes(manager)?.calls.append("relate")
    let origin = manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance])
    notes(manager)?.answers += [
      origin.first?.value(forKey: "name") as? String == dInstance.value(forKey: "name") as? String
    ]
  }
  override func endRelationshipCreation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.endRelationshipCreation(forMapping: mapping, manager: manager)
    notes(manager)?.calls.append("related")
  }
  override func performCustomValidation(
    forMapping mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.performCustomValidation(forMapping: mapping, manager: manager)
    notes(manager)?.calls.append("validate")
  }
  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try super.end(mapping, manager: manager)
    notes(manager)?.calls.append("end")
  }
}

/// Chapters 22 and II.10 of the specification.
@Suite struct MigrationClassTests {
  private func store(in folder: URL) throws -> URL {
    let file = folder.appendingPathComponent("old.sqlite")
    let coordinator = try Company.coordinator(NSSQLiteStoreType, at: file)
    let context = Company.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let office = Office(context: context)
      office.setValue("Main", forKey: "name")
      try Company.clerk("Ada", in: context).setValue(office, forKey: "office")
      try context.save()
    }
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    return file
  }

  @Test func aPolicyIsAskedInThreePassesAndKnowsItsManager() throws {
    try TemporaryFolder.with { folder in
      let file = try store(in: folder)
      let source = Company.model()
      let destination = Company.model(extra: "more")
      let mapping = try NSMappingModel.inferredMappingModel(
        forSourceModel: source, destinationModel: destination)
      let clerks = try #require(
        mapping.entityMappings.first { $0.destinationEntityName == "Clerk" })
      #expect(clerks.mappingType == NSEntityMappingType.transformEntityMappingType)
      #expect(clerks.sourceEntityVersionHash == source.entityVersionHashesByName["Clerk"])
      #expect(clerks.destinationEntityVersionHash == destination.entityVersionHashesByName["Clerk"])
      #expect(clerks.sourceExpression?.predicateText.hasPrefix("FETCH(") == true)
      #expect(clerks.relationshipMappings?.map(\.name) == ["office"])
      clerks.mappingType = .customEntityMappingType
      clerks.entityMigrationPolicyClassName = NSStringFromClass(ClerkPolicy.self)

      let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
      manager.usesStoreSpecificMigrationManager = false
      let notes = ClerkPolicy.Notes()
      manager.userInfo = ["notes": notes]
      let new = folder.appendingPathComponent("new.sqlite")
      try manager.migrateStore(
        from: file, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
        toDestinationURL: new, destinationType: NSSQLiteStoreType, destinationOptions: nil)
      #expect(
        notes.calls == ["begin", "create", "created", "relate", "related", "validate", "end"])
      #expect(notes.answers == Array(repeating: true, count: 7))
      #expect(manager.migrationProgress == 1)

      let opened = Company.context(
        try Company.coordinator(NSSQLiteStoreType, at: new, model: destination))
      try opened.performAndWait { () throws -> Void in
        let clerk = try #require(try opened.fetch(NSFetchRequest<Clerk>(entityName: "Clerk")).first)
        #expect(clerk.value(forKey: "more") as? String == "migrated")
        #expect(clerk.value(forKeyPath: "office.name") as? String == "Main")
      }
      // Nothing is left of it in the manager, and the program has no mapping model of its own.
      manager.reset()
      #expect(manager.mappingModel.entityMappings.isEmpty && manager.migrationProgress == 0)
      #expect(
        NSMappingModel(from: [Bundle.main], forSourceModel: source, destinationModel: destination)
          == nil)
    }
  }

  @Test func whatCannotBeInferredIsAnErrorOfItsOwn() throws {
    let changed = Company.model()
    let age = changed.entitiesByName["Clerk"]?.attributesByName["age"]
    age?.attributeType = .stringAttributeType
    age?.defaultValue = nil
    let thrown = Company.error {
      _ = try NSMappingModel.inferredMappingModel(
        forSourceModel: Company.model(), destinationModel: changed)
    }
    #expect(thrown?.code == NSInferredMappingModelError && thrown?.userInfo["reason"] != nil)
  }

  @Test func stagesAreRunInOrderWithTheirHandlers() throws {
    try TemporaryFolder.with { folder in
      let file = try store(in: folder)
      let models = [Company.model(), Company.model(extra: "more"), Company.model(extra: "most")]
      func reference(_ number: Int) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(
          model: models[number], versionChecksum: models[number].versionChecksum)
      }
      let custom = NSCustomMigrationStage(migratingFrom: reference(0), to: reference(1))
      custom.label = "more"
      #expect(custom.currentModel.versionChecksum == models[0].versionChecksum)
      #expect(custom.nextModel.resolvedModel.entityVersionHashesByName["Clerk"] != nil)
      var heard: [String] = []
      custom.willMigrateHandler = { manager, stage in
        heard.append("will \(stage.label ?? "") \(manager.container != nil)")
      }
      custom.didMigrateHandler = { manager, stage in
        heard.append("did \(stage.label ?? "")")
        let context = try #require(manager.container).newBackgroundContext()
        try context.performAndWait { () throws -> Void in
          for clerk in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Clerk")) {
            clerk.setValue("x", forKey: "more")
          }
          try context.save()
        }
      }
      let checksums = [models[1].versionChecksum, models[2].versionChecksum]
      let light = NSLightweightMigrationStage(checksums)
      #expect(light.versionChecksums == checksums && light.label == nil)
      let stages: [NSMigrationStage] = [custom, light]
      let manager = NSStagedMigrationManager(stages)
      #expect(manager.stages == stages && manager.container == nil)

      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: file,
        options: [
          NSMigratePersistentStoresAutomaticallyOption: true,
          NSInferMappingModelAutomaticallyOption: true,
          NSPersistentStoreStagedMigrationManagerOptionKey: manager,
        ], model: models[2])
      #expect(heard == ["will more true", "did more"])
      let context = Company.context(coordinator)
      #expect(try context.performAndWait { try Company.names(in: context) } == ["Ada"])
    }
  }
}

extension NSExpression {
  /// The expression as it is printed.
  fileprivate var predicateText: String { "\(self)" }
}
