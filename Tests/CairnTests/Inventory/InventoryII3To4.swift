// Proof that symbols of the inventory exist, with labels and types: this file compiles.
// Chapters II.3 and II.4 of the specification.

import CoreData
import Testing

/// Constants have the values of Apple's.
@Suite struct InventoryII3To4 {
  @Test func constantsOfChapterII4() {
    #expect(NSManagedObjectContextConcurrencyType.confinementConcurrencyType.rawValue == 0)
    #expect(NSManagedObjectContextConcurrencyType.privateQueueConcurrencyType.rawValue == 1)
    #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
    #expect(NSMergePolicyType.errorMergePolicyType.rawValue == 0)
    #expect(NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType.rawValue == 1)
    #expect(NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType.rawValue == 2)
    #expect(NSMergePolicyType.overwriteMergePolicyType.rawValue == 3)
    #expect(NSMergePolicyType.rollbackMergePolicyType.rawValue == 4)
  }
}

// None of these functions is called; as deprecated ones they may use what Apple deprecated.

private func any<T>() -> T { fatalError("never called") }

@available(*, deprecated)
private func uses_NSSnapshotEventType() throws {
  let _: NSSnapshotEventType.Type = NSSnapshotEventType.self
  let _: (UInt) -> NSSnapshotEventType = NSSnapshotEventType.init(rawValue:)
  let _: NSSnapshotEventType = NSSnapshotEventType.undoInsertion
  let _: NSSnapshotEventType = NSSnapshotEventType.undoDeletion
  let _: NSSnapshotEventType = NSSnapshotEventType.undoUpdate
  let _: NSSnapshotEventType = NSSnapshotEventType.rollback
  let _: NSSnapshotEventType = NSSnapshotEventType.refresh
  let _: NSSnapshotEventType = NSSnapshotEventType.mergePolicy
}
@available(*, deprecated)
private func uses_NSManagedObject(_ x: NSManagedObject) throws {
  let _: NSManagedObject.Type = NSManagedObject.self
  let _: Bool = NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges
  let _: () -> NSEntityDescription = NSManagedObject.entity
  let _: (NSEntityDescription, NSManagedObjectContext?) -> NSManagedObject = NSManagedObject.init(
    entity:insertInto:)
  let _: (NSManagedObjectContext) -> NSManagedObject = NSManagedObject.init(context:)
  let _: NSManagedObjectContext? = x.managedObjectContext
  let _: NSEntityDescription = x.entity
  let _: NSManagedObjectID = x.objectID
  let _: Bool = x.isInserted
  let _: Bool = x.isUpdated
  let _: Bool = x.isDeleted
  let _: Bool = x.hasChanges
  let _: Bool = x.hasPersistentChangedValues
  let _: Bool = x.isFault
  let _: (String) -> Bool = x.hasFault(forRelationshipNamed:)
  let _: (String) -> [NSManagedObjectID] = x.objectIDs(forRelationshipNamed:)
  let _: Int = x.faultingState
  let _: (String?) -> Void = x.willAccessValue(forKey:)
  let _: (String?) -> Void = x.didAccessValue(forKey:)
  let _: (String) -> Void = x.willChangeValue(forKey:)
  let _: (String) -> Void = x.didChangeValue(forKey:)
  let _: (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void = x.willChangeValue(
    forKey:withSetMutation:using:)
  let _: (String, NSKeyValueSetMutationKind, Set<AnyHashable>) -> Void = x.didChangeValue(
    forKey:withSetMutation:using:)
  let _: () -> Void = x.awakeFromFetch
  let _: () -> Void = x.awakeFromInsert
  let _: (NSSnapshotEventType) -> Void = x.awake(fromSnapshotEvents:)
  let _: () -> Void = x.prepareForDeletion
  let _: () -> Void = x.willSave
  let _: () -> Void = x.didSave
  let _: () -> Void = x.willTurnIntoFault
  let _: () -> Void = x.didTurnIntoFault
  let _: (String) -> Any? = x.value(forKey:)
  let _: (Any?, String) -> Void = x.setValue(_:forKey:)
  let _: (String) -> Any? = x.primitiveValue(forKey:)
  let _: (Any?, String) -> Void = x.setPrimitiveValue(_:forKey:)
  let _: ([String]?) -> [String: Any] = x.committedValues(forKeys:)
  let _: () -> [String: Any] = x.changedValues
  let _: () -> [String: Any] = x.changedValuesForCurrentEvent
  let _: (inout Any?, String) throws -> Void = x.validateValue(_:forKey:)
  let _: () throws -> Void = x.validateForDelete
}
@available(*, deprecated)
private func uses_NSManagedObject_1(_ x: NSManagedObject) throws {
  let _: () throws -> Void = x.validateForInsert
  let _: () throws -> Void = x.validateForUpdate
  let _: () -> NSFetchRequest<any NSFetchRequestResult> = NSManagedObject.fetchRequest
}
@available(*, deprecated)
private func uses_NSManagedObjectID(_ x: NSManagedObjectID) throws {
  _ = (x as any NSCopying)
  let _: NSManagedObjectID.Type = NSManagedObjectID.self
  let _: NSEntityDescription = x.entity
  let _: NSPersistentStore? = x.persistentStore
  let _: Bool = x.isTemporaryID
  let _: () -> URL = x.uriRepresentation
}
@available(*, deprecated)
private func uses_NSManagedObjectContextConcurrencyType() throws {
  let _: NSManagedObjectContextConcurrencyType.Type = NSManagedObjectContextConcurrencyType.self
}
@available(*, deprecated)
private func uses_NSManagedObjectContext(_ x: NSManagedObjectContext) throws {
  let _: (NSQueryGenerationToken?) throws -> Void = x.setQueryGenerationFrom(_:)
  let _: NSQueryGenerationToken? = x.queryGenerationToken
  let _: NSManagedObjectContext.Type = NSManagedObjectContext.self
  let _: () -> NSManagedObjectContext = NSManagedObjectContext.new
  _ = (x as any NSCoding)
  _ = (x as any NSLocking)
  _ = NSManagedObjectContext()
  let _: (NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext = NSManagedObjectContext
    .init(concurrencyType:)
  x.perform { () -> Void in }
  x.performAndWait { () -> Void in }
  do {
    let v: NSPersistentStoreCoordinator? = x.persistentStoreCoordinator;
    x.persistentStoreCoordinator = v
  }
  do { let v: NSManagedObjectContext? = x.parent; x.parent = v }
  do { let v: String? = x.name; x.name = v }
  do { let v: UndoManager? = x.undoManager; x.undoManager = v }
  let _: Bool = x.hasChanges
  let _: NSMutableDictionary = x.userInfo
  let _: NSManagedObjectContextConcurrencyType = x.concurrencyType
  let _: (NSManagedObjectID) -> NSManagedObject? = x.registeredObject(for:)
  let _: (NSManagedObjectID) -> NSManagedObject = x.object(with:)
  let _: (NSManagedObjectID) throws -> NSManagedObject = x.existingObject(with:)
  let _: (NSFetchRequest<any NSFetchRequestResult>) throws -> Int = x.count(for:)
  let _: (NSPersistentStoreRequest) throws -> NSPersistentStoreResult = x.execute(_:)
  let _: (NSManagedObject) -> Void = x.insert(_:)
  let _: (NSManagedObject) -> Void = x.delete(_:)
  let _: (NSManagedObject, Bool) -> Void = x.refresh(_:mergeChanges:)
  let _: (NSManagedObject) -> Void = x.detectConflicts(for:)
  let _: () -> Void = x.processPendingChanges
  let _: (Any, NSPersistentStore) -> Void = x.assign(_:to:)
  let _: Set<NSManagedObject> = x.insertedObjects
  let _: Set<NSManagedObject> = x.updatedObjects
  let _: Set<NSManagedObject> = x.deletedObjects
  let _: Set<NSManagedObject> = x.registeredObjects
  let _: () -> Void = x.undo
  let _: () -> Void = x.redo
  let _: () -> Void = x.reset
  let _: () -> Void = x.rollback
  let _: () throws -> Void = x.save
  let _: () -> Void = x.refreshAllObjects
  let _: () -> Void = x.lock
  let _: () -> Void = x.unlock
  let _: () -> Bool = x.tryLock
  do { let v: Bool = x.propagatesDeletesAtEndOfEvent; x.propagatesDeletesAtEndOfEvent = v }
  do { let v: Bool = x.retainsRegisteredObjects; x.retainsRegisteredObjects = v }
}
@available(*, deprecated)
private func uses_NSManagedObjectContext_1(_ x: NSManagedObjectContext) throws {
  do { let v: Bool = x.shouldDeleteInaccessibleFaults; x.shouldDeleteInaccessibleFaults = v }
  let _: (NSManagedObject, NSManagedObjectID, NSPropertyDescription?) -> Bool = x
    .shouldHandleInaccessibleFault(_:for:triggeredByProperty:)
  do { let v: TimeInterval = x.stalenessInterval; x.stalenessInterval = v }
  do { let v: Any = x.mergePolicy; _ = v; x.mergePolicy = NSMergePolicy.error }
  let _: ([NSManagedObject]) throws -> Void = x.obtainPermanentIDs(for:)
  let _: (Notification) -> Void = x.mergeChanges(fromContextDidSave:)
  let _: ([AnyHashable: Any], [NSManagedObjectContext]) -> Void = NSManagedObjectContext
    .mergeChanges(fromRemoteContextSave:into:)
  do {
    let v: Bool = x.automaticallyMergesChangesFromParent; x.automaticallyMergesChangesFromParent = v
  }
  do { let v: String? = x.transactionAuthor; x.transactionAuthor = v }
  let _: (NSFetchRequest<NSNumber>) throws -> [NSNumber] = x.fetch(_:)
  let _: (NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] = x.fetch(_:)
  let _: (NSFetchRequest<NSNumber>) throws -> Int = x.count(for:)
  let _: Notification.Name = NSManagedObjectContext.willSaveObjectsNotification
  let _: Notification.Name = NSManagedObjectContext.didSaveObjectsNotification
  let _: Notification.Name = NSManagedObjectContext.didChangeObjectsNotification
  let _: Notification.Name = NSManagedObjectContext.didSaveObjectIDsNotification
  let _: Notification.Name = NSManagedObjectContext.didMergeChangesObjectIDsNotification
  let _: (NSManagedObjectContext.ConcurrencyType) -> NSManagedObjectContext = NSManagedObjectContext
    .init(_:)
  let _: Int = try x.performAndWait { () throws -> Int in 1 }
  let _:
    (NSManagedObjectContext.ScheduledTaskType, @escaping () throws -> Int) async throws -> Int = x
      .perform(schedule:_:)
  _ = { () async throws -> Int in try await x.perform { () throws -> Int in 1 } }
}
@available(*, deprecated)
private func uses_NSManagedObjectContext_NotificationKey(
  _ x: NSManagedObjectContext.NotificationKey
) throws {
  let _: NSManagedObjectContext.NotificationKey.Type = NSManagedObjectContext.NotificationKey.self
  let _ = NSManagedObjectContext.NotificationKey.queryGeneration
  let _ = NSManagedObjectContext.NotificationKey.invalidatedAllObjects
  let _ = NSManagedObjectContext.NotificationKey.insertedObjects
  let _ = NSManagedObjectContext.NotificationKey.updatedObjects
  let _ = NSManagedObjectContext.NotificationKey.deletedObjects
  let _ = NSManagedObjectContext.NotificationKey.refreshedObjects
  let _ = NSManagedObjectContext.NotificationKey.invalidatedObjects
  let _ = NSManagedObjectContext.NotificationKey.insertedObjectIDs
  let _ = NSManagedObjectContext.NotificationKey.updatedObjectIDs
  let _ = NSManagedObjectContext.NotificationKey.deletedObjectIDs
  let _ = NSManagedObjectContext.NotificationKey.refreshedObjectIDs
  let _ = NSManagedObjectContext.NotificationKey.invalidatedObjectIDs
  let _: (String) -> NSManagedObjectContext.NotificationKey? = NSManagedObjectContext
    .NotificationKey.init(rawValue:)
  let _: String = x.rawValue
}
@available(*, deprecated)
private func uses_NSManagedObjectContext_ConcurrencyType(
  _ x: NSManagedObjectContext.ConcurrencyType
) throws {
  let _: NSManagedObjectContext.ConcurrencyType.Type = NSManagedObjectContext.ConcurrencyType.self
  let _: NSManagedObjectContextConcurrencyType = x.rawValue
  let _: (NSManagedObjectContextConcurrencyType) -> NSManagedObjectContext.ConcurrencyType =
    NSManagedObjectContext.ConcurrencyType.init(rawValue:)
  let _: NSManagedObjectContext.ConcurrencyType = NSManagedObjectContext.ConcurrencyType
    .privateQueue
  let _: NSManagedObjectContext.ConcurrencyType = NSManagedObjectContext.ConcurrencyType.mainQueue
}
@available(*, deprecated)
private func uses_NSManagedObjectContext_ScheduledTaskType(
  _ x: NSManagedObjectContext.ScheduledTaskType
) throws {
  let _: NSManagedObjectContext.ScheduledTaskType.Type = NSManagedObjectContext.ScheduledTaskType
    .self
  let _ = NSManagedObjectContext.ScheduledTaskType.immediate
  let _ = NSManagedObjectContext.ScheduledTaskType.enqueued
  let _: Int = x.hashValue
}
@available(*, deprecated)
private func uses_NSNotification_Name() throws {
  let _: NSNotification.Name = NSNotification.Name.NSManagedObjectContextWillSave
  let _: NSNotification.Name = NSNotification.Name.NSManagedObjectContextDidSave
  let _: NSNotification.Name = NSNotification.Name.NSManagedObjectContextObjectsDidChange
  let _: NSNotification.Name = NSNotification.Name.NSManagedObjectContextDidSaveObjectIDs
  let _: NSNotification.Name = NSNotification.Name.NSManagedObjectContextDidMergeChangesObjectIDs
}
@available(*, deprecated)
private func uses_globals() throws {
  let _: AnyObject = NSErrorMergePolicy
  let _: AnyObject = NSMergeByPropertyStoreTrumpMergePolicy
  let _: AnyObject = NSMergeByPropertyObjectTrumpMergePolicy
  let _: AnyObject = NSOverwriteMergePolicy
  let _: AnyObject = NSRollbackMergePolicy
}
@available(*, deprecated)
private func uses_NSMergePolicyType() throws {
  let _: NSMergePolicyType.Type = NSMergePolicyType.self
}
@available(*, deprecated)
private func uses_NSMergeConflict(_ x: NSMergeConflict) throws {
  let _: NSMergeConflict.Type = NSMergeConflict.self
  let _: NSManagedObject = x.sourceObject
  let _: [String: Any]? = x.objectSnapshot
  let _: [String: Any]? = x.cachedSnapshot
  let _: [String: Any]? = x.persistedSnapshot
  let _: Int = x.newVersionNumber
  let _: Int = x.oldVersionNumber
  let _: (NSManagedObject, Int, Int, [String: Any]?, [String: Any]?) -> NSMergeConflict =
    NSMergeConflict.init(source:newVersion:oldVersion:cachedSnapshot:persistedSnapshot:)
}
@available(*, deprecated)
private func uses_NSConstraintConflict(_ x: NSConstraintConflict) throws {
  let _: NSConstraintConflict.Type = NSConstraintConflict.self
  let _: [String] = x.constraint
  let _: [String: Any] = x.constraintValues
  let _: NSManagedObject? = x.databaseObject
  let _: [String: Any]? = x.databaseSnapshot
  let _: [NSManagedObject] = x.conflictingObjects
  let _: [[AnyHashable: Any]] = x.conflictingSnapshots
  let _:
    ([String], NSManagedObject?, [AnyHashable: Any]?, [NSManagedObject], [Any]) ->
      NSConstraintConflict = NSConstraintConflict.init(
        constraint:database:databaseSnapshot:conflicting:conflictingSnapshots:)
}
@available(*, deprecated)
private func uses_NSMergePolicy(_ x: NSMergePolicy) throws {
  let _: NSMergePolicy.Type = NSMergePolicy.self
  let _: NSMergePolicy = NSMergePolicy.error
  let _: NSMergePolicy = NSMergePolicy.rollback
  let _: NSMergePolicy = NSMergePolicy.overwrite
  let _: NSMergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  let _: NSMergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
  let _: NSMergePolicyType = x.mergeType
  let _: (NSMergePolicyType) -> NSMergePolicy = NSMergePolicy.init(merge:)
  let _: ([Any]) throws -> Void = x.resolve(mergeConflicts:)
  let _: ([NSMergeConflict]) throws -> Void = x.resolve(optimisticLockingConflicts:)
  let _: ([NSConstraintConflict]) throws -> Void = x.resolve(constraintConflicts:)
}
@available(*, deprecated)
private func uses_NSQueryGenerationToken(_ x: NSQueryGenerationToken) throws {
  let _: NSQueryGenerationToken = NSQueryGenerationToken.current
  _ = (x as any NSSecureCoding)
  _ = (x as any NSCopying)
  let _: NSQueryGenerationToken.Type = NSQueryGenerationToken.self
}
