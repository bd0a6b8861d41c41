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
  package let inserted: [ManagedObjectID]
  package let updated: [ManagedObjectID]
  package let deleted: [ManagedObjectID]
  /// The number of the history transaction, nil without history.
  package let transactionNumber: Int64?

  /// Whether the commit changed only the store's sidecar.
  package var isSidecarOnly: Bool {
    origin == .save && inserted.isEmpty && updated.isEmpty && deleted.isEmpty
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
