import CairnStore
import Foundation

/// What can be done to whole store files.
extension PersistentStoreCoordinator {
  /// Leaves an empty store or none at the URL and removes what belonged to the old one.
  ///
  /// A store that is open in this coordinator is removed from it first, so that its objects become
  /// unusable, and the store can be added again at once.
  ///
  /// - Throws: 134000 for an unknown type, and what the store type throws.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try CoreDataError.bridging {
      let kind = try kind(ofType: storeType)
      try close(url)
      try kind.destroy(at: url, options: StoreOptions(options))
    }
  }

  /// Overwrites a store with a copy of another; creates it when there is none.
  ///
  /// - Throws: As ``destroyPersistentStore(at:ofType:options:)``.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    ofType storeType: String
  ) throws {
    var options = sourceOptions ?? [:]
    options.merge(destinationOptions ?? [:]) { _, destination in destination }
    try CoreDataError.bridging {
      let kind = try kind(ofType: storeType)
      try close(destinationURL)
      try kind.replace(
        at: destinationURL, withStoreAt: sourceURL, options: StoreOptions(options))
    }
  }

  /// The same with a typed store type.
  public func destroyPersistentStore(
    at url: URL, type storeType: PersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
  }

  /// The same with a typed store type.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type sourceType: PersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions,
      withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
      ofType: sourceType.rawValue)
  }

  /// Core Data truncates the file below a store that is open, which leaves a store whose rows have
  /// gone; here the store goes too.
  private func close(_ url: URL) throws {
    if let store = persistentStore(for: url) { try takeOutDestroyed(store) }
  }

  /// The metadata of a store file, without opening it for use.
  package static func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]?,
    storeKinds: [any StoreKind]
  ) throws -> [String: Any] {
    let kind = try StoreKindRegistry.kind(ofType: storeType, builtIn: storeKinds)
    let metadata = try StoreKindRegistry.metadata(
      at: url, kind, options: StoreOptions(options), builtIn: storeKinds)
    if metadata.isEmpty {
      throw CoreDataError(
        .persistentStoreInvalidType, "\(url.storePlace) is empty, not a store with metadata.",
        userInfo: [NSFilePathErrorKey: url.path])
    }
    if let type = metadata[StoreMetadataKey.type] as? String, type != storeType {
      throw StoreKindRegistry.mismatch(at: url, metadata, type: type, wanted: storeType)
    }
    return metadata
  }

  /// Replaces the metadata in a store file at once.
  ///
  /// What the store says of itself stays where it is not given: type, UUID, and the versions of the model and of Core Data.
  package static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]?, storeKinds: [any StoreKind]
  ) throws {
    let kind = try StoreKindRegistry.kind(ofType: storeType, builtIn: storeKinds)
    let options = StoreOptions(options)
    let old = try StoreKindRegistry.metadata(at: url, kind, options: options, builtIn: storeKinds)
    var new = metadata ?? [:]
    for key in StoreMetadataKey.all where new[key] == nil { new[key] = old[key] }
    try kind.setMetadata(new, at: url, options: options)
  }

  /// The types that a coordinator with these kinds knows, and their classes.
  package static func registeredStoreClasses(
    storeKinds: [any StoreKind]
  ) -> [String: PersistentStore.Type] {
    let kinds = storeKinds + StoreKindRegistry.all
    return Dictionary(kinds.map { ($0.type, $0.storeClass) }, uniquingKeysWith: { _, new in new })
  }
}
