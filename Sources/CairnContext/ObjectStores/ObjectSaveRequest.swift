import CairnModel
import CairnStore
import Foundation

/// What an ``IncrementalStore`` is asked to save: objects of the context that saves.
///
/// Source: `NSSaveChangesRequest`. The values that cross the value line are
/// ``SaveChangesRequest``.
open class ObjectSaveRequest: PersistentStoreRequest {
  open private(set) var insertedObjects: Set<ManagedObject>?
  open private(set) var updatedObjects: Set<ManagedObject>?
  open private(set) var deletedObjects: Set<ManagedObject>?
  /// Unchanged objects whose rows must not have changed either.
  open private(set) var lockedObjects: Set<ManagedObject>?
  private var versions: [ManagedObjectID: Int64] = [:]

  public init(
    inserted insertedObjects: Set<ManagedObject>?, updated updatedObjects: Set<ManagedObject>?,
    deleted deletedObjects: Set<ManagedObject>?, locked lockedObjects: Set<ManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
    super.init()
  }

  open override var requestType: PersistentStoreRequestType { .saveRequestType }

  /// Cairn's own: the version that the change of an object is based on, for stores that find
  /// conflicts; nil when the object is to be written whatever the store has.
  ///
  /// It is the version of the node the object was read with, one more for each save since. A store
  /// that has another version now throws 134050 with a ``MergeConflict`` for each such object under
  /// `conflictList`; the context's merge policy decides and the save is tried again.
  @_spi(Stores)
  public func baseVersion(of object: ManagedObject) -> UInt64? {
    versions[object.objectID].map { UInt64(max(0, $0)) }
  }

  /// The request for the changes of a value request, as objects of a context.
  convenience init(_ request: SaveChangesRequest, in context: ManagedObjectContext) {
    func objects(_ ids: [ManagedObjectID]) -> Set<ManagedObject> {
      Set(ids.map { context.object(with: $0) })
    }
    var versions: [ManagedObjectID: Int64] = [:]
    var updated = request.updates.map(\.snapshot.objectID)
    for update in request.updates where !update.overwritesConflicts {
      versions[update.snapshot.objectID] = update.version
    }
    for deletion in request.deletions where !deletion.overwritesConflicts {
      versions[deletion.objectID] = deletion.version
    }
    for lock in request.locks { versions[lock.objectID] = lock.version }
    // Owners of changed links are changed objects, whichever side reported the link.
    let known = Set(
      updated + request.insertions.map(\.snapshot.objectID)
        + request.deletions.map(\.objectID))
    for link in request.links where !known.contains(link.owner) { updated.append(link.owner) }
    self.init(
      inserted: objects(request.insertions.map(\.snapshot.objectID)), updated: objects(updated),
      deleted: objects(request.deletions.map(\.objectID)),
      locked: objects(request.locks.map(\.objectID)))
    self.versions = versions
  }
}
