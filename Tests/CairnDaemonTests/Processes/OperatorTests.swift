// What an operator sees and does, with the real programs: conflicts, quarantine, what is held, and why
// a value is what it is.
import Cairn
import CairnControl
import CairnSync
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// Specification: sync.md 9.
@Suite struct OperatorTests {
  /// A name has at most eight characters; the version of the model is the same without that.
  private static func model(in folder: TemporaryFolder, isStrict: Bool) throws -> String {
    try TestModel.write(
      isStrict ? "Strict" : "Lax", in: folder,
      contents: """
        <entity name="Item" representedClassName="Item" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"
            \(isStrict ? "maxValueString=\"8\"" : "")/>
          <attribute name="count" optional="YES" attributeType="Integer 64"/>
        </entity>
        """)
  }

  private struct Scene {
    let daemon: Daemon
    let lax: String
    var near: String { daemon.folder.file("near.sqlite") }

    /// The ID of the record with a name, as the local store shows it.
    func id(_ name: String) async throws -> String {
      let found = try await daemon.ctl(
        "fetch", "Item", "--where", "name == '\(name)'", "--properties", "id", "--format", "csv")
      return try #require(found.output.split(whereSeparator: \.isNewline).last.map(String.init))
    }

    /// Runs cairnctl and decodes its JSON.
    func json<Reply: Decodable>(_ type: Reply.Type, _ arguments: String...) async throws -> Reply {
      let outcome = try await daemon.ctl(["--json"] + arguments)
      #expect(outcome.code == 0, "\(arguments): \(outcome.errors)")
      let value = try JSONParser.parse(Array(outcome.output.utf8.dropLast()))
      return try JSONValueDecoder.decode(type, from: value)
    }

    /// Has a program that knows no limits change the replica's copy while the link rests.
    func changeReplica(_ name: String, to values: [String: Any]) async throws {
      try await daemon.ctl("pause", "near")
      try ApplicationStore(model: lax, path: near).update("Item", named: name, values)
    }

    /// Has another machine, whose clock is ahead, change the record through the replica while the
    /// daemon's link rests.
    func changeElsewhere(_ name: String, to values: [String: Any], ahead seconds: Int) async throws
    {
      try await daemon.ctl("pause", "near")
      let path = daemon.folder.file("elsewhere.sqlite")
      let application = try ApplicationStore(model: lax, path: path)
      var environment = SyncEnvironment.live
      environment.now = { SyncEnvironment.live.now() + UInt64(seconds) * 1000 }
      let engine = try SyncEngine(
        coordinator: application.coordinator, local: application.store, environment: environment)
      try engine.addReplica(
        ReplicaConfiguration(name: "near", url: URL(fileURLWithPath: near)))
      try await engine.wait(timeout: .patience)
      try engine.pause()
      try application.update("Item", named: name, values)
      // What the machine's clock said.
      let queue = try DatabaseQueue(patient: path)
      try await queue.write { database in
        let last = "(SELECT max(Z_PK) FROM ATRANSACTION)"
        try database.execute(
          sql: "UPDATE ATRANSACTION SET ZTIMESTAMP = ZTIMESTAMP + ? WHERE Z_PK = \(last)",
          arguments: [seconds])
      }
      try queue.close()
      try engine.resume()
      try await engine.wait(timeout: .patience)
      await engine.stop()
    }
  }

  private func scene(extra: String = "") async throws -> Scene {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: try Self.model(in: folder, isStrict: true),
        replicas: [("near", folder.file("near.sqlite"))], extra: extra))
    let scene = Scene(daemon: daemon, lax: try Self.model(in: folder, isStrict: false))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "name=nut", "count=1").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    return scene
  }

  @Test func aConflictIsListedShownExplainedAndTakenBack() async throws {
    let scene = try await scene()
    let daemon = scene.daemon
    let id = try await scene.id("nut")
    try await scene.changeReplica("nut", to: ["count": 7])
    try await daemon.ctl("update", "Item", id, "count=9")
    try await daemon.ctl("resume", "near")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)

    let page = try await scene.json(ListConflicts.Reply.self, "conflicts")
    let conflict = try #require(page.conflicts.first)
    #expect(page.conflicts.count == 1 && page.away.isEmpty)
    #expect(conflict.entity == "Item" && conflict.record == id && conflict.property == "count")
    #expect(conflict.rule == .lastWriter && conflict.lost.value == 7 && conflict.won.value == 9)
    #expect(conflict.lost.store == "near" && conflict.won.store == "local")
    let text = try await daemon.ctl("conflicts", "--entity", "Item", "--since", "1h")
    #expect(text.output.contains(conflict.id) && text.output.contains("won "), "\(text.output)")
    for wrong in [["--until", "1h"], ["--property", "name"], ["--rule", "united"]] {
      #expect(try await daemon.ctl(["conflicts"] + wrong).output == "no conflicts\n", "\(wrong)")
    }
    let shown = try await scene.json(
      JournaledConflictEntry.self, "conflicts", "show", conflict.id)
    #expect(shown.id == conflict.id)

    let before = try await scene.json(ExplainValue.Reply.self, "explain", "Item", id, "count")
    let value = try #require(before.values.first)
    #expect(value.value == 9 && value.rule == .lastWriter && value.write.author == "cairnctl")
    #expect(value.superseded.map(\.id) == [conflict.id])
    #expect(value.standings.map(\.standing) == [.inStep, .inStep])

    let restored = try await daemon.ctl("conflicts", "restore", conflict.id)
    #expect(restored.code == 0, "\(restored.errors)")
    #expect(restored.output == "Item \(id) has count 7 again\n")
    let again = try await daemon.ctl("conflicts", "restore", conflict.id)
    #expect(again.output.contains("nothing was written"), "\(again.output)")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    for store in ["local", "near"] {
      let found = try await daemon.ctl(
        "fetch", "Item", "--store", store, "--properties", "count", "--format", "csv")
      #expect(found.output.contains("7"), "\(store): \(found.output)")
    }
    #expect(await daemon.stop() == 0)
  }

  @Test func whatValidationRefusesIsShownAndDiscarded() async throws {
    let scene = try await scene()
    let daemon = scene.daemon
    try await scene.changeReplica("nut", to: ["name": "much too long a name"])
    try await daemon.ctl("resume", "near")
    let refused = try await daemon.ctl("wait", "--timeout", "30")
    #expect(refused.code == 1, "\(refused.output)\(refused.errors)")
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("behind"), "\(status.output)")
    #expect(status.output.contains("1 record in quarantine"), "\(status.output)")
    #expect(status.output.contains("`cairnctl quarantine`"), "\(status.output)")

    let page = try await scene.json(ListQuarantine.Reply.self, "quarantine")
    let entry = try #require(page.entries.first)
    #expect(page.entries.count == 1 && entry.reason == .validation && entry.store == "local")
    #expect(entry.source == "near" && entry.properties == ["name"] && entry.canDiscard)
    #expect(try await daemon.ctl("held").output == "nothing is held\n")
    let retried = try await scene.json(RetryQuarantine.Reply.self, "quarantine", "retry")
    #expect(retried.released == 0 && retried.waiting.map(\.id) == [entry.id])

    let asked = try await daemon.ctl("quarantine", "discard", entry.id)
    #expect(asked.code == 1 && asked.errors.contains("nothing was discarded yet"))
    let command = try #require(
      asked.errors.split(separator: "`").first { $0.hasPrefix("cairnctl ") })
    let words = command.split(separator: " ").dropFirst().map(String.init)
    let discarded = try await daemon.ctl(words)
    #expect(discarded.code == 0, "\(discarded.errors)")
    let twice = try await daemon.ctl(words)
    #expect(twice.code == 1 && twice.errors.contains("nothing waits"), "\(twice.errors)")

    let waited = try await daemon.ctl("wait", "--timeout", "60")
    #expect(waited.code == 0, "\(waited.errors)")
    #expect(try await daemon.values("Item", "name", store: "near") == ["nut"])
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(
      try await daemon.ctl("conflicts", "--rule", "discarded").output.contains("much too long"))
    #expect(await daemon.logs("event=recordQuarantined"))
    let logged = daemon.logText.split(separator: "\n").filter {
      $0.contains("event=recordQuarantined")
    }
    #expect(logged.count == 1, "\(logged)")
    #expect(await daemon.stop() == 0)
  }

  @Test func whatWasWrittenInTheFutureWaitsUntilItIsAccepted() async throws {
    let scene = try await scene()
    let daemon = scene.daemon
    try await scene.changeElsewhere("nut", to: ["count": 5], ahead: 10800)
    try await daemon.ctl("resume", "near")
    let refused = try await daemon.ctl("wait", "--timeout", "30")
    #expect(refused.code == 1, "\(refused.output)\(refused.errors)")
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("`cairnctl held`"), "\(status.output)")
    let page = try await scene.json(ListQuarantine.Reply.self, "held")
    let entry = try #require(page.entries.first)
    let writer = try #require(entry.writers.first)
    #expect(entry.reason == .clockSkew && entry.writers.count == 1 && entry.source == "near")
    #expect(try #require(entry.ahead) > 10000)
    let text = try await daemon.ctl("held")
    #expect(text.output.contains("ahead of this machine's clock"), "\(text.output)")
    let cannot = try await daemon.ctl("quarantine", "discard", entry.id)
    #expect(cannot.code == 1 && cannot.errors.contains("`cairnctl held`"), "\(cannot.errors)")
    let compared = try await daemon.ctl("verify")
    #expect(compared.errors.contains("hint: `cairnctl held`"), "\(compared)")

    let accepted = try await daemon.ctl("held", "accept", "--writer", writer)
    #expect(accepted.output == "accepted 1 change\n", "\(accepted.errors)")
    let waited = try await daemon.ctl("wait", "--timeout", "60")
    #expect(waited.code == 0, "\(waited.errors)")
    #expect(try await daemon.ctl("held").output == "nothing is held\n")
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.logs("event=recordsHeld"))
    #expect(await daemon.stop() == 0)
  }

  @Test func whatAnAuthorWroteIsTakenBackAfterALook() async throws {
    let scene = try await scene()
    let daemon = scene.daemon
    let id = try await scene.id("nut")
    try await daemon.ctl("pause", "near")
    try ApplicationStore(model: scene.lax, path: daemon.localPath)
      .update("Item", named: "nut", ["count": 13])
    try ApplicationStore(model: scene.lax, path: daemon.localPath).insert("Item", ["name": "odd"])
    let arguments = ["revert", "--author", "application", "--since", "1h"]
    let plan = try await daemon.ctl(arguments + ["--dry-run"])
    #expect(plan.code == 0, "\(plan.errors)")
    #expect(plan.output.contains("Item \(id)\n  count  13 -> 1\n"), "\(plan.output)")
    #expect(plan.output.contains("is deleted: it was inserted"), "\(plan.output)")
    #expect(try await daemon.values("Item", "name") == ["nut", "odd"], "nothing was written")
    let line = try #require(
      plan.output.split(separator: "`").first { $0.hasPrefix("cairnctl ") })
    let words = line.split(separator: " ").dropFirst().map(String.init)
    let done = try await daemon.ctl(words)
    #expect(done.code == 0 && done.output.hasSuffix("took back 2 changes\n"), "\(done.errors)")
    #expect(try await daemon.values("Item", "name") == ["nut"])
    let again = try await daemon.ctl(words)
    #expect(again.code == 1 && again.errors.contains("has changed"), "\(again.errors)")
    try await daemon.ctl("resume", "near")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func aPassThatWouldDeleteMuchWaitsForAnApproval() async throws {
    let scene = try await scene(extra: "sync: {deletions: {share: 50, smallest: 4}}")
    let daemon = scene.daemon
    for name in ["a", "b", "c", "d", "e"] { try await daemon.ctl("insert", "Item", "name=\(name)") }
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let nothing = try await daemon.ctl("approve", "near")
    #expect(nothing.code == 1 && nothing.errors.contains("waits for no approval"))
    try await daemon.ctl("pause", "near")
    var ids: [String] = []
    for name in ["a", "b", "c", "d"] { ids.append(try await scene.id(name)) }
    #expect(try await daemon.ctl(["delete", "Item"] + ids).code == 0)
    try await daemon.ctl("resume", "near")
    let waited = try await daemon.ctl("wait", "--timeout", "30")
    #expect(waited.code == 1, "\(waited.errors)")
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("4 of 6 Item would be deleted in near"), "\(status.output)")
    #expect(status.output.contains("`cairnctl approve near`"), "\(status.output)")
    #expect(try await daemon.values("Item", "name", store: "near").count == 6)

    let rejected = try await daemon.ctl("approve", "near", "--reject")
    #expect(rejected.output.contains("stays stopped"), "\(rejected.errors)")
    #expect(
      try await eventually {
        try daemon.replica("near")?.waits.first?.reason.contains("rejected") == true
      })
    let approved = try await daemon.ctl("approve", "near")
    #expect(approved.code == 0, "\(approved.errors)")
    #expect(approved.output == "near goes on and deletes 4 of 6 Item in near\n")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Item", "name", store: "near") == ["e", "nut"])
    #expect(try await daemon.ctl("approve", "near").code == 1)
    #expect(await daemon.logs("event=approvalNeeded"))
    #expect(await daemon.stop() == 0)
  }

  @Test func wrongNamesAreAnsweredWithTheRightOnes() async throws {
    let scene = try await scene()
    let id = try await scene.id("nut")
    let nobody = "01950700-1A2B-7C3D-8E4F-5A6B7C8D9E0F"
    let cases: [(arguments: [String], code: Int32, words: [String])] = [
      (["conflicts", "--store", "nearr"], 1, ["did you mean \"near\"", "cairnctl stores"]),
      (["conflicts", "--entity", "Itm"], 1, ["did you mean \"Item\"", "cairnctl model show"]),
      (["conflicts", "--entity", "Item", "--property", "nme"], 1, ["did you mean \"name\""]),
      (["conflicts", "--record", "17"], 64, ["--record"]),
      (["conflicts", "--since", "soon"], 64, ["--since"]),
      (["conflicts", "--rule", "best"], 64, ["lastWriter"]),
      (["conflicts", "show", nobody], 1, [nobody, "`cairnctl conflicts`"]),
      (["conflicts", "restore", nobody], 1, [nobody, "`cairnctl conflicts`"]),
      (
        ["conflicts", "restore", nobody, "--author", "cairn.sync"], 1,
        ["\"cairn.sync\" is sync's own, and reserved; choose another name"]
      ),
      (["quarantine", "--store", "nearr"], 1, ["did you mean \"near\""]),
      (["quarantine", "show", "nonsense"], 1, ["id"]),
      (["quarantine", "show", "nearr/\(nobody)"], 1, ["did you mean \"near\""]),
      (["quarantine", "discard", "local/\(nobody)"], 1, ["nothing waits", "cairnctl quarantine"]),
      (["held", "accept", "--writer", "nearr"], 1, ["did you mean \"near\""]),
      (["approve", "nearr"], 1, ["did you mean \"near\""]),
      (["approve", "near"], 1, ["waits for no approval", "cairnctl status"]),
      (["revert", "--since", "1h"], 64, ["--author"]),
      (["revert", "--author", "a", "--since", "soon"], 64, ["--since"]),
      (["revert", "--store", "nearr", "--since", "1h"], 1, ["did you mean \"near\""]),
      (["explain", "Itm", id], 1, ["did you mean \"Item\""]),
      (["explain", "Item", id, "cuont"], 1, ["did you mean \"count\""]),
      (["explain", "Item", nobody], 1, [nobody, "cairnctl fetch Item"]),
      (["explain", "Item", "17"], 64, ["id"]),
    ]
    for (arguments, code, words) in cases {
      let outcome = try await scene.daemon.ctl(arguments)
      #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
      #expect(outcome.output == "", "\(arguments)")
      for word in words {
        #expect(outcome.errors.contains(word), "\(arguments): \(outcome.errors)")
      }
    }
    #expect(!scene.daemon.logText.contains("event=callFailed"))
    #expect(await scene.daemon.stop() == 0)
  }
}
