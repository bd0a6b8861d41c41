// Stores that fail and come back, more than once: at each moment the status and the log say how it is.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct AlternationTests {
  /// A folder that nobody may look into, as a share of which the rights are gone.
  private final class Share {
    let path: String

    init(in folder: TemporaryFolder) throws {
      path = folder.file("share")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    func isReadable(_ isReadable: Bool) throws {
      try FileManager.default.setAttributes(
        [.posixPermissions: isReadable ? 0o755 : 0], ofItemAtPath: path)
    }
  }

  private func daemon(_ share: Share, in folder: TemporaryFolder, extra: String = "") throws
    -> Daemon
  {
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder),
        replicas: [("near", "\(share.path)/near.sqlite"), ("good", folder.file("good.sqlite"))],
        extra: "sync: {maxRetryDelay: 1s}\n\(extra)", isUnprivileged: true))
    try daemon.handOver()
    return daemon
  }

  /// The events of the given kinds, in their order.
  private func events(_ kinds: [String], in daemon: Daemon) -> [String] {
    daemon.logText.split(separator: "\n").compactMap { line in
      kinds.first { line.contains("event=\($0) ") || line.hasSuffix("event=\($0)") }
    }
  }

  private func count(_ words: String, in daemon: Daemon) -> Int {
    daemon.logText.split(separator: "\n").count { $0.contains(words) }
  }

  @Test func aReplicaThatMayNotBeReadForAWhileTwiceFromTheStart() async throws {
    let folder = try TemporaryFolder()
    let share = try Share(in: folder)
    let daemon = try daemon(share, in: folder)
    try share.isReadable(false)
    defer { try? share.isReadable(true) }
    try await daemon.start()
    for round in 1...2 {
      #expect(try await daemon.ctl("insert", "Item", "name=nut\(round)").code == 0)
      #expect(try await eventually { try daemon.replica("near")?.state == .unavailable })
      // As often as one looks, through several attempts.
      let attempts = count("near is opening", in: daemon)
      while count("near is opening", in: daemon) < attempts + 3 {
        let status = try daemon.status()
        #expect(status.state == .serving)
        let near = try #require(status.replicas.first { $0.name == "near" })
        #expect(near.state == .unavailable && near.problem != nil, "\(near)")
      }
      let waited = try await daemon.ctl("wait", "--for", "near", "--timeout", "0.2")
      #expect(waited.code == 75, "\(waited.errors)")
      #expect(try await daemon.ctl("wait", "--for", "good", "--timeout", "60").code == 0)
      try share.isReadable(true)
      #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "60").code == 0)
      #expect(try await eventually { try daemon.replica("near")?.state == .inSync })
      #expect(try daemon.replica("near")?.problem == nil)
      if round == 1 { try share.isReadable(false) }
    }
    #expect(await daemon.stop() == 0)
    #expect(events(["degraded", "recovered"], in: daemon) == [])
    // What comes and goes is summed up, but the first time.
    let told = events(["storeUnavailable", "storeAvailable"], in: daemon)
    #expect(told == ["storeUnavailable", "storeAvailable"], "\(told)")
  }

  @Test func theLastWordAboutAReplicaThatIsAwayIsNotThatItWasThere() async throws {
    let folder = try TemporaryFolder()
    let share = try Share(in: folder)
    let daemon = try daemon(share, in: folder)
    defer { try? share.isReadable(true) }
    try share.isReadable(false)
    try await daemon.start()
    #expect(await daemon.logs("event=storeUnavailable"))
    try share.isReadable(true)
    #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "60").code == 0)
    #expect(await daemon.logs("event=storeAvailable"))
    try share.isReadable(false)
    #expect(try await daemon.ctl("insert", "Item", "name=nut").code == 0)
    #expect(try await eventually { try daemon.replica("near")?.state == .unavailable })
    #expect(await daemon.stop() == 0)
    let told = events(["storeUnavailable", "storeAvailable"], in: daemon)
    #expect(told == ["storeUnavailable", "storeAvailable", "storeUnavailable"], "\(told)")
  }

  /// The local store is locked twice, once from the start, and another replica is no store all the time.
  @Test func aDaemonThatIsStillDegradedIsNotWorkingAgain() async throws {
    let folder = try TemporaryFolder()
    let bad = folder.file("bad.sqlite")
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: try TroubledFile.model(in: folder),
        replicas: [("near", folder.file("near.sqlite")), ("bad", bad)],
        extra: "sync: {maxRetryDelay: 1s}"))
    _ = try TroubledFile.notSQLite.make(at: bad, in: folder)
    var holder = try TroubledFile.locked.make(at: daemon.localPath, in: folder)
    try await daemon.start()
    #expect(try daemon.status().problems.map(\.code) == ["store-locked"])
    _ = consume holder
    holder = nil
    #expect(
      try await eventually { try daemon.status().problems.map(\.code) == ["not-a-store"] })
    for round in 1...2 {
      // Another engine takes the place of this one.
      let text = try String(contentsOfFile: daemon.configPath, encoding: .utf8)
      let line = "sync: {maxRetryDelay: 1s, maxClockSkew: \(round)m}"
      let changed = text.split(separator: "\n").map { $0.hasPrefix("sync:") ? line[...] : $0 }
        .joined(separator: "\n")
      try Data((changed + "\n").utf8).write(to: URL(fileURLWithPath: daemon.configPath))
      #expect(try await daemon.ctl("reload").code == 0)
      #expect(try daemon.status().state == .degraded)
      #expect(try daemon.status().problems.map(\.code) == ["not-a-store"])
      #expect(try await eventually { try daemon.replica("bad")?.state == .stopped })
      #expect(try daemon.status().state == .degraded)
    }
    try FileManager.default.removeItem(atPath: bad)
    #expect(try await daemon.ctl("sync", "bad", "--wait", "--timeout", "60").code == 0)
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(await daemon.logs("event=recovered"))
    #expect(await daemon.stop() == 0)
    let told = daemon.logText.split(separator: "\n").compactMap { line in
      ["errorCode=store-locked", "errorCode=not-a-store", "event=recovered"].first {
        line.contains($0) && !line.contains("level=debug") && !line.contains("event=linkStopped")
      }
    }
    #expect(
      told == ["errorCode=store-locked", "errorCode=not-a-store", "event=recovered"], "\(told)")
    #expect(count("event=linkStopped", in: daemon) == 1)
  }

  /// Between the two links of a replica whose settings change there is none of that name.
  @Test func aReplicaThatIsStoppedStaysSoWhenAReloadChangesItsSettings() async throws {
    let folder = try TemporaryFolder()
    let bad = folder.file("bad.sqlite")
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(model: try TroubledFile.model(in: folder), replicas: [("bad", bad)]))
    _ = try TroubledFile.notSQLite.make(at: bad, in: folder)
    try await daemon.start()
    #expect(await daemon.logs("event=degraded"))
    let path = URL(fileURLWithPath: daemon.configPath)
    let text = try String(contentsOf: path, encoding: .utf8)
    for direction in ["push", "both", "pull", "both"] {
      let changed = text.replacing("\(bad)}", with: "\(bad), direction: \(direction)}")
      #expect(changed != text)
      try Data(changed.utf8).write(to: path)
      #expect(try await daemon.ctl("reload").code == 0)
      #expect(try daemon.status().state == .degraded)
      #expect(try await eventually { try daemon.replica("bad")?.state == .stopped })
      #expect(try daemon.status().problems.map(\.code) == ["not-a-store"])
    }
    #expect(await daemon.stop() == 0)
    #expect(events(["degraded", "recovered"], in: daemon) == ["degraded"])
    #expect(count("event=linkStopped", in: daemon) == 1)
  }

  @Test func aLocalStoreThatFailsTwiceIsDegradedTwice() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(model: try TroubledFile.model(in: folder)))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "name=nut").code == 0)
    for _ in 1...2 {
      try FileManager.default.moveItem(atPath: daemon.localPath, toPath: daemon.localPath + ".away")
      #expect(try await daemon.ctl("insert", "Item", "name=bolt").code == 1)
      let status = try daemon.status()
      #expect(status.state == .degraded && status.local?.state == .failing, "\(status)")
      try FileManager.default.moveItem(atPath: daemon.localPath + ".away", toPath: daemon.localPath)
      #expect(try await eventually { try daemon.status().state == .serving })
      #expect(try daemon.status().problems.isEmpty)
    }
    #expect(try await daemon.ctl("insert", "Item", "name=bolt").code == 0)
    #expect(await daemon.stop() == 0)
    let told = events(["degraded", "recovered"], in: daemon)
    #expect(told == ["degraded", "recovered", "degraded", "recovered"], "\(told)")
  }
}
