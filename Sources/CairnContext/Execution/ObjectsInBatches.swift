import CairnModel
import CairnStore

// What walking over more rows than memory has room for asks of a context, as migrations do.

extension ManagedObjectContext {
  /// The objects with IDs; the rows of those that are faults are read in one go.
  ///
  /// An object whose row is gone stays a fault.
  package final func filledObjects(with ids: [ManagedObjectID]) throws -> [ManagedObject] {
    // Those of the batch before.
    releaseAbandonedRows()
    let objects = ids.map { object(with: $0) }
    try fill(objects)
    return objects
  }

  /// Reads the rows of those of the objects that are faults in one go.
  package final func fill(_ objects: [ManagedObject]) throws {
    try CoreDataError.bridging { try FaultFiring.fill(objects, maximumAge: maximumRowAge) }
  }

  /// How many objects there are, and how many of them have something to be saved.
  package final var registeredCount: Int { registry.count }
  package final var pendingCount: Int { pending.count }

  /// Turns all objects without changes into faults, so that those go that only others of them refer
  /// to.
  ///
  /// Objects that a program holds stay usable: they read their rows once more. Unlike
  /// ``refreshAllObjects()`` the context posts no notification.
  package final func turnUnchangedObjectsIntoFaults() {
    confinement.check()
    processPendingChanges()
    reading.lastMembers = nil
    let refreshing = ObjectRefreshing(context: self)
    for object in registry.objects where !object.isFault && !object.hasChanges {
      refreshing.turnIntoFault(object)
    }
    releaseAbandonedRows(atLeast: 1)
  }

  /// Gives a new object the key of its row, which its store has reserved.
  ///
  /// References to it by its temporary ID are settled by ``settleReferences()``, before the save.
  package final func give(
    rowKey: Int64, in store: PersistentStore, to object: ManagedObject
  ) {
    guard object.objectID.isTemporaryID, object.registry === registry else { return }
    registry.giveRowKeys(
      [rowKey], in: [RowKeyRun(entity: object.entity, count: 1)], of: store.identity, to: [object])
  }

  /// Lets changed objects refer to others by the IDs that these have now.
  package final func settleReferences() { PermanentIDs(context: self).replaceReferences() }
}

extension AnyFetchRequest {
  /// The request for the IDs of what this one finds.
  package final func forIDs() -> FetchRequest<ManagedObjectID> {
    let request = FetchRequest<ManagedObjectID>()
    request.copyValues(from: self)
    request.resultType = .managedObjectIDResultType
    request.includesPropertyValues = false
    request.fetchBatchSize = 0
    request.relationshipKeyPathsForPrefetching = nil
    return request
  }
}
