import CairnModel
import CairnStore
import Foundation

/// Opens one store for a coordinator: checks everything that can be checked before the file is
/// touched, migrates when asked to, then lets the store open its file.
struct StoreOpening {
  let model: ManagedObjectModel
  let kind: any StoreKind
  let configurationName: String?
  let url: URL?
  let options: StoreOptions
  let migrator: (any StoreMigrating)?
  /// Who opens it.
  let coordinator: PersistentStoreCoordinator?

  /// The open store.
  ///
  /// - Throws: ``ModelError`` or ``CoreDataError``; the file is as it was then.
  func open() throws -> PersistentStore {
    try CoreDataError.bridging { try openStore() }
  }

  private func openStore() throws -> PersistentStore {
    try model.prepareForUse()
    try checkConfiguration()
    if kind.keepsFiles { try checkFile() } else { try migrateOwnKind() }
    let store = PersistentStore.make(
      kind.storeClass,
      configuration: StoreConfiguration(
        model: model, configurationName: namedConfiguration, url: url, options: options
      ).opened(by: coordinator?.reference))
    do {
      try store.openStore()
      try check(store)
      store.noteMetadataSaved()
    } catch {
      try? store.close()
      throw error
    }
    return store
  }

  /// Checks what an open store says about itself.
  private func check(_ store: PersistentStore) throws {
    let metadata = store.metadata ?? [:]
    let type = metadata[StoreMetadataKey.type] as? String
    guard type == kind.type else {
      throw CoreDataError(
        .persistentStoreTypeMismatch,
        "The store \(url?.storePlace ?? "") was to be opened as \(kind.type), but its metadata has "
          + (type.map { "the type \($0)." } ?? "no type under \(StoreMetadataKey.type)."),
        userInfo: ["metadata": metadata])
    }
    if kind.keepsFiles || options.ignoresVersioning { return }
    // Of stores without files the metadata is known only now.
    let hashes = VersionDifference.hashes(in: metadata)
    if hashes.isEmpty { return }
    let difference = VersionDifference(
      storedHashes: hashes, model: model, configurationName: namedConfiguration)
    if difference.isEmpty { return }
    throw difference.incompatibility(
      of: url ?? URL(fileURLWithPath: "/dev/null"), metadata: metadata,
      configurationName: configurationName)
  }

  /// The configuration, nil when it is the default one.
  private var namedConfiguration: String? {
    configurationName == ManagedObjectModel.defaultConfigurationName ? nil : configurationName
  }

  private func checkConfiguration() throws {
    guard let name = namedConfiguration else { return }
    if model.entities(forConfigurationName: name) == nil {
      let known = model.configurations.joined(separator: ", ")
      throw CoreDataError(
        .persistentStoreIncompatibleSchema,
        "The model has no configuration \"\(name)\". "
          + (known.isEmpty ? "It has none at all." : "It has: \(known)."),
        userInfo: ["reason": "The model has no configuration \"\(name)\"."])
    }
  }

  private func checkFile() throws {
    guard let url else {
      throw CoreDataError(
        .persistentStoreOpen, "A store of type \(kind.type) needs a URL to keep its file at.")
    }
    guard url.isFileURL, StoreRegistry.isExclusive(url) else { return }
    let path = url.path
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
      if isDirectory.boolValue {
        throw CoreDataError(
          .persistentStoreOpen, "\(path) is a folder; the store's URL must name a file.",
          userInfo: [NSFilePathErrorKey: path])
      }
      if !options.isReadOnly { migrator?.removeLeftovers(of: url) }
      try checkExistingStore(at: url)
      return
    }
    let folder = url.deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory),
      isDirectory.boolValue
    else {
      throw CoreDataError(
        .persistentStoreOpen,
        "The store \(path) cannot be opened: there is no folder \(folder). Create it first.",
        userInfo: [NSFilePathErrorKey: path, "reason": "The folder does not exist."])
    }
    if options.isReadOnly {
      throw CoreDataError(
        .persistentStoreOpen,
        "There is no store at \(path), and none is created because it is to be read-only.",
        userInfo: [NSFilePathErrorKey: path])
    }
  }

  /// Checks type and model version of the store that is there; migrates when they allow it.
  private func checkExistingStore(at url: URL) throws {
    let metadata = try StoreKindRegistry.metadata(
      at: url, kind, options: options, builtIn: coordinator?.builtInKinds ?? [])
    // A new, empty file or a destroyed store: it gets its metadata when it is opened.
    if metadata.isEmpty { return }
    if let type = metadata[StoreMetadataKey.type] as? String, type != kind.type {
      throw StoreKindRegistry.mismatch(at: url, metadata, type: type, wanted: kind.type)
    }
    if options.ignoresVersioning { return }
    if metadata[StoreMetadataKey.unfinishedStage] == nil {
      // Very old stores do not say which version wrote them: opening them shows whether they fit.
      if VersionDifference.hashes(in: metadata).isEmpty { return }
      if versionDifference(metadata).isEmpty { return }
    }
    try migrate(metadata, at: url)
  }

  /// Migrates the file of a store class of the program's own, when the class tells its metadata and
  /// they are of another version.
  ///
  /// The same for a store at a server, when its class migrates in place.
  private func migrateOwnKind() throws {
    guard options.migratesAutomatically, !options.ignoresVersioning, let url,
      url.isFileURL
        ? kind.isOfProgram
          && FileManager.default.fileExists(atPath: url.path)
        : kind.storeClass.inPlaceMigration != nil,
      let metadata = try? kind.metadata(at: url, options: options),
      metadata[StoreMetadataKey.type] as? String == kind.type,
      !VersionDifference.hashes(in: metadata).isEmpty,
      !versionDifference(metadata).isEmpty || metadata[StoreMetadataKey.unfinishedStage] != nil
    else { return }
    try migrate(metadata, at: url)
  }

  private func versionDifference(_ metadata: [String: Any]) -> VersionDifference {
    VersionDifference(
      storedHashes: VersionDifference.hashes(in: metadata), model: model,
      configurationName: namedConfiguration)
  }

  /// Stages first, then whatever automatic migration is left to do.
  private func migrate(_ found: [String: Any], at url: URL) throws {
    var metadata = found
    func request() -> StoreMigrationRequest {
      StoreMigrationRequest(
        kind: kind, url: url, options: options, configurationName: namedConfiguration,
        model: model, metadata: metadata)
    }
    if let migrator, try migrator.runStages(request()) {
      metadata = try kind.metadata(at: url, options: options)
    }
    let difference = versionDifference(metadata)
    if difference.isEmpty { return }
    guard options.migratesAutomatically else {
      throw difference.incompatibility(
        of: url, metadata: metadata, configurationName: configurationName)
    }
    do {
      try AutomaticMigration(request: request(), difference: difference, migrator: migrator).run()
    } catch let error as CoreDataError where error.code == .migrationMissingSourceModel {
      // Another program may have migrated the store since its metadata were read; the model that it keeps
      // is that of the new version then.
      let now = try kind.metadata(at: url, options: options)
      let (old, new) = (VersionDifference.hashes(in: metadata), VersionDifference.hashes(in: now))
      if old == new { throw error }
      try migrate(now, at: url)
    }
  }
}
