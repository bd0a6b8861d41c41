// Names that programs, notifications and files have in common with Apple's.

import CoreData
import Synchronization
import Testing

/// Chapters 2.1 to 2.5 of the specification; keys and codes one by one are in `Inventory`.
@Suite struct ConstantRuleTests {
  @Test func notificationsHaveCoreDatasNames() {
    let names: [(Notification.Name, Notification.Name?, String)] = [
      (
        .NSManagedObjectContextObjectsDidChange,
        NSManagedObjectContext.didChangeObjectsNotification,
        "NSObjectsChangedInManagingContextNotification"
      ),
      (
        .NSManagedObjectContextWillSave, NSManagedObjectContext.willSaveObjectsNotification,
        "NSManagingContextWillSaveChangesNotification"
      ),
      (
        .NSManagedObjectContextDidSave, NSManagedObjectContext.didSaveObjectsNotification,
        "NSManagingContextDidSaveChangesNotification"
      ),
      (
        .NSManagedObjectContextDidSaveObjectIDs,
        NSManagedObjectContext.didSaveObjectIDsNotification,
        "NSManagedObjectContextDidSaveObjectIDsNotification"
      ),
      (
        .NSManagedObjectContextDidMergeChangesObjectIDs,
        NSManagedObjectContext.didMergeChangesObjectIDsNotification,
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification"
      ),
      (
        .NSPersistentStoreRemoteChange, nil, "NSPersistentStoreRemoteChangeNotification"
      ),
    ]
    for (name, other, raw) in names {
      #expect(name.rawValue == raw)
      if let other { #expect(other == name) }
    }
    let own: [Notification.Name] = [
      .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
      .NSPersistentStoreCoordinatorWillRemoveStore,
    ]
    #expect(Set(own).count == 3)
  }

  @Test func keysOfNotificationsAreThoseOfTheConstants() {
    typealias Key = NSManagedObjectContext.NotificationKey
    let keys: [(Key, String)] = [
      (.queryGeneration, NSManagedObjectContextQueryGenerationKey),
      (.invalidatedAllObjects, NSInvalidatedAllObjectsKey),
      (.insertedObjects, NSInsertedObjectsKey), (.updatedObjects, NSUpdatedObjectsKey),
      (.deletedObjects, NSDeletedObjectsKey), (.refreshedObjects, NSRefreshedObjectsKey),
      (.invalidatedObjects, NSInvalidatedObjectsKey),
      (.insertedObjectIDs, NSInsertedObjectIDsKey), (.updatedObjectIDs, NSUpdatedObjectIDsKey),
      (.deletedObjectIDs, NSDeletedObjectIDsKey), (.refreshedObjectIDs, NSRefreshedObjectIDsKey),
      (.invalidatedObjectIDs, NSInvalidatedObjectIDsKey),
    ]
    for (key, constant) in keys { #expect(key.rawValue == constant) }
    #expect(Set(keys.map(\.0)).count == keys.count)
  }

  @Test func storeTypesAreTheirConstants() {
    let types: [(NSPersistentStore.StoreType, String)] = [
      (.sqlite, NSSQLiteStoreType), (.xml, NSXMLStoreType), (.binary, NSBinaryStoreType),
      (.inMemory, NSInMemoryStoreType),
    ]
    for (type, constant) in types { #expect(type.rawValue == constant) }
    #expect(types.map(\.1) == ["SQLite", "XML", "Binary", "InMemory"])
  }

  @Test func anEmptyCategoryIsNotInANotification() throws {
    try Company.use { context in
      let seen = Mutex<[Set<String>]>([])
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { notification in
        let keys = (notification.userInfo ?? [:]).keys.compactMap { $0 as? String }
        seen.withLock { $0.append(Set(keys)) }
      }
      defer { NotificationCenter.default.removeObserver(token) }
      let clerk = try Company.clerk("Ada", in: context)
      try context.save()
      context.delete(clerk)
      try context.save()
      let keys = seen.withLock { $0 }
      let first = try #require(keys.first)
      let last = try #require(keys.last)
      #expect(first.contains(NSInsertedObjectsKey) && !first.contains(NSDeletedObjectsKey))
      #expect(last.contains(NSDeletedObjectsKey) && !last.contains(NSInsertedObjectsKey))
      #expect(!first.contains(NSUpdatedObjectsKey) && !last.contains(NSUpdatedObjectsKey))
    }
  }

  @Test func errorsAreCocoaErrorsWithTheNumbersOfTheConstants() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
    let nowhere = URL(fileURLWithPath: "/nonexistent-folder/a.sqlite")
    do {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: nowhere, options: nil)
      Issue.record("a store was added in a folder that is not there")
    } catch let error as CocoaError {
      #expect(error.errorCode == (error as NSError).code)
      #expect((error as NSError).domain == NSCocoaErrorDomain)
    }
    let nothing = Company.error {
      try coordinator.addPersistentStore(
        ofType: "Nonsense", configurationName: nil, at: nil, options: nil)
    }
    #expect(nothing?.code == NSPersistentStoreInvalidTypeError)
    #expect(nothing?.code == CocoaError.Code.persistentStoreInvalidType.rawValue)
  }
}
