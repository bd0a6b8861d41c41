// A backup in the place of the local store.

import Cairn
import CairnControl
import CairnCoordinator
import CairnPlatform
import CairnRecords
import CairnStore
import Foundation

/// Checks a backup and puts it in the place of the local store: all of it, or nothing.
///
/// Three steps, so that the engine rests for the last one only: look and check, copy beside the store,
/// replace. While it replaces, no other program can commit; what was committed before is in the copy
/// that is kept.
struct StoreRestore: Sendable {
  /// The backup's file.
  let path: String
  /// The local store's file.
  let local: String
  private let folder: String
  private let model: ManagedObjectModel
  private let content: RestoreStore.Content
  private let current: RestoreStore.Content?
  private let migrates: Bool
  private let progress: Report

  /// Takes how far it is.
  typealias Report = @Sendable (StoreCopyProgress) -> Void

  /// Finds a backup and reads all of it.
  ///
  /// - Throws: ``CairnControl/ControlError`` for one that is not there, is damaged, or is of another store.
  init(
    _ backup: String, configuration: DaemonConfiguration, model: ManagedObjectModel,
    progress: @escaping Report = { _ in }
  ) throws {
    self.progress = progress
    progress(.init(.checking))
    folder = configuration.backup.folder
    local = configuration.local.path
    self.model = model
    path = try Self.file(of: backup, in: folder, store: URL(fileURLWithPath: local))
    let found: StoreInspection
    do {
      found = try StoreInspection(
        contentsOf: URL(fileURLWithPath: path), checks: true, timeout: 10)
    } catch let error as CoreDataError {
      throw Self.refusal("backup-damaged", "\(path) is no backup: \(error.message)")
    }
    if let damage = found.damage.first {
      throw Self.refusal("backup-damaged", "\(path) is damaged: \(damage.description)")
    }
    content = Self.content(of: found)
    migrates = !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: found.metadata)
    // A store that cannot be read is what a backup is for.
    let present = try? StoreInspection(
      contentsOf: URL(fileURLWithPath: local), checks: false, timeout: 10)
    current = present.map(Self.content(of:))
    if let present, present.identifier != found.identifier {
      throw Self.refusal(
        "backup-of-another",
        "\(path) is a backup of another store: its identifier is \(found.identifier), the local "
          + "store's \(present.identifier)")
    }
  }

  /// What is found, and what will come of it.
  func report(_ bringers: [RestoreStore.Bringer], kept: String? = nil) -> RestoreStore.Reply {
    RestoreStore.Reply(
      path: path, content: content, current: current, migrates: migrates, kept: kept,
      bringers: bringers)
  }

  // MARK: Finding

  /// The file of a backup: by the name of its folder, by that folder's path, or by its own.
  private static func file(of backup: String, in folder: String, store: URL) throws -> String {
    let given = backup.contains("/") ? backup : "\(folder)/\(backup)"
    let missing = refusal("backup-missing", "there is no backup \(given)")
    guard given.hasPrefix("/"), !backup.isEmpty, !backup.contains("\0"),
      let facts = try? FileFacts(path: given)
    else { throw missing }
    // Whatever links lead there: the daemon reads files that its callers may not.
    let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    var file = URL(fileURLWithPath: given).resolvingSymlinksInPath()
    guard file.path.hasPrefix(root + "/") else {
      throw refusal("backup-elsewhere", "\(given) is not in the folder of backups, \(folder)")
    }
    if facts.isFolder {
      let copy = file.appendingPathComponent(store.lastPathComponent)
      if let other = otherCopy(in: file, than: copy) {
        throw refusal(
          "backup-of-replica", "\(given) is a backup of a replica, \(other), not of the local store"
        )
      }
      file = copy
    }
    guard let facts = try? FileFacts(path: file.path), facts.isRegularFile else { throw missing }
    guard file.resolvingSymlinksInPath().path == file.path else {
      throw refusal("backup-elsewhere", "\(file.path) is a link; name the file itself")
    }
    return file.path
  }

  /// The copy of another store's file in the folder of a backup that has none of the local store; nil without one.
  private static func otherCopy(in folder: URL, than copy: URL) -> String? {
    if FileManager.default.fileExists(atPath: copy.path) { return nil }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appendingPathComponent($0).path }.first { path in
      // What is kept beside a file has its own name.
      !["-wal", "-shm", "-journal", "-cairn"].contains { path.hasSuffix($0) }
        && (try? FileFacts(path: path))?.isRegularFile == true
    }
  }

  private static func content(of found: StoreInspection) -> RestoreStore.Content {
    RestoreStore.Content(
      records: found.entities.reduce(0) { $0 + ($1.count ?? 0) },
      bytes: Int(found.size + found.logSize),
      lastTransaction: found.history?.lastTransaction.map(Int.init),
      newest: found.history?.newest.map(WireDate.init))
  }

  private static func refusal(_ code: String, _ reason: String) -> ControlError {
    .notPossible(code: code, reason: reason)
  }

  // MARK: Replacing

  /// Copies the backup beside the local store.
  ///
  /// - Returns: the folder of the copy.
  func stage() throws -> String { try stage(path) }

  private func stage(_ source: String) throws -> String {
    let url = URL(fileURLWithPath: local)
    let staging = url.deletingLastPathComponent()
      .appendingPathComponent(".\(url.lastPathComponent).restore.\(UUID().uuidString)").path
    do {
      try FileManager.default.createDirectory(
        atPath: staging, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try copy(source, to: "\(staging)/\(url.lastPathComponent)", as: .copying)
      return staging
    } catch {
      try? FileManager.default.removeItem(atPath: staging)
      throw Self.failure(error)
    }
  }

  /// Keeps what is there and replaces it by the staged copy; to be called while no engine runs.
  ///
  /// - Returns: The file that holds what was there; nil when there was nothing.
  /// - Throws: ``CairnControl/ControlError``; the local store is as it was then.
  func replace(from staging: String, now: Date) throws -> String? {
    let name = URL(fileURLWithPath: local).lastPathComponent
    let staged = "\(staging)/\(name)"
    do {
      guard FileManager.default.fileExists(atPath: local) else {
        try copy(staged, to: local, as: .replacing)
        return nil
      }
      let kept = unusedFolder(now)
      let making = try StagedFolder(for: kept)
      defer { making.discard() }
      do {
        try exchange(with: staged, keeping: making)
      } catch let error as CoreDataError where [.damaged, .notAStore].contains(error.storeTrouble) {
        // No database that could be replaced in its place.
        try moveAside(to: making.path)
        try making.publish()
        try copy(staged, to: local, as: .replacing)
      }
      return "\(kept)/\(name)"
    } catch {
      throw Self.failure(error)
    }
  }

  /// Puts back what ``replace(from:now:)`` has kept, and what was written meanwhile is kept in its turn; removes the copy
  /// where nothing had been there.
  func takeBack(_ kept: String?, now: Date) throws {
    guard let kept else {
      do {
        try PersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(
          at: URL(fileURLWithPath: local), ofType: StoreTypeName.sqlite)
      } catch {
        throw Self.failure(error)
      }
      return
    }
    let staging = try stage(kept)
    defer { try? FileManager.default.removeItem(atPath: staging) }
    _ = try replace(from: staging, now: now)
  }

  /// A folder for what was there, beside the other backups.
  private func unusedFolder(_ now: Date) -> String {
    StoreBackup.unusedFolder("\(folder)/before-restore-\(StoreBackup.stamp(now))")
  }

  private func copy(
    _ source: String, to destination: String, as step: StoreCopyProgress.Step
  ) throws {
    let progress = progress
    try CopyProgress.listening({ done, total in
      progress(.init(step, done: done, total: total))
    }) {
      try PersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
        at: URL(fileURLWithPath: destination),
        withPersistentStoreFrom: URL(fileURLWithPath: source), ofType: StoreTypeName.sqlite)
    }
  }

  /// Holds writers off from before the copy is made that is kept until the other content is there.
  private func exchange(with staged: String, keeping making: StagedFolder) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let kind = try coordinator.kind(ofType: StoreTypeName.sqlite)
    let hold = try kind.hold(
      URL(fileURLWithPath: local), for: URL(fileURLWithPath: staged),
      options: StoreOptions([StoreOptionKey.timeout: 10]))
    guard let hold else {
      throw Self.refusal("no-file", "the local store's type cannot be replaced")
    }
    defer { hold.release() }
    try copy(
      local, to: "\(making.path)/\(URL(fileURLWithPath: local).lastPathComponent)", as: .keeping)
    try making.publish()
    progress(.init(.replacing))
    try hold.replace()
  }

  /// Removes what a daemon that was killed while it restored has left beside the store.
  static func removeLeftovers(of local: String) {
    let url = URL(fileURLWithPath: local)
    let folder = url.deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(".\(url.lastPathComponent).restore.") {
      try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  /// Every file of the local store.
  private var files: [String] {
    let url = URL(fileURLWithPath: local)
    let support = url.deletingLastPathComponent().appendingPathComponent(
      ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
    return (["", "-wal", "-shm", "-journal", "-cairn"].map { local + $0 } + [support.path]).filter {
      FileManager.default.fileExists(atPath: $0)
    }
  }

  private func moveAside(to folder: String) throws {
    // What was copied before it failed.
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
    for file in files {
      let name = URL(fileURLWithPath: file).lastPathComponent
      try FileManager.default.moveItem(atPath: file, toPath: "\(folder)/\(name)")
    }
  }

  private static func failure(_ error: any Error) -> any Error {
    switch error {
    case let error as CocoaError:
      refusal("restore-failed", "nothing was restored: \(error.localizedDescription)")
    case let error as CoreDataError:
      refusal("restore-failed", "nothing was restored: \(error.message)")
    case let error as PlatformError:
      refusal("restore-failed", "nothing was restored: \(error)")
    default: error
    }
  }
}
