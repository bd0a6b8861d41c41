import CairnModel
import CairnStore
import Foundation

/// Checks `Z_METADATA` and that `Z_MODELCACHE` holds the model it describes.
struct MetadataCheck {
  let store: StoreCheck
  private static let table = "Z_METADATA"

  func findings() throws -> [StoreFinding] {
    guard store.has("Z_VERSION", "Z_UUID", "Z_PLIST", in: Self.table) else {
      return [StoreFinding(.schema, table: Self.table, "The table is missing or lacks columns.")]
    }
    let count = try store.connection.integer("SELECT COUNT(*) FROM Z_METADATA") ?? 0
    guard count > 0, let metadata = store.metadata else {
      return [finding(nil, count == 0 ? "There are none." : "They are no property list.")]
    }
    var findings: [StoreFinding] = []
    if count > 1 { findings.append(finding(nil, "There are \(count) rows instead of one.")) }
    if let version = try store.connection.integer("SELECT Z_VERSION FROM Z_METADATA LIMIT 1"),
      version != 1
    {
      findings.append(finding("Z_VERSION", "The version of the metadata is \(version)."))
    }
    let identifier = metadata[StoreMetadataKey.uuid] as? String ?? ""
    if UUID(uuidString: identifier) == nil {
      findings.append(finding("Z_UUID", "\"\(identifier)\" is no identifier of a store."))
    }
    if let type = metadata[StoreMetadataKey.type] as? String, type != StoreTypeName.sqlite {
      findings.append(finding("Z_PLIST", "The store calls itself \(type)."))
    }
    return findings + (try hashFindings(metadata)) + (try cacheFindings(metadata))
  }

  private func finding(_ column: String?, _ message: String) -> StoreFinding {
    StoreFinding(.metadata, table: Self.table, column: column, message)
  }

  // MARK: Versions

  private func hashFindings(_ metadata: [String: Any]) throws -> [StoreFinding] {
    guard let hashes = ManagedObjectModel.entityHashes(inStoreMetadata: metadata) else {
      return [finding("Z_PLIST", "There are no version hashes of the entities.")]
    }
    var findings: [StoreFinding] = []
    for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) where hash.count != 32 {
      findings.append(finding("Z_PLIST", "The version hash of \(name) has \(hash.count) bytes."))
    }
    if let digest = metadata[StoreMetadataKey.versionHashesDigest] as? String,
      digest != ManagedObjectModel.versionHashesDigest(ofEntityHashes: hashes)
    {
      findings.append(finding("Z_PLIST", "The digest is not that of the version hashes."))
    }
    if let checksum = metadata[StoreMetadataKey.versionChecksum] as? String,
      checksum != ManagedObjectModel.versionChecksum(ofEntityHashes: hashes)
    {
      findings.append(finding("Z_PLIST", "The checksum is not that of the version hashes."))
    }
    return findings
  }

  // MARK: The model inside

  private func cacheFindings(_ metadata: [String: Any]) throws -> [StoreFinding] {
    let model: ManagedObjectModel?
    do {
      model = try ModelCacheTable.read(store.connection, path: store.files.supportFolder.path)
    } catch let error as CoreDataError {
      let reason = error.underlyingError.map { "\($0)" } ?? error.message
      return [
        StoreFinding(.modelCache, table: "Z_MODELCACHE", "The model cannot be read: \(reason)")
      ]
    }
    guard let model, let hashes = ManagedObjectModel.entityHashes(inStoreMetadata: metadata),
      hashes != model.entityVersionHashesByName
    else { return [] }
    let own = model.entityVersionHashesByName
    let different = Set(own.keys).union(hashes.keys).filter { own[$0] != hashes[$0] }.sorted()
    return [
      StoreFinding(
        .modelCache, table: "Z_MODELCACHE", column: "Z_CONTENT",
        "The model is another version than the metadata's; these entities differ: "
          + different.joined(separator: ", ") + ".")
    ]
  }
}
