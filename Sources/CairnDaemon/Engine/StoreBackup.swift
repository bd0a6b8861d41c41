// A checked copy of a store that is open.

import Cairn
import CairnControl
import CairnCoordinator
import CairnPlatform
import CairnRecords
import CairnStore
import Foundation

/// Copies a store into a new folder: all of it, or nothing.
///
/// The copy is made and checked in a folder with a name of its own, made durable, and given its name
/// last. Programs may read and write the store meanwhile; what they commit after the copying has begun
/// is not in it.
struct StoreBackup: Sendable {
  /// The folder that holds the folders of copies.
  let folder: String
  /// The name of the new one.
  let label: String

  /// - Throws: ``CairnControl/ControlError`` for a label that is taken or is no name.
  init(folder: String, store: String, label: String?, now: Date) throws {
    self.folder = folder
    self.label = label ?? "\(store)-\(Self.stamp(now))"
    if let label, !ReplicaSection.isValid(name: label) {
      throw ControlError.notPossible(
        code: "backup-label",
        reason: "\"\(label)\" cannot be the name of a backup; at most 64 letters, digits, \".\", "
          + "\"_\" and \"-\" can, the first of them a letter, a digit or \"_\"")
    }
    guard !FileManager.default.fileExists(atPath: destination) else {
      throw ControlError.notPossible(
        code: "backup-exists", reason: "\(destination) is there already; nothing was written")
    }
  }

  private var destination: String { "\(folder)/\(self.label)" }

  /// As in `20260314T150926Z`.
  static func stamp(_ date: Date) -> String {
    date.formatted(.iso8601).filter { !"-:".contains($0) }
  }

  /// The name, or with a number where there is such a folder.
  static func unusedFolder(_ first: String) -> String {
    let others = (2...).lazy.map { "\(first)-\($0)" }
    guard FileManager.default.fileExists(atPath: first) else { return first }
    return others.first { !FileManager.default.fileExists(atPath: $0) } ?? first
  }

  /// Copies the store of that file.
  func run(
    of store: PersistentStore, in coordinator: PersistentStoreCoordinator, named name: String,
    report: @escaping @Sendable (BackupStore.Reply) -> Void = { _ in }
  ) throws -> BackupStore.Reply {
    guard let url = store.url, url.isFileURL else {
      throw ControlError.notPossible(
        code: "no-file", reason: "\(name) has no file that could be copied")
    }
    try Self.makeFolder(folder)
    StagedFolder.removeLeftovers(in: folder)
    let file = url.lastPathComponent
    var reply = BackupStore.Reply(
      store: name, path: "\(destination)/\(file)", bytes: 0, records: 0)
    do {
      let staging = try StagedFolder(for: destination)
      defer { staging.discard() }
      let copy = "\(staging.path)/\(file)"
      let begun = reply
      try CopyProgress.listening({ done, total in
        var reply = begun
        reply.progress = .init(.copying, done: done, total: total)
        report(reply)
      }) {
        try coordinator.replacePersistentStore(
          at: URL(fileURLWithPath: copy), withPersistentStoreFrom: url,
          ofType: StoreTypeName.sqlite)
      }
      reply.progress = .init(.checking)
      report(reply)
      let checked = try check(copy, model: coordinator.managedObjectModel, of: name)
      try staging.publish()
      return BackupStore.Reply(
        store: name, path: reply.path, bytes: Int(checked.size),
        records: checked.entities.reduce(0) { $0 + ($1.count ?? 0) },
        lastTransaction: checked.history?.lastTransaction.map(Int.init))
    } catch let error as CocoaError {
      throw failure(
        error.code == .fileWriteOutOfSpace ? "the disk is full" : Self.cause(of: error))
    } catch let error as PlatformError {
      throw failure("\(error)")
    } catch let error as CoreDataError where [.diskFull, .readOnly].contains(error.storeTrouble) {
      // It is the copy's disk: the store itself is only read.
      throw failure(
        error.storeTrouble == .diskFull ? "the disk is full" : "the folder cannot be written to")
    }
  }

  private func failure(_ reason: String) -> ControlError {
    .notPossible(code: "backup-failed", reason: "\(destination): \(reason); no backup was kept")
  }

  /// A folder of the daemon's user alone: a copy holds all that the store does.
  static func makeFolder(_ folder: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw ControlError.notPossible(
        code: "backup-folder",
        reason: "the folder \(folder) cannot be made: \(cause(of: error))")
    }
    guard let facts = try? FileFacts(path: folder), facts.isFolder, facts.mode & 0o022 == 0 else {
      throw ControlError.notPossible(
        code: "backup-folder",
        reason: "\(folder) is no folder, or others may write to it; chmod go-w \(folder)")
    }
  }

  /// The system's words, where Foundation's say nothing.
  private static func cause(of error: any Error) -> String {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
    return (cause ?? error).localizedDescription
  }

  /// Reads all of the copy.
  private func check(
    _ path: String, model: ManagedObjectModel, of name: String
  ) throws -> StoreInspection {
    let copy = try StoreInspection(
      contentsOf: URL(fileURLWithPath: path), model: model, checks: true, timeout: 10)
    guard let first = copy.damage.first else { return copy }
    throw ControlError.storeUnavailable(
      name: name, code: "store-damaged",
      reason: "the copy is not in order, as the store is not: \(first.description); no backup was "
        + "kept")
  }
}
