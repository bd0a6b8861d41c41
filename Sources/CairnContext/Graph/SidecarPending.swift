import CairnStore

/// Sidecar operations that go with the next save, by store.
struct SidecarPending {
  private(set) var stores: [PersistentStore] = []
  private var operations: [ObjectIdentifier: [SidecarOperation]] = [:]

  var isEmpty: Bool { stores.isEmpty }

  subscript(store: PersistentStore) -> [SidecarOperation] {
    operations[ObjectIdentifier(store)] ?? []
  }

  mutating func add(_ new: [SidecarOperation], for store: PersistentStore) {
    if new.isEmpty { return }
    if operations[ObjectIdentifier(store)] == nil { stores.append(store) }
    operations[ObjectIdentifier(store), default: []] += new
  }

  mutating func remove(_ store: PersistentStore) {
    stores.removeAll { $0 === store }
    operations[ObjectIdentifier(store)] = nil
  }

  mutating func removeAll() { self = SidecarPending() }
}

extension ManagedObjectContext {
  /// Lets bookkeeping commit with the next save, even with one that changes no object.
  ///
  /// Dropped by rollback and reset, kept when the save fails.
  ///
  /// Only for a context whose parent is the coordinator. When a `require` does not hold, the save
  /// throws 134050 with the key under `CairnSidecarKey`.
  package func addSidecarOperations(
    _ operations: [SidecarOperation], for store: PersistentStore
  ) {
    confinement.check()
    nextSave.sidecar.add(operations, for: store)
  }

  /// The same in place of what was added for the store before.
  package func replaceSidecarOperations(
    _ operations: [SidecarOperation], for store: PersistentStore
  ) {
    confinement.check()
    nextSave.sidecar.remove(store)
    nextSave.sidecar.add(operations, for: store)
  }
}
