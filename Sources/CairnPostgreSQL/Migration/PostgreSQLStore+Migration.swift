import CairnModel
import CairnModelCache
import CairnSQL
import CairnStore
import Foundation

// Lightweight migration inside the database.

extension PostgreSQLStore: InPlaceMigrating {
  package static func migrateInPlace(
    at url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    options: StoreOptions
  ) throws {
    try source.prepareForUse()
    try destination.prepareForUse()
    let difference = ModelDifference(from: source, to: destination)
    guard difference.isInferable else {
      let reasons = difference.refusals.map(\.description)
      throw CoreDataError(
        .inferredMappingModel,
        "The store at \(url.storePlace) cannot be migrated without a mapping model: "
          + reasons.joined(separator: " "), userInfo: ["reason": reasons.joined(separator: "\n")])
    }
    try SQLSchema(model: destination).checkDerivations(in: "PostgreSQL")
    let place = try StorePlace(url, options: options)
    do {
      try onConnection(to: place) { connection, isInTransaction in
        try StoreSchema(name: place.schema, connection: connection).migrate(
          to: destination,
          isOf: { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: $1) },
          from: source, difference, isInTransaction: isInTransaction
        ) { try PostgreSQLConnection(place.settings) }
      }
    } catch let error as CoreDataError where error.code == .managedObjectConstraintMerge {
      throw CoreDataError(
        .migrationConstraintViolation,
        "Objects in the store at \(url.storePlace) violate a uniqueness constraint of the new model; the "
          + "store is as it was.", underlyingError: error)
    }
  }

  /// Calls with the connection that holds other writers up, where the caller has it; else with one whose statements may take
  /// the time that copying and indexing take.
  private static func onConnection(
    to place: StorePlace, _ body: (PostgreSQLConnection, _ isInTransaction: Bool) throws -> Void
  ) throws {
    if let hold = WriteHold.current, hold.isHolding(place) {
      return try hold.finish { try body($0, true) }
    }
    var settings = place.settings
    settings.statementTimeout = nil
    try body(try PostgreSQLConnection(settings), false)
  }

  package static func cachedModel(
    at url: URL, options: StoreOptions
  ) throws -> ManagedObjectModel? {
    let place = try StorePlace(url, options: options)
    let connection = try PostgreSQLConnection(place.settings)
    let record = try StoreSchema(name: place.schema, connection: connection).record()
    return try record?.model.map { try ModelCache.decode($0) }
  }
}
