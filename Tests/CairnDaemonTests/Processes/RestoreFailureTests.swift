// A restore that fails at any of its steps, with the real daemon.
import Cairn
import CairnControl
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@Suite struct RestoreFailureTests {
  private let folder: TemporaryFolder
  private let package: WrittenPackage

  init() throws {
    folder = try TemporaryFolder()
    package = try WrittenPackage(
      folder.file("Box.xcdatamodeld"), current: "Box",
      [("Box", Self.item("name")), ("Other", Self.item("name", "more"))])
  }

  private static func item(_ names: String...) -> String {
    let attributes = names.map {
      "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
    }
    return "<entity name=\"Item\">\(attributes.joined())</entity>"
  }

  /// A daemon with one item in a backup and two in its store.
  private func daemon() async throws -> Daemon {
    let daemon = try Daemon(in: folder, .init(model: package.path, isUnprivileged: true))
    try daemon.handOver()
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "name=saved").code == 0)
    let backup = try await daemon.ctl("backup", "--as", "monday")
    #expect(backup.code == 0, "\(backup.errors)")
    #expect(try await daemon.ctl("insert", "Item", "name=newer").code == 0)
    return daemon
  }

  /// What was there is there, is served, and takes writes; nothing is left over.
  private func expectOldStore(_ daemon: Daemon) async throws {
    let isServed = await eventually { (try? daemon.status().state) == .serving }
    #expect(isServed, "\(daemon.log(last: 5))")
    #expect(try await daemon.values("Item", "name") == ["newer", "saved"])
    #expect(try await daemon.ctl("insert", "Item", "name=later").code == 0)
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 0, "\(verified.errors)")
    #expect(await daemon.stop() == 0)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.contains(".restore.") }, "\(left)")
  }

  private func mode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test func whereTheCopyCannotBeStagedTheStoreIsNotTouched() async throws {
    let daemon = try await daemon()
    try mode(folder.path, 0o555)
    let refused = try await daemon.ctl("restore", "monday")
    try mode(folder.path, 0o755)
    #expect(refused.code == 1 && refused.errors.contains("nothing was restored"), "\(refused)")
    try await expectOldStore(daemon)
  }

  @Test func whereWhatIsThereCannotBeKeptItStays() async throws {
    let daemon = try await daemon()
    try mode(folder.file("backups"), 0o555)
    let refused = try await daemon.ctl("restore", "monday")
    try mode(folder.file("backups"), 0o700)
    #expect(refused.code == 1 && refused.errors.contains("nothing was restored"), "\(refused)")
    try await expectOldStore(daemon)
  }

  @Test func whereAnotherProgramKeepsTheStoreLockedItStays() async throws {
    let daemon = try await daemon()
    let writer = try DatabaseQueue(patient: daemon.localPath)
    try await writer.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    let refused = try await daemon.ctl("restore", "monday")
    #expect(refused.code == 1, "\(refused)")
    try await writer.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    try writer.close()
    try await expectOldStore(daemon)
  }

  /// The last step: the engine does not open what was put there.
  @Test func aBackupThatDoesNotOpenIsTakenOutAgain() async throws {
    let daemon = try await daemon()
    try await makeUnusable(daemon)
    let refused = try await daemon.ctl("restore", "monday")
    #expect(refused.code == 1, "\(refused)")
    #expect(refused.errors.contains("the store that was there is back"), "\(refused.errors)")
    #expect(refused.errors.contains("another version of the model"), "\(refused.errors)")
    try await expectOldStore(daemon)
  }

  /// A file that was removed under the daemon leaves nothing to put back.
  @Test func aBackupThatDoesNotOpenDoesNotStayWhereNoStoreWas() async throws {
    let daemon = try await daemon()
    try await makeUnusable(daemon)
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: daemon.localPath + suffix)
    }
    let refused = try await daemon.ctl("restore", "monday")
    #expect(refused.code == 1, "\(refused)")
    #expect(refused.errors.contains("its copy is gone again"), "\(refused.errors)")
    #expect(refused.errors.contains("another version of the model"), "\(refused.errors)")
    let isServed = await eventually { (try? daemon.status().state) == .serving }
    #expect(isServed, "\(daemon.log(last: 5))")
    #expect(try await daemon.values("Item", "name") == [], "a new one")
    #expect(await daemon.stop() == 0)
  }

  /// The backup is of a version that the model lacks, and that the file does not remember.
  private func makeUnusable(_ daemon: Daemon) async throws {
    let backup = folder.file("backups/monday/d.sqlite")
    try mode(folder.file("backups"), 0o755)
    try bring(backup, to: "Other")
    try FileManager.default.removeItem(atPath: "\(package.path)/Other.xcdatamodel")
    let queue = try DatabaseQueue(patient: backup)
    try await queue.write { try $0.execute(sql: "DELETE FROM Z_MODELCACHE") }
    try queue.close()
    try daemon.handOver()
  }

  private func bring(_ path: String, to version: String) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try package.model(version))
    let store = try coordinator.addPersistentStore(
      ofType: StoreTypeName.sqlite, configurationName: nil, at: URL(fileURLWithPath: path),
      options: [
        StoreOptionKey.migrateAutomatically: true, StoreOptionKey.inferMappingModel: true,
        StoreOptionKey.historyTracking: true,
      ])
    try coordinator.remove(store)
  }

  /// Killed anywhere, the store is the old one or the restored one, and then the old one is kept.
  @Test func killedAtAnyStepNothingIsLost() async throws {
    let daemon = try await daemon()
    var ends: [String: Int] = [:]
    var delay = 5
    while ends["new", default: 0] < 2, delay < 20_000 {
      let asking = Task { try? await daemon.ctl("restore", "monday") }
      _ = await eventually(within: .milliseconds(delay)) { false }
      daemon.kill()
      _ = await asking.value
      try await daemon.start()
      let found = try await daemon.values("Item", "name")
      #expect(
        [["newer", "saved"], ["saved"]].contains(found), "killed after \(delay) ms: \(found)")
      ends[found.count == 1 ? "new" : "old", default: 0] += 1
      if found.count == 1 {
        let backups = try FileManager.default.contentsOfDirectory(atPath: folder.file("backups"))
        let kept = try backups.filter { $0.hasPrefix("before-restore") }.contains { name in
          let queue = try DatabaseQueue(patient: folder.file("backups/\(name)/d.sqlite"))
          defer { try? queue.close() }
          let names = try queue.read { try String.fetchAll($0, sql: "SELECT ZNAME FROM ZITEM") }
          return names.contains("newer")
        }
        #expect(kept, "killed after \(delay) ms: \(backups)")
        #expect(try await daemon.ctl("insert", "Item", "name=newer").code == 0)
      }
      delay += 40 + delay / 8
    }
    #expect(ends["new", default: 0] == 2, "\(ends)")
    try await expectOldStore(daemon)
  }
}
