import CairnContext
import CairnCoordinator
import CairnModel
import CairnModelFiles
import CairnStore
import Foundation

/// Migrates stores when they are opened: by stages, by the program's mapping models, or object by
/// object where the store type cannot do it in place.
// Unchecked: the maker of the migrator gives the closure once, and any thread may call it; the rest is
// immutable.
package struct StoreMigrator: StoreMigrating, @unchecked Sendable {
  /// A container over one open store, for the handlers of stages.
  package typealias MakeContainer = (ManagedObjectModel, MigrationStore) throws -> StageContainer
  let storeKinds: [any StoreKind]
  let makeContainer: MakeContainer

  package init(storeKinds: [any StoreKind], makeContainer: @escaping MakeContainer) {
    self.storeKinds = storeKinds
    self.makeContainer = makeContainer
  }

  package func model(withEntityHashes hashes: [String: Data]) -> ManagedObjectModel? {
    ProgramResources.model { $0.entityVersionHashesByName == hashes }
  }

  package func migrate(
    _ request: StoreMigrationRequest, from source: ManagedObjectModel
  ) throws -> Bool {
    if let mapping = mapping(request, from: source) {
      guard request.url.isFileURL else {
        throw CoreDataError(
          .migrationMissingMappingModel,
          "Stores of type \(request.kind.type) are migrated in place, by an inferred mapping; the mapping model of "
            + "this program cannot be followed there. Take it away, or migrate the store to a file first."
        )
      }
      try replace(request, from: source, mapping: mapping)
      return true
    }
    let isInPlace = request.kind.storeClass.inPlaceMigration != nil && !wantsOwnManager(request)
    guard !isInPlace, request.options.infersMappingModel else { return false }
    try replace(
      request, from: source,
      mapping: MappingModel.inferredMappingModel(
        forSourceModel: source, destinationModel: request.model))
    return true
  }

  /// The mapping model that the options give, or one among the program's resources.
  private func mapping(
    _ request: StoreMigrationRequest, from source: ManagedObjectModel
  ) -> MappingModel? {
    let given =
      request.options.dictionary[StoreOptionKey.migrationMappingModels] as? [MappingModel] ?? []
    return given.first { $0.fits(source, request.model) }
      ?? MappingModel(from: nil, forSourceModel: source, destinationModel: request.model)
  }

  /// So often a store is read again that others write to without waiting.
  private static let attempts = 8

  /// Migrates into a file beside the store, then puts it in the store's place.
  ///
  /// Nothing that others commit meanwhile is lost: they wait, or the migration begins anew.
  private func replace(
    _ request: StoreMigrationRequest, from source: ManagedObjectModel, mapping: MappingModel
  ) throws {
    for _ in 1..<Self.attempts {
      do {
        return try replaceOnce(request, from: source, mapping: mapping)
      } catch let error as CoreDataError where error.code == .persistentStoreSaveConflicts {
        continue
      }
    }
    try replaceOnce(request, from: source, mapping: mapping)
  }

  private func replaceOnce(
    _ request: StoreMigrationRequest, from source: ManagedObjectModel, mapping: MappingModel
  ) throws {
    MigrationFolder.removeLeftovers(of: request.url)
    let folder = try MigrationFolder(for: request.url)
    defer { folder.remove() }
    let store = MigrationStore(url: request.url, kind: request.kind, options: request.options)
    let temporary = MigrationStore(
      url: folder.url.appendingPathComponent(request.url.lastPathComponent), kind: request.kind,
      options: request.options)
    let manager = try manager(of: request, from: source)
    let report = request.options.dictionary[StoreOptionKey.migrationProgress]
    if let report = report as? @Sendable (Double) -> Void {
      manager.progressReport = { report(Double($0)) }
    }
    defer { temporary.removeFiles() }
    let hold = try request.kind.hold(
      store.url, for: temporary.url, options: request.options)
    defer { hold?.release() }
    if try isMigrated(request) { return }
    try StoreMigration(manager: manager, storeKinds: storeKinds).run(
      mapping, from: store, to: temporary, configurationName: request.configurationName)
    if let hold { return try hold.replace() }
    try request.kind.replace(
      at: request.url, withStoreAt: temporary.url, options: request.options)
  }

  /// Whether another migration has brought the store to the model while this one waited for it.
  private func isMigrated(_ request: StoreMigrationRequest) throws -> Bool {
    let now = try request.kind.metadata(at: request.url, options: request.options)
    return request.model.isConfiguration(
      withName: request.configurationName, compatibleWithStoreMetadata: now)
      && !NSDictionary(dictionary: now).isEqual(to: request.metadata)
  }

  package func removeLeftovers(of store: URL) { MigrationFolder.removeLeftovers(of: store) }

  /// The manager that the store class asks for.
  ///
  /// - Throws: 134110 for a class that is none.
  private func manager(
    of request: StoreMigrationRequest, from source: ManagedObjectModel
  ) throws -> MigrationManager {
    let asked: AnyClass = request.kind.storeClass.migrationManagerClass()
    guard let type = asked as? MigrationManager.Type else {
      throw CoreDataError(
        .migration,
        "migrationManagerClass() of \(request.kind.storeClass) gives \(asked), which is no subclass "
          + "of MigrationManager.")
    }
    return MigrationManager.make(type, from: source, to: request.model)
  }

  /// Whether the store class wants its migrations done by a class of its own.
  private func wantsOwnManager(_ request: StoreMigrationRequest) -> Bool {
    ObjectIdentifier(request.kind.storeClass.migrationManagerClass())
      != ObjectIdentifier(MigrationManager.self)
  }

  package func runStages(_ request: StoreMigrationRequest) throws -> Bool {
    let option = request.options.dictionary[StoreOptionKey.stagedMigrationManager]
    guard let manager = option as? StagedMigrationManager else { return false }
    try StagedMigration(manager: manager, request: request, migrator: self).run()
    return true
  }

  /// Brings the file from one version to the next with an inferred mapping.
  func migrateLightly(
    _ request: StoreMigrationRequest, from source: ManagedObjectModel,
    to destination: ManagedObjectModel
  ) throws {
    try source.prepareForUse()
    try destination.prepareForUse()
    if let inPlace = request.kind.storeClass.inPlaceMigration {
      try inPlace.migrateInPlace(
        at: request.url, from: source, to: destination, options: request.options)
      return
    }
    try replace(
      StoreMigrationRequest(
        kind: request.kind, url: request.url, options: request.options,
        configurationName: request.configurationName, model: destination,
        metadata: request.metadata),
      from: source,
      mapping: MappingModel.inferredMappingModel(
        forSourceModel: source, destinationModel: destination))
  }
}
