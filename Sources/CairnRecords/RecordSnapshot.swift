// A store as it is at one moment.

import Cairn
import CairnControl
import Foundation

/// A store, read-only, in the state of the first read; what others commit later is not seen.
///
/// It is a connection of its own, so that nothing else waits for it. Any thread may use it.
public struct RecordSnapshot: Sendable {
  private let store: ReadOnlyStore
  private let context: ManagedObjectContext

  /// - Throws: ``ReadOnlyStoreError``, or `CoreDataError` for a state that cannot be read.
  public init(_ store: ReadOnlyStore) throws {
    self.store = store
    context = store.context()
    try context.performAndWait { [context] in try context.setQueryGenerationFrom(.current) }
  }

  /// Opens a store that is open already, over a connection of its own.
  public init(of store: PersistentStore, model: ManagedObjectModel) throws {
    try self.init(
      ReadOnlyStore(
        store, using: model,
        // For as long as it takes; the end of the snapshot ends it.
        options: [StoreOptionKey.queryGenerationMaximumAge: Double.infinity]))
  }

  /// Whether the store can keep a state: it needs a write-ahead log for that, or is read as a whole when it is
  /// opened.
  public func keepsState() throws -> Bool {
    guard let keeper = store.coordinator.persistentStores.first?.capabilities.generations else {
      return true
    }
    return try keeper.currentGeneration() != nil
  }

  /// Runs a fetch, whose rows and references are named by object URIs, and hands them over batch by batch.
  ///
  /// - Parameter limit: How long finding a page of rows may take; nil for as long as it takes.
  public func cursor(
    _ fetch: ExportRecords.Fetch, within limit: Duration? = nil,
    pageSize: Int = RecordCursor.pageSize
  ) throws -> RecordCursor {
    try RecordFetch(
      FetchRecords.Parameters(
        entity: fetch.entity, predicate: fetch.predicate, sort: fetch.sort,
        properties: fetch.properties),
      model: store.coordinator.managedObjectModel,
      naming: URINaming(coordinator: store.coordinator)
    ).start(in: context, stores: nil, within: limit, pageSize: pageSize)
  }

  /// Closes the store; the state is given up.
  public func close() {
    context.performAndWait { [context] in context.reset() }
    for opened in store.coordinator.persistentStores { try? store.coordinator.remove(opened) }
  }
}
