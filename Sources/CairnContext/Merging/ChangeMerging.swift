import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

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
    context.reading.source?.coordinator?
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
    let isNested = context.event.isMerging
    context.event.isMerging = true
    defer { context.event.isMerging = isNested }
    let deletions = DeletedElsewhere(context: context)
    for id in changes.deleted { deletions.note(id) }
    var kept = KeptPartners(context: context)
    let refreshed = update(changes.updated, &kept)
    // Inserted objects are held until the notification has been posted.
    let inserted = changes.inserted.map { insert($0) }
    withExtendedLifetime(inserted) { context.processPendingChanges() }
    kept.follow()
    rebaseDeletions(changes.updated)
    ContextNotifications(context: context).postDidMerge(changes, refreshed: refreshed)
    if !context.event.mergedDeletions.isEmpty { context.scheduleEndOfMerge() }
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
      (try? context.reading.source?.rows(
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

  /// Objects that are deleted here, without having been saved, are deleted on top of their newer rows.
  ///
  /// What their delete rules find on it is, as what a merge policy decides, nothing that undo takes back.
  private func rebaseDeletions(_ ids: [ManagedObjectID]) {
    let objects = ids.compactMap { ObjectLookup(context: context).registered($0) }
      .filter { $0.flags.contains(.deleted) && !$0.flags.contains(.inaccessible) }
    if objects.isEmpty { return }
    let rows =
      (try? context.reading.source?.rows(
        for: objects.map(\.objectID), maximumAge: context.maximumRowAge)) ?? []
    context.resolvingConflicts {
      for (object, row) in zip(objects, rows) {
        if let row { ObjectRefreshing(context: context).rebase(deleted: object, onto: row) }
      }
      context.processPendingChanges()
    }
  }
}
