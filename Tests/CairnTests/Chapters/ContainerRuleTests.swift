// Store descriptions and containers in Apple's words.

import CoreData
import TestSupport
import Testing

/// Chapters 20.5 and 20.6 of the specification, as programs use them; see also `ContainerTests`.
@Suite struct ContainerRuleTests {
  // MARK: 20.5

  @Test func aDescriptionStartsWithDocumentedValues() {
    let url = URL(fileURLWithPath: "/tmp/a.sqlite")
    let description = NSPersistentStoreDescription(url: url)
    #expect(description.type == NSSQLiteStoreType && description.url == url)
    #expect(description.configuration == nil && !description.isReadOnly)
    #expect(description.timeout == 240 && description.sqlitePragmas.isEmpty)
    #expect(!description.shouldAddStoreAsynchronously)
    #expect(description.shouldMigrateStoreAutomatically)
    #expect(description.shouldInferMappingModelAutomatically)
    #expect(
      description.options as NSDictionary == [
        NSMigratePersistentStoresAutomaticallyOption: true as NSNumber,
        NSInferMappingModelAutomaticallyOption: true as NSNumber,
      ] as NSDictionary)
    #expect(NSPersistentStoreDescription().url?.absoluteString == "file:///dev/null")
  }

  @Test func propertiesAndOptionsAreTheSame() {
    let description = NSPersistentStoreDescription()
    description.isReadOnly = true
    description.timeout = 7
    description.shouldMigrateStoreAutomatically = false
    #expect(description.options[NSReadOnlyPersistentStoreOption] as? Bool == true)
    #expect(description.options[NSPersistentStoreTimeoutOption] as? Double == 7)
    #expect(description.options[NSMigratePersistentStoresAutomaticallyOption] as? Bool == false)
    description.setOption(false as NSNumber, forKey: NSReadOnlyPersistentStoreOption)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    #expect(!description.isReadOnly)
    #expect(description.options[NSPersistentHistoryTrackingKey] as? NSNumber == true)
    description.setOption(nil, forKey: NSInferMappingModelAutomaticallyOption)
    #expect(!description.shouldInferMappingModelAutomatically)
  }

  @Test func pragmasAreAnOptionOfTheirOwn() throws {
    let description = NSPersistentStoreDescription()
    description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
    description.setValue(100 as NSNumber, forPragmaNamed: "cache_size")
    #expect(description.sqlitePragmas["journal_mode"] as? String == "DELETE")
    let option = description.options[NSSQLitePragmasOption] as? [String: Any]
    #expect(option?["cache_size"] as? Int == 100 && option?.count == 2)
    description.setValue(nil, forPragmaNamed: "cache_size")
    #expect(description.sqlitePragmas.count == 1)
    let copy = try #require(description.copy() as? NSPersistentStoreDescription)
    description.setOption(
      ["synchronous": "FULL"] as NSDictionary, forKey: NSSQLitePragmasOption)
    #expect(description.sqlitePragmas.keys.map(\.self) == ["synchronous"])
    #expect(copy.sqlitePragmas.keys.map(\.self) == ["journal_mode"])
  }

  // MARK: 20.6

  @Test func contextsOfAContainerStartWithDocumentedValues() throws {
    let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
    let model = container.managedObjectModel
    #expect(container.name == "Company")
    #expect(container.persistentStoreCoordinator.managedObjectModel === model)
    #expect(container.persistentStoreDescriptions.count == 1)
    #expect(container.persistentStoreDescriptions.first?.type == NSSQLiteStoreType)
    #expect(
      container.persistentStoreDescriptions.first?.url?.lastPathComponent == "Company.sqlite")
    #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    let view = container.viewContext
    let background = container.newBackgroundContext()
    #expect(view.concurrencyType == .mainQueueConcurrencyType)
    #expect(background.concurrencyType == .privateQueueConcurrencyType)
    #expect(container.viewContext === view && container.newBackgroundContext() !== background)
    for context in [view, background] {
      #expect(context.persistentStoreCoordinator === container.persistentStoreCoordinator)
      #expect(context.parent == nil && context.undoManager == nil)
      #expect(!context.automaticallyMergesChangesFromParent)
      #expect(context.mergePolicy as AnyObject === NSErrorMergePolicy as AnyObject)
      #expect(context.transactionAuthor == nil)
    }
  }

  /// What an override names is where the default store goes.
  private final class Elsewhere: NSPersistentContainer, @unchecked Sendable {
    override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/tmp/elsewhere") }
  }

  @Test func aSubclassDecidesWhereStoresAreKept() {
    let container = Elsewhere(name: "Company", managedObjectModel: Company.model())
    #expect(
      container.persistentStoreDescriptions.first?.url
        == URL(fileURLWithPath: "/tmp/elsewhere/Company.sqlite"))
  }

  @Test func theHandlerIsCalledOnceForEachDescriptionWithItsError() throws {
    try TemporaryFolder.with { folder in
      let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
      let good = NSPersistentStoreDescription(url: folder.appendingPathComponent("a.sqlite"))
      let bad = NSPersistentStoreDescription(url: folder.appendingPathComponent("no/b.sqlite"))
      let memory = NSPersistentStoreDescription()
      memory.type = NSInMemoryStoreType
      container.persistentStoreDescriptions = [bad, good, memory]
      var told: [(NSPersistentStoreDescription, (any Error)?)] = []
      container.loadPersistentStores { told.append(($0, $1)) }
      #expect(told.map(\.0) == [bad, good, memory])
      #expect(told.map { ($0.1 as NSError?)?.code } == [NSPersistentStoreOpenError, nil, nil])
      #expect((told.first?.1 as NSError?)?.domain == NSCocoaErrorDomain)
      let stores = container.persistentStoreCoordinator.persistentStores
      #expect(stores.map(\.type) == [NSSQLiteStoreType, NSInMemoryStoreType])
      #expect(stores.first?.url == good.url)
      // Those that are loaded are not loaded again.
      told = []
      container.loadPersistentStores { told.append(($0, $1)) }
      #expect(told.map(\.0) == [bad])
      #expect(container.persistentStoreCoordinator.persistentStores == stores)
    }
  }

  @Test func optionsOfADescriptionReachItsStore() throws {
    try TemporaryFolder.with { folder in
      let file = folder.appendingPathComponent("a.sqlite")
      func container(readOnly: Bool) -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
        let description = NSPersistentStoreDescription(url: file)
        description.isReadOnly = readOnly
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { #expect($1 == nil) }
        return container
      }
      let writer = container(readOnly: false)
      #expect(
        writer.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil) != nil)
      let reader = container(readOnly: true)
      let store = try #require(reader.persistentStoreCoordinator.persistentStores.first)
      #expect(store.isReadOnly && store.options?[NSPersistentHistoryTrackingKey] as? Bool == true)
    }
  }

  @Test func eachBackgroundTaskHasAContextOfItsOwn() async throws {
    struct Stop: Error {}
    let container = NSPersistentContainer(name: "Company", managedObjectModel: Company.model())
    let memory = NSPersistentStoreDescription()
    memory.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [memory]
    container.loadPersistentStores { #expect($1 == nil) }
    let count = try await container.performBackgroundTask { context in
      for name in ["a", "b"] { _ = try Company.clerk(name, in: context) }
      try context.save()
      return try context.count(for: NSFetchRequest<Clerk>(entityName: "Clerk"))
    }
    #expect(count == 2)
    // What a task does not save is gone with its context.
    let left = try await container.performBackgroundTask { context in
      _ = try Company.clerk("c", in: context)
      return context.insertedObjects.count
    }
    #expect(left == 1)
    let names = try await container.performBackgroundTask { try Company.names(in: $0) }
    #expect(names == ["a", "b"])
    await #expect(throws: Stop.self) {
      try await container.performBackgroundTask { _ in throw Stop() }
    }
  }
}
