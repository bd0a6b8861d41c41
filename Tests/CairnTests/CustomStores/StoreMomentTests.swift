// What a coordinator tells its stores, and which manager migrates them.

import CoreData
import Foundation
import Synchronization
import Testing

import enum CairnStore.StoreOptionKey

/// Chapters 21.1, 22.2 and II.7 of the specification.
@Suite struct StoreMomentTests {
  @Test func storesOfAProgramAreToldThroughTheBaseClassToo() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      #expect(TextShelfCalls.take(url).last == "didAdd")
      // A caller that has it as a persistent store only reaches the override.
      let plain: NSPersistentStore = store
      plain.didAdd(to: coordinator)
      plain.willRemove(from: coordinator)
      #expect(TextShelfCalls.take(url) == ["didAdd", "willRemove"])
      try coordinator.remove(store)
      #expect(TextShelfCalls.take(url) == ["willRemove"])
    }
  }

  @Test func aStoreIsToldBeforeItIsOutAndAfterItIsIn() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      _ = TextShelfCalls.take(url)
      let center = NotificationCenter.default
      let atNotice = Mutex<[String]>([])
      let token = center.addObserver(
        forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
      ) { _ in atNotice.withLock { $0 += TextShelfCalls.take(url) } }
      defer { center.removeObserver(token) }
      try coordinator.remove(store)
      #expect(atNotice.withLock { $0 } == ["willRemove"])
      #expect(store.persistentStoreCoordinator == nil)
      try coordinator.addPersistentStore(
        ofType: TextShelf.storeType, configurationName: nil, at: url)
      #expect(atNotice.withLock { $0 }.last == "didAdd")
    }
  }

  @Test func builtInStoresHearItWithoutEffect() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    store.didAdd(to: coordinator)
    store.willRemove(from: coordinator)
    #expect(store.persistentStoreCoordinator === coordinator)
    #expect(coordinator.persistentStores == [store])
  }

  @Test func aStoreObjectIsMadeAsTheCoordinatorMakesIt() throws {
    try Library.withFile { url in
      let model = Library.model()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store: NSPersistentStore = TextShelf(
        persistentStoreCoordinator: coordinator, configurationName: nil, at: url,
        options: ["key": "value"])
      #expect(store.url == url && store.options?["key"] as? String == "value")
      #expect(store.persistentStoreCoordinator === coordinator)
      #expect(store.managedObjectModel === model)
      #expect(coordinator.persistentStores.isEmpty)
      let kind = type(
        of: try coordinator.addPersistentStore(
          ofType: NSInMemoryStoreType, configurationName: nil, at: nil))
      let other = kind.init(
        persistentStoreCoordinator: coordinator, configurationName: nil, at: url)
      #expect(other.url == url && other.managedObjectModel === model)
    }
  }

  // MARK: Migration managers

  /// A store type with a manager of its own.
  // Unchecked: no state of its own.
  private final class MovingShelf: TextShelf, @unchecked Sendable {
    override class var storeType: String { "MovingShelf" }
    override class func migrationManagerClass() -> AnyClass { NotingManager.self }
  }

  private final class NotingManager: NSMigrationManager {
    static let made = Mutex<[String]>([])
    var copied = 0

    override init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
      super.init(sourceModel: sourceModel, destinationModel: destinationModel)
      let new = destinationModel.entitiesByName["Book"]?.propertiesByName["extra"] != nil
      Self.made.withLock { $0.append("made \(new)") }
    }
    override func associate(
      sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
      for entityMapping: NSEntityMapping
    ) {
      super.associate(
        sourceInstance: sourceInstance, withDestinationInstance: destinationInstance,
        for: entityMapping)
      Self.made.withLock { $0.append("copied \(sourceInstance.entity.name ?? "")") }
    }
  }

  @Test func migrationManagersAreOfTheClassThatTheStoreClassNames() throws {
    let plain = ObjectIdentifier(NSMigrationManager.self)
    #expect(ObjectIdentifier(NSPersistentStore.migrationManagerClass()) == plain)
    #expect(ObjectIdentifier(TextShelf.migrationManagerClass()) == plain)
    let own = ObjectIdentifier(NotingManager.self)
    #expect(ObjectIdentifier(MovingShelf.migrationManagerClass()) == own)
    NSPersistentStoreCoordinator.registerStoreClass(
      MovingShelf.self, type: .init(rawValue: MovingShelf.storeType))
    try Library.withFile { url in
      let old = Library.model()
      let uuid = try { () throws -> String in
        let (coordinator, store) = try Library.stack(MovingShelf.storeType, at: url, model: old)
        let context = Library.context(coordinator)
        try context.performAndWait { () throws -> Void in
          let author = Library.insert("Author", ["name": "Ada"], into: context)
          Library.insert("Book", ["title": "A", "writer": author], into: context)
          try context.save()
        }
        try coordinator.remove(store)
        return store.identifier
      }()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model(extra: true))
      let options: [AnyHashable: Any] = [
        NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
        StoreOptionKey.migrationSourceModels: [old],
      ]
      let store = try coordinator.addPersistentStore(
        ofType: MovingShelf.storeType, configurationName: nil, at: url, options: options)
      let calls = NotingManager.made.withLock { $0 }
      #expect(calls.first == "made true")
      #expect(Set(calls.dropFirst()) == ["copied Author", "copied Book"] && calls.count == 3)
      #expect(store.identifier == uuid)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        let book = try #require(try Library.fetch("Book", in: context).first)
        #expect(book.value(forKeyPath: "writer.name") as? String == "Ada")
        book.setValue("new", forKey: "extra")
        try context.save()
      }
    }
  }

  @Test func withoutBeingAskedToAStoreOfAnotherVersionIsRefused() throws {
    try Library.withFile { url in
      let (coordinator, store) = try Library.stack(TextShelf.storeType, at: url)
      let context = Library.context(coordinator)
      try context.performAndWait { () throws -> Void in
        Library.insert("Author", ["name": "Ada"], into: context)
        try context.save()
      }
      try coordinator.remove(store)
      let thrown = #expect(throws: CocoaError.self) {
        try Library.stack(TextShelf.storeType, at: url, model: Library.model(extra: true))
      }
      #expect(thrown?.code == .persistentStoreIncompatibleVersionHash)
    }
  }
}
