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
    /// Another coordinator or process wrote to the same store; which objects is not known here, history tells.
    case remote
  }

  package let store: PersistentStore
  package let origin: Origin
  /// The number of the history transaction, nil without history.
  package let transactionNumber: Int64?
  private let objects: Objects

  /// Listed only when an observer asks: most commits have none that does.
  private enum Objects: Sendable {
    case unknown
    case touched(BatchOutcome)
    case written(SaveChangesRequest)
  }

  /// Another coordinator or process has written.
  package init(remoteChangeOf store: PersistentStore) {
    self.store = store
    origin = .remote
    transactionNumber = nil
    objects = .unknown
  }

  /// A batch request.
  package init(store: PersistentStore, _ outcome: BatchOutcome) {
    self.store = store
    origin = .batch
    transactionNumber = nil
    objects = .touched(outcome)
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
    case .unknown: return []
    case .touched(let outcome): return outcome.inserted
    case .written(let request): return request.insertions.map(\.snapshot.objectID)
    }
  }

  /// The objects that were changed without being inserted or deleted: updated rows, and owners of
  /// changed links.
  package var updated: [ManagedObjectID] {
    switch objects {
    case .unknown: return []
    case .touched(let outcome): return outcome.updated
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
    case .unknown: return []
    case .touched(let outcome): return outcome.deleted.ids
    case .written(let request): return request.deletions.map(\.objectID)
    }
  }

  /// Whether the commit changed only the store's sidecar.
  package var isSidecarOnly: Bool {
    guard origin == .save else { return false }
    switch objects {
    case .unknown, .touched: return false
    case .written(let request):
      return request.insertions.isEmpty && request.updates.isEmpty && request.deletions.isEmpty
        && request.links.isEmpty
    }
  }
}
