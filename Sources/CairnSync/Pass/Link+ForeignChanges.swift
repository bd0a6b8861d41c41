import CairnStore

// What a link makes of a store that another program has migrated, or whose file is not the one that is open.

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

  /// What is wrong with the open replica's file, where no name leads to it, or to its log, any more: what was read
  /// there then says nothing of the store.
  var lostFile: SyncError? {
    do {
      try store?.capabilities.place?.checkFilePlace()
      return nil
    } catch {
      return (error as? CoreDataError).map { SyncError(.fileMoved, $0.message, recovery: .retry) }
    }
  }
}
