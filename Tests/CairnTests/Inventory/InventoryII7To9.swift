// Proof that symbols of the inventory exist, with labels and types: this file compiles.
// Chapters II.7 and II.8 and II.9 of the specification.

import CoreData
import Testing

/// Constants have the values of Apple's.
@Suite struct InventoryII7To9 {
  @Test func constantsOfChapterII9() {
    #expect(NSPersistentHistoryChangeType.insert.rawValue == 0)
    #expect(NSPersistentHistoryChangeType.update.rawValue == 1)
    #expect(NSPersistentHistoryChangeType.delete.rawValue == 2)
    #expect(NSPersistentHistoryResultType.statusOnly.rawValue == 0)
    #expect(NSPersistentHistoryResultType.objectIDs.rawValue == 1)
    #expect(NSPersistentHistoryResultType.count.rawValue == 2)
    #expect(NSPersistentHistoryResultType.transactionsOnly.rawValue == 3)
    #expect(NSPersistentHistoryResultType.changesOnly.rawValue == 4)
    #expect(NSPersistentHistoryResultType.transactionsAndChanges.rawValue == 5)
  }
}

// None of these functions is called; as deprecated ones they may use what Apple deprecated.

private func any<T>() -> T { fatalError("never called") }

@available(*, deprecated)
private func uses_NSPersistentStore(_ x: NSPersistentStore) throws {
  let _: NSPersistentStore.Type = NSPersistentStore.self
  let _: (URL) throws -> [String: Any] = NSPersistentStore.metadataForPersistentStore(with:)
  let _: ([String: Any]?, URL) throws -> Void = NSPersistentStore.setMetadata(
    _:forPersistentStoreAt:)
  let _: () -> AnyClass = NSPersistentStore.migrationManagerClass
  let _: (NSPersistentStoreCoordinator?, String?, URL, [AnyHashable: Any]?) -> NSPersistentStore =
    NSPersistentStore.init(persistentStoreCoordinator:configurationName:at:options:)
  _ = { NSPersistentStore(persistentStoreCoordinator: any(), configurationName: any(), at: any()) }
  let _: (NSPersistentStoreCoordinator) -> Void = x.didAdd(to:)
  let _: (NSPersistentStoreCoordinator?) -> Void = x.willRemove(from:)
  let _: () throws -> Void = x.loadMetadata
  let _: NSPersistentStoreCoordinator? = x.persistentStoreCoordinator
  let _: String = x.configurationName
  let _: [AnyHashable: Any]? = x.options
  do { let v: URL? = x.url; x.url = v }
  do { let v: String? = x.identifier; x.identifier = v }
  let _: String = x.type
  do { let v: Bool = x.isReadOnly; x.isReadOnly = v }
  do { let v: [String: Any]? = x.metadata; x.metadata = v }
}
@available(*, deprecated)
private func uses_NSPersistentStore_StoreType(_ x: NSPersistentStore.StoreType) throws {
  let _: NSPersistentStore.StoreType.Type = NSPersistentStore.StoreType.self
  let _: String = x.rawValue
  let _: (String) -> NSPersistentStore.StoreType = NSPersistentStore.StoreType.init(rawValue:)
  let _: NSPersistentStore.StoreType = NSPersistentStore.StoreType.sqlite
  let _: NSPersistentStore.StoreType = NSPersistentStore.StoreType.binary
  let _: NSPersistentStore.StoreType = NSPersistentStore.StoreType.inMemory
  let _: NSPersistentStore.StoreType = NSPersistentStore.StoreType.xml
}
@available(*, deprecated)
private func uses_NSPersistentStoreCoordinator(_ x: NSPersistentStoreCoordinator) throws {
  let _: NSPersistentStoreCoordinator.Type = NSPersistentStoreCoordinator.self
  _ = (x as any NSLocking)
  let _: (NSManagedObjectModel) -> NSPersistentStoreCoordinator = NSPersistentStoreCoordinator.init(
    managedObjectModel:)
  let _: NSManagedObjectModel = x.managedObjectModel
  let _: [NSPersistentStore] = x.persistentStores
  do { let v: String? = x.name; x.name = v }
  let _: (URL) -> NSPersistentStore? = x.persistentStore(for:)
  let _: (NSPersistentStore) -> URL = x.url(for:)
  let _: (URL, NSPersistentStore) -> Bool = x.setURL(_:for:)
  let _: (String, String?, URL?, [AnyHashable: Any]?) throws -> NSPersistentStore = x
    .addPersistentStore(ofType:configurationName:at:options:)
  _ = { () throws in try x.addPersistentStore(ofType: any(), configurationName: any(), at: any()) }
  let _:
    (NSPersistentStoreDescription, @escaping (NSPersistentStoreDescription, (any Error)?) -> Void)
      -> Void = x.addPersistentStore(with:completionHandler:)
  let _: (NSPersistentStore) throws -> Void = x.remove(_:)
  let _: ([String: Any]?, NSPersistentStore) -> Void = x.setMetadata(_:for:)
  let _: (NSPersistentStore) -> [String: Any] = x.metadata(for:)
  let _: (URL) -> NSManagedObjectID? = x.managedObjectID(forURIRepresentation:)
  let _: (NSPersistentStoreRequest, NSManagedObjectContext) throws -> Any = x.execute(_:with:)
  let _: [String: NSValue] = NSPersistentStoreCoordinator.registeredStoreTypes
  let _: (AnyClass?, String) -> Void = NSPersistentStoreCoordinator.registerStoreClass(
    _:forStoreType:)
  let _: (String, URL, [AnyHashable: Any]?) throws -> [String: Any] = NSPersistentStoreCoordinator
    .metadataForPersistentStore(ofType:at:options:)
  _ = { () throws in
    try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: any(), at: any())
  }
  let _: ([String: Any]?, String, URL, [AnyHashable: Any]?) throws -> Void =
    NSPersistentStoreCoordinator.setMetadata(_:forPersistentStoreOfType:at:options:)
  _ = { () throws in
    try NSPersistentStoreCoordinator.setMetadata(any(), forPersistentStoreOfType: any(), at: any())
  }
  let _: (NSPersistentStore, URL, [AnyHashable: Any]?, String) throws -> NSPersistentStore = x
    .migratePersistentStore(_:to:options:withType:)
  _ = { () throws in try x.migratePersistentStore(any(), to: any(), withType: any()) }
  let _: (URL, String, [AnyHashable: Any]?) throws -> Void = x.destroyPersistentStore(
    at:ofType:options:)
  _ = { () throws in try x.destroyPersistentStore(at: any(), ofType: any()) }
  let _: (URL, [AnyHashable: Any]?, URL, [AnyHashable: Any]?, String) throws -> Void = x
    .replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)
  _ = { () throws in
    try x.replacePersistentStore(at: any(), withPersistentStoreFrom: any(), ofType: any())
  }
  let _: (@escaping () -> Void) -> Void = x.perform(_:)
  x.performAndWait { () -> Void in }
  let _: ([Any]?) -> NSPersistentHistoryToken? = x.currentPersistentHistoryToken(fromStores:)
  let _: () throws -> Void = x.finishDeferredLightweightMigration
  let _: () throws -> Void = x.finishDeferredLightweightMigrationTask
  let _: () -> Void = x.lock
  let _: () -> Void = x.unlock
  let _: () -> Bool = x.tryLock
  let _: (String?, URL) throws -> [String: Any] = NSPersistentStoreCoordinator
    .metadataForPersistentStore(ofType:at:)
  let _: ([String: Any]?, String?, URL) throws -> Void = NSPersistentStoreCoordinator.setMetadata(
    _:forPersistentStoreOfType:at:)
  let _:
    (NSPersistentStore.StoreType, String?, URL, [AnyHashable: Any]?) throws -> NSPersistentStore = x
      .addPersistentStore(type:configuration:at:options:)
}
@available(*, deprecated)
private func uses_NSPersistentStoreCoordinator_1(_ x: NSPersistentStoreCoordinator) throws {
  _ = { () throws in try x.addPersistentStore(type: any(), at: any()) }
  let _: (AnyClass?, NSPersistentStore.StoreType) -> Void = NSPersistentStoreCoordinator
    .registerStoreClass(_:type:)
  let _: (NSPersistentStore.StoreType, URL, [AnyHashable: Any]?) throws -> [String: Any] =
    NSPersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)
  _ = { () throws in
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: any(), at: any())
  }
  let _: ([String: Any]?, NSPersistentStore.StoreType, URL, [AnyHashable: Any]?) throws -> Void =
    NSPersistentStoreCoordinator.setMetadata(_:type:at:options:)
  _ = { () throws in try NSPersistentStoreCoordinator.setMetadata(any(), type: any(), at: any()) }
  let _:
    (NSPersistentStore, URL, [AnyHashable: Any]?, NSPersistentStore.StoreType) throws ->
      NSPersistentStore = x.migratePersistentStore(_:to:options:type:)
  _ = { () throws in try x.migratePersistentStore(any(), to: any(), type: any()) }
  let _: (URL, NSPersistentStore.StoreType, [AnyHashable: Any]?) throws -> Void = x
    .destroyPersistentStore(at:type:options:)
  _ = { () throws in try x.destroyPersistentStore(at: any(), type: any()) }
  let _:
    (URL, [AnyHashable: Any]?, URL, [AnyHashable: Any]?, NSPersistentStore.StoreType) throws -> Void =
      x.replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)
  _ = { () throws in
    try x.replacePersistentStore(at: any(), withPersistentStoreFrom: any(), type: any())
  }
  let _: Int = try x.performAndWait { () throws -> Int in 1 }
  let _: (@escaping () throws -> Int) async throws -> Int = x.perform(_:)
}
@available(*, deprecated)
private func uses_NSNotification_Name() throws {
  let _: NSNotification.Name = NSNotification.Name.NSPersistentStoreCoordinatorStoresWillChange
  let _: NSNotification.Name = NSNotification.Name.NSPersistentStoreCoordinatorStoresDidChange
  let _: NSNotification.Name = NSNotification.Name.NSPersistentStoreCoordinatorWillRemoveStore
  let _: NSNotification.Name = NSNotification.Name.NSPersistentStoreRemoteChange
}
@available(*, deprecated)
private func uses_NSPersistentStoreDescription(_ x: NSPersistentStoreDescription) throws {
  let _: NSPersistentStoreDescription.Type = NSPersistentStoreDescription.self
  _ = (x as any NSCopying)
  do { let v: String = x.type; x.type = v }
  do { let v: String? = x.configuration; x.configuration = v }
  do { let v: URL? = x.url; x.url = v }
  let _: [String: NSObject] = x.options
  let _: (NSObject?, String) -> Void = x.setOption(_:forKey:)
  do { let v: Bool = x.isReadOnly; x.isReadOnly = v }
  do { let v: TimeInterval = x.timeout; x.timeout = v }
  let _: [String: NSObject] = x.sqlitePragmas
  let _: (NSObject?, String) -> Void = x.setValue(_:forPragmaNamed:)
  do { let v: Bool = x.shouldAddStoreAsynchronously; x.shouldAddStoreAsynchronously = v }
  do { let v: Bool = x.shouldMigrateStoreAutomatically; x.shouldMigrateStoreAutomatically = v }
  do {
    let v: Bool = x.shouldInferMappingModelAutomatically; x.shouldInferMappingModelAutomatically = v
  }
  let _: (URL) -> NSPersistentStoreDescription = NSPersistentStoreDescription.init(url:)
}
@available(*, deprecated)
private func uses_NSPersistentContainer(_ x: NSPersistentContainer) throws {
  let _: NSPersistentContainer.Type = NSPersistentContainer.self
  let _: () -> URL = NSPersistentContainer.defaultDirectoryURL
  let _: String = x.name
  let _: NSManagedObjectContext = x.viewContext
  let _: NSManagedObjectModel = x.managedObjectModel
  let _: NSPersistentStoreCoordinator = x.persistentStoreCoordinator
  do {
    let v: [NSPersistentStoreDescription] = x.persistentStoreDescriptions;
    x.persistentStoreDescriptions = v
  }
  let _: (String) -> NSPersistentContainer = NSPersistentContainer.init(name:)
  let _: (String, NSManagedObjectModel) -> NSPersistentContainer = NSPersistentContainer.init(
    name:managedObjectModel:)
  let _: (@escaping (NSPersistentStoreDescription, (any Error)?) -> Void) -> Void = x
    .loadPersistentStores(completionHandler:)
  let _: () -> NSManagedObjectContext = x.newBackgroundContext
  let _: (@escaping (NSManagedObjectContext) -> Void) -> Void = x.performBackgroundTask(_:)
  let _: URL = NSPersistentContainer.defaultDirectoryURL
  let _: (@escaping (NSManagedObjectContext) throws -> Int) async throws -> Int = x
    .performBackgroundTask(_:)
}
@available(*, deprecated)
private func uses_globals() throws {
  let _: String = NSXMLStoreType
  let _: String = NSValidateXMLStoreOption
  let _: String = NSPersistentStoreModelVersionChecksumKey
}
@available(*, deprecated)
private func uses_NSAtomicStore(_ x: NSAtomicStore) throws {
  let _: NSAtomicStore.Type = NSAtomicStore.self
  let _: NSPersistentStore.Type = NSAtomicStore.self
  let _: (NSPersistentStoreCoordinator?, String?, URL, [AnyHashable: Any]?) -> NSAtomicStore =
    NSAtomicStore.init(persistentStoreCoordinator:configurationName:at:options:)
  _ = { NSAtomicStore(persistentStoreCoordinator: any(), configurationName: any(), at: any()) }
  let _: () throws -> Void = x.load
  let _: () throws -> Void = x.save
  let _: (NSManagedObject) -> NSAtomicStoreCacheNode = x.newCacheNode(for:)
  let _: (NSAtomicStoreCacheNode, NSManagedObject) -> Void = x.updateCacheNode(_:from:)
  let _: () -> Set<NSAtomicStoreCacheNode> = x.cacheNodes
  let _: (Set<NSAtomicStoreCacheNode>) -> Void = x.addCacheNodes(_:)
  let _: (Set<NSAtomicStoreCacheNode>) -> Void = x.willRemoveCacheNodes(_:)
  let _: (NSManagedObjectID) -> NSAtomicStoreCacheNode? = x.cacheNode(for:)
  let _: (NSEntityDescription, Any) -> NSManagedObjectID = x.objectID(for:withReferenceObject:)
  let _: (NSManagedObject) -> Any = x.newReferenceObject(for:)
  let _: (NSManagedObjectID) -> Any = x.referenceObject(for:)
}
@available(*, deprecated)
private func uses_NSAtomicStoreCacheNode(_ x: NSAtomicStoreCacheNode) throws {
  let _: NSAtomicStoreCacheNode.Type = NSAtomicStoreCacheNode.self
  let _: (NSManagedObjectID) -> NSAtomicStoreCacheNode = NSAtomicStoreCacheNode.init(objectID:)
  let _: NSManagedObjectID = x.objectID
  do { let v: NSMutableDictionary? = x.propertyCache; x.propertyCache = v }
  let _: (String) -> Any? = x.value(forKey:)
  let _: (Any?, String) -> Void = x.setValue(_:forKey:)
}
@available(*, deprecated)
private func uses_NSIncrementalStore(_ x: NSIncrementalStore) throws {
  let _: NSIncrementalStore.Type = NSIncrementalStore.self
  let _: NSPersistentStore.Type = NSIncrementalStore.self
  let _: () throws -> Void = x.loadMetadata
  let _: (NSPersistentStoreRequest, NSManagedObjectContext?) throws -> Any = x.execute(_:with:)
  let _: (NSManagedObjectID, NSManagedObjectContext) throws -> NSIncrementalStoreNode = x
    .newValuesForObject(with:with:)
  let _: (NSRelationshipDescription, NSManagedObjectID, NSManagedObjectContext?) throws -> Any = x
    .newValue(forRelationship:forObjectWith:with:)
  let _: (URL) -> Any = NSIncrementalStore.identifierForNewStore(at:)
  let _: ([NSManagedObject]) throws -> [NSManagedObjectID] = x.obtainPermanentIDs(for:)
  let _: ([NSManagedObjectID]) -> Void = x.managedObjectContextDidRegisterObjects(with:)
  let _: ([NSManagedObjectID]) -> Void = x.managedObjectContextDidUnregisterObjects(with:)
  let _: (NSEntityDescription, Any) -> NSManagedObjectID = x.newObjectID(for:referenceObject:)
  let _: (NSManagedObjectID) -> Any = x.referenceObject(for:)
}
@available(*, deprecated)
private func uses_NSIncrementalStoreNode(_ x: NSIncrementalStoreNode) throws {
  let _: NSIncrementalStoreNode.Type = NSIncrementalStoreNode.self
  let _: (NSManagedObjectID, [String: Any], UInt64) -> NSIncrementalStoreNode =
    NSIncrementalStoreNode.init(objectID:withValues:version:)
  let _: ([String: Any], UInt64) -> Void = x.update(withValues:version:)
  let _: NSManagedObjectID = x.objectID
  let _: UInt64 = x.version
  let _: (NSPropertyDescription) -> Any? = x.value(for:)
}
@available(*, deprecated)
private func uses_NSPersistentHistoryChangeType() throws {
  let _: NSPersistentHistoryChangeType.Type = NSPersistentHistoryChangeType.self
}
@available(*, deprecated)
private func uses_NSPersistentHistoryChange(_ x: NSPersistentHistoryChange) throws {
  let _: NSFetchRequest<any NSFetchRequestResult>? = NSPersistentHistoryChange.fetchRequest
  let _: NSEntityDescription? = NSPersistentHistoryChange.entityDescription
  let _: (NSManagedObjectContext) -> NSEntityDescription? = NSPersistentHistoryChange
    .entityDescription(with:)
  _ = (x as any NSCopying)
  let _: NSPersistentHistoryChange.Type = NSPersistentHistoryChange.self
  let _: Int64 = x.changeID
  let _: NSManagedObjectID = x.changedObjectID
  let _: NSPersistentHistoryChangeType = x.changeType
  let _: [AnyHashable: Any]? = x.tombstone
  let _: NSPersistentHistoryTransaction? = x.transaction
  let _: Set<NSPropertyDescription>? = x.updatedProperties
}
@available(*, deprecated)
private func uses_NSPersistentHistoryChangeRequest(_ x: NSPersistentHistoryChangeRequest) throws {
  do { let v: NSFetchRequest<any NSFetchRequestResult>? = x.fetchRequest; x.fetchRequest = v }
  let _: (NSFetchRequest<any NSFetchRequestResult>) -> NSPersistentHistoryChangeRequest =
    NSPersistentHistoryChangeRequest.fetchHistory(withFetch:)
  let _: NSPersistentHistoryChangeRequest.Type = NSPersistentHistoryChangeRequest.self
  let _: NSPersistentStoreRequest.Type = NSPersistentHistoryChangeRequest.self
  let _: (Date) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest.fetchHistory(
    after:)
  let _: (NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest =
    NSPersistentHistoryChangeRequest.fetchHistory(after:)
  let _: (NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest =
    NSPersistentHistoryChangeRequest.fetchHistory(after:)
  let _: (Date) -> NSPersistentHistoryChangeRequest = NSPersistentHistoryChangeRequest
    .deleteHistory(before:)
  let _: (NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest =
    NSPersistentHistoryChangeRequest.deleteHistory(before:)
  let _: (NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest =
    NSPersistentHistoryChangeRequest.deleteHistory(before:)
  do { let v: NSPersistentHistoryResultType = x.resultType; x.resultType = v }
  let _: NSPersistentHistoryToken? = x.token
}
@available(*, deprecated)
private func uses_NSPersistentHistoryToken(_ x: NSPersistentHistoryToken) throws {
  let _: NSPersistentHistoryToken.Type = NSPersistentHistoryToken.self
  _ = (x as any NSCopying)
  _ = (x as any NSSecureCoding)
}
@available(*, deprecated)
private func uses_NSPersistentHistoryTransaction(_ x: NSPersistentHistoryTransaction) throws {
  let _: NSFetchRequest<any NSFetchRequestResult>? = NSPersistentHistoryTransaction.fetchRequest
  let _: NSEntityDescription? = NSPersistentHistoryTransaction.entityDescription
  let _: (NSManagedObjectContext) -> NSEntityDescription? = NSPersistentHistoryTransaction
    .entityDescription(with:)
  _ = (x as any NSCopying)
  let _: NSPersistentHistoryTransaction.Type = NSPersistentHistoryTransaction.self
  let _: Date = x.timestamp
  let _: [NSPersistentHistoryChange]? = x.changes
  let _: Int64 = x.transactionNumber
  let _: String = x.storeID
  let _: String = x.bundleID
  let _: String = x.processID
  let _: String? = x.contextName
  let _: String? = x.author
  let _: NSPersistentHistoryToken = x.token
  let _: () -> Notification = x.objectIDNotification
}
@available(*, deprecated)
private func uses_NSPersistentHistoryResultType() throws {
  let _: NSPersistentHistoryResultType.Type = NSPersistentHistoryResultType.self
}
@available(*, deprecated)
private func uses_NSPersistentHistoryResult(_ x: NSPersistentHistoryResult) throws {
  let _: NSPersistentHistoryResult.Type = NSPersistentHistoryResult.self
  let _: NSPersistentStoreResult.Type = NSPersistentHistoryResult.self
  let _: Any? = x.result
  let _: NSPersistentHistoryResultType = x.resultType
}
