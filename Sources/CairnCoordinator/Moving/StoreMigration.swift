import CairnModel
import CairnStore
import Foundation

/// "Save as": the same contents in a new store, which takes the place of the old one.
extension PersistentStoreCoordinator {
  /// Copies a store to another place, in another type if wanted, and works on with the copy.
  ///
  /// The old store is removed and unusable, its file stays. Objects have new IDs: contexts of the
  /// coordinator that have them follow on their own queue, unsaved changes included.
  /// `NSPersistentStoreCoordinatorStoresDidChange` is posted three times: with the store that was added; with old
  /// and new IDs in turn under ``PersistentStoreKey/uuidChanged``, after the old store's
  /// `NSPersistentStoreCoordinatorWillRemoveStore`; and with the store that was removed. Metadata of the program's own
  /// is copied; history and bookkeeping beside the objects are not.
  ///
  /// While it copies, saves to the old store are refused.
  ///
  /// - Throws: 134060 for a store of another coordinator, 134080 when there is something at the URL
  ///   already, and what opening and writing the new store throw. The old store is then in use as
  ///   before, and there is no new one.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil,
    withType storeType: String
  ) throws -> PersistentStore {
    try CoreDataError.bridging {
      let kind = try kind(ofType: storeType)
      let new = try copy(store, to: URL, options: options, kind: kind)
      takeOver(from: store, by: new.store, ids: new.ids)
      return new.store
    }
  }

  /// The same with a typed store type.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: PersistentStore.StoreType
  ) throws -> PersistentStore {
    try migratePersistentStore(
      store, to: storeURL, options: options, withType: storeType.rawValue)
  }

  private func copy(
    _ store: PersistentStore, to url: URL, options: [AnyHashable: Any]?, kind: any StoreKind
  ) throws -> (store: PersistentStore, ids: [ManagedObjectID: ManagedObjectID]) {
    guard persistentStores.contains(where: { $0 === store }) else {
      throw CoreDataError(
        .coreData,
        "The store \(store.url?.storePlace ?? store.identity.identifier) cannot be migrated: it does not "
          + "belong to this coordinator.")
    }
    if kind.keepsFiles, url.isFileURL, FileManager.default.fileExists(atPath: url.path) {
      throw CoreDataError(
        .persistentStoreOpen,
        "There is something at \(url.storePlace) already, which is not overwritten. Choose another place "
          + "or destroy the store there first.",
        userInfo: [NSFilePathErrorKey: url.path])
    }
    // A class of the program's own may tell nothing of a store that is not open, and what is there is its own business.
    let isElsewhere =
      !kind.keepsFiles && kind.claimsURL && !kind.isOfProgram
    if isElsewhere, try !kind.metadata(at: url, options: StoreOptions(options)).isEmpty {
      throw CoreDataError(
        .persistentStoreOpen,
        "There is a store at \(url.storePlace) already, which is not overwritten. Choose another place "
          + "or destroy the store there first.")
    }
    let opening = StoreOpening(
      model: managedObjectModel, kind: kind,
      configurationName: store.configuration.configurationName,
      url: url, options: StoreOptions(options), migrator: nil, coordinator: self)
    let new = try opening.open()
    let wasReadOnly = store.isReadOnly
    store.isReadOnly = true
    do {
      let commits = rows.commitCount(of: store.identity)
      var metadata = (store.metadata ?? [:]).merging(new.metadata ?? [:]) { _, new in new }
      metadata[StoreMetadataKey.type] = new.type
      metadata[StoreMetadataKey.uuid] = new.identity.identifier
      new.metadata = metadata
      let ids = try StoreCopying(source: store, destination: new).run()
      // A save that was under way when the store became read-only may not be in the copy.
      guard rows.commitCount(of: store.identity) == commits else {
        throw CoreDataError(
          .persistentStoreOperation,
          "The store \(store.url?.storePlace ?? "") was saved to while it was copied; try again.")
      }
      return (new, ids)
    } catch {
      store.isReadOnly = wasReadOnly
      try? new.close()
      if kind.keepsFiles {
        try? kind.destroy(
          at: url, options: StoreOptions([StoreOptionKey.forceDestroy: NSNumber(value: true)]))
        try? FileManager.default.removeItem(at: url)
      } else if isElsewhere {
        try? kind.destroy(at: url, options: StoreOptions(options))
      }
      throw error
    }
  }

  /// Puts the new store in the old one's place; tells the observers, and posts the notifications.
  ///
  /// The old store still belongs to the coordinator while observers hear of it, and takes no saves any more: what they
  /// save then goes into the new one.
  private func takeOver(
    from old: PersistentStore, by new: PersistentStore,
    ids: [ManagedObjectID: ManagedObjectID]
  ) {
    new.coordinatorReference = reference
    replace(old, by: new)
    rows.removeAll(of: old.identity)
    new.didAdd(to: self)
    for observer in observers { observer.coordinator(self, didMove: old, to: new, ids: ids) }
    postStoresDidChange(PersistentStoreKey.added, [new])
    NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: old)
    old.willRemove(from: self)
    old.coordinatorReference = nil
    let pairs: [ManagedObjectID] = ids.flatMap { [$0.key, $0.value] }
    postStoresDidChange(PersistentStoreKey.uuidChanged, [old, new, pairs])
    postStoresDidChange(PersistentStoreKey.removed, [old])
    // What is left of the old store is its file.
    try? old.close()
  }

  /// One notification for each kind of change, as Core Data posts them.
  private func postStoresDidChange(_ key: String, _ value: [Any]) {
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [key: value])
  }
}
