// Looking after stores with the real programs: repair, purge, and how deep verify looks.
import Cairn
import CairnControl
import CairnSync
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// Specification: sync.md 5 and 9.
@Suite struct UpkeepTests {
  private func daemon() async throws -> Daemon {
    let folder = try TemporaryFolder()
    let model = try TestModel.write(
      "Stock", in: folder,
      contents: """
        <entity name="Item" representedClassName="Item" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="count" optional="YES" attributeType="Integer 64"/>
        </entity>
        """)
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(model: model, replicas: [("near", folder.file("near.sqlite"))]))
    try await daemon.start()
    for name in ["bolt", "nut"] {
      #expect(try await daemon.ctl("insert", "Item", "name=\(name)", "count=1").code == 0)
    }
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    return daemon
  }

  /// Has a program write past history, with SQL of its own.
  private func execute(_ sql: String, _ path: String) async throws {
    let queue = try DatabaseQueue(patient: path)
    try await queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func number(_ sql: String, _ path: String) async throws -> Int? {
    let queue = try DatabaseQueue(patient: path)
    defer { try? queue.close() }
    return try await queue.read { try Int.fetchOne($0, sql: sql) }
  }

  @Test func whatWasChangedPastHistoryIsFoundByReadingAndRepaired() async throws {
    let daemon = try await daemon()
    let near = daemon.folder.file("near.sqlite")
    let count = "SELECT ZCOUNT FROM ZITEM WHERE ZNAME = 'nut'"
    try await execute("UPDATE ZITEM SET ZCOUNT = 99 WHERE ZNAME = 'nut'", near)
    let quick = try await daemon.ctl("verify", "--level", "quick")
    #expect(quick.code == 0 && quick.output.contains("near  equal, 2 records, by digests"))
    let full = try await daemon.ctl("verify")
    #expect(full.code == 1 && full.output.contains(" count: the values differ"), "\(full.output)")
    #expect(full.errors.contains("`cairnctl repair --dry-run`"), "\(full.errors)")
    #expect(await daemon.logs("count=1 event=storesDiffer replica=near"), "\(daemon.logText)")

    let plan = try await daemon.ctl("repair", "near", "--dry-run")
    #expect(plan.code == 0, "\(plan.errors)")
    #expect(plan.output.contains("is taken for written now, from local"), "\(plan.output)")
    #expect(plan.output.contains("near  1 difference to repair\n"), "\(plan.output)")
    #expect(try await number(count, near) == 99, "nothing was written")

    // What was found is in the status, although every pass has all it knows of.
    #expect(try #require(try daemon.replica("near")).state == .behind)
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("1 difference was found on "), "\(status.output)")
    #expect(status.output.contains("`cairnctl repair near --dry-run`"), "\(status.output)")

    let done = try await daemon.ctl("repair")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    #expect(done.output.contains("near  equal, 1 difference repaired\n"), "\(done.output)")
    #expect(try #require(try daemon.replica("near")).waits.isEmpty)
    #expect(try await number(count, near) == 1)
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(try await daemon.ctl("repair").output == "near  equal\n")
    #expect(await daemon.stop() == 0)
  }

  @Test func repairTakesTheReplicasSideWhereThatIsPreferred() async throws {
    let daemon = try await daemon()
    let near = daemon.folder.file("near.sqlite")
    try await execute("UPDATE ZITEM SET ZCOUNT = 99 WHERE ZNAME = 'nut'", near)
    try await execute("DELETE FROM ZITEM WHERE ZNAME = 'bolt'", near)
    let done = try await daemon.ctl("repair", "near", "--prefer", "replica")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    #expect(done.output.contains("only the local store has the record: is made again, from local"))
    #expect(done.output.contains("near  equal, 2 differences repaired\n"), "\(done.output)")
    #expect(
      try await number("SELECT ZCOUNT FROM ZITEM WHERE ZNAME = 'nut'", daemon.localPath) == 99)
    #expect(try await daemon.values("Item", "name", store: "near") == ["bolt", "nut"])
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func theLocalStoreIsCheckedAlone() async throws {
    let daemon = try await daemon()
    try await execute(
      "UPDATE ZITEM SET ZCOUNT = 99 WHERE ZNAME = 'nut'", daemon.folder.file("near.sqlite"))
    for level in ["full", "quick"] {
      let verified = try await daemon.ctl("verify", "local", "--level", level)
      #expect(verified.code == 0 && verified.output == "local  whole\n", "\(verified)")
    }
    let mistyped = try await daemon.ctl("verify", "loacl")
    #expect(mistyped.code == 1 && mistyped.errors.contains("did you mean \"local\""), "\(mistyped)")
    #expect(try await daemon.ctl("verify").code == 1, "the replica differs")
    #expect(await daemon.stop() == 0)
  }

  /// A row that is gone from the local store is named as damage, until it is there again or meant to be gone.
  @Test(arguments: ["near", "local"])
  func aRowThatSqlTookFromTheLocalStoreIsNamedAndRepairedEitherWay(target: String) async throws {
    let daemon = try await daemon()
    try await execute("DELETE FROM ZITEM WHERE ZNAME = 'bolt'", daemon.localPath)
    let found = try await daemon.ctl("verify")
    #expect(found.code == 1 && found.output.contains("is not stored any more"), "\(found.output)")
    #expect(try daemon.status().problems.map(\.code) == ["store-damaged"])
    let plan = try await daemon.ctl("repair", target, "--dry-run")
    #expect(plan.code == 0 && plan.output.contains("nothing was changed"), "\(plan)")
    #expect(try daemon.status().state == .degraded)
    let done = try await daemon.ctl("repair", target)
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    let words = target == "near" ? "is made again, from near" : "is taken for deleted now"
    #expect(done.output.contains(words), "\(done.output)")
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(try daemon.status().problems.isEmpty)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let names = target == "near" ? ["bolt", "nut"] : ["nut"]
    for store in ["local", "near"] {
      #expect(try await daemon.values("Item", "name", store: store) == names, "\(store)")
    }
    #expect(try await daemon.ctl("verify").code == 0)
    let again = try await daemon.ctl("repair", "local")
    #expect(again.code == 0 && again.output == "local  whole\n", "\(again)")
    #expect(await daemon.stop() == 0)
  }

  @Test func withoutAReplicaARowThatSqlTookAwayCanBeTakenForDeleted() async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Package", "name=nut").code == 0)
    try await execute("DELETE FROM ZPACKAGE", daemon.localPath)
    #expect(try await daemon.ctl("verify").code == 1)
    #expect(try daemon.status().state == .degraded)
    let done = try await daemon.ctl("repair", "local")
    #expect(
      done.code == 0 && done.output.contains("local  whole, 1 row repaired"), "\(done)")
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(try daemon.status().state == .serving)
    #expect(await daemon.stop() == 0)
  }

  /// Nothing but the person at the command line knows that it was no disk.
  @Test func withoutAReplicaWhatSqlWroteCanBeTakenForWritten() async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Package", "name=nut").code == 0)
    try await execute("UPDATE ZPACKAGE SET ZNAME = 'bolt'", daemon.localPath)
    let kept = try await daemon.ctl("repair", "local")
    #expect(kept.code == 1 && kept.output.contains("is not stored as it was saved"), "\(kept)")
    let wrong = try await daemon.ctl("repair", "local", "--prefer", "replica")
    #expect(wrong.code == 1 && wrong.errors.contains("prefer"), "\(wrong)")
    let done = try await daemon.ctl("repair", "local", "--prefer", "local")
    #expect(done.code == 0 && done.output.contains("local  whole, 1 row repaired"), "\(done)")
    #expect(try daemon.status().state == .serving)
    #expect(await daemon.stop() == 0)
  }

  @Test func historyThatEveryReplicaHasGoesWhenItIsToldTo() async throws {
    let daemon = try await daemon()
    let transactions = "SELECT count(*) FROM ATRANSACTION"
    let before = try #require(try await number(transactions, daemon.localPath))
    #expect(before >= 2)
    let young = try await daemon.ctl("purge", "local")
    #expect(young.output.hasPrefix("local: "), "\(young.errors)")
    #expect(try await number(transactions, daemon.localPath) == before, "within the retention")

    let plan = try await daemon.ctl("purge", "local", "--older-than", "0s", "--dry-run")
    #expect(plan.code == 0, "\(plan.errors)")
    #expect(plan.output.contains("local: would remove "), "\(plan.output)")
    #expect(try await number(transactions, daemon.localPath) == before, "nothing was removed")
    let done = try await daemon.ctl("purge", "--older-than", "0s")
    #expect(done.code == 0, "\(done.errors)")
    #expect(done.output.contains("local: removed "), "\(done.output)")
    let after = try #require(try await number(transactions, daemon.localPath))
    #expect(after < before)

    // The links go on.
    #expect(try await daemon.ctl("insert", "Item", "name=washer").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Item", "name", store: "near") == ["bolt", "nut", "washer"])
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func aPlanSaysWhatThePassThenDoes() async throws {
    let daemon = try await daemon()
    let nothing = try await daemon.ctl("plan", "near")
    #expect(
      nothing.output == "from near to local: nothing to do\n\nfrom local to near: nothing to do\n",
      "\(nothing.output)\(nothing.errors)")
    try await daemon.ctl("pause", "near")
    let application = try ApplicationStore(
      model: daemon.setup.model, path: daemon.folder.file("near.sqlite"))
    try application.update("Item", named: "nut", ["count": 7])
    #expect(try await daemon.ctl("insert", "Item", "name=washer").code == 0)
    let plan = try await daemon.ctl("plan", "near")
    #expect(plan.code == 0, "\(plan.errors)")
    let parts = plan.output.split(separator: "from local to near")
    #expect(parts.count == 2, "\(plan.output)")
    #expect(parts.first?.contains("  Item  1 updated\n") == true, "\(plan.output)")
    #expect(parts.first?.contains("    count  1 -> 7\n") == true, "\(plan.output)")
    #expect(parts.last?.contains("  Item  1 inserted\n") == true, "\(plan.output)")
    #expect(parts.last?.contains("    name  \"washer\"\n") == true, "\(plan.output)")
    #expect(try await daemon.values("Item", "name", store: "near").count == 2, "nothing is done")
    try await daemon.ctl("resume", "near")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Item", "name", store: "near").count == 3)
    #expect(try await daemon.ctl("plan", "near").output == nothing.output)
    #expect(await daemon.stop() == 0)
  }

  @Test func aReplicaThatWasSilentForTooLongIsExpired() async throws {
    let daemon = try await daemon()
    let near = daemon.folder.file("near.sqlite")
    #expect(try #require(try daemon.replica("near")).waits.isEmpty)
    #expect(await daemon.stop() == 0)
    for suffix in ["", "-wal", "-shm", "-cairn"] {
      try? FileManager.default.removeItem(atPath: daemon.localPath + suffix)
      try? FileManager.default.removeItem(atPath: near + suffix)
    }
    // The pair as it was left forty days ago.
    do {
      let application = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
      var environment = SyncEnvironment.live
      environment.now = { SyncEnvironment.live.now() - 40 * 86_400_000 }
      let engine = try SyncEngine(
        coordinator: application.coordinator, local: application.store, environment: environment)
      try engine.addReplica(ReplicaConfiguration(name: "near", url: URL(fileURLWithPath: near)))
      try application.insert("Item", ["name": "nut"])
      try await engine.wait(timeout: .patience)
      await engine.stop()
    }
    // What cannot be read is away.
    try FileManager.default.moveItem(atPath: near, toPath: near + ".away")
    try FileManager.default.createDirectory(atPath: near, withIntermediateDirectories: true)
    try await daemon.start()
    #expect(
      try await eventually {
        try daemon.replica("near")?.waits.contains { $0.kind == .expired } == true
      })
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("longer ago than the retention"), "\(status.output)")
    // The configuration names it, so that `store remove` is refused.
    #expect(status.output.contains("or is taken out of the configuration"), "\(status.output)")
    #expect(status.output.contains("`cairnctl reload`"), "\(status.output)")
    let purged = try await daemon.ctl("purge", "local")
    #expect(purged.code == 0, "\(purged.errors)")
    #expect(purged.output.contains("and is expired"), "\(purged.output)")
    #expect(await daemon.logs("event=replicaExpired"))

    // It comes back by comparison.
    try FileManager.default.removeItem(atPath: near)
    try FileManager.default.moveItem(atPath: near + ".away", toPath: near)
    try await daemon.ctl("sync", "near")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try #require(try daemon.replica("near")).waits.isEmpty)
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func wrongNamesAndStoresThatAreAwayAreSaid() async throws {
    let daemon = try await daemon()
    let cases: [(arguments: [String], code: Int32, words: [String])] = [
      (["repair", "naer"], 1, ["did you mean \"near\""]),
      (["repair", "near", "--prefer", "newest"], 64, ["--prefer"]),
      (["purge", "naer"], 1, ["did you mean \"near\""]),
      (["plan", "naer"], 1, ["did you mean \"near\""]),
      (["plan", "all"], 1, ["no store called \"all\""]),
      (["approve", "all"], 1, ["no store called \"all\""]),
      (["plan", "near", "--limit", "-1"], 64, ["--limit"]),
      (["purge", "--older-than", "soon"], 64, ["--older-than"]),
      (["verify", "--level", "deep"], 64, ["--level"]),
    ]
    for (arguments, code, words) in cases {
      let outcome = try await daemon.ctl(arguments)
      #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
      for word in words {
        #expect(outcome.errors.contains(word), "\(arguments): \(outcome.errors)")
      }
    }
    let added = try await daemon.ctl(
      "store", "add", "away", "sqlite", daemon.folder.file("no/such/folder/away.sqlite"))
    #expect(added.code == 0, "\(added.errors)")
    #expect(try await eventually { try daemon.replica("away")?.state == .unavailable })
    let purged = try await daemon.ctl("purge", "away")
    #expect(purged.code == 1 && purged.output == "", "\(purged.output)\(purged.errors)")
    let planned = try await daemon.ctl("plan", "away")
    #expect(planned.code == 1 && planned.output == "", "\(planned.output)\(planned.errors)")
    let repaired = try await daemon.ctl("repair")
    #expect(repaired.code == 1, "\(repaired.output)")
    #expect(repaired.output.contains("near  equal\n"), "\(repaired.output)")
    #expect(repaired.errors.contains("could not be repaired: away"), "\(repaired.errors)")
    #expect(!daemon.logText.contains("event=callFailed"))
    #expect(await daemon.stop() == 0)
  }

  @Test func aRemovedReplicaIsCalledRemovedAndHoldsNothingBack() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    let path = folder.file("gone.sqlite")
    #expect(try await daemon.ctl("store", "add", "gone", "sqlite", path, "--wait").code == 0)
    #expect(try await daemon.ctl("store", "remove", "gone").code == 0)
    let purged = try await daemon.ctl("purge", "local", "--dry-run")
    #expect(purged.code == 0, "\(purged.errors)")
    #expect(purged.output.contains("was removed: nothing is kept for it"), "\(purged.output)")
    #expect(!purged.output.contains("1970"), "\(purged.output)")
    #expect(await daemon.stop() == 0)
  }
}
