// Every verb of coordinators and containers throws errors that Core Data's clients can catch.

import Cairn
import CoreData
import TestSupport
import Testing

/// Chapters 2.5, 20 and II.1 of the specification: domain, code and user info, caught as `NSError`
/// and as `CocoaError`.
@Suite struct CoordinatorErrorTests {
  /// Expects a code in Cocoa's domain, caught both ways.
  private func expect(
    _ code: CocoaError.Code, _ location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    do {
      try body()
      Issue.record("nothing was thrown", sourceLocation: location)
    } catch let error as NSError {
      #expect(error.domain == NSCocoaErrorDomain, sourceLocation: location)
      #expect(error.code == code.rawValue, "\(error)", sourceLocation: location)
      #expect(!error.localizedDescription.isEmpty, sourceLocation: location)
      #expect((error as? CocoaError)?.code == code, sourceLocation: location)
    } catch {
      Issue.record("\(error) cannot be caught as NSError", sourceLocation: location)
    }
  }

  @Test func addingAStoreThatCannotBe() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let coordinator = try Company.coordinator(NSSQLiteStoreType, at: file)
      expect(.persistentStoreOpen) {
        try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      }
      expect(.persistentStoreInvalidType) {
        try coordinator.addPersistentStore(ofType: "Paper", configurationName: nil, at: file)
      }
      let other = NSPersistentStoreCoordinator(managedObjectModel: Company.model(extra: "more"))
      expect(.persistentStoreIncompatibleVersionHash) {
        try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      }
      expect(.persistentStoreIncompatibleSchema) {
        try coordinator.addPersistentStore(
          ofType: NSInMemoryStoreType, configurationName: "Nothing", at: nil)
      }
      expect(.persistentStoreOpen) {
        try coordinator.addPersistentStore(
          type: .sqlite, at: folder.appendingPathComponent("no/folder.sqlite"))
      }
    }
  }

  @Test func aModelThatCannotBeUsed() throws {
    let entity = NSEntityDescription()
    entity.name = "E"
    entity.properties = [Company.attribute("a", .undefinedAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    expect(.persistentStoreIncompatibleSchema) {
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
    let container = NSPersistentContainer(name: "Bad", managedObjectModel: model)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var told: (any Error)?
    container.loadPersistentStores(completionHandler: { _, error in told = error })
    // Cairn's own error is there as well, with every problem.
    #expect((told as? ModelError)?.problems.isEmpty == false)
    expect(.persistentStoreIncompatibleSchema) { if let told { throw told } }
  }

  @Test func verbsAboutStoresOfOthers() throws {
    try TemporaryFolder.with { folder in
      let coordinator = try Company.coordinator()
      let other = try Company.coordinator()
      let store = try #require(other.persistentStores.first)
      expect(.coreData) { try coordinator.remove(store) }
      expect(.coreData) {
        try coordinator.migratePersistentStore(
          store, to: folder.appendingPathComponent("b"), options: nil, withType: NSXMLStoreType)
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Clerk")
      expect(.coreData) { _ = try coordinator.execute(request, with: Company.context(other)) }
    }
  }

  @Test func verbsAboutFiles() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      expect(.persistentStoreInvalidType) {
        try coordinator.destroyPersistentStore(at: file, ofType: "Paper", options: nil)
      }
      expect(.persistentStoreInvalidType) {
        try coordinator.replacePersistentStore(
          at: file, destinationOptions: nil,
          withPersistentStoreFrom: folder.appendingPathComponent("b.sqlite"), sourceOptions: nil,
          ofType: "Paper")
      }
    }
  }

  @Test func verbsAboutFilesThatAreNoStores() throws {
    try TemporaryFolder.with { folder in
      let text = folder.appendingPathComponent("text")
      try Data("no store".utf8).write(to: text)
      let unreadable = Company.error {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
          ofType: NSXMLStoreType, at: text, options: nil)
      }
      #expect(unreadable?.domain == NSCocoaErrorDomain)
      let unchangeable = Company.error {
        try NSPersistentStoreCoordinator.setMetadata(
          ["a": "b"], forPersistentStoreOfType: NSSQLiteStoreType, at: text, options: nil)
      }
      #expect(unchangeable?.domain == NSCocoaErrorDomain)
      expect(.coreData) { _ = try NSPersistentStore.metadataForPersistentStore(with: text) }
      expect(.coreData) { try NSPersistentStore.setMetadata([:], forPersistentStoreAt: text) }
    }
  }

  @Test func verbsOfContexts() throws {
    let coordinator = try Company.coordinator()
    let context = Company.context(coordinator)
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    child.performAndWait { () -> Void in
      expect(.coreData) { try child.setQueryGenerationFrom(.current) }
    }
    context.performAndWait { () -> Void in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Nobody")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
        cacheName: nil)
      let thrown = Company.error { try controller.performFetch() }
      #expect(thrown?.domain == NSCocoaErrorDomain)
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Clerk")
    expect(.coreData) { _ = try request.execute() }
  }

  @Test func whatAnErrorTellsIsReadThroughCocoaError() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      clerk.setValue(nil, forKey: "name")
      let thrown = try #require(Company.error { try context.save() })
      let error = try #require(thrown as? CocoaError)
      #expect(error.code == .validationMissingMandatoryProperty)
      #expect(error.validationKey == "name" && error.validationValue == nil)
      #expect(error.validationObject as? Clerk === clerk)
      clerk.setValue("Ada", forKey: "name")

      let old = try #require(
        clerk.entity.attributesByName["age"]?.copy() as? NSAttributeDescription)
      let adult = NSPredicate(format: "SELF >= 18")
      old.setValidationPredicates([adult], withValidationWarnings: ["too young"])
      let model = Company.model()
      let entity = try #require(model.entitiesByName["Clerk"])
      entity.properties = entity.properties.map { $0.name == "age" ? old : $0 }
      let strict = Company.context(try Company.coordinator(model: model))
      try strict.performAndWait { () throws -> Void in
        _ = try Company.clerk("Bea", age: 3, in: strict)
        let refused = try #require(Company.error { try strict.save() } as? CocoaError)
        #expect(refused.code == .managedObjectValidation)
        #expect(refused.validationValue as? Int == 3)
        #expect(refused.validationPredicate == adult)
      }
    }
  }

  @Test func conflictsAreInTheErrorOfASave() throws {
    let coordinator = try Company.coordinator()
    let first = Company.context(coordinator)
    let second = Company.context(coordinator)
    let id = try first.performAndWait { () throws -> NSManagedObjectID in
      let clerk = try Company.clerk("Ada", in: first)
      try first.save()
      return clerk.objectID
    }
    try second.performAndWait { () throws -> Void in
      let clerk = try second.existingObject(with: id)
      try first.performAndWait { () throws -> Void in
        first.object(with: id).setValue("Bea", forKey: "name")
        try first.save()
      }
      clerk.setValue("Cem", forKey: "name")
      let thrown = try #require(Company.error { try second.save() } as? CocoaError)
      #expect(thrown.code == .managedObjectMerge)
      let conflict = try #require(thrown.persistentStoreSaveConflicts?.first)
      #expect(conflict.sourceObject === clerk)
      #expect(conflict.objectSnapshot?["name"] as? String == "Ada")
      #expect(conflict.cachedSnapshot?["name"] as? String == "Bea")
      #expect(conflict.persistedSnapshot == nil && conflict.newVersionNumber > 0)
    }
    // The object that has gone is in the error of the caller that asks for it.
    try first.performAndWait { () throws -> Void in
      first.delete(first.object(with: id))
      try first.save()
      let missing = try #require(
        Company.error { _ = try first.existingObject(with: id) } as? CocoaError)
      #expect(missing.code == .managedObjectReferentialIntegrity)
      #expect(missing.affectedObjects?.count == 1)
    }
  }
}
