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
