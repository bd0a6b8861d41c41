// Contexts as programs make and use them.

import CoreData
import TestSupport
import Testing

/// Chapters 7, 12, 13 and II.4 of the specification.
@Suite struct ContextVerbTests {
  @Test func aContextIsMadeInEachWay() throws {
    let background = NSManagedObjectContext(NSManagedObjectContext.ConcurrencyType.privateQueue)
    #expect(background.concurrencyType == .privateQueueConcurrencyType)
    let main = NSManagedObjectContext(.mainQueue)
    #expect(main.concurrencyType == .mainQueueConcurrencyType)
    #expect(
      NSManagedObjectContext.ConcurrencyType.mainQueue.rawValue
        == NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType)
    #expect(main.propagatesDeletesAtEndOfEvent && main.shouldDeleteInaccessibleFaults)
    #expect(main.undoManager == nil && main.stalenessInterval < 0)
    #expect(!main.automaticallyMergesChangesFromParent && !main.retainsRegisteredObjects)
  }

  /// Lets a test use what Core Data has deprecated.
  private protocol Old { func confined() -> [NSManagedObjectContext] }
  private struct OldWays: Old {
    @available(*, deprecated)
    func confined() -> [NSManagedObjectContext] {
      [NSManagedObjectContext.new(), NSManagedObjectContext()]
    }
  }

  @Test func theOldWaysMakeAContextOfTheThread() throws {
    let old: any Old = OldWays()
    for context in old.confined() {
      #expect(context.concurrencyType == .confinementConcurrencyType)
      context.persistentStoreCoordinator = try Company.coordinator()
      _ = try Company.clerk("Ada", in: context)
      try context.save()
      #expect(try Company.names(in: context) == ["Ada"])
    }
  }

  @Test func blocksReturnWhatTheyMakeAndThrowWhatTheyThrow() async throws {
    struct Stop: Error {}
    let context = Company.context(try Company.coordinator())
    let count: Int = context.performAndWait({ context.insertedObjects.count })
    #expect(count == 0)
    #expect(throws: Stop.self) { try context.performAndWait({ throw Stop() }) }
    let name = try await context.perform(schedule: .immediate) {
      try Company.clerk("Ada", in: context).value(forKey: "name") as? String
    }
    #expect(name == "Ada")
    await #expect(throws: Stop.self) {
      try await context.perform(schedule: .enqueued) { throw Stop() }
    }
    let types: Set<NSManagedObjectContext.ScheduledTaskType> = [.immediate, .enqueued, .immediate]
    #expect(types.count == 2)
    #expect(
      NSManagedObjectContext.ScheduledTaskType.immediate.hashValue
        == NSManagedObjectContext.ScheduledTaskType.immediate.hashValue)
  }

  /// The user info of the notifications that a body causes, in order.
  private func notifications(
    of context: NSManagedObjectContext, _ names: [Notification.Name], _ body: () throws -> Void
  ) rethrows -> [(Notification.Name, [AnyHashable: Any])] {
    final class Heard: @unchecked Sendable {
      var list: [(Notification.Name, [AnyHashable: Any])] = []
    }
    // Posted on this thread, within the body.
    let heard = Heard()
    let tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
        heard.list.append(($0.name, $0.userInfo ?? [:]))
      }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    try body()
    return heard.list
  }

  @Test func aSaveIsAnnouncedUnderApplesNames() throws {
    try Company.use { context in
      let clerk = try Company.clerk("Ada", in: context)
      let heard = try notifications(
        of: context,
        [
          .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
          .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
        ]
      ) { try context.save() }
      #expect(
        heard.map(\.0) == [
          .NSManagedObjectContextWillSave, .NSManagedObjectContextObjectsDidChange,
          .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
        ]
          || heard.map(\.0) == [
            .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave,
            .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
          ])
      let saved = heard.first { $0.0 == NSManagedObjectContext.didSaveObjectsNotification }?.1
      #expect(saved?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [clerk])
      let updated = saved?[NSUpdatedObjectsKey] as? Set<NSManagedObject>
      #expect(updated?.isEmpty != false)
      let ids = heard.last?.1[NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue]
      #expect(ids as? Set<NSManagedObjectID> == [clerk.objectID])
      let announced = heard.first { $0.0 == .NSManagedObjectContextWillSave }?.1
      #expect(announced?.isEmpty == true)
    }
  }

  @Test func mergingAnnouncesTheIDsItMerged() throws {
    typealias Key = NSManagedObjectContext.NotificationKey
    let coordinator = try Company.coordinator()
    let writer = Company.context(coordinator)
    let reader = Company.context(coordinator)
    let ids = try writer.performAndWait { () throws -> [NSManagedObjectID] in
      let clerks = [try Company.clerk("a", in: writer), try Company.clerk("b", in: writer)]
      try writer.save()
      return clerks.map(\.objectID)
    }
    try reader.performAndWait { () throws -> Void in
      reader.retainsRegisteredObjects = true
      _ = try Company.names(in: reader)
      let changes: [AnyHashable: Any] = [
        NSUpdatedObjectsKey: [ids[0].uriRepresentation()], NSDeletedObjectsKey: [ids[1]],
      ]
      try writer.performAndWait { () throws -> Void in
        writer.object(with: ids[0]).setValue("c", forKey: "name")
        writer.delete(writer.object(with: ids[1]))
        try writer.save()
      }
      let heard = notifications(
        of: reader, [.NSManagedObjectContextDidMergeChangesObjectIDs]
      ) {
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [reader])
      }
      let info = try #require(heard.first?.1)
      #expect(info[Key.deletedObjectIDs.rawValue] as? Set<NSManagedObjectID> == [ids[1]])
      #expect(
        (info[Key.refreshedObjectIDs.rawValue] as? Set<NSManagedObjectID> ?? []).union(
          info[Key.updatedObjectIDs.rawValue] as? Set<NSManagedObjectID> ?? []) == [ids[0]])
      #expect(info[Key.invalidatedObjectIDs.rawValue] as? Set<NSManagedObjectID> == [])
      #expect(try Company.names(in: reader) == ["c"] && !reader.hasChanges)
    }
  }

  @Test func aResetInvalidatesEverythingAtOnce() throws {
    typealias Key = NSManagedObjectContext.NotificationKey
    try Company.use { context in
      let clerk = try Company.clerk("a", in: context)
      try context.save()
      let heard = notifications(of: context, [.NSManagedObjectContextObjectsDidChange]) {
        context.reset()
      }
      let info = try #require(heard.last?.1)
      #expect(info[NSInvalidatedAllObjectsKey] != nil)
      #expect(
        info[Key.invalidatedObjects.rawValue] == nil && info[Key.refreshedObjects.rawValue] == nil)
      #expect(context.registeredObjects.isEmpty && clerk.managedObjectContext == nil)
    }
  }

  @Test func deletesAreFollowedAtTheSaveWhenAskedSo() throws {
    try Company.use { context in
      context.propagatesDeletesAtEndOfEvent = false
      let office = Office(context: context)
      let clerk = try Company.clerk("a", in: context)
      clerk.setValue(office, forKey: "office")
      try context.save()
      context.delete(office)
      context.processPendingChanges()
      #expect(!clerk.isDeleted)
      try context.save()
      #expect(try Company.names(in: context) == [])
    }
  }

  @Test func objectsGetTheirPermanentIDsBeforeTheSave() throws {
    try Company.use { context in
      let clerk = try Company.clerk("a", in: context)
      let temporary = clerk.objectID
      try context.obtainPermanentIDs(for: [clerk])
      #expect(temporary.isTemporaryID && !clerk.objectID.isTemporaryID && clerk.isInserted)
      let id = clerk.objectID
      try context.save()
      #expect(clerk.objectID == id && context.registeredObject(for: id) === clerk)
    }
  }

  // MARK: Policies and conflicts

  /// A policy that notes what it is asked and decides like another one.
  private final class NotingPolicy: NSMergePolicy, @unchecked Sendable {
    var asked: [String] = []
    override func resolve(mergeConflicts list: [Any]) throws {
      asked.append("all \(list.count)")
      try super.resolve(mergeConflicts: list)
    }
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
      asked.append("locking \(list.count)")
      try super.resolve(optimisticLockingConflicts: list)
    }
    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
      asked.append("constraint \(list.count)")
      #expect(list[0].constraint == ["name"])
      #expect(list[0].constraintValues["name"] as? String == "a")
      #expect(list[0].databaseObject != nil && list[0].conflictingObjects.count == 1)
      let stored: [String: Any]? = list[0].databaseSnapshot
      #expect(stored?["name"] as? String == "a")
      #expect(list[0].conflictingSnapshots.count == 1)
      try super.resolve(constraintConflicts: list)
    }
  }

  @Test func aPolicyOfAProgramIsAskedForEachKindOfConflict() throws {
    try TemporaryFolder.with { folder in
      let model = Company.model()
      model.entitiesByName["Clerk"]?.uniquenessConstraints = [["name"]]
      let coordinator = try Company.coordinator(
        NSSQLiteStoreType, at: folder.appendingPathComponent("a.sqlite"), model: model)
      let first = Company.context(coordinator)
      let second = Company.context(coordinator)
      let policy = NotingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      #expect(policy.mergeType == NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType)
      second.mergePolicy = policy
      let id = try first.performAndWait { () throws -> NSManagedObjectID in
        let clerk = try Company.clerk("a", in: first)
        try first.save()
        return clerk.objectID
      }
      try second.performAndWait { () throws -> Void in
        let clerk = try second.existingObject(with: id)
        try first.performAndWait { () throws -> Void in
          first.object(with: id).setValue(50, forKey: "age")
          try first.save()
        }
        clerk.setValue(60, forKey: "age")
        try second.save()
        #expect(policy.asked == ["all 1", "locking 1"])
        policy.asked = []
        _ = try Company.clerk("a", in: second)
        try second.save()
        #expect(policy.asked == ["all 1", "constraint 1"])
        #expect(try Company.names(in: second) == ["a"])
      }
    }
  }

  @Test func conflictsMadeByAProgramHoldWhatTheyAreGiven() throws {
    try Company.use { context in
      let clerk = try Company.clerk("a", in: context)
      try context.save()
      let locking = NSMergeConflict(
        source: clerk, newVersion: 0, oldVersion: 1, cachedSnapshot: ["name": "b"],
        persistedSnapshot: nil)
      #expect(locking.sourceObject === clerk && locking.cachedSnapshot?["name"] as? String == "b")
      #expect((locking.newVersionNumber, locking.oldVersionNumber) == (0, 1))
      let constraint = NSConstraintConflict(
        constraint: ["name"], database: clerk, databaseSnapshot: ["name": "a"],
        conflicting: [clerk], conflictingSnapshots: [["name": "a"]])
      #expect(constraint.databaseSnapshot?["name"] as? String == "a")
      #expect(constraint.conflictingSnapshots.first?["name"] as? String == "a")
      let refused = Company.error {
        try NSMergePolicy.error.resolve(constraintConflicts: [constraint])
      }
      #expect(refused?.code == NSManagedObjectConstraintMergeError)
      let conflict = Company.error {
        try NSMergePolicy.error.resolve(optimisticLockingConflicts: [locking])
      }
      #expect(conflict?.code == NSManagedObjectMergeError)
    }
  }

  @Test func generationTokensAreCopiedAndCompared() throws {
    let current: NSQueryGenerationToken = .current
    #expect(current.copy() as? NSQueryGenerationToken == current)
  }
}
