import CairnStore
import Foundation
import Synchronization

/// Posts remote change notifications, off the thread that committed; commits that follow each
/// other quickly share one.
///
/// Mutable state: the stores with a notification under way, inside `pending`.
final class RemoteChangePosting: Sendable {
  private let queue = DispatchQueue(label: "cairn.coordinator.remote-change", qos: .utility)
  private let pending = Mutex<Set<ObjectIdentifier>>([])

  /// Notices the commits of others to a store that is to post remote changes.
  ///
  /// - Throws: When the store's file cannot be read; that it cannot be watched is made up for by
  ///   the store.
  func watch(_ store: PersistentStore, of coordinator: PersistentStoreCoordinator) throws {
    guard store.configuration.options.postsRemoteChanges,
      let watching = store as? any CommitWatching
    else { return }
    try watching.watchCommits { [weak coordinator, weak store] in
      guard let coordinator, let store else { return }
      coordinator.storeDidChangeRemotely(store)
    }
  }

  /// Announces that somebody wrote to the store, if it was opened with that option.
  func announce(_ store: PersistentStore, of coordinator: PersistentStoreCoordinator) {
    guard store.configuration.options.postsRemoteChanges else { return }
    let isFirst = pending.withLock { $0.insert(ObjectIdentifier(store)).inserted }
    guard isFirst else { return }
    queue.async { [self, weak coordinator] in
      _ = pending.withLock { $0.remove(ObjectIdentifier(store)) }
      guard let coordinator, coordinator.persistentStores.contains(where: { $0 === store }) else {
        return
      }
      var info: [AnyHashable: Any] = [PersistentStoreKey.storeUUID: store.identity.identifier]
      if let url = store.url { info[PersistentStoreKey.storeURL] = url }
      if let token = coordinator.currentPersistentHistoryToken(fromStores: [store]) {
        info[PersistentStoreKey.historyToken] = token
      }
      NotificationCenter.default.post(
        name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: info)
    }
  }
}
