import CairnModel
import CairnStore
import Foundation

/// What contexts write through a coordinator.
///
/// Synchronous, from any thread; the coordinator holds no lock while a store works or it tells an
/// observer.
extension PersistentStoreCoordinator {
  /// The store that a new object of the entity goes to when nothing else was decided: the first
  /// writable one whose configuration has the entity.
  ///
  /// - Throws: 134030 when there is none.
  package func storeForInserting(_ entity: EntityDescription) throws -> PersistentStore {
    try routing.storeForInserting(entity)
  }

  /// Writes to one store: everything or nothing.
  ///
  /// Then the row cache has the new rows, and the coordinator tells the observers and posts remote
  /// change notifications.
  ///
  /// - Parameters:
  ///   - source: The observer that asks for it, named to the others.
  ///   - holdsInsertions: Whether the row cache is to keep the new rows for the caller, as
  ///     ``retainRows(_:)`` does; not where stores have methods for that.
  ///   - cachesNewRows: Whether the row cache takes rows that it does not have; sync, which writes rows
  ///     that no object asks for, leaves them out.
  ///   - noteConflicts: Called with conflicts before the row cache learns of the newer rows.
  /// - Throws: 134030 for a store that is read-only or not here, and what the store throws.
  package func save(
    _ request: SaveChangesRequest, in store: PersistentStore,
    by source: (any CoordinatorObserver)? = nil, holdsInsertions: Bool = false,
    cachesNewRows: Bool = true, noteConflicts: ([RowConflict]) -> Void = { _ in }
  ) throws -> SaveOutcome {
    try checkWritable(store)
    let before = rows.commitCount(of: store.identity)
    let outcome = try store.save(request)
    switch outcome {
    case .saved(let receipt):
      store.noteMetadataSaved()
      let deleted = request.deletions.map(\.objectID)
      rows.commit(
        receipt.snapshots, deleted: deleted, in: store.identity,
        holding: holdsInsertions ? request.insertions.count : 0,
        takesNewRows: cachesNewRows, after: before)
      announce(
        CommitNotice(store: store, request, transactionNumber: receipt.transactionNumber),
        by: source)
    case .conflicts(let conflicts):
      noteConflicts(conflicts)
      // The cache's row is what the save was based on: what the store has is newer.
      let persisted = conflicts.compactMap(\.persisted)
      let gone = conflicts.filter { $0.persisted == nil }.map(\.objectID)
      rows.commit(persisted, deleted: gone, in: store.identity, after: before)
    case .constraintViolations, .sidecarChanged, .rowKeysTaken:
      break
    }
    return outcome
  }

  /// Runs a batch request: an insert in `stores` or the store for new objects, an update or delete
  /// in all stores that hold the entity.
  ///
  /// The row cache keeps the rows it has, as Core Data's does.
  ///
  /// - Returns: The rows it touched, store by store.
  /// - Throws: 134091 when a store does not execute batches, 134030 when it is read-only, and what
  ///   the store throws.
  package func executeBatch(
    _ request: StoreBatchRequest, in stores: [PersistentStore]? = nil, author: String?,
    contextName: String?, by source: (any CoordinatorObserver)? = nil
  ) throws -> BatchOutcome {
    let targets: [PersistentStore]
    switch request {
    case .insert(let entity, _, _):
      let candidates = stores.map(RequestRouting.init(stores:)) ?? routing
      targets = [try candidates.storeForInserting(entity)]
    case .update(let entity, let includesSubentities, _, _):
      targets = routing.stores(
        holding: entity, includesSubentities: includesSubentities, restriction: stores)
    case .delete(let fetch):
      targets = routing.stores(
        holding: fetch.entity, includesSubentities: fetch.includesSubentities,
        restriction: stores)
    }
    let executors = try targets.map { store in
      try checkWritable(store)
      guard let executor = store.capabilities.batches else {
        throw CoreDataError(
          .persistentStoreUnsupportedRequestType,
          "The \(store.type) store \(store.url?.path ?? "") does not execute batch requests.")
      }
      return (store, executor)
    }
    var touched = BatchOutcome()
    for (store, executor) in executors {
      let outcome = try executor.executeBatch(request, author: author, contextName: contextName)
      if outcome.isEmpty { continue }
      if touched.isEmpty {
        // Most often that is all, and long.
        touched = outcome
      } else {
        touched.inserted += outcome.inserted
        touched.updated += outcome.updated
        touched.deleted += outcome.deleted
      }
      announce(CommitNotice(store: store, outcome), by: source)
    }
    return touched
  }

  /// The watch on a store calls this when another coordinator or process wrote to the store.
  ///
  /// Tells the observers and posts remote change notifications.
  package func storeDidChangeRemotely(_ store: PersistentStore) {
    announce(CommitNotice(remoteChangeOf: store), by: nil)
  }

  private func announce(_ notice: CommitNotice, by source: (any CoordinatorObserver)?) {
    for observer in observers { observer.coordinator(self, didCommit: notice, by: source) }
    remoteChanges.announce(notice.store, of: self)
  }

  private func checkWritable(_ store: PersistentStore) throws {
    guard persistentStores.contains(where: { $0 === store }) else {
      throw CoreDataError(
        .persistentStoreSave,
        "The store \(store.url?.path ?? store.identity.identifier) is not open in this coordinator.",
        userInfo: ["NSAffectedStoresErrorKey": [store]])
    }
    if let failure = store.capabilities.failures?.failure { throw failure }
    if store.isReadOnly {
      throw CoreDataError(
        .persistentStoreSave,
        "The store \(store.url?.path ?? store.identity.identifier) is read-only.",
        userInfo: ["NSAffectedStoresErrorKey": [store]])
    }
  }
}
