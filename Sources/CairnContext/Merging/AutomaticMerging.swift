import CairnCoordinator
import CairnModel
import CairnStore
import Foundation
import Synchronization

/// Merges the saves of others into a context by itself: those of the coordinator's other contexts,
/// or those that change the parent. On the context's queue, some time after the save.
///
/// The context that saves has a thread of its own, which never holds this one, not for a moment: the last
/// reference to a context is to be given up where its objects are used.
// Unchecked: `reference` and `confinement` guard themselves; `tokens` is written by `init` and `stop`,
// which are called on the context's queue.
final class AutomaticMerging: @unchecked Sendable {
  private let reference: ContextReference
  private let confinement: ContextConfinement
  private var tokens: [any NSObjectProtocol] = []

  init(context: ManagedObjectContext) {
    reference = context.reference
    confinement = context.confinement
    guard let parent = context.parent else { return }
    for name in [
      ManagedObjectContext.didSaveObjectIDsNotification, ContextNotifications.childDidSave,
    ] {
      let token = NotificationCenter.default.addObserver(
        forName: name, object: parent, queue: nil
      ) { [weak self] notification in
        guard let self, let info = notification.userInfo else { return }
        let child = info[ContextNotifications.childKey] as? ManagedObjectContext
        if child.map({ !reference.refers(to: $0) }) ?? true { mergeLater(info) }
      }
      tokens.append(token)
    }
  }

  func stop() {
    for token in tokens { NotificationCenter.default.removeObserver(token) }
    tokens = []
  }

  deinit { stop() }

  private func mergeLater(_ info: [AnyHashable: Any]) {
    let data = Transferred(value: info)
    confinement.async { [reference] in
      guard let context = reference.context else { return }
      ChangeMerging(context: context).merge(remote: data.value)
    }
  }

  func mergeLater(_ changes: MergedChanges) {
    confinement.async { [reference] in
      guard let context = reference.context else { return }
      ChangeMerging(context: context).merge(changes)
    }
  }
}

/// Whether and how a context merges by itself.
///
/// The context sets it on its queue; the thread that commits asks it.
final class MergingSwitch: Sendable {
  private struct State {
    var isOn = false
    var current: AutomaticMerging?
  }
  private let state = Mutex(State())

  /// Whether the context is to merge by itself, as soon as it has something to follow.
  var isOn: Bool {
    get { state.withLock { $0.isOn } }
    set { state.withLock { $0.isOn = newValue } }
  }

  var current: AutomaticMerging? { state.withLock { $0.current } }

  /// - Returns: What was set before.
  func replace(by new: AutomaticMerging?) -> AutomaticMerging? {
    state.withLock { state in
      defer { state.current = new }
      return state.current
    }
  }
}

/// What the coordinator calls for a context after commits and changes of its stores; only the context
/// holds it.
final class CommitListener: CoordinatorObserver {
  /// The context, for work that may come too late for it.
  let reference = ContextReference()
  private let confinement: ContextConfinement
  let merging = MergingSwitch()

  init(_ confinement: ContextConfinement) { self.confinement = confinement }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didCommit notice: CommitNotice,
    by source: (any CoordinatorObserver)?
  ) {
    // Batch requests and other coordinators' commits are merged when the program asks for it.
    guard source !== self, notice.origin == .save, let merging = merging.current else { return }
    merging.mergeLater(
      MergedChanges(
        inserted: notice.inserted, updated: notice.updated, deleted: notice.deleted))
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didRemove store: PersistentStore
  ) {
    if confinement.kind == .thread { return }
    confinement.async { [reference] in
      guard let context = reference.context else { return }
      StoreRemoval(context: context).forget(store.identity)
    }
  }

  func coordinator(
    _ coordinator: PersistentStoreCoordinator, didMove old: PersistentStore,
    to new: PersistentStore, ids: [ManagedObjectID: ManagedObjectID]
  ) {
    let move = StoreMove(old: old.identity, ids: ids)
    // A program that moves the store on a context's queue goes on with its objects at once.
    if confinement.isCurrent {
      if let context = reference.context { move.apply(to: context) }
      return
    }
    if confinement.kind == .thread { return }
    confinement.async { [reference] in
      guard let context = reference.context else { return }
      move.apply(to: context)
    }
  }
}
