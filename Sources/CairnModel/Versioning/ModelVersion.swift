import Crypto
import Foundation

// What identifies the version of a whole model, and whether a store fits it.

extension ManagedObjectModel {
  /// The version hash of every entity, by entity name.
  public var entityVersionHashesByName: [String: Data] {
    entitiesByName.mapValues(\.versionHash)
  }

  /// The base64 form of a SHA-256 over all entity hashes; stores and `.momd` folders record it.
  public var versionChecksum: String {
    Self.versionChecksum(ofEntityHashes: entityVersionHashesByName)
  }

  /// The base64 form of a SHA-512 over all entity names and hashes; stores record it.
  package var versionHashesDigest: String {
    Self.versionHashesDigest(ofEntityHashes: entityVersionHashesByName)
  }

  /// The checksum that belongs to a dictionary of entity hashes.
  package static func versionChecksum(ofEntityHashes hashes: [String: Data]) -> String {
    var hasher = SHA256()
    for name in hashes.keys.sorted(by: { $0.precedesByCodePoints($1) }) {
      hasher.update(data: hashes[name] ?? Data())
    }
    return Data(hasher.finalize()).base64EncodedString()
  }

  /// The digest that belongs to a dictionary of entity hashes.
  package static func versionHashesDigest(ofEntityHashes hashes: [String: Data]) -> String {
    var hasher = SHA512()
    for name in hashes.keys.sorted(by: { $0.precedesByCodePoints($1) }) {
      hasher.update(data: Data(name.utf8))
      hasher.update(data: hashes[name] ?? Data())
    }
    return Data(hasher.finalize()).base64EncodedString()
  }

  /// Whether a store with this metadata can be opened with the entities of a configuration as it
  /// is, without migration.
  ///
  /// Without a configuration the store must hold exactly the model's entities; with one, each of
  /// its entities must be there, whatever else the store lists, because stores record the hashes
  /// of the whole model. An unknown configuration fits no store.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let hashes = Self.entityHashes(inStoreMetadata: metadata),
      let entities = entities(forConfigurationName: configuration)
    else { return false }
    let isWholeModel =
      configuration == nil || configuration == Self.defaultConfigurationName
    if isWholeModel, hashes.count != entities.count { return false }
    return entities.allSatisfy { hashes[$0.name ?? ""] == $0.versionHash }
  }

  /// The hashes that store metadata lists, by entity name.
  package static func entityHashes(inStoreMetadata metadata: [String: Any]) -> [String: Data]? {
    let entry = metadata["NSStoreModelVersionHashes"]
    if let hashes = entry as? [String: Data] { return hashes }
    guard let hashes = entry as? [String: Any] else { return nil }
    let datas = hashes.compactMapValues { $0 as? Data }
    return datas.count == hashes.count ? datas : nil
  }
}
