import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// What another context saved, as IDs that are valid here.
struct MergedChanges: Sendable {
  var inserted: [ManagedObjectID] = []
  var updated: [ManagedObjectID] = []
  var deleted: [ManagedObjectID] = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// Brings a context up to date with the saves of others, without making it dirty.
struct ChangeMerging {
  let context: ManagedObjectContext

  func merge(_ notification: Notification) {
    let info = notification.userInfo ?? [:]
    let saver = (notification.object as? ManagedObjectContext)?.persistentStoreCoordinator
    if saver == nil || saver !== context.persistentStoreCoordinator {
      merge(remote: info)
    } else {
      merge(
        changes(in: info),
        generation: info[ManagedObjectContext.NotificationKey.queryGeneration.rawValue]
          as? QueryGenerationToken)
    }
  }

  /// Takes changes that did not go through the row cache: batch requests, history, other
  /// coordinators.
  func merge(remote info: [AnyHashable: Any]) {
    let changes = changes(in: info)
    (context.rowSource as? CoordinatorRows)?.coordinator
      .forgetRows(changes.updated + changes.deleted)
    merge(changes)
  }

  /// Sets and arrays of objects, object IDs and URIs, under the keys for objects and for IDs.
  private func changes(in info: [AnyHashable: Any]) -> MergedChanges {
    func ids(_ keys: ManagedObjectContext.NotificationKey...) -> [ManagedObjectID] {
      keys.flatMap { key in info[key.rawValue].map(Self.elements) ?? [] }.compactMap(id)
    }
    return MergedChanges(
      inserted: ids(.insertedObjects, .insertedObjectIDs),
      updated: ids(.updatedObjects, .updatedObjectIDs, .refreshedObjects, .refreshedObjectIDs),
      deleted: ids(.deletedObjects, .deletedObjectIDs))
  }

  /// The same for changes that did not come through this coordinator's saves (batch requests, other
  /// processes): the row cache may be behind the stores, so the rows are read first.
  func merge(fromStores info: [AnyHashable: Any]) {
    let keys: [ManagedObjectContext.NotificationKey] = [
      .updatedObjects, .updatedObjectIDs, .refreshedObjects, .refreshedObjectIDs,
    ]
    let ids = keys.flatMap { info[$0.rawValue].map(Self.elements) ?? [] }.compactMap(id)
      .filter { !$0.isTemporaryID }
    if !ids.isEmpty, let coordinator = context.persistentStoreCoordinator {
      // What cannot be read is noticed when it is used.
      _ = try? coordinator.snapshots(for: ids, maximumAge: 0)
    }
    merge(remote: info)
  }

  private static func elements(_ value: Any) -> [Any] {
    switch value {
    case let set as Set<ManagedObject>: return Array(set)
    case let set as Set<ManagedObjectID>: return Array(set)
    case let set as Set<AnyHashable>: return set.map(\.base)
    case let array as [Any]: return array
    case let set as NSSet: return set.allObjects
    default: return []
    }
  }

  private func id(_ element: Any) -> ManagedObjectID? {
    let lookup = ObjectLookup(context: context)
    switch element {
    // The ID of a deleted object is the one thing of it that other queues may read.
    case let object as ManagedObject: return lookup.local(object.objectID)
    case let id as ManagedObjectID: return lookup.local(id)
    case let url as URL:
      return context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url)
    default: return nil
    }
  }

  /// - Parameter generation: The state that the context which saved has gone on to.
  func merge(_ changes: MergedChanges, generation: QueryGenerationToken? = nil) {
    context.advanceQueryGeneration(to: generation)
    if changes.isEmpty { return }
    // What happened here before the merge is an event of its own.
    context.processPendingChanges()
    let isNested = context.isMerging
    context.isMerging = true
    defer { context.isMerging = isNested }
    for id in changes.deleted { delete(id) }
    var kept = KeptPartners(context: context)
    let refreshed = update(changes.updated, &kept)
    // Inserted objects are held until the notification has been posted.
    let inserted = changes.inserted.map { insert($0) }
    withExtendedLifetime(inserted) { context.processPendingChanges() }
    kept.follow()
    ContextNotifications(context: context).postDidMerge(changes, refreshed: refreshed)
    if !context.mergedDeletions.isEmpty { context.scheduleEndOfMerge() }
  }

  private func insert(_ id: ManagedObjectID) -> ManagedObject {
    let object = context.object(with: id)
    if object.flags.contains(.deletedElsewhere) {
      // It was deleted and has come back.
      object.flags.subtract([.deletedElsewhere, .inaccessible])
      ObjectRefreshing(context: context).turnIntoFault(object)
    }
    if !object.hasChanges { context.pending.note(object, .eventInserted) }
    return object
  }

  /// - Returns: The IDs of the objects that have newer values now.
  private func update(
    _ ids: [ManagedObjectID], _ kept: inout KeptPartners
  ) -> [ManagedObjectID] {
    let refreshing = ObjectRefreshing(context: context)
    let objects = ids.compactMap { ObjectLookup(context: context).registered($0) }
    let realised = objects.filter { !$0.isFault && !$0.isDeleted }
    let rows =
      (try? context.rowSource?.rows(
        for: realised.map(\.objectID), maximumAge: context.maximumRowAge)) ?? []
    for (object, row) in zip(realised, rows) {
      for value in object.toManyValues { value?.unload(keepingChanges: true) }
      if let row {
        kept.note(object, over: row)
        refreshing.rebase(object, onto: row)
      }
      object.forgetLooseValues()
      if !object.isFault { object.takeTransientDefaults() }
      object.awake(fromSnapshotEvents: .refresh)
      context.pending.note(object, .eventRefreshed)
    }
    for object in objects where object.isFault {
      object.snapshot = nil
      for value in object.toManyValues { value?.unload(keepingChanges: true) }
    }
    return realised.map(\.objectID)
  }

  /// An object's row was deleted by somebody else.
  func delete(_ id: ManagedObjectID) {
    guard let object = ObjectLookup(context: context).registered(id),
      !object.flags.contains(.deletedElsewhere)
    else { return }
    forgetReferences(to: object)
    // Unsaved changes of an object that is gone cannot be saved; under the error policy the save
    // has to say so.
    if object.isUpdated, object.hasPersistentChangedValues,
      context.policy.mergeType == .errorMergePolicyType
    {
      return
    }
    if object.isUpdated { release(object) }
    context.pending.remove(object)
    // There is nothing left to be read.
    if object.isFault { FaultFiring.becomeEmpty(object) }
    object.flags.insert(.deletedElsewhere)
    context.pending.note(object, .eventDeleted)
    if context.isMerging { context.mergedDeletions.append(object) }
  }

  /// What was related here to an object that is gone is not saved with a key to it; that is nothing
  /// that undo takes back.
  private func release(_ object: ManagedObject) {
    let isResolving = context.isResolvingConflicts
    context.isResolvingConflicts = true
    defer { context.isResolvingConflicts = isResolving }
    RelationshipRestoring(object).beReleased()
    context.processPendingChanges()
  }

  /// Loaded sets do not list an object that is gone.
  private func forgetReferences(to object: ManagedObject) {
    guard let slots = object.slots ?? object.snapshot?.slots else { return }
    for slot in 0..<object.slotCount where object.layout.isToOneSlot[slot] {
      InverseMaintenance.reconcile(object, slot: slot, from: slots[slot], to: .null)
    }
    for (index, relationship) in object.layout.toManys.enumerated() {
      guard let value = object.touchedToMany(index), value.isLoaded,
        let inverse = relationship.inverseRelationship, inverse.isToMany
      else { continue }
      for member in value.current {
        if let other = InverseMaintenance.index(of: inverse, in: member) {
          member.touchedToMany(other)?.forget(object)
        }
      }
    }
  }
}
