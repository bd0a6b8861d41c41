// A local store that fails while the daemon runs: status, journal and answers say what is wrong and what
// to do, and say it once.
import CairnControl
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@Suite struct FailingStoreTests {
  private func daemon(in folder: TemporaryFolder, local: String? = nil) throws -> Daemon {
    try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder), replicas: [("near", folder.file("near.sqlite"))],
        local: local))
  }

  /// A running daemon, which looks again soon, with a record in both stores.
  private func inStep(in folder: TemporaryFolder) async throws -> Daemon {
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder), replicas: [("near", folder.file("near.sqlite"))],
        extra: "sync: {pollInterval: 200ms, maxRetryDelay: 1s}"))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "name=before").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    return daemon
  }

  private func entries(_ event: String, _ code: String, in daemon: Daemon) -> Int {
    daemon.logText.split(separator: "\n").count {
      $0.contains("event=\(event)") && $0.contains("errorCode=\(code)")
    }
  }

  @Test func aFullDiskIsSaidUntilThereIsRoom() async throws {
    guard let disk = try SmallDisk(megabytes: 6) else { return }
    let folder = try TemporaryFolder()
    let daemon = try daemon(in: folder, local: disk.folder.appendingPathComponent("l.sqlite").path)
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "name=nut").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let ballast = disk.folder.appendingPathComponent("ballast")
    // Until there is no room for another byte.
    #expect(FileManager.default.createFile(atPath: ballast.path, contents: nil))
    let handle = try FileHandle(forWritingTo: ballast)
    while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
    let long = String(repeating: "x", count: 100_000)
    var refused = try await daemon.ctl("insert", "Item", "name=\(long)")
    for _ in 0..<20 where refused.code == 0 {
      refused = try await daemon.ctl("insert", "Item", "name=\(long)")
    }
    #expect(refused.code == 1 && refused.errors.contains("(disk-full)"), "\(refused.errors)")
    #expect(refused.errors.contains("hint: make room"), "\(refused.errors)")

    let status = try daemon.status()
    #expect(status.state == .degraded && status.local?.state == .failing, "\(status)")
    #expect(status.local?.problem?.code == "disk-full")
    #expect(status.problems.first == status.local?.problem)
    let shown = try await daemon.ctl("status")
    #expect(shown.output.contains("make room"), "\(shown.output)")
    #expect(await eventually { entries("degraded", "disk-full", in: daemon) == 1 })
    for _ in 0..<3 { try await daemon.ctl("insert", "Item", "name=\(long)") }
    #expect(entries("degraded", "disk-full", in: daemon) == 1, "said once")
    #expect(try await daemon.values("Item", "name").contains("nut"), "reading goes on")

    try handle.close()
    try FileManager.default.removeItem(at: ballast)
    try disk.grow(toMegabytes: 32)
    // Nobody writes, and yet it is noticed.
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(try daemon.status().local?.state == .open)
    #expect(try await daemon.ctl("insert", "Item", "name=bolt").code == 0)
    #expect(await daemon.logs("event=recovered"))
    #expect(await daemon.stop() == 0)
  }

  /// A limit of the process, as `LimitFSIZE=` sets one: the kernel ends a program that does not expect it.
  @Test func aFileThatMayNotGetLargerIsNoFailedDisk() async throws {
    let folder = try TemporaryFolder()
    var setup = Daemon.Setup(
      model: try TroubledFile.model(in: folder), replicas: [("near", folder.file("near.sqlite"))])
    setup.shell = "ulimit -f 1500"
    let limited = try Daemon(in: folder, setup)
    try await limited.start()
    var acknowledged: Set<String> = []
    var refused: Outcome?
    for number in 0..<60 where refused == nil {
      let name = "\(number) " + String(repeating: "x", count: 60_000)
      let outcome = try await limited.ctl("insert", "Item", "name=\(name)")
      if outcome.code == 0 { acknowledged.insert(name) } else { refused = outcome }
    }
    let errors = try #require(refused).errors
    #expect(errors.contains("(disk-full)") && errors.contains("LimitFSIZE="), "\(errors)")
    #expect(limited.isRunning)
    #expect(try await eventually { try limited.status().local?.problem?.code == "disk-full" })
    #expect(await limited.stop() == 0)

    setup.shell = nil
    let daemon = try Daemon(in: folder, setup)
    try await daemon.start()
    #expect(try Set(await daemon.values("Item", "name")) == acknowledged)
    #expect(try await daemon.ctl("insert", "Item", "name=after").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  /// As an operator does who puts a copy in its place.
  @Test func aReplicaIsNotBlamedForALocalFileThatWasReplaced() async throws {
    let folder = try TemporaryFolder()
    let daemon = try await inStep(in: folder)
    let aside = folder.file("aside.sqlite")
    try FileManager.default.moveItem(atPath: daemon.localPath, toPath: aside)
    try FileManager.default.copyItem(atPath: aside, toPath: daemon.localPath)
    #expect(await daemon.logs("near waits for the local store: The file of the store at"))
    let near = try #require(try daemon.status().replicas.first)
    let text = near.problem?.message ?? ""
    #expect(text.hasPrefix("The file of the store at \(daemon.localPath)"), "\(near)")
    try FileManager.default.removeItem(atPath: daemon.localPath)
    try FileManager.default.moveItem(atPath: aside, toPath: daemon.localPath)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  /// As an operator does who takes it for a leftover.
  @Test func aLogThatIsRemovedCostsNothingThatWasAcknowledged() async throws {
    let folder = try TemporaryFolder()
    let daemon = try await inStep(in: folder)
    for path in [daemon.localPath, folder.file("near.sqlite")] {
      try FileManager.default.removeItem(atPath: path + "-wal")
      try FileManager.default.removeItem(atPath: path + "-shm")
    }
    var acknowledged = ["before"]
    for number in 0..<5 {
      let name = "later \(number)"
      if try await daemon.ctl("insert", "Item", "name=\(name)").code == 0 {
        acknowledged.append(name)
      }
    }
    #expect(
      try await eventually {
        try daemon.status().state == .serving
          && FileManager.default.fileExists(atPath: daemon.localPath + "-wal")
      })
    #expect(try await daemon.ctl("insert", "Item", "name=last").code == 0)
    acknowledged.append("last")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    daemon.kill()
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("verify").code == 0)
    for store in ["local", "near"] {
      let names = try await daemon.values("Item", "name", store: store)
      #expect(Set(names) == Set(acknowledged), "\(store)")
    }
    #expect(await daemon.stop() == 0)
  }

  @Test func damageThatIsMetIsSaidAndVerified() async throws {
    let folder = try TemporaryFolder()
    let daemon = try daemon(in: folder)
    try await daemon.start()
    for number in 0..<50 {
      let name = "\(number) " + String(repeating: "x", count: 1000)
      #expect(try await daemon.ctl("insert", "Item", "name=\(name)").code == 0)
    }
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(await daemon.stop() == 0)
    // A leaf of the table becomes noise.
    let queue = try DatabaseQueue(patient: daemon.localPath)
    let (page, size) = try await queue.read { database in
      (
        try #require(
          try Int.fetchOne(
            database,
            sql: "SELECT max(pageno) FROM dbstat WHERE name = 'ZITEM' AND pagetype = 'leaf'")),
        try #require(try Int.fetchOne(database, sql: "PRAGMA page_size"))
      )
    }
    try queue.close()
    let handle = try #require(FileHandle(forUpdatingAtPath: daemon.localPath))
    try handle.seek(toOffset: UInt64((page - 1) * size))
    try handle.write(contentsOf: Data(repeating: 0x5A, count: size))
    try handle.close()

    try await daemon.start()
    let refused = try await daemon.ctl("fetch", "Item")
    #expect(refused.code == 1 && refused.errors.contains("(store-damaged)"), "\(refused.errors)")
    #expect(refused.errors.contains("`cairnctl verify`"), "\(refused.errors)")
    let status = try daemon.status()
    #expect(status.state == .degraded && status.local?.state == .failing, "\(status)")
    #expect(status.local?.problem?.code == "store-damaged")
    #expect(await eventually { entries("degraded", "store-damaged", in: daemon) > 0 })
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 1, "\(verified.output)")
    #expect(try daemon.status().local?.problem?.code == "store-damaged")
    #expect(await daemon.stop() == 0)
  }

  @Test func damageThatVerificationFindsIsInStatusAndJournalUntilItIsGone() async throws {
    let folder = try TemporaryFolder()
    let daemon = try daemon(in: folder)
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "name=nut").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("verify").code == 0)
    func setName(_ name: String) async throws {
      let queue = try DatabaseQueue(patient: daemon.localPath)
      try await queue.write { try $0.execute(sql: "UPDATE ZITEM SET ZNAME = ?", arguments: [name]) }
      try queue.close()
    }
    // Past the sums of rows.
    try await setName("nit")
    #expect(try daemon.status().local?.state == .open, "nobody has looked")
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 1 && verified.output.contains("local: damage"), "\(verified.output)")
    let status = try daemon.status()
    #expect(status.state == .degraded && status.local?.state == .failing, "\(status)")
    #expect(status.local?.problem?.code == "store-damaged")
    #expect(await eventually { entries("degraded", "store-damaged", in: daemon) == 1 })
    try await setName("nut")
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(await daemon.logs("event=recovered"))
    #expect(await daemon.stop() == 0)
  }

  @Test func aLocalFileThatIsMovedAwayIsSaid() async throws {
    let folder = try TemporaryFolder()
    let daemon = try daemon(in: folder)
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "name=nut").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    try FileManager.default.moveItem(atPath: daemon.localPath, toPath: daemon.localPath + ".away")
    let refused = try await daemon.ctl("insert", "Item", "name=bolt")
    #expect(refused.code == 1 && refused.errors.contains(daemon.localPath), "\(refused.errors)")
    let status = try daemon.status()
    #expect(status.state == .degraded && status.local?.state == .failing, "\(status)")
    try FileManager.default.moveItem(atPath: daemon.localPath + ".away", toPath: daemon.localPath)
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(try await daemon.ctl("insert", "Item", "name=bolt").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func manyPassesAreOneEntry() async throws {
    let folder = try TemporaryFolder()
    let daemon = try daemon(in: folder)
    try await daemon.start()
    for number in 0..<20 {
      #expect(try await daemon.ctl("insert", "Item", "name=nut\(number)").code == 0)
      #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    }
    #expect(await daemon.stop() == 0)
    let lines = daemon.logText.split(separator: "\n").filter {
      $0.contains("event=passesCompleted")
    }
    let line = try #require(lines.first)
    #expect(lines.count == 1, "\(lines)")
    #expect(line.contains(" pushed=20 ") && line.contains("replica=near"), "\(line)")
    let notes = daemon.logText.split(separator: "\n").count { !$0.contains("level=debug") }
    #expect(notes < 8, "\(daemon.logText)")
  }

  @Test func aReplicaThatComesAndGoesFillsNoLog() async throws {
    let folder = try TemporaryFolder()
    // As a share does, it goes away with its folder: in a folder that is there a new file would be made.
    let share = folder.file("share")
    try FileManager.default.createDirectory(atPath: share, withIntermediateDirectories: false)
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder), replicas: [("near", "\(share)/near.sqlite")]))
    try await daemon.start()
    for round in 0..<4 {
      try FileManager.default.moveItem(atPath: share, toPath: share + ".away")
      #expect(try await daemon.ctl("insert", "Item", "name=nut\(round)").code == 0)
      #expect(try await eventually { try daemon.replica("near")?.state == .unavailable })
      try FileManager.default.moveItem(atPath: share + ".away", toPath: share)
      #expect(try await daemon.ctl("sync", "near", "--wait", "--timeout", "60").code == 0)
    }
    #expect(await daemon.stop() == 0)
    func lines(_ event: String) -> [Substring] {
      daemon.logText.split(separator: "\n").filter { $0.contains("event=\(event) ") }
    }
    // Once that the file was moved, and once that there is none.
    #expect(lines("storeUnavailable").count <= 2, "\(lines("storeUnavailable"))")
    #expect(lines("storeAvailable").count == 1, "\(lines("storeAvailable"))")
    #expect(!daemon.logText.contains("event=degraded"))
  }
}
