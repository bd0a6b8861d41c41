import CairnStore

/// A store that wants to know about its coordinator: stores of a program's own, which speak in
/// objects.
public protocol CoordinatorMember: PersistentStore {
  /// The store was added to a coordinator.
  func didAdd(to coordinator: PersistentStoreCoordinator)
  /// The store is about to be removed from its coordinator.
  func willRemove(from coordinator: PersistentStoreCoordinator?)
}
