import CairnModel
import CairnStore
import Foundation
import Synchronization

/// The kinds of store that programs registered for the whole process.
enum StoreKindRegistry {
  // All mutable state of this type: the kinds by their type string.
  private static let kinds = Mutex<[String: any StoreKind]>([:])

  static func register(_ kind: any StoreKind) {
    kinds.withLock { $0[kind.type] = kind }
  }

  static func unregister(type: String) {
    _ = kinds.withLock { $0.removeValue(forKey: type) }
  }

  static var all: [any StoreKind] { kinds.withLock { Array($0.values) } }

  /// The kind of a type: one registered for the process wins over the given built-in ones.
  ///
  /// - Throws: 134000 for an unknown type, naming the known ones.
  static func kind(ofType type: String, builtIn: [any StoreKind]) throws -> any StoreKind {
    if let kind = kinds.withLock({ $0[type] }) { return kind }
    if let kind = builtIn.first(where: { $0.type == type }) { return kind }
    let known = Set(builtIn.map(\.type) + all.map(\.type)).sorted().joined(separator: ", ")
    throw CoreDataError(
      .persistentStoreInvalidType,
      "There is no store type \"\(type)\". Known types: \(known). Register others with "
        + "PersistentStoreCoordinator.registerStoreKind(_:) (@_spi(Stores)).")
  }
}

extension PersistentStoreCoordinator {
  /// Finds the kind of a type among the built-in and the registered ones.
  package func kind(ofType type: String) throws -> any StoreKind {
    try StoreKindRegistry.kind(ofType: type, builtIn: builtInKinds)
  }

  /// Makes a kind of store known to all coordinators of the process; one with the same type, a
  /// built-in one too, is replaced for stores added from now on.
  @_spi(Stores)
  public static func registerStoreKind(_ kind: any StoreKind) {
    StoreKindRegistry.register(kind)
  }

  /// Forgets a kind that was registered.
  @_spi(Stores)
  public static func unregisterStoreKind(ofType type: String) {
    StoreKindRegistry.unregister(type: type)
  }

  /// A coordinator that knows the same kinds of store, for another version of the model.
  package func sibling(for model: ManagedObjectModel) -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: builtInKinds, migrator: migrator)
  }
}
