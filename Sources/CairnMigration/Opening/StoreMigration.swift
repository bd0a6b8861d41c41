import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// One end of a migration: a store file, closed.
package struct MigrationStore {
  package let url: URL
  package let kind: any StoreKind
  package let options: StoreOptions

  package init(url: URL, kind: any StoreKind, options: StoreOptions) {
    self.url = url
    self.kind = kind
    self.options = options
  }
}

/// Migrates one store file into another with a manager.
///
/// The source is only read. The destination is complete or not there: whatever fails, its files
/// are removed. Where an earlier mapping model of the same source has made it already, the objects
/// of this one are added to it (Versioning Guide, "Multiple Passes"), or it stays as it was.
package struct StoreMigration {
  let manager: MigrationManager
  let storeKinds: [any StoreKind]

  package init(manager: MigrationManager, storeKinds: [any StoreKind]) {
    self.manager = manager
    self.storeKinds = storeKinds
  }

  /// Migrates.
  ///
  /// - Parameter configurationName: The configuration whose entities the destination holds.
  /// - Throws: 134150 when the source cannot be opened with the source model, 134160 when the
  ///   destination cannot be made or holds something else than an earlier pass has made, and what
  ///   the manager throws.
  package func run(
    _ mapping: MappingModel, from source: MigrationStore, to destination: MigrationStore,
    configurationName: String? = nil
  ) throws {
    let isLaterPass = try isLaterPass(
      from: source, to: destination, configurationName: configurationName)
    do {
      if !isLaterPass, try runInStore(mapping, from: source, to: destination) { return }
      try runWithObjects(
        mapping, from: source, to: destination, configurationName: configurationName,
        isLaterPass: isLaterPass)
    } catch {
      // One transaction adds the objects of a pass, so that those of the passes before are whole.
      if !isLaterPass { destination.removeFiles() }
      throw error
    }
  }

  /// Whether the destination is what an earlier pass over the same source has made: it has the
  /// source's UUID, which each pass gives it, and is of the destination model, which the source is
  /// not.
  ///
  /// - Throws: 134160 for any other store.
  private func isLaterPass(
    from source: MigrationStore, to store: MigrationStore, configurationName: String?
  ) throws -> Bool {
    guard FileManager.default.fileExists(atPath: store.url.path) else { return false }
    let metadata = try wrapping(.migrationManagerDestinationStore, store, "be written to") {
      try store.kind.metadata(at: store.url, options: store.options)
    }
    if metadata.isEmpty { return false }
    let model = manager.destinationModel
    func isOfModel(_ metadata: [String: Any]) -> Bool {
      model.isConfiguration(
        withName: configurationName, compatibleWithStoreMetadata: metadata)
    }
    let origin = try wrapping(.migrationManagerSourceStore, source, "be read") {
      try source.kind.metadata(at: source.url, options: source.options)
    }
    let identifier = metadata[StoreMetadataKey.uuid] as? String
    guard let identifier, identifier == origin[StoreMetadataKey.uuid] as? String,
      isOfModel(metadata), !isOfModel(origin)
    else {
      throw CoreDataError(
        .migrationManagerDestinationStore,
        "There is a store at \(store.url.path) already; a migration needs a place without one, or "
          + "with what an earlier pass over the same source has made.",
        userInfo: [NSFilePathErrorKey: store.url.path])
    }
    return true
  }

  /// Lets a store type that can do it change a copy in place.
  private func runInStore(
    _ mapping: MappingModel, from source: MigrationStore, to destination: MigrationStore
  ) throws -> Bool {
    guard manager.usesStoreSpecificMigrationManager,
      source.kind.type == destination.kind.type,
      let inPlace = destination.kind.storeClass.inPlaceMigration,
      try isAsInferred(mapping)
    else { return false }
    try wrapping(.migrationManagerSourceStore, source, "be read") {
      try destination.kind.replace(
        at: destination.url, withStoreAt: source.url, options: source.options)
    }
    try inPlace.migrateInPlace(
      at: destination.url, from: manager.sourceModel, to: manager.destinationModel,
      options: destination.options)
    manager.advance(to: 1)
    return true
  }

  /// Whether the mapping was inferred and says nothing else now, such as a policy of the program.
  private func isAsInferred(_ mapping: MappingModel) throws -> Bool {
    guard mapping.isInferred else { return false }
    return try mapping
      == MappingModel.inferredMappingModel(
        forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
  }

  private func runWithObjects(
    _ mapping: MappingModel, from source: MigrationStore, to destination: MigrationStore,
    configurationName: String?, isLaterPass: Bool
  ) throws {
    var readOnly = source.options.dictionary
    readOnly[StoreOptionKey.readOnly] = NSNumber(value: true)
    // One state is read from beginning to end, however long that takes.
    readOnly[StoreOptionKey.queryGenerationMaximumAge] = Double.infinity
    let (from, copy) = try openSource(source, readOnly, beside: destination)
    defer {
      close(from)
      copy?.remove()
    }
    let to = try open(
      destination, manager.destinationModel, destination.options.dictionary, configurationName,
      .migrationManagerDestinationStore, "be made")
    do {
      try manager.run(mapping, from: from, to: to, mayDiscard: !isLaterPass)
    } catch {
      close(to)
      throw error
    }
    close(to)
    try carryOver(from: source, to: destination)
  }

  /// Opens the source so that one state of it is read, whatever others commit: the context that reads
  /// it is pinned, and what cannot be pinned is copied first.
  private func openSource(
    _ source: MigrationStore, _ options: [AnyHashable: Any], beside destination: MigrationStore
  ) throws -> (PersistentStoreCoordinator, MigrationFolder?) {
    func open(_ store: MigrationStore) throws -> PersistentStoreCoordinator {
      try self.open(
        store, manager.sourceModel, options, nil, .migrationManagerSourceStore, "be read")
    }
    let from = try open(source)
    guard let store = from.persistentStores.first?.capabilities.generations,
      try store.currentGeneration() == nil
    else { return (from, nil) }
    close(from)
    let folder = try MigrationFolder(for: destination.url)
    let copy = MigrationStore(
      url: folder.url.appendingPathComponent(source.url.lastPathComponent), kind: source.kind,
      options: source.options)
    do {
      try source.kind.replace(at: copy.url, withStoreAt: source.url, options: source.options)
      return (try open(copy), folder)
    } catch {
      folder.remove()
      throw error
    }
  }

  private func open(
    _ store: MigrationStore, _ model: ManagedObjectModel, _ options: [AnyHashable: Any],
    _ configurationName: String?, _ code: CoreDataError.Code, _ doing: String
  ) throws -> PersistentStoreCoordinator {
    var options = options
    options[StoreOptionKey.migrateAutomatically] = nil
    options[StoreOptionKey.stagedMigrationManager] = nil
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [store.kind] + storeKinds)
    _ = try wrapping(code, store, doing) {
      try coordinator.addPersistentStore(
        ofType: store.kind.type, configurationName: configurationName, at: store.url,
        options: options)
    }
    return coordinator
  }

  private func close(_ coordinator: PersistentStoreCoordinator) {
    // Everything is saved; what closing a file may still report changes nothing.
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// The store stays the same store: its UUID and the program's own metadata.
  private func carryOver(from source: MigrationStore, to destination: MigrationStore) throws {
    let old = try source.kind.metadata(at: source.url, options: source.options)
    var new = try destination.kind.metadata(at: destination.url, options: destination.options)
    new.merge(old.filter { key, _ in new[key] == nil }) { current, _ in current }
    new[StoreMetadataKey.uuid] = old[StoreMetadataKey.uuid]
    try destination.kind.setMetadata(new, at: destination.url, options: destination.options)
  }

  private func wrapping<T>(
    _ code: CoreDataError.Code, _ store: MigrationStore, _ doing: String, _ body: () throws -> T
  ) throws -> T {
    do {
      return try body()
    } catch let error as CoreDataError {
      throw CoreDataError(
        code, "The store \(store.url.path) cannot \(doing) for the migration: \(error.message)",
        userInfo: [NSFilePathErrorKey: store.url.path], underlyingError: error)
    }
  }
}

extension MigrationStore {
  /// Takes away what was made of a destination, also beside the file, whatever state it is in.
  package func removeFiles() {
    var options = options.dictionary
    options[StoreOptionKey.forceDestroy] = NSNumber(value: true)
    try? kind.destroy(at: url, options: StoreOptions(options))
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
  }
}
