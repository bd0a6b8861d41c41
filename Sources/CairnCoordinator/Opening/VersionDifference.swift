import CairnModel
import CairnStore
import Foundation

/// Which entities of a store and of a model are not the same version, by their hashes.
struct VersionDifference: Equatable {
  /// Entities of the model that the store does not have.
  let missingInStore: [String]
  /// Entities of the store that the model does not have.
  let missingInModel: [String]
  /// Entities that both have, with different hashes.
  let changed: [String]

  var isEmpty: Bool { missingInStore.isEmpty && missingInModel.isEmpty && changed.isEmpty }

  /// All names that differ, sorted.
  var names: [String] { (missingInStore + missingInModel + changed).sorted() }

  init(storedHashes: [String: Data], modelHashes: [String: Data], isWholeModel: Bool) {
    missingInStore = modelHashes.keys.filter { storedHashes[$0] == nil }.sorted()
    changed =
      modelHashes.filter { name, hash in
        storedHashes[name].map { $0 != hash } ?? false
      }.keys.sorted()
    // A store limited to a configuration may know the entities of others.
    missingInModel =
      isWholeModel ? storedHashes.keys.filter { modelHashes[$0] == nil }.sorted() : []
  }

  init(storedHashes: [String: Data], model: ManagedObjectModel, configurationName: String?) {
    var modelHashes: [String: Data] = [:]
    for entity in model.entities(forConfigurationName: configurationName) ?? [] {
      if let name = entity.name { modelHashes[name] = entity.versionHash }
    }
    self.init(
      storedHashes: storedHashes, modelHashes: modelHashes,
      isWholeModel: configurationName == nil)
  }

  /// The hashes that a store's metadata holds.
  static func hashes(in metadata: [String: Any]) -> [String: Data] {
    metadata[StoreMetadataKey.versionHashes] as? [String: Data] ?? [:]
  }

  /// What differs, for people.
  var explanation: String {
    var parts: [String] = []
    if !changed.isEmpty { parts.append("changed: " + changed.joined(separator: ", ")) }
    if !missingInStore.isEmpty {
      parts.append("not in the store: " + missingInStore.joined(separator: ", "))
    }
    if !missingInModel.isEmpty {
      parts.append("not in the model: " + missingInModel.joined(separator: ", "))
    }
    return parts.joined(separator: "; ")
  }

  /// The error of a store that cannot be opened with the model.
  func incompatibility(
    of url: URL, metadata: [String: Any], configurationName: String?
  ) -> CoreDataError {
    let configuration = configurationName ?? ManagedObjectModel.defaultConfigurationName
    return CoreDataError(
      .persistentStoreIncompatibleVersionHash,
      "The store at \(url.storePlace) was written with another version of the model (entities "
        + "\(explanation)). Open it with that version, or ask for automatic migration.",
      userInfo: [
        "metadata": metadata,
        "reason":
          "The model configuration used to open the store is incompatible with the one that was "
          + "used to create the store (configuration \(configuration)).",
        "entities": names, NSFilePathErrorKey: url.path,
      ])
  }
}
