// What migration needs of the umbrella: the store types that ship, and containers.

import CairnContext
import CairnCoordinator
import CairnMigration
import CairnModel
import CairnStore
import Foundation

extension StoreMigrator {
  /// The migrator of every coordinator that a program makes.
  static let ofProgram = StoreMigrator(storeKinds: BuiltInStores.kinds) { model, store in
    let container = PersistentContainer(name: "Migration", managedObjectModel: model)
    container.persistentStoreDescriptions = []
    var options = store.options.dictionary
    options[StoreOptionKey.stagedMigrationManager] = nil
    options[StoreOptionKey.migrateAutomatically] = nil
    let coordinator = container.persistentStoreCoordinator
    try coordinator.addPersistentStore(
      ofType: store.kind.type, configurationName: nil, at: store.url, options: options)
    return StageContainer(container) {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}

extension StagedMigrationManager {
  /// The store at this moment, for the handlers of a stage; nil outside them.
  public var container: PersistentContainer? { stageContainer as? PersistentContainer }
}

extension MigrationManager {
  /// Migrates a store into a new one, on the calling thread.
  ///
  /// The source is only read; no program should write to it meanwhile. The destination is
  /// complete or not there; where an earlier mapping model of the same source has made it, the
  /// objects of this one are added.
  ///
  /// - Parameter mappings: The mapping; nil infers it.
  /// - Throws: 134150 and 134160 when the source or the destination cannot be used, 134190 when
  ///   nothing can be inferred, 134170 for a mapping that cannot be followed, 134110 for data that
  ///   does not fit, and what policies throw.
  public func migrateStore(
    from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
    with mappings: MappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws {
    try CoreDataError.bridging {
      let mapping =
        try mappings
        ?? MappingModel.inferredMappingModel(
          forSourceModel: sourceModel, destinationModel: destinationModel)
      let kinds = PersistentStoreCoordinator(managedObjectModel: destinationModel)
      let source = MigrationStore(
        url: sourceURL, kind: try kinds.kind(ofType: sStoreType), options: StoreOptions(sOptions))
      let destination = MigrationStore(
        url: dURL, kind: try kinds.kind(ofType: dStoreType), options: StoreOptions(dOptions))
      try StoreMigration(manager: self, storeKinds: BuiltInStores.kinds).run(
        mapping, from: source, to: destination)
    }
  }

  /// The same with typed store types.
  public func migrateStore(
    from sourceURL: URL, type sourceType: PersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping: MappingModel,
    to destinationURL: URL, type destinationType: PersistentStore.StoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
      toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
      destinationOptions: destinationOptions)
  }
}

extension PersistentStoreCoordinator {
  /// Finishes what a deferred migration left to do: nothing, since Cairn migrates everything when a
  /// store is opened.
  public func finishDeferredLightweightMigration() throws {}

  /// The same for one step.
  public func finishDeferredLightweightMigrationTask() throws {}
}
