// From a configuration to an open local store.

import CairnControl
import Cairn
import CairnCoordinator
import CairnModel
import CairnPlatform
import CairnRecords
import CairnStore
import CairnSync
import Foundation

/// The local store is of another version of the model than the one to open it with.
struct OtherModelVersion: Error {}

/// Reads the model and opens the local store; says in the daemon's words why it cannot.
struct LocalStoreOpening {
  let configuration: DaemonConfiguration
  let ownership: StoreOwnership
  let reporter: EngineReporter

  /// - Throws: ``EngineFailure`` where another daemon serves the local store.
  func takeStore() throws {
    do {
      try ownership.take()
    } catch {
      throw EngineFailure(
        code: EngineFailure.storeTaken, reason: error.description, isTransient: true)
    }
  }

  /// The group's model, from its file or from the local store.
  func model() throws -> ManagedObjectModel {
    try Self.model(configuration.model, localStore: configuration.local.path)
  }

  /// All versions in the model's package, where it has several; what cannot be read of them is passed over.
  var packagedModels: [ManagedObjectModel] {
    guard case .file(let path) = configuration.model,
      let package = try? ModelVersions(contentsOf: URL(fileURLWithPath: path)),
      package.versions.count > 1
    else { return [] }
    return package.usable.map(\.model)
  }

  /// The model that a configuration names.
  static func model(_ section: ModelSection, localStore: String) throws -> ManagedObjectModel {
    switch section {
    case .file(let path):
      do {
        // What is neither is not opened: a pipe keeps its reader waiting for ever.
        let facts = try FileFacts(path: path)
        guard facts.isFolder || facts.isRegularFile else {
          throw EngineFailure(
            code: "model-invalid",
            reason: "the model \(path) is a device, a pipe or a socket; name a file or a bundle",
            isTransient: false)
        }
        let folder = URL(fileURLWithPath: path, isDirectory: false).deletingLastPathComponent().path
        let problem =
          FileTrust.problem(ofFolder: folder, keepingOut: .world)
          ?? FileTrust.problem(ofContents: path, keepingOut: .world)
        if let problem {
          throw EngineFailure(
            code: "model-invalid", reason: "the model \(path) cannot be trusted: \(problem)",
            isTransient: true)
        }
        return try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: path))
      } catch let failure as EngineFailure {
        throw failure
      } catch {
        throw EngineFailure(
          code: "model-invalid", reason: "the model \(path) cannot be used: \(error)",
          isTransient: false)
      }
    case .fromStore:
      do {
        guard
          let model = try ManagedObjectModel.load(
            fromSQLiteStoreAt: URL(fileURLWithPath: localStore))
        else {
          throw EngineFailure(
            code: "model-missing",
            reason: "\(localStore) keeps no model inside; name a model file",
            isTransient: false)
        }
        return model
      } catch let error as CoreDataError {
        throw Self.failure(error, place: localStore)
      }
    }
  }

  /// SQLite reads logs up to this size, in bytes, within the usual start-up time.
  private static let quickLog: Int64 = 1_000_000

  /// Asks for the time that reading a left log takes; SQLite does it when the store is opened first.
  func announceRecovery() {
    guard let log = try? FileFacts(path: configuration.local.path + "-wal"), log.isRegularFile,
      log.size > Self.quickLog
    else { return }
    reporter.recovering(log: log.size)
  }

  /// Options of the local store.
  func options(durability: LocalSection.Durability) -> [AnyHashable: Any] {
    [
      StoreOptionKey.historyTracking: true,
      StoreOptionKey.remoteChangeNotification: true,
      StoreOptionKey.timeout: 10,
      StoreOptionKey.rowChecksums: true,
      StoreOptionKey.sqlitePragmas: [
        "synchronous": durability == .full ? "FULL" : "NORMAL",
        // Half of SQLite's own limit: the daemon moves the log before a save of another program has to.
        "wal_autocheckpoint": "500",
      ],
    ]
  }

  /// What the local store needs to be of a model, which it is not.
  ///
  /// - Throws: ``EngineFailure`` when its version is not known.
  func modelChange(to model: ManagedObjectModel) throws -> StoreModelChange {
    let path = configuration.local.path
    do {
      return try StoreModelChange(
        of: StoreReference.localName,
        at: StoreLocation(file: path, type: StoreTypeName.sqlite),
        to: ModelTarget(configuration.model, current: model)
      ) { [reporter] fraction in
        reporter.progress("Trying out what the new model changes, \(Int(fraction * 100)) %")
      }
    } catch let error as ReadOnlyStoreError {
      throw EngineFailure(
        code: StoreModelChange.code,
        reason: "the local store was written with another version of the model: \(error.message)",
        isTransient: false)
    } catch let error as CoreDataError {
      throw Self.failure(error, place: path)
    }
  }

  /// Opens the local store, creating it, and its folder, when there is none.
  ///
  /// - Parameter isReadOnly: Whether it is there, and is only read.
  /// - Throws: ``OtherModelVersion`` for a store of another version of the model; ``EngineFailure``.
  func open(
    in coordinator: PersistentStoreCoordinator, isReadOnly: Bool = false
  ) throws -> PersistentStore {
    let url = URL(fileURLWithPath: configuration.local.path)
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw EngineFailure(
        code: "folder-missing",
        reason: "the folder of \(url.path) cannot be made: \(error.localizedDescription)",
        isTransient: true)
    }
    try checkKind(of: url)
    let folder = url.deletingLastPathComponent().path
    if let problem = FileTrust.problem(ofFolder: folder, keepingOut: .world, of: url.path) {
      throw EngineFailure(
        code: "folder-exposed", reason: "the local store is not safe in its folder: \(problem)",
        isTransient: true)
    }
    try takeStore()
    StoreRestore.removeLeftovers(of: url.path)
    StagedFolder.removeLeftovers(in: configuration.backup.folder)
    do {
      var options = options(durability: configuration.local.durability)
      if isReadOnly { options[StoreOptionKey.readOnly] = true }
      return try coordinator.addPersistentStore(
        ofType: StoreTypeName.sqlite, configurationName: nil, at: url, options: options)
    } catch let error as CoreDataError where error.code == .persistentStoreIncompatibleVersionHash {
      throw OtherModelVersion()
    } catch let error as ModelError {
      throw EngineFailure(code: "model-invalid", reason: error.description, isTransient: false)
    } catch let error as CoreDataError {
      throw Self.failure(error, place: url.path)
    }
  }

  /// - Throws: ``EngineFailure`` when something that is no file has the store's name.
  private func checkKind(of url: URL) throws {
    guard let facts = try? FileFacts(path: url.path) else { return }
    if facts.isRegularFile { return try checkNames(of: url) }
    throw EngineFailure(
      code: "not-a-store",
      reason:
        "\(url.path) is \(facts.isFolder ? "a folder" : "a device, a pipe or a socket"); name a "
        + "file in local.path, which may be a new one",
      isTransient: false)
  }

  /// Refuses a file that another program may use under another name: SQLite keeps what it has not written yet
  /// under the name by which a file was opened, and two who open it under two names destroy it.
  private func checkNames(of url: URL) throws {
    let path = url.resolvingSymlinksInPath().path
    if FileSystemKind.isMountPoint(path) {
      throw EngineFailure(
        code: SyncError.Code.sameStore.rawValue,
        reason: "\(url.path) \(ReplicaInspection.textOfMountPoint)", isTransient: false)
    }
    let facts = try? FileManager.default.attributesOfItem(atPath: path)
    guard let names = (facts?[.referenceCount] as? NSNumber)?.intValue, names > 1 else { return }
    throw EngineFailure(
      code: SyncError.Code.sameStore.rawValue,
      reason:
        "\(url.path) has \(names) names (hard links), and another cairnd or program may use it under one of "
        + "them; remove the others (find -samefile), or copy the file",
      isTransient: false)
  }

  /// A store error in the daemon's words, with the codes that links use as well.
  static func failure(_ error: CoreDataError, place: String) -> EngineFailure {
    let described = SyncError(describing: error, at: URL(fileURLWithPath: place))
    return EngineFailure(
      code: described.code.rawValue,
      reason: "the local store cannot be opened: \(described.message)",
      isTransient: described.recovery != .person)
  }
}
