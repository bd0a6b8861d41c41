import CairnStore
import Foundation
import Synchronization

/// Posts remote change notifications, off the thread that committed; commits that follow each
/// other quickly share one.
///
/// Mutable state, inside `state`: the stores with a notification under way, and how far the history
/// of each had come at the last one.
final class RemoteChangePosting: Sendable {
  private struct State {
    var pending: Set<ObjectIdentifier> = []
    var announced: [ObjectIdentifier: Int64] = [:]
  }
  private let queue = DispatchQueue(label: "cairn.coordinator.remote-change", qos: .utility)
  private let state = Mutex(State())

  /// Notices the commits of others to a store that is to post remote changes.
  ///
  /// - Throws: When the store's file cannot be read; that it cannot be watched is made up for by
  ///   the store.
  func watch(_ store: PersistentStore, of coordinator: PersistentStoreCoordinator) throws {
    guard store.configuration.options.postsRemoteChanges,
      let watching = store.capabilities.commits
    else { return }
    if let number = coordinator.currentPersistentHistoryToken(fromStores: [store])?.number(
      for: store)
    {
      state.withLock { $0.announced[ObjectIdentifier(store)] = number }
    }
    // Without keeping either, and not weakly: see `LooseReference`.
    let reference = coordinator.reference
    let identity = store.identity
    try watching.watchCommits {
      guard let coordinator = reference.target as? PersistentStoreCoordinator,
        let store = identity.store.target as? PersistentStore
      else { return }
      coordinator.storeDidChangeRemotely(store)
    }
  }

  func forget(_ store: PersistentStore) {
    state.withLock { $0.announced[ObjectIdentifier(store)] = nil }
  }

  /// Announces that a writer committed to the store, if it was opened with that option.
  ///
  /// Where history is kept, only if it went on since the last time: commits of bookkeeping
  /// concern no program, and a commit that is noticed twice is announced once.
  func announce(_ store: PersistentStore, of coordinator: PersistentStoreCoordinator) {
    guard store.configuration.options.postsRemoteChanges else { return }
    let id = ObjectIdentifier(store)
    guard state.withLock({ $0.pending.insert(id).inserted }) else { return }
    let reference = coordinator.reference
    queue.async { [self] in
      _ = state.withLock { $0.pending.remove(id) }
      guard let coordinator = reference.target as? PersistentStoreCoordinator,
        coordinator.persistentStores.contains(where: { $0 === store })
      else { return }
      var info: [AnyHashable: Any] = [PersistentStoreKey.storeUUID: store.identity.identifier]
      if let url = store.url { info[PersistentStoreKey.storeURL] = url }
      if let token = coordinator.currentPersistentHistoryToken(fromStores: [store]) {
        let number = token.number(for: store)
        let last = state.withLock { state in
          defer { state.announced[id] = number }
          return state.announced[id]
        }
        if last == number { return }
        info[PersistentStoreKey.historyToken] = token
      }
      NotificationCenter.default.post(
        name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: info)
    }
  }
}
