// Backups of stores that are in use, with the real daemon.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@Suite struct BackupTests {
  private func daemon(_ extra: String = "") async throws -> Daemon {
    try await .withStock(extra: extra)
  }

  private func backup(_ daemon: Daemon, _ arguments: String...) async throws -> BackupStore.Reply {
    try await daemon.answer(BackupStore.Reply.self, to: "backup", arguments)
  }

  private func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  @Test func aBackupHoldsWhatWasThereAndCanTakeTheStoresPlace() async throws {
    let daemon = try await daemon()
    let folder = daemon.folder.file("backups")
    let picture = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    do {
      let application = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
      try application.insert("Item", ["name": "nut"])
      try application.update("Item", named: "nut", ["picture": picture])
    }
    try await daemon.ctl("insert", "Item", "name=bolt")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let made = try await backup(daemon)
    #expect(made.store == "local" && made.records == 2 && (made.lastTransaction ?? 0) >= 2)
    #expect(made.path.hasPrefix("\(folder)/local-2") && made.path.hasSuffix("/d.sqlite"))
    #expect(names(in: folder).count == 1, "nothing is left beside it")
    for path in [folder, (made.path as NSString).deletingLastPathComponent] {
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o700, "\(path)")
    }
    let mode = try FileManager.default.attributesOfItem(atPath: made.path)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o600)
    let inspected = try await daemon.ctl("inspect", made.path)
    #expect(inspected.code == 0, "\(inspected.output)")

    // What came later goes when the copy takes the store's place, and comes back from the replica.
    try await daemon.ctl("insert", "Item", "name=washer")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(await daemon.stop() == 0)
    for name in names(in: daemon.folder.path)
    where name.hasPrefix("d.sqlite") || name.hasPrefix(".d_SUPPORT") {
      try FileManager.default.removeItem(atPath: daemon.folder.file(name))
    }
    let from = (made.path as NSString).deletingLastPathComponent
    for name in names(in: from) {
      try FileManager.default.copyItem(
        atPath: "\(from)/\(name)", toPath: daemon.folder.file(name))
    }
    do {
      let restored = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
      #expect(try restored.data("Item", named: "nut", "picture") == picture)
      #expect(try restored.values("Item", "name") == ["bolt", "nut"])
    }
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Item", "name") == ["bolt", "nut", "washer"])
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func aBackupWhileProgramsWriteIsOneMomentOfTheStore() async throws {
    let daemon = try await daemon()
    let writer = Task {
      var count = 0
      while !Task.isCancelled {
        // Two at once: a copy has both or neither.
        _ = try await offPool {
          try daemon.client().call(
            SaveRecords.self,
            .init(
              inserts: (0..<2).map { _ in
                .init(entity: "Item", values: ["name": .string("x")])
              }))
        }
        count += 1
      }
      return count
    }
    var records = 0
    for index in 0..<5 {
      let made = try await backup(daemon, "--as", "b\(index)")
      #expect(made.records.isMultiple(of: 2), "\(made.records)")
      #expect(made.records >= records)
      records = made.records
    }
    writer.cancel()
    _ = await writer.result
    #expect(names(in: daemon.folder.file("backups")) == ["b0", "b1", "b2", "b3", "b4"])
    let near = try await backup(daemon, "near")
    #expect(near.store == "near" && near.path.hasSuffix("/near.sqlite"))
    #expect(await daemon.stop() == 0)
  }

  @Test func whatIsWrongIsSaidAndNothingIsLeft() async throws {
    let daemon = try await daemon()
    let folder = daemon.folder.file("backups")
    _ = try await backup(daemon, "--as", "monday")
    let cases: [(arguments: [String], words: String)] = [
      (["--as", "monday"], "is there already; nothing was written"),
      (["--as", "../monday"], "\"../monday\" cannot be the name of a backup"),
      (["--as", "a/b"], "hint: `cairnctl backup --as NAME`"), (["--as", ""], "cannot be the name"),
      (["naer"], "did you mean \"near\""),
    ]
    for (arguments, words) in cases {
      let outcome = try await daemon.ctl(["backup"] + arguments)
      #expect(outcome.code == 1 && outcome.errors.contains(words), "\(outcome.errors)")
    }
    #expect(names(in: folder) == ["monday"])
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
    let open = try await daemon.ctl("backup")
    #expect(open.code == 1 && open.errors.contains("others may write to it"), "\(open.errors)")
    try FileManager.default.removeItem(atPath: folder)
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder))
    let file = try await daemon.ctl("backup")
    #expect(file.code == 1 && file.errors.contains("cannot be made"), "\(file.errors)")
    #expect(!daemon.logText.contains("event=callFailed"))
    #expect(await daemon.stop() == 0)
  }

  @Test func whoAsksForMoreIsToldHowFarItIs() async throws {
    let daemon = try await daemon()
    let text = String(repeating: "nut and bolt ", count: 20_000)
    for _ in 0..<20 {
      _ = try daemon.client().call(
        SaveRecords.self, .init(inserts: [.init(entity: "Item", values: ["name": .string(text)])]))
    }
    var reports: [BackupStore.Reply] = []
    let made = try daemon.client().last(BackupStore.self, .init(label: "monday")) {
      reports.append($0)
    }
    #expect(made.progress == nil && made.records == 20)
    let first = try #require(reports.first)
    #expect(first.path == made.path && first.progress?.step == .copying)
    let total = try #require(first.progress?.total)
    #expect(total > 5_000_000 && (first.progress?.done ?? 0) > 0)
    var steps: [StoreCopyProgress.Step] = []
    let parameters = RestoreStore.Parameters(backup: "monday")
    let restored = try daemon.client().last(RestoreStore.self, parameters) { reply in
      if let progress = reply.progress { steps.append(progress.step) }
    }
    #expect(restored.progress == nil && restored.content.records == 20)
    #expect(steps.first == .checking, "\(steps)")
    // Who does not ask gets one answer.
    let client = try daemon.client()
    _ = try client.call(BackupStore.self, .init(label: "tuesday"))
    #expect(try client.call(GetStatus.self, NoValues()).status.state == .serving)
    #expect(await daemon.stop() == 0)
  }

  @Test func whatADaemonThatWasKilledHasLeftIsRemoved() async throws {
    let daemon = try await daemon()
    let folder = daemon.folder.file("backups")
    func leave(_ name: String) throws -> String {
      let left = "\(folder)/.\(name).\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
      try Data("half".utf8).write(to: URL(fileURLWithPath: "\(left)/d.sqlite"))
      return (left as NSString).lastPathComponent
    }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    _ = try leave("monday")
    // Another daemon fills this one.
    let filled = try leave("tuesday")
    let lock = try #require(try AdvisoryLock.attempt(folder: "\(folder)/\(filled)"))
    _ = try await backup(daemon, "--as", "wednesday")
    #expect(names(in: folder) == [filled, "wednesday"])
    lock.release()
    #expect(await daemon.stop() == 0)
    try await daemon.start()
    #expect(names(in: folder) == ["wednesday"])
    #expect(await daemon.stop() == 0)
  }

  @Test func onAFullDiskThereIsNoBackupAndTheStoreIsNotBlamed() async throws {
    guard let disk = try SmallDisk(megabytes: 1) else { return }
    let daemon = try await daemon("backup: {folder: \(disk.folder.path)/copies}")
    let text = String(repeating: "nut and bolt ", count: 20_000)
    for _ in 0..<8 {
      _ = try daemon.client().call(
        SaveRecords.self, .init(inserts: [.init(entity: "Item", values: ["name": .string(text)])]))
    }
    let full = try await daemon.ctl("backup", "--as", "monday")
    #expect(full.code == 1)
    let copies = disk.folder.appendingPathComponent("copies").path
    #expect(
      full.errors.contains("\(copies)/monday: the disk is full; no backup was kept"),
      "\(full.errors)")
    #expect(full.errors.contains("hint: `df -h`"), "\(full.errors)")
    #expect(names(in: copies) == [])
    #expect(try daemon.status().problems == [], "it is another disk that is full")
    try disk.grow(toMegabytes: 20)
    _ = try await backup(daemon, "--as", "monday")
    #expect(await daemon.stop() == 0)
  }

  @Test func aDamagedStoreMakesNoBackupThatPretends() async throws {
    let daemon = try await daemon()
    try await daemon.ctl("insert", "Item", "name=nut")
    // The daemon may be writing.
    let queue = try DatabaseQueue(patient: daemon.localPath)
    // A row that the sums do not know.
    try await queue.write { try $0.execute(sql: "UPDATE ZITEM SET Z_ENT = 77") }
    try queue.close()
    let outcome = try await daemon.ctl("backup", "--as", "bad")
    #expect(outcome.code == 1 && outcome.errors.contains("no backup was kept"), "\(outcome.errors)")
    #expect(names(in: daemon.folder.file("backups")) == [])
    #expect(await daemon.stop() == 0)
  }
}
