// Backups back in the place of the local store, with the real daemon.
import CairnControl
import CairnTesting
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@Suite struct RestoreTests {
  private func daemon(hasReplica: Bool = true) async throws -> Daemon {
    try await .withStock(hasReplica: hasReplica)
  }

  private func restore(_ daemon: Daemon, _ arguments: String...) async throws -> RestoreStore.Reply
  {
    try await daemon.answer(RestoreStore.Reply.self, to: "restore", arguments)
  }

  private func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  @Test func whatIsNewerComesBackFromReplicasAndWhatWasThereIsKept() async throws {
    let daemon = try await daemon()
    let picture = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    do {
      let application = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
      try application.insert("Item", ["name": "nut"])
      try application.update("Item", named: "nut", ["picture": picture])
    }
    #expect(try await daemon.ctl("backup", "--as", "monday").code == 0)
    try await daemon.ctl("insert", "Item", "name=bolt")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    // This one no replica has.
    #expect(try await daemon.ctl("pause", "near").code == 0)
    try await daemon.ctl("insert", "Item", "name=washer")

    let before = names(in: daemon.folder.path)
    let planned = try await restore(daemon, "monday", "--dry-run")
    #expect(planned.content.records == 1 && planned.current?.records == 3)
    #expect(planned.kept == nil && planned.bringers.map(\.name) == ["near"])
    #expect(try await daemon.values("Item", "name") == ["bolt", "nut", "washer"])
    #expect(names(in: daemon.folder.path) == before)

    let done = try await restore(daemon, "monday")
    let kept = try #require(done.kept)
    #expect(kept.hasPrefix(daemon.folder.file("backups/before-restore-2")))
    #expect(try await daemon.values("Item", "name") == ["nut"], "the link is paused")
    #expect(names(in: daemon.folder.path).allSatisfy { !$0.contains(".restore.") })
    do {
      let old = try ApplicationStore(model: daemon.setup.model, path: kept, isReadOnly: true)
      #expect(try old.values("Item", "name") == ["bolt", "nut", "washer"])
      #expect(try old.data("Item", named: "nut", "picture") == picture)
    }
    // Written under the transaction numbers of what was there before.
    try await daemon.ctl("insert", "Item", "name=later")
    #expect(try await daemon.ctl("resume", "near").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Item", "name") == ["bolt", "later", "nut"])
    #expect(try await daemon.values("Item", "name", store: "near") == ["bolt", "later", "nut"])
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.logs("event=storeRestored"))
    #expect(await daemon.logs("event=backupRestored"))
    let application = try ApplicationStore(
      model: daemon.setup.model, path: daemon.localPath, isReadOnly: true)
    #expect(try application.data("Item", named: "nut", "picture") == picture)
    // And the kept one back again: it is a backup like any other.
    let label = ((kept as NSString).deletingLastPathComponent as NSString).lastPathComponent
    _ = try await restore(daemon, label)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Item", "name") == ["bolt", "later", "nut", "washer"])
    #expect(await daemon.stop() == 0)
  }

  @Test func aStoreThatDoesNotOpenIsReplacedAndItsFilesAreKept() async throws {
    let daemon = try await daemon(hasReplica: false)
    try await daemon.ctl("insert", "Item", "name=nut")
    #expect(try await daemon.ctl("backup", "--as", "monday").code == 0)
    #expect(await daemon.stop() == 0)
    let rubbish = Data(repeating: 0x41, count: 8192)
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: daemon.localPath + suffix)
    }
    try rubbish.write(to: URL(fileURLWithPath: daemon.localPath))
    try await daemon.start()
    #expect(try daemon.status().state == .degraded)
    let done = try await restore(daemon, "monday")
    #expect(done.current == nil)
    let kept = try #require(done.kept)
    #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == rubbish)
    #expect(try daemon.status().state == .serving)
    #expect(try await daemon.values("Item", "name") == ["nut"])
    try await daemon.ctl("insert", "Item", "name=bolt")
    #expect(try await daemon.ctl("backup").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func whatIsNoBackupOfThisStoreIsRefusedAndNothingChanges() async throws {
    let daemon = try await daemon()
    let backups = daemon.folder.file("backups")
    try await daemon.ctl("insert", "Item", "name=nut")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("backup", "near", "--as", "other").code == 0)
    #expect(try await daemon.ctl("backup", "--as", "bad").code == 0)
    let queue = try DatabaseQueue(patient: "\(backups)/bad/d.sqlite")
    try await queue.write { try $0.execute(sql: "UPDATE ZITEM SET Z_ENT = 77") }
    try queue.close()
    try FileManager.default.createSymbolicLink(
      atPath: "\(backups)/link", withDestinationPath: daemon.folder.path)
    try FileManager.default.createDirectory(
      atPath: "\(backups)/text", withIntermediateDirectories: true)
    try Data("no store".utf8).write(to: URL(fileURLWithPath: "\(backups)/text/d.sqlite"))
    let cases: [(backup: String, words: String)] = [
      ("nothing", "there is no backup \(backups)/nothing"),
      ("other", "other is a backup of a replica, \(backups)/other/near.sqlite"),
      ("\(backups)/other/near.sqlite", "is a backup of another store"),
      ("bad", "bad/d.sqlite is damaged"), ("text", "is no backup"),
      ("link", "is not in the folder of backups"), ("../d.sqlite", "there is no backup"),
      ("\(backups)/../d.sqlite", "is not in the folder of backups"),
      ("/etc/passwd", "is not in the folder of backups"), (backups, "is not in the folder"),
      ("", "there is no backup"), ("a/b", "there is no backup"),
    ]
    for (backup, words) in cases {
      for extra in [["--dry-run"], []] {
        let outcome = try await daemon.ctl(["restore", backup] + extra)
        #expect(outcome.code == 1 && outcome.errors.contains(words), "\(backup): \(outcome.errors)")
        #expect(outcome.errors.contains("hint: ") || words.contains("another"), "\(outcome.errors)")
      }
    }
    #expect(try await daemon.values("Item", "name") == ["nut"])
    #expect(names(in: backups) == ["bad", "link", "other", "text"])
    #expect(!daemon.logText.contains("event=callFailed"))
    #expect(await daemon.stop() == 0)
  }

  private final class Count: Sendable {
    private let state = Mutex((number: 0, isOver: false))
    var value: Int { state.withLock { $0.number } }
    /// - Returns: Whether to go on.
    func add() -> Bool {
      state.withLock { state in
        state.number += 1
        return !state.isOver
      }
    }
    func end() { state.withLock { $0.isOver = true } }
  }

  /// Writes as a program without Core Data does; the tables are the store's own.
  private func write(to path: String, counting count: Count) throws -> [String] {
    let queue = try DatabaseQueue(patient: path)
    var written: [String] = []
    repeat {
      let name = "w\(written.count)"
      try queue.write { database in
        try database.execute(
          sql: "INSERT INTO ZITEM (Z_ENT, Z_OPT, ZNAME) SELECT Z_ENT, 1, ? FROM ZITEM LIMIT 1",
          arguments: [name])
      }
      written.append(name)
      // SQLite's way of waiting is unfair: a writer without a pause keeps all others out.
      Thread.sleep(forTimeInterval: 0.002)
    } while count.add()
    try queue.close()
    return written
  }

  /// What a program has committed while the store is replaced is in the kept store or in the new one.
  @Test func nothingThatIsCommittedMeanwhileIsLost() async throws {
    let daemon = try await daemon(hasReplica: false)
    try await daemon.ctl("insert", "Item", "name=first")
    #expect(try await daemon.ctl("backup", "--as", "monday").code == 0)
    let path = daemon.localPath
    let count = Count()
    let writer = Task { try await offPool { try self.write(to: path, counting: count) } }
    #expect(await eventually { count.value > 5 })
    let done = try await restore(daemon, "monday")
    let after = count.value
    #expect(await eventually { count.value > after + 5 })
    count.end()
    let written = try await writer.value
    let kept = try #require(done.kept)
    #expect(await daemon.stop() == 0)
    var found: Set<String> = []
    for file in [kept, path] {
      let queue = try DatabaseQueue(patient: file)
      found.formUnion(
        try await queue.read { try String.fetchAll($0, sql: "SELECT ZNAME FROM ZITEM") })
      try queue.close()
    }
    #expect(found.isSuperset(of: written), "\(Set(written).subtracting(found))")
  }
}
