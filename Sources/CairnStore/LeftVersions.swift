import CairnModel
import Foundation

/// The versions of its model that a store has left by migration, as its metadata tell.
///
/// Sync asks for them: programs that share a store, each with a version of its own, must not bring it to and fro.
package struct LeftVersions: Hashable, Sendable {
  private var digests: Set<String>

  package init(in metadata: [String: Any]) {
    digests = Set(metadata[StoreMetadataKey.leftVersions] as? [String] ?? [])
  }

  /// - Parameter model: One that is ready for use.
  package func contains(_ model: ManagedObjectModel) -> Bool {
    digests.contains(model.versionHashesDigest)
  }

  /// The metadata of a store that goes to another version, which it has not left any more then.
  ///
  /// - Parameter metadata: Those of the version that it has.
  package static func noted(
    in metadata: [String: Any], migratedTo model: ManagedObjectModel
  ) -> [String: Any] {
    var left = LeftVersions(in: metadata)
    if let hashes = ManagedObjectModel.entityHashes(inStoreMetadata: metadata) {
      left.digests.insert(ManagedObjectModel.versionHashesDigest(ofEntityHashes: hashes))
    }
    left.digests.remove(model.versionHashesDigest)
    var noted = metadata
    noted[StoreMetadataKey.leftVersions] = left.digests.sorted()
    return noted
  }
}
