import CairnModel
import CairnStore

/// An object that wants to know about commits: a context, or the sync engine.
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
  /// To an observer that does not follow objects, the old store is gone.
  package func coordinator(
    _ coordinator: PersistentStoreCoordinator, didMove old: PersistentStore,
    to new: PersistentStore, ids: [ManagedObjectID: ManagedObjectID]
  ) {
    self.coordinator(coordinator, didRemove: old)
  }
}

/// The observers of a coordinator, held weakly.
///
/// A value inside the coordinator's mutex.
struct ObserverList {
  private struct Entry {
    weak var observer: (any CoordinatorObserver)?
  }
  private var entries: [Entry] = []

  mutating func add(_ observer: any CoordinatorObserver) {
    entries.removeAll { $0.observer == nil || $0.observer === observer }
    entries.append(Entry(observer: observer))
  }

  mutating func remove(_ observer: any CoordinatorObserver) {
    entries.removeAll { $0.observer == nil || $0.observer === observer }
  }

  /// Those that are still alive, in the order they were added.
  var alive: [any CoordinatorObserver] { entries.compactMap(\.observer) }
}
