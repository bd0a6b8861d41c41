import CairnStore
import Foundation

/// PostgreSQL stores as coordinators know them, and what can be done to them while they are not open.
package struct PostgreSQLStoreKind: StoreKind {
  package init() {}

  package var type: String { PostgreSQLStore.typeName }
  package var storeClass: PersistentStore.Type { PostgreSQLStore.self }
  package var keepsFiles: Bool { false }
  package var claimsURL: Bool { true }

  package func metadata(at url: URL, options: StoreOptions) throws -> [String: Any] {
    try withStore(at: url, options) { store, _ in
      // A schema without tables is not a store: opening it makes one.
      guard let record = try store.record() else { return [:] }
      var metadata = record.metadata
      metadata[StoreMetadataKey.uuid] = record.identifier
      return metadata
    }
  }

  package func setMetadata(
    _ metadata: [String: Any], at url: URL, options: StoreOptions
  ) throws {
    try withStore(at: url, options) { store, connection in
      guard try store.record() != nil else {
        throw CoreDataError(
          .persistentStoreInvalidType,
          "There is no store in the schema \(store.name) that takes metadata.")
      }
      let (identifier, list) = MetadataForm.parts(of: metadata)
      let statement = BookkeepingTables.metadataUpdate(
        in: store.name, identifier: identifier, metadata: try StoreSchema.data(of: list))
      try connection.run(statement.text, statement.parameters)
    }
  }

  /// Drops the schema, with what others may have put into it, in one transaction.
  package func destroy(at url: URL, options: StoreOptions) throws {
    try withStore(at: url, options) { store, connection in
      try store.destroy { try PostgreSQLConnection(connection.settings) }
    }
  }

  package func replace(
    at destination: URL, withStoreAt source: URL, options: StoreOptions
  ) throws {
    throw CoreDataError(
      .persistentStoreOperation,
      "A PostgreSQL store is not copied by its place; open it and call migratePersistentStore, or use "
        + "pg_dump and pg_restore.")
  }

  private func withStore<Result>(
    at url: URL, _ options: StoreOptions,
    _ body: (StoreSchema, PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    let place = try StorePlace(url, options: options)
    let connection = try PoolerCheck.connection(place.settings)
    do {
      return try body(StoreSchema(name: place.schema, connection: connection), connection)
    } catch let failure as PostgreSQLFailure {
      throw failure.error("use", place.description)
    }
  }
}
