import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

// Lightweight migration inside the database.

extension SQLiteStore: InPlaceMigrating {
  public static func migrateInPlace(
    at url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    options: StoreOptions
  ) throws {
    try source.prepareForUse()
    try destination.prepareForUse()
    // Refuses what is no store, with an error that says so.
    _ = try SQLiteFileFacts.read(at: url.path, options: options)
    let difference = ModelDifference(from: source, to: destination)
    guard difference.isInferable else {
      throw CoreDataError(
        .inferredMappingModel,
        "The store at \(url.path) cannot be migrated without a mapping model: "
          + difference.refusals.map(\.description).joined(separator: " "),
        userInfo: ["reason": difference.refusals.map(\.description).joined(separator: "\n")])
    }
    do {
      try StoreFileAccess.write(url, options: options, doing: "be migrated") { connection in
        // The writer that had the lock before may have migrated the store.
        let facts = try SQLiteFileFacts.read(connection, path: url.path)
        let metadata = facts.metadata ?? [:]
        if isOfModel(destination, metadata), !isOfModel(source, metadata) { return }
        guard isOfModel(source, metadata) else {
          throw CoreDataError(
            .migrationMissingSourceModel,
            "The store at \(url.path) was not written with the model it is to be migrated from.",
            userInfo: [NSFilePathErrorKey: url.path])
        }
        try InPlaceMigration(
          url: url,
          plan: SQLMigrationPlan(
            source: SQLSchema(model: source, catalog: facts.catalog),
            destination: SQLSchema(model: destination), difference: difference,
            catalog: facts.catalog),
          metadata: metadata, files: ExternalDataFiles(store: url, options: options),
          progress: options.dictionary[StoreOptionKey.migrationProgress]
            as? @Sendable (Double) -> Void
        ).run(connection)
      }
    } catch let error as CoreDataError where error.code == .managedObjectConstraintMerge {
      throw CoreDataError(
        .migrationConstraintViolation,
        "Objects in the store at \(url.path) violate a uniqueness constraint of the new model; the "
          + "store is as it was.", underlyingError: error)
    }
    // Those of attributes that the new model does not have, or has inside the row.
    _ = try? UnnamedFiles(path: url.path, options: options).remove()
  }

  private static func isOfModel(_ model: ManagedObjectModel, _ metadata: [String: Any]) -> Bool {
    model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }

  public static func cachedModel(
    at url: URL, options: StoreOptions
  ) throws -> ManagedObjectModel? {
    _ = try SQLiteStoreKind().metadata(at: url, options: options)
    do {
      var configuration = Configuration()
      configuration.readonly = true
      configuration.busyMode = .timeout(options.timeout)
      configuration.prepareDatabase(SQLiteDefences.installForInspection)
      try configuration.takesPartInIndex(of: url.path, LockWait(seconds: options.timeout))
      let queue = try DatabaseQueue(path: url.path, configuration: configuration)
      defer { try? queue.close() }
      return try queue.read {
        try ModelCacheTable.read(SQLiteConnection(database: $0), path: url.path)
      }
    } catch {
      throw SQLiteResultCode.translate(error, path: url.path, doing: "be read")
    }
  }
}
