import CairnModel
import Foundation

/// A capability of a class of stores: it changes a store file to another model version inside
/// the database, in one transaction.
public protocol InPlaceMigrating {
  /// Migrates the store file. It is not open in this process through the same coordinator.
  ///
  /// A store with a sidecar keeps a ``MigrationTrace`` there of what it drops, in the same transaction.
  /// The metadata tell which versions it has left: `CairnLeftModelVersions`.
  ///
  /// - Throws: `inferredMappingModel` when the difference cannot be inferred, `migration` when the
  ///   data does not fit; the store is then as it was.
  static func migrateInPlace(
    at url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel,
    options: StoreOptions
  ) throws

  /// The model that the store file itself remembers, nil when it does not.
  static func cachedModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel?
}
