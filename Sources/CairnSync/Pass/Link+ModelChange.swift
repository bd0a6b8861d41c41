import CairnStore

// What a link makes of a store that another program has migrated.

extension Link {
  /// What it means that a store is of another version than when it was opened: the replica is opened
  /// anew, and for the local store the program has to be.
  static func modelChange(_ error: any Error, _ replica: OpenReplica?) -> SyncError? {
    guard let replica, let error = error as? CoreDataError,
      error.code == .persistentStoreIncompatibleSchema
    else { return nil }
    let isReplica = error.storePath == replica.store.url?.storePlace
    return SyncError(.modelChanged, error.message, recovery: isReplica ? .retry : .person)
  }
}
