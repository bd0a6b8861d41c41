// The real programs on the main path: one daemon, its replicas, and cairnctl.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct MainPathTests {
  private func daemon(replicas: [String] = ["near"]) throws -> Daemon {
    let folder = try TemporaryFolder()
    return try Daemon(
      in: folder,
      Daemon.Setup(replicas: replicas.map { ($0, folder.file("\($0).sqlite")) }))
  }

  private static func rows(_ prefix: String, _ count: Int) -> String {
    (0..<count).map {
      "{\"name\":\"\(prefix)\($0)\",\"section\":{\"name\":\"s\($0 % 3)\"},"
        + "\"maintainer\":{\"name\":\"m\($0 % 5)\"}}\n"
    }.joined()
  }

  @Test func whatIsImportedAndInsertedIsInTheReplicaAndVerifiesEqual() async throws {
    let daemon = try daemon()
    try await daemon.start()
    let imported = try await daemon.ctl(
      "import", "-", "--entity", "Package", "--key", "name", "--batch", "50",
      input: Self.rows("p", 120))
    #expect(
      imported.output == "120 rows: 120 inserted, 0 updated, 0 unchanged, 8 related created\n")
    let section = try await daemon.ctl(
      "fetch", "Section", "--where", "name == 's1'", "--properties", "id", "--format", "csv")
    let id = try #require(section.output.split(whereSeparator: \.isNewline).last)
    let inserted = try await daemon.ctl("insert", "Package", "name=extra", "section=\(id)")
    #expect(inserted.code == 0, "\(inserted.errors)")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    let found = try await daemon.ctl(
      "fetch", "Package", "--store", "near", "--where", "section.name == 's1'", "--sort", "name",
      "--properties", "name,section.name", "--limit", "2", "--format", "jsonl")
    #expect(found.output.split(separator: "\n").count == 2)
    #expect(try await daemon.values("Package", "name", store: "near").count == 121)
    let replica = try #require(try daemon.replica("near"))
    #expect(replica.state == .inSync && replica.lagTransactions == 0)
    #expect(await daemon.stop() == 0)
    let again = try #require(Project.program("cairnctl"))
    let file = try await run(
      again, ["fetch", "Package", "--file", daemon.folder.file("near.sqlite"), "--format", "csv"])
    #expect(file.output.contains("extra"), "\(file.errors)")
  }

  @Test func theStatusIsNeverOlderThanWhatIsCommitted() async throws {
    let daemon = try daemon()
    try await daemon.start()
    let client = try daemon.client()
    func local() throws -> StoreStatus {
      try #require(try client.call(GetStatus.self, NoValues()).status.local)
    }
    let before = try #require(try local().records)
    #expect(before == (try local().records))
    // Another program's commits follow each other faster than the times of files tell them apart.
    let application = try ApplicationStore(model: daemon.setup.model, path: daemon.localPath)
    var last = 0
    for number in 1...60 {
      try application.insert("Section", ["name": "section \(number)"])
      let status = try local()
      #expect(status.records == before + number)
      let transaction = try #require(status.lastTransaction)
      #expect(transaction > last)
      last = transaction
      if number % 20 == 0 {
        // Long enough for an answer to be kept.
        try await Task.sleep(for: .milliseconds(120))
        #expect(try local().records == before + number)
        #expect(try local().records == before + number)
      }
    }
    try await daemon.ctl("pause", "near")
    #expect(try daemon.replica("near")?.state == .paused, "what links do is read anew each time")
    #expect(await daemon.stop() == 0)
  }

  @Test func anAddedStoreIsRememberedUntilItIsRemoved() async throws {
    let daemon = try daemon()
    try await daemon.start()
    let path = daemon.folder.file("late.sqlite")
    let added = try await daemon.ctl("store", "add", "late", "sqlite", path, "--wait")
    #expect(added.output == "added late: \(path)\n")
    let twice = try await daemon.ctl("store", "add", "late", "sqlite", path)
    #expect(twice.code == 0 && twice.output.contains("there already"))
    let other = try await daemon.ctl("store", "add", "other", "sqlite", path)
    #expect(other.code == 1 && other.errors.contains("the same file"), "\(other.errors)")
    let configured = try await daemon.ctl("store", "remove", "near")
    #expect(configured.code == 1 && configured.errors.contains("the configuration names it"))

    #expect(await daemon.stop() == 0)
    try await daemon.start()
    try await daemon.ctl("insert", "Section", "name=libs")
    #expect(try await daemon.ctl("wait", "--for", "late", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Section", "name", store: "late") == ["libs"])

    #expect(try await daemon.ctl("store", "remove", "late").code == 0)
    #expect(try daemon.replica("late") == nil)
    daemon.kill()
    try await daemon.start()
    #expect(try daemon.replica("late") == nil)
    #expect(try daemon.replica("near") != nil)
    #expect(FileManager.default.fileExists(atPath: path), "the file stays")
  }

  @Test func aPausedLinkRestsOverARestartAndAWaitForItEnds() async throws {
    let daemon = try daemon()
    try await daemon.start()
    #expect(try await daemon.ctl("pause", "near").output == "paused near\n")
    try await daemon.ctl("insert", "Section", "name=libs")
    daemon.kill()
    try await daemon.start()
    #expect(try daemon.replica("near")?.state == .paused)
    let refused = try await daemon.ctl("wait", "--for", "near", "--timeout", "5")
    #expect(refused.code == 1 && refused.errors.contains("paused"), "\(refused.errors)")
    #expect(refused.errors.hasSuffix("hint: cairnctl resume near\n"), "\(refused.errors)")
    #expect(try await daemon.ctl("resume").output == "resumed near\n")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Section", "name", store: "near") == ["libs"])
    daemon.kill()
    try await daemon.start()
    #expect(try daemon.replica("near")?.state != .paused)
  }

  @Test func theLocalStoreIsNoReplicaAndIsNotSaidToBeUnknown() async throws {
    let daemon = try daemon()
    try await daemon.start()
    for command in [["sync"], ["pause"], ["resume"], ["plan"], ["wait", "--for"]] {
      let refused = try await daemon.ctl(command + ["local"])
      #expect(refused.code == 1 && refused.errors.contains("none of them"), "\(refused.errors)")
    }
    #expect(await daemon.stop() == 0)
  }

  @Test func aWaitThatTimesOutEndsWith75AndNamesWhoIsBehind() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("away", folder.file("no/such/folder/r.sqlite"))]))
    try await daemon.start()
    // What the status knows is the reason.
    #expect(await eventually { (try? daemon.replica("away"))??.problem != nil })
    let why = try #require(try daemon.replica("away")?.problem?.message)
    let outcome = try await daemon.ctl("wait", "--timeout", "0.3")
    #expect(outcome.code == 75)
    #expect(
      outcome.errors.hasPrefix("cairnctl: not yet in step: away: \(why)\n"), "\(outcome.errors)")
    let json = try await daemon.ctl("--json", "wait", "--timeout", "0.1")
    #expect(json.code == 75 && json.errors.contains("io.cairn.Sync.WaitTimedOut"))
    let place = folder.file("no/such/folder/added.sqlite")
    let added = try await daemon.ctl(
      "store", "add", "added", "sqlite", place, "--wait", "--timeout", "5")
    #expect(added.code == 75, "\(added)")
    #expect(added.errors.contains("not yet in step: added: "), "\(added.errors)")
    #expect(added.errors.contains(place), "\(added.errors)")
  }

  @Test func aWaitWithoutTimeLooksOnce() async throws {
    let daemon = try daemon()
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let again = try await daemon.ctl("wait", "--timeout", "0")
    #expect(again.code == 0, "\(again.errors)")
  }

  @Test func sigtermDuringAnImportDrainsAndWhatWasAnsweredIsThere() async throws {
    let daemon = try daemon()
    try await daemon.start()
    let acknowledged: Int = try await offPool {
      let client = try daemon.client()
      var saved = 0
      for batch in 0..<200 {
        let rows = (0..<20).map { ["name": JSONValue.string("b\(batch)-\($0)")] }
        if batch == 5 { ProcessConduct.terminate(daemon.pid) }
        do {
          saved += try client.call(
            ImportRecords.self,
            ImportRecords.Parameters(entity: "Package", rows: rows, lines: Array(1...20))
          ).inserted
        } catch is ControlClientError {
          break
        } catch ControlError.notReady {
          break
        }
      }
      return saved
    }
    #expect(await daemon.exitCode() == 0)
    #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    #expect(acknowledged >= 100 && acknowledged < 4000)
    try await daemon.start()
    let found = try await daemon.values("Package", "name").count
    #expect(found >= acknowledged && found <= acknowledged + 20)
  }

  @Test func commitsOfAnotherProcessReachTheReplicasUnasked() async throws {
    let daemon = try daemon()
    try await daemon.start()
    let application = try ApplicationStore(
      model: daemon.setup.model, path: daemon.localPath)
    #expect(try await eventually { try daemon.replica("near")?.state == .inSync })
    for round in 0..<3 {
      try application.insert("Section", ["name": "by hand \(round)"])
      let arrived = try await eventually {
        try ApplicationStore(
          model: daemon.setup.model, path: daemon.folder.file("near.sqlite"), isReadOnly: true
        ).values("Section", "name").contains("by hand \(round)")
      }
      #expect(arrived, "round \(round): \(daemon.log(last: 5))")
    }
    #expect(try await daemon.ctl("verify").code == 0)
  }

  @Test func aReplicaWhoseFolderComesLateIsInStepAfterwards() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        replicas: [("near", folder.file("near.sqlite")), ("usb", folder.file("usb/r.sqlite"))],
        extra: "sync: {maxRetryDelay: 1s, pollInterval: 1h}"))
    try await daemon.start()
    #expect(try daemon.status().state == .serving)
    try await daemon.ctl("insert", "Section", "name=libs")
    #expect(try await daemon.ctl("wait", "--for", "near", "--timeout", "60").code == 0)
    #expect(try await eventually { try daemon.replica("usb")?.state == .unavailable })
    let usb = try #require(try daemon.replica("usb"))
    #expect(usb.nextAttempt != nil && usb.problem?.message.contains("usb") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("usb")), "nothing is invented")
    let shown = try await daemon.ctl("status")
    #expect(shown.output.contains("next attempt"), "\(shown.output)")

    try FileManager.default.createDirectory(
      atPath: folder.file("usb"), withIntermediateDirectories: false)
    #expect(
      try await eventually { try daemon.replica("usb")?.state == .inSync })
    #expect(try await daemon.values("Section", "name", store: "usb") == ["libs"])
    // It is watched from now on like any other: nothing else would notice within the hour.
    try ApplicationStore(model: daemon.setup.model, path: folder.file("usb/r.sqlite"))
      .insert("Section", ["name": "on the stick"])
    #expect(
      try await eventually {
        try ApplicationStore(model: daemon.setup.model, path: daemon.localPath, isReadOnly: true)
          .values("Section", "name").contains("on the stick")
      })
    #expect(try await daemon.ctl("verify").code == 0)
  }

  @Test func everyLogLineIsThereOnce() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder, Daemon.Setup(model: folder.file("none.xcdatamodeld")))
    try await daemon.start()
    #expect(await daemon.stop() == 0)
    for event in ["degraded", "started", "stopping", "stopped"] {
      let lines = daemon.logText.split(separator: "\n").filter { $0.contains("event=\(event)") }
      #expect(lines.count == 1, "\(daemon.logText)")
    }
  }
}

extension ProcessConduct {
  /// SIGTERM.
  fileprivate static func terminate(_ pid: Int32) { send(signal: 15, to: pid) }
}
