import CairnModel
import CairnStore
import Foundation

/// Rows made from the objects of a parent context, unsaved changes included.
final class ParentRows: RowSource {
  private let context: ManagedObjectContext
  var parent: ManagedObjectContext? { context }

  init(parent: ManagedObjectContext) { context = parent }

  func rows(for ids: [ManagedObjectID], maximumAge: TimeInterval?) throws -> [RowSnapshot?] {
    try context.serve {
      let objects = ids.map { context.object(with: $0) }
      try FaultFiring.fill(objects, maximumAge: maximumAge)
      return zip(ids, objects).map { asked, object in
        guard !object.isFault, !object.isDeleted else { return nil }
        return object.row(under: asked)
      }
    }
  }

  // The parent's object holds the row.
  func retainedRow(for id: ManagedObjectID, maximumAge: TimeInterval?) throws -> RowSnapshot? {
    try rows(for: [id], maximumAge: maximumAge)[0]
  }

  func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    context.serve {
      owners.map { owner in
        let object = context.object(with: owner)
        if object.isFault { FaultFiring.fire(object) }
        if object.isDeleted { return [] }
        guard let index = object.layout.toManyByName[relationship.name] else { return [] }
        return object.memberIDs(ofToMany: index)
      }
    }
  }

  func fetch(
    _ request: StoreFetchRequest, in stores: [PersistentStore]?, includingPending: Bool
  ) throws -> StoreFetchResult {
    try context.serve {
      try FetchExecution(context: context).run(
        request, in: stores, includesPendingChanges: includingPending)
    }
  }

  // The parent's objects hold the rows.
  func retainRows(_ ids: [ManagedObjectID]) {}
  func releaseRows(_ ids: [ManagedObjectID]) {}

  // The registries guard themselves, so these need no turn on the parent's queue.
  func temporaryID(of id: ManagedObjectID) -> ManagedObjectID? {
    context.registry.predecessor(of: id) ?? context.reading.source?.temporaryID(of: id)
  }
  func permanentID(of id: ManagedObjectID) -> ManagedObjectID? {
    let known = context.registry.current(id)
    return known === id ? context.reading.source?.permanentID(of: id) : known
  }
}
