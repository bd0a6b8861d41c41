// Stores of a coordinator in Apple's words: adding, facts, metadata, files and routing.

import CoreData
import Synchronization
import TestSupport
import Testing

/// Chapters 20.1 to 20.4 of the specification, as programs use them.
///
/// See also `StoreOpeningTests`, `CoordinatorVerbTests`, `CoordinatorErrorTests`, `StoreFileTests`
/// and `StoreMovingTests`.
@Suite struct StoreRuleTests {
  static let fileTypes = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]

  /// Two configurations: offices in one, clerks in both.
  private static func model() -> NSManagedObjectModel {
    let model = Company.model()
    let clerk = model.entitiesByName["Clerk"]
    let office = model.entitiesByName["Office"]
    model.setEntities([clerk, office].compactMap(\.self), forConfigurationName: "All")
    model.setEntities([clerk].compactMap(\.self), forConfigurationName: "Clerks")
    return model
  }

  private func save(
    _ names: [String], to coordinator: NSPersistentStoreCoordinator
  ) throws {
    let context = Company.context(coordinator)
    try context.performAndWait { () throws -> Void in
      for name in names { _ = try Company.clerk(name, in: context) }
      try context.save()
    }
  }

  private func names(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
    let context = Company.context(coordinator)
    return try context.performAndWait { try Company.names(in: context) }
  }

  // MARK: 20.1

  @Test(arguments: fileTypes)
  func anAddedStoreTellsWhatItIs(type: String) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      let options = [NSPersistentStoreTimeoutOption: 3 as NSNumber]
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: "Clerks", at: file, options: options)
      #expect(store.type == type && store.url == file && !store.isReadOnly)
      #expect(store.configurationName == "Clerks")
      #expect(store.options?[NSPersistentStoreTimeoutOption] as? Int == 3)
      #expect(store.persistentStoreCoordinator === coordinator)
      #expect(UUID(uuidString: store.identifier ?? "") != nil)
      #expect(store.metadata[NSStoreTypeKey] as? String == type)
      #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
      #expect(store.metadata[NSStoreModelVersionHashesKey] as? [String: Data] != nil)
      #expect(store.metadata[NSStoreModelVersionIdentifiersKey] as? [String] != nil)
      try coordinator.remove(store)
      #expect(store.persistentStoreCoordinator == nil)
    }
  }

  @Test func theDefaultConfigurationHasItsName() throws {
    let coordinator = try Company.coordinator()
    #expect(
      coordinator.persistentStores.first?.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
  }

  @Test func aStoreOfAConfigurationHasTablesOfAllEntities() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: "Clerks", at: file)
      try coordinator.remove(store)
      // So it can be opened for all of them.
      let whole = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: "All", at: file)
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let office = NSEntityDescription.insertNewObject(forEntityName: "Office", into: context)
        try context.save()
        #expect(office.objectID.persistentStore === whole)
      }
    }
  }

  @Test(arguments: fileTypes)
  func aReadOnlyStoreIsReadAndRefusesSaves(type: String) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      let writer = try Company.coordinator(type, at: file)
      try save(["Ada"], to: writer)
      try writer.remove(try #require(writer.persistentStores.first))
      let before = try Data(contentsOf: file)
      let reader = try Company.coordinator(
        type, at: file, options: [NSReadOnlyPersistentStoreOption: true as NSNumber])
      #expect(reader.persistentStores.first?.isReadOnly == true)
      #expect(try names(reader) == ["Ada"])
      let context = Company.context(reader)
      try context.performAndWait { () throws -> Void in
        _ = try Company.clerk("Bob", in: context)
        #expect(Company.error { try context.save() }?.code == NSPersistentStoreSaveError)
        context.rollback()
        let clerks = try context.fetch(NSFetchRequest<Clerk>(entityName: "Clerk"))
        clerks.first?.setValue("Eve", forKey: "name")
        #expect(Company.error { try context.save() }?.code == NSPersistentStoreSaveError)
      }
      #expect(try Data(contentsOf: file) == before)
    }
  }

  @Test func pragmasOfADescriptionReachTheDatabase() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      let description = NSPersistentStoreDescription(url: file)
      description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
      coordinator.addPersistentStore(with: description) { #expect($1 == nil) }
      try save(["Ada"], to: coordinator)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.sqlite"])
    }
  }

  // MARK: 20.2

  @Test(arguments: fileTypes)
  func metadataIsWrittenByTheNextSaveAlsoWithoutChanges(type: String) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      let coordinator = try Company.coordinator(type, at: file)
      try save(["Ada"], to: coordinator)
      let store = try #require(coordinator.persistentStores.first)
      func stored() throws -> String? {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: file)["mine"]
          as? String
      }
      var metadata = coordinator.metadata(for: store)
      metadata["mine"] = "1"
      coordinator.setMetadata(metadata, for: store)
      #expect(try stored() == nil && coordinator.metadata(for: store)["mine"] as? String == "1")
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        #expect(!context.hasChanges)
        try context.save()
      }
      #expect(try stored() == "1")
      metadata["mine"] = "2"
      coordinator.setMetadata(metadata, for: store)
      try save(["Bob"], to: coordinator)
      #expect(try stored() == "2")
      try coordinator.remove(store)
      #expect(try names(Company.coordinator(type, at: file)) == ["Ada", "Bob"])
    }
  }

  @Test func metadataOfAStoreThatNothingElseConcernsIsWrittenToo() throws {
    try TemporaryFolder.with { folder in
      let files = ["a", "b"].map { folder.appendingPathComponent($0) }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      let stores = try files.map {
        try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: $0)
      }
      coordinator.setMetadata(["mine": "b"], for: stores[1])
      try save(["Ada"], to: coordinator)
      let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: files[1])
      #expect(read["mine"] as? String == "b")
      #expect(read[NSStoreUUIDKey] as? String == stores[1].identifier)
    }
  }

  @Test(arguments: fileTypes)
  func aNewIdentifierIsKept(type: String) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      let coordinator = try Company.coordinator(type, at: file)
      try save(["Ada"], to: coordinator)
      let store = try #require(coordinator.persistentStores.first)
      let identifier = UUID().uuidString
      store.identifier = identifier
      #expect(store.metadata[NSStoreUUIDKey] as? String == identifier)
      try save(["Bob"], to: coordinator)
      try coordinator.remove(store)
      let again = try Company.coordinator(type, at: file)
      #expect(again.persistentStores.first?.identifier == identifier)
      #expect(try names(again) == ["Ada", "Bob"])
    }
  }

  @Test func filesOfLargeValuesAreCopiedAndDestroyedWithTheirStore() throws {
    try TemporaryFolder.with { folder in
      let model = Company.model()
      let photo = Company.attribute("photo", .binaryDataAttributeType)
      photo.allowsExternalBinaryDataStorage = true
      model.entitiesByName["Clerk"]?.properties.append(photo)
      let (a, b) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
      let data = Data(repeating: 7, count: 1 << 20)
      let source = try Company.coordinator(NSSQLiteStoreType, at: a, model: model)
      let context = Company.context(source)
      try context.performAndWait { () throws -> Void in
        try Company.clerk("Ada", in: context).setValue(data, forKey: "photo")
        try context.save()
      }
      func files() -> Int {
        let all = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String]
        return (all ?? []).filter { $0.contains("_EXTERNAL_DATA/") }.count
      }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.replacePersistentStore(
        at: b, destinationOptions: nil, withPersistentStoreFrom: a, sourceOptions: nil,
        ofType: NSSQLiteStoreType)
      #expect(files() == 2)
      try source.destroyPersistentStore(at: a, ofType: NSSQLiteStoreType, options: nil)
      #expect(files() == 1)
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: b)
      let other = Company.context(coordinator)
      try other.performAndWait { () throws -> Void in
        let clerk = try #require(try other.fetch(NSFetchRequest<Clerk>(entityName: "Clerk")).first)
        #expect(clerk.value(forKey: "photo") as? Data == data)
      }
    }
  }

  @Test(arguments: fileTypes)
  func metadataOfAFileIsSetAtOnce(type: String) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      let coordinator = try Company.coordinator(type, at: file)
      try save(["Ada"], to: coordinator)
      let store = try #require(coordinator.persistentStores.first)
      let identifier = store.identifier
      try coordinator.remove(store)
      var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: type, at: file, options: nil)
      let list: [String: Any] = ["text": "x", "number": 5, "list": [1, 2]]
      metadata["mine"] = list
      try NSPersistentStoreCoordinator.setMetadata(
        metadata, forPersistentStoreOfType: type, at: file, options: nil)
      let opened = try Company.coordinator(type, at: file)
      let read = try #require(opened.persistentStores.first?.metadata)
      #expect(read[NSStoreTypeKey] as? String == type)
      #expect(read[NSStoreUUIDKey] as? String == identifier)
      let mine = try #require(read["mine"] as? [String: Any])
      #expect(mine["text"] as? String == "x" && mine["number"] as? Int == 5)
      #expect((mine["list"] as? [Int]) == [1, 2])
      #expect(try names(opened) == ["Ada"])
    }
  }

  /// Programs set their own keys alone, too.
  @Test(arguments: fileTypes)
  func whatAStoreSaysOfItselfStaysInMetadataThatLeavesItOut(type: String) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      func metadata() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: file)
      }
      let coordinator = try Company.coordinator(type, at: file)
      try save(["Ada"], to: coordinator)
      let store = try #require(coordinator.persistentStores.first)
      let keys = Set(try metadata().keys)
      coordinator.setMetadata(["mine": "1"], for: store)
      #expect(
        Company.model().isConfiguration(
          withName: nil, compatibleWithStoreMetadata: coordinator.metadata(for: store)))
      try save(["Bob"], to: coordinator)
      #expect(Set(try metadata().keys) == keys.union(["mine"]))
      try coordinator.remove(store)
      try NSPersistentStoreCoordinator.setMetadata(
        ["other": "2"], forPersistentStoreOfType: type, at: file, options: nil)
      #expect(Set(try metadata().keys) == keys.union(["other"]))
      #expect(try names(Company.coordinator(type, at: file)) == ["Ada", "Bob"])
    }
  }

  @Test(arguments: fileTypes, fileTypes)
  func aStoreOfAnotherTypeIsCalledSo(type: String, wanted: String) throws {
    if type == wanted { return }
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      let coordinator = try Company.coordinator(type, at: file)
      try save(["Ada"], to: coordinator)
      try coordinator.remove(try #require(coordinator.persistentStores.first))
      for attempt in [
        { _ = try Company.coordinator(wanted, at: file) },
        {
          _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: wanted, at: file)
        },
      ] as [() throws -> Void] {
        let error = Company.error(attempt)
        #expect(error?.code == NSPersistentStoreTypeMismatchError, "\(error?.description ?? "")")
      }
      #expect(try names(Company.coordinator(type, at: file)) == ["Ada"])
    }
  }

  @Test(arguments: fileTypes)
  func aDestroyedStoreIsEmptyOrGone(type: String) throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a")
      let coordinator = try Company.coordinator(type, at: file)
      try save(["Ada"], to: coordinator)
      let store = try #require(coordinator.persistentStores.first)
      try coordinator.destroyPersistentStore(at: file, ofType: type, options: nil)
      // Programs remove it as well, before or after.
      try coordinator.remove(store)
      #expect(coordinator.persistentStores.isEmpty)
      #expect(
        FileManager.default.fileExists(atPath: file.path) == (type == NSSQLiteStoreType))
      try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: file, options: nil)
      #expect(try names(coordinator).isEmpty)
      // One that is not there is no mistake.
      try coordinator.destroyPersistentStore(
        at: folder.appendingPathComponent("b"), ofType: type, options: nil)
    }
  }

  @Test(arguments: fileTypes)
  func aReplacedStoreHasTheContentsOfTheOther(type: String) throws {
    try TemporaryFolder.with { folder in
      let (a, b) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
      let source = try Company.coordinator(type, at: a)
      try save(["Ada"], to: source)
      let coordinator = try Company.coordinator(type, at: b)
      try save(["Bob"], to: coordinator)
      // The source may be open, with its newest rows in the write-ahead log.
      try coordinator.replacePersistentStore(
        at: b, destinationOptions: nil, withPersistentStoreFrom: a, sourceOptions: nil,
        ofType: type)
      #expect(try names(Company.coordinator(type, at: b)) == ["Ada"])
      #expect(try names(source) == ["Ada"])
    }
  }

  @Test func anIDIsMadeOfAURIWhetherOrNotThereIsARow() throws {
    let coordinator = try Company.coordinator()
    let store = try #require(coordinator.persistentStores.first)
    let uri = try #require(URL(string: "x-coredata://\(store.identifier ?? "")/Clerk/p99"))
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(id.entity.name == "Clerk" && !id.isTemporaryID && id.uriRepresentation() == uri)
    #expect(id.persistentStore === store)
    let context = Company.context(coordinator)
    context.performAndWait {
      let error = Company.error { _ = try context.existingObject(with: id) }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }
  }

  @Test func typesAreRegisteredByName() throws {
    let types = NSPersistentStoreCoordinator.registeredStoreTypes
    for name in [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType, NSInMemoryStoreType] {
      #expect(types[name] != nil)
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    #expect(coordinator.name == nil)
    coordinator.name = "main"
    #expect(coordinator.name == "main" && coordinator.persistentStores.isEmpty)
  }

  // MARK: 20.3

  @Test func aStoreCanBeAddedOnAnotherQueueWhileContextsAreThere() async throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let context = Company.context(coordinator)
    #expect(try context.performAndWait { try Company.names(in: context) }.isEmpty)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().async {
        _ = try? coordinator.addPersistentStore(
          ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        DispatchQueue.main.async { continuation.resume() }
      }
    }
    #expect(coordinator.persistentStores.count == 1)
    try context.performAndWait { () throws -> Void in
      _ = try Company.clerk("Ada", in: context)
      try context.save()
      #expect(try Company.names(in: context) == ["Ada"])
    }
  }

  // MARK: 20.4

  @Test func newObjectsGoToTheFirstWritableStoreThatTakesThem() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      let first = try Company.coordinator(NSSQLiteStoreType, at: file, model: Self.model())
      try first.remove(try #require(first.persistentStores.first))
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      let readOnly = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file,
        options: [NSReadOnlyPersistentStoreOption: true as NSNumber])
      let clerks = try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: "Clerks", at: nil)
      let all = try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: "All", at: nil)
      #expect(coordinator.persistentStores == [readOnly, clerks, all])
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let office = NSEntityDescription.insertNewObject(forEntityName: "Office", into: context)
        let ada = try Company.clerk("Ada", in: context)
        let bob = try Company.clerk("Bob", in: context)
        #expect(ada.objectID.persistentStore == nil)
        context.assign(bob, to: all)
        bob.setValue(office, forKey: "office")
        try context.save()
        #expect(ada.objectID.persistentStore === clerks)
        #expect(bob.objectID.persistentStore === all)
        #expect(office.objectID.persistentStore === all)
        let request = NSFetchRequest<Clerk>(entityName: "Clerk")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        #expect(try context.fetch(request) == [bob, ada])
        request.affectedStores = [clerks]
        #expect(try context.fetch(request) == [ada])
        request.affectedStores = [all, clerks]
        #expect(try context.fetch(request) == [bob, ada])
        request.affectedStores = [readOnly]
        #expect(try context.fetch(request).isEmpty)
        ada.setValue(office, forKey: "office")
        let error = Company.error { try context.save() }
        #expect(error?.code == NSManagedObjectExternalRelationshipError)
      }
    }
  }

  @Test func anObjectCannotBeAssignedToAStoreThatDoesNotTakeIt() async {
    await #expect(processExitsWith: .failure) {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreRuleTests.model())
      let store = try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: "Clerks", at: nil)
      let context = Company.context(coordinator)
      context.performAndWait {
        let office = NSEntityDescription.insertNewObject(forEntityName: "Office", into: context)
        context.assign(office, to: store)
      }
    }
  }

  @Test func aSavedObjectCannotBeAssignedElsewhere() async {
    await #expect(processExitsWith: .failure) {
      let coordinator = try Company.coordinator()
      let other = try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
      let context = Company.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let clerk = try Company.clerk("Ada", in: context)
        try context.save()
        context.assign(clerk, to: other)
      }
    }
  }

  @Test func deleteRulesAndValidationAreTheSameInEveryStore() throws {
    let coordinator = try Company.coordinator()
    let second = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = Company.context(coordinator)
    try context.performAndWait { () throws -> Void in
      let office = NSEntityDescription.insertNewObject(forEntityName: "Office", into: context)
      let clerk = try Company.clerk("Ada", in: context)
      clerk.setValue(office, forKey: "office")
      for object in [office, clerk] { context.assign(object, to: second) }
      clerk.setValue(nil, forKey: "name")
      let error = Company.error { try context.save() }
      #expect(error?.code == NSValidationMissingMandatoryPropertyError)
      clerk.setValue("Ada", forKey: "name")
      try context.save()
      context.delete(office)
      try context.save()
      #expect(try Company.names(in: context).isEmpty)
    }
  }
}
