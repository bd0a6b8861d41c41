// Wakes what waits for commits to one store.

import CairnCoordinator
import CairnStore

/// Announces commits to a store, of this process and of others, and its end.
///
/// It lives on what the coordinator announces: nothing is looked at while nothing happens.
final class CommitSignal: CoordinatorObserver {
  /// Yields after commits, several as one; ends when the store is closed.
  let commits: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let store: PersistentStore
  private let coordinator: PersistentStoreCoordinator

  init(_ store: PersistentStore, in coordinator: PersistentStoreCoordinator) {
    self.store = store
    self.coordinator = coordinator
    (commits, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    coordinator.addObserver(self)
    // It may have been closed before it was observed.
    if !isOpen { continuation.finish() }
  }

  private var isOpen: Bool { coordinator.persistentStores.contains { $0 === store } }

  /// Ends the stream.
  func stop() {
    coordinator.removeObserver(self)
    continuation.finish()
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didCommit notice: CommitNotice,
    by source: (any CoordinatorObserver)?
  ) {
    if notice.store === store, !notice.isSidecarOnly { continuation.yield() }
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didRemove store: PersistentStore
  ) {
    if store === self.store { continuation.finish() }
  }
}
