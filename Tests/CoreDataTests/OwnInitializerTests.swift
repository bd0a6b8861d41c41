// Subclasses of what the framework makes, with initializers of their own and none that only Cairn asks
// for, as programs for Apple's platforms have them.

import CoreData
import Testing

/// Overrides the designated initializer without `required`, and adds one.
private final class OwnManager: NSMigrationManager {
  let steps: [String]
  init(steps: [String], model: NSManagedObjectModel) {
    self.steps = steps
    super.init(sourceModel: model, destinationModel: model)
  }
  override init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    steps = ["made by the framework"]
    super.init(sourceModel: sourceModel, destinationModel: destinationModel)
  }
}

/// Has a designated initializer of its own only.
private final class LoneManager: NSMigrationManager {
  let steps: [String]
  init(steps: [String], model: NSManagedObjectModel) {
    self.steps = steps
    super.init(sourceModel: model, destinationModel: model)
  }
}

private final class LonePolicy: NSEntityMigrationPolicy {
  let keys: [String]
  init(keys: [String]) {
    self.keys = keys
    super.init()
  }
}

/// An atomic store without objects.
private class OwnStore: NSAtomicStore, @unchecked Sendable {
  let opened: [String]
  init(opened: [String], at url: URL) {
    self.opened = opened
    super.init(persistentStoreCoordinator: nil, configurationName: nil, at: url)
  }
  override init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
    configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    opened = ["made by the framework"]
    super.init(
      persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
  }
  override class func migrationManagerClass() -> AnyClass { OwnManager.self }
  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: "OwnStore", NSStoreUUIDKey: "own"]
  }
  override func load() throws {}
  override func save() throws {}
}

/// Has a designated initializer of its own only.
private final class LoneStore: NSIncrementalStore, @unchecked Sendable {
  let opened: [String]
  init(opened: [String], at url: URL) {
    self.opened = opened
    super.init(persistentStoreCoordinator: nil, configurationName: nil, at: url)
  }
}

/// Point 27 of what real programs showed; specification, chapters 17, 20 and 21.
@Suite struct OwnInitializerTests {
  private let url = URL(fileURLWithPath: "/dev/null")

  @Test func theProgramMakesThemWithInitializersOfTheirOwn() {
    let model = NSManagedObjectModel()
    #expect(OwnManager(steps: ["a", "b"], model: model).steps == ["a", "b"])
    #expect(LoneManager(steps: ["a"], model: model).destinationModel === model)
    #expect(LonePolicy(keys: ["a"]).keys == ["a"])
    #expect(OwnStore(opened: ["a"], at: url).opened == ["a"])
    #expect(LoneStore(opened: ["a"], at: url).url == url)
  }

  @Test func theFrameworkMakesStoresThroughTheInitializerThatTheyOverride() throws {
    NSPersistentStoreCoordinator.registerStoreClass(OwnStore.self, forStoreType: "OwnStore")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    let made = try coordinator.addPersistentStore(
      ofType: "OwnStore", configurationName: nil, at: url)
    let store = try #require(made as? OwnStore)
    #expect(store.opened == ["made by the framework"])
    #expect(store.identifier == "own" && store.persistentStoreCoordinator === coordinator)
  }
}
