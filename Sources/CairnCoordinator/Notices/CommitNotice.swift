import CairnModel
import CairnStore

/// What a coordinator tells its observers about one commit.
package struct CommitNotice: Sendable {
  /// Who wrote.
  package enum Origin: Sendable, Equatable {
    /// A context of this coordinator saved.
    case save
    /// A batch request ran inside the store; the row cache still has the old rows.
    case batch
    /// Somebody else wrote to the same store; which objects is not known here, history tells.
    case remote
  }

  package let store: PersistentStore
  package let origin: Origin
  /// The number of the history transaction, nil without history.
  package let transactionNumber: Int64?
  private let objects: Objects

  /// Listed only when somebody asks: most commits have no observer that does.
  private enum Objects: Sendable {
    case listed(
      inserted: [ManagedObjectID], updated: [ManagedObjectID], deleted: [ManagedObjectID])
    case written(SaveChangesRequest)
  }

  package init(
    store: PersistentStore, origin: Origin, inserted: [ManagedObjectID],
    updated: [ManagedObjectID], deleted: [ManagedObjectID], transactionNumber: Int64?
  ) {
    self.store = store
    self.origin = origin
    self.transactionNumber = transactionNumber
    objects = .listed(inserted: inserted, updated: updated, deleted: deleted)
  }

  /// A save of a context.
  package init(store: PersistentStore, _ request: SaveChangesRequest, transactionNumber: Int64?) {
    self.store = store
    origin = .save
    self.transactionNumber = transactionNumber
    objects = .written(request)
  }

  package var inserted: [ManagedObjectID] {
    switch objects {
    case .listed(let inserted, _, _): return inserted
    case .written(let request): return request.insertions.map(\.snapshot.objectID)
    }
  }

  /// The objects that were changed without being inserted or deleted: updated rows, and owners of
  /// changed links.
  package var updated: [ManagedObjectID] {
    switch objects {
    case .listed(_, let updated, _): return updated
    case .written(let request):
      var updated = request.updates.map(\.snapshot.objectID)
      if request.links.isEmpty { return updated }
      var known = Set(updated)
      known.formUnion(inserted)
      known.formUnion(deleted)
      for link in request.links where known.insert(link.owner).inserted {
        updated.append(link.owner)
      }
      return updated
    }
  }

  package var deleted: [ManagedObjectID] {
    switch objects {
    case .listed(_, _, let deleted): return deleted
    case .written(let request): return request.deletions.map(\.objectID)
    }
  }

  /// Whether the commit changed only the store's sidecar.
  package var isSidecarOnly: Bool {
    guard origin == .save else { return false }
    switch objects {
    case .listed(let inserted, let updated, let deleted):
      return inserted.isEmpty && updated.isEmpty && deleted.isEmpty
    case .written(let request):
      return request.insertions.isEmpty && request.updates.isEmpty && request.deletions.isEmpty
        && request.links.isEmpty
    }
  }
}

/// Somebody who wants to know about commits: contexts, and the sync engine.
package protocol CoordinatorObserver: AnyObject, Sendable {
  /// Called after each commit, on the thread that committed, with no lock held.
  ///
  /// - Parameter source: The observer that asked for the commit, which need not act on it.
  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didCommit notice: CommitNotice,
    by source: (any CoordinatorObserver)?)

  /// Called after a store was taken out, with no lock held.
  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didRemove store: PersistentStore)

  /// Called after a store was taken out for another with the same contents, with no lock held.
  ///
  /// - Parameter ids: Each object's new ID.
  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didMove old: PersistentStore,
    to new: PersistentStore, ids: [ManagedObjectID: ManagedObjectID])
}

extension CoordinatorObserver {
  /// To somebody who does not follow objects, the old store is gone.
  package func coordinator(
    _ coordinator: PersistentStoreCoordinator, didMove old: PersistentStore,
    to new: PersistentStore, ids: [ManagedObjectID: ManagedObjectID]
  ) {
    self.coordinator(coordinator, didRemove: old)
  }
}
