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

extension StoreKindRegistry {
  /// What the files of the built-in kinds begin with.
  private static let beginnings: [(type: String, bytes: Data)] = [
    (StoreTypeName.sqlite, Data("SQLite format 3\0".utf8)), (StoreTypeName.xml, Data("<?xml".utf8)),
    (StoreTypeName.binary, Data("CairnBinaryStore".utf8)),
  ]

  /// The metadata of a store that is not open; empty for an empty file.
  ///
  /// - Parameter kind: What it is to be opened as.
  /// - Throws: What the kind throws; 134010 for a store of another built-in type.
  static func metadata(
    at url: URL, _ kind: any StoreKind, options: StoreOptions, builtIn: [any StoreKind]
  ) throws -> [String: Any] {
    do {
      return try kind.metadata(at: url, options: options)
    } catch let error as CoreDataError where error.code == .persistentStoreInvalidType {
      guard let other = otherType(of: url, than: kind.type, builtIn) else { throw error }
      throw mismatch(at: url, other.metadata, type: other.type, wanted: kind.type)
    }
  }

  static func mismatch(
    at url: URL, _ metadata: [String: Any], type: String, wanted: String
  ) -> CoreDataError {
    CoreDataError(
      .persistentStoreTypeMismatch,
      "The store at \(url.storePlace) is of type \(type), but was to be opened as \(wanted).",
      userInfo: ["metadata": metadata, NSFilePathErrorKey: url.path])
  }

  private static func otherType(
    of url: URL, than type: String, _ builtIn: [any StoreKind]
  ) -> (type: String, metadata: [String: Any])? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular,
      let file = try? FileHandle(forReadingFrom: url),
      let start = try? file.read(upToCount: 16),
      let found = beginnings.first(where: { start.starts(with: $0.bytes) })?.type, found != type,
      let other = builtIn.first(where: { $0.type == found }),
      let metadata = try? other.metadata(at: url, options: StoreOptions()), !metadata.isEmpty
    else { return nil }
    return (found, metadata)
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
