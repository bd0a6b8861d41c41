import CairnAtomicStores
import CairnCoordinator
import CairnMigration
import CairnModel
import CairnPostgreSQL
import CairnSQLite
import CairnStore
import Foundation

/// The store types that ship.
///
/// A new one is one line here.
public enum BuiltInStores {
  public static let kinds: [any StoreKind] = [
    SQLiteStoreKind(),
    XMLStoreKind(),
    BinaryStoreKind(),
    InMemoryStoreKind(),
    // Costs a program nothing until it opens one: libpq is loaded then.
    PostgreSQLStoreKind(),
  ]
}

extension PersistentStoreCoordinator {
  /// A coordinator for the model that knows the built-in store types and the registered ones.
  ///
  /// The model can no longer be changed. A model with problems is refused, with all of them, when
  /// the first store is added.
  public convenience init(managedObjectModel model: ManagedObjectModel) {
    self.init(
      managedObjectModel: model, storeKinds: BuiltInStores.kinds,
      migrator: StoreMigrator.ofProgram)
  }

  /// The store types that can be added, the built-in and the registered ones, each with the address
  /// of its class.
  public static var registeredStoreTypes: [String: NSValue] {
    registeredStoreClasses(storeKinds: BuiltInStores.kinds).mapValues { storeClass in
      NSNumber(value: UInt(bitPattern: ObjectIdentifier(storeClass)))
    }
  }

  /// The metadata of a store file, without opening it for use.
  ///
  /// - Throws: ``CoreDataError``: 134000 for an unknown type or a file that is no store, 134010 for
  ///   a store of another type, 134080 when it cannot be read.
  public static func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try CoreDataError.bridging {
      try metadataForPersistentStore(
        ofType: storeType, at: url, options: options, storeKinds: BuiltInStores.kinds)
    }
  }

  /// The same with a typed store type.
  public static func metadataForPersistentStore(
    type storeType: PersistentStore.StoreType, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
  }

  /// Replaces the metadata in a store file at once; type and UUID stay when they are not given.
  ///
  /// - Throws: As ``metadataForPersistentStore(ofType:at:options:)``.
  public static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try CoreDataError.bridging {
      try setMetadata(
        metadata, forPersistentStoreOfType: storeType, at: url, options: options,
        storeKinds: BuiltInStores.kinds)
    }
  }

  /// The same with a typed store type.
  public static func setMetadata(
    _ metadata: [String: Any]?, type storeType: PersistentStore.StoreType, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(
      metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
  }
}
