// Clients that others wrote drive the daemon by what it tells of itself.
import CairnControl
import CairnTesting
import Foundation
import Testing

@Suite struct VarlinkClientTests {
  /// A call, and what the client kept of the answer.
  private struct Call {
    let method: String
    var parameters: [String: JSONValue] = [:]
    /// Asks for more and takes so many.
    var replies: Int?
    var keep: [String: JSONValue] = [:]
    /// An error that is a right answer: nothing is in trouble here.
    var error: String?

    init(
      _ method: String, _ parameters: [String: JSONValue] = [:], replies: Int? = nil,
      keep: [String: JSONValue] = [:], error: String? = nil
    ) {
      self.method = method
      self.parameters = parameters
      self.replies = replies
      self.keep = keep
      self.error = error
    }

    var line: String {
      var members: [String: JSONValue] = [
        "method": .string(method), "parameters": .object(parameters), "keep": .object(keep),
      ]
      if let replies { members["replies"] = JSONValue(integerLiteral: Int64(replies)) }
      return JSONValue.object(members).text
    }
  }

  private static func calls(late: String) -> [Call] {
    let near: [String: JSONValue] = ["name": "near"]
    let unknown: JSONValue = "near/01950700-1A2B-7C3D-8E4F-5A6B7C8D9E0F"
    let nut: JSONValue = .object(["entity": "Item", "values": ["name": "nut"]])
    return [
      Call(GetInfo.name), Call(GetInterfaceDescription.name, ["interface": "io.cairn.Data"]),
      Call(GetStatus.name), Call(GetConfiguration.name), Call(GetMetrics.name),
      Call(SetLogLevel.name, ["level": "debug"]), Call(ReloadConfiguration.name),
      Call(GetModel.name),
      Call(SaveRecords.name, ["inserts": [nut], "author": "me"], keep: ["id": ["inserted", 0]]),
      Call(FetchRecords.name, ["entity": "Item", "predicate": "name = 'nut'"], replies: 9),
      Call(
        ExportRecords.name, ["fetches": .array([.object(["entity": "Item"])])], replies: 9),
      Call(MigrateStores.name, ["name": "near", "dryRun": true], replies: 9),
      Call(
        ImportRecords.name,
        [
          "entity": "Item", "key": ["name"], "createMissing": true, "rows": [["name": "bolt"]],
          "lines": [1],
        ]),
      Call(
        ImportRecords.name, ["entity": "Item", "rows": [], "lines": [], "part": "{\"name\":"]),
      Call(WaitForSync.name, ["name": "near", "timeout": 60]),
      Call(ListStores.name), Call(DescribeStore.name, near),
      Call(
        AddStore.name,
        [
          "name": "late", "type": "sqlite", "location": .string(late), "direction": "both",
        ]), Call(RemoveStore.name, ["name": "late"]), Call(VerifyStores.name, near, replies: 99),
      Call(CheckpointStore.name, near), Call(GetHistory.name, replies: 1),
      Call(MonitorDaemon.name, replies: 1), Call(PlanPass.name, near),
      Call(PurgeHistory.name, ["dryRun": true, "olderThan": 604_800]),
      Call(RepairStores.name, ["dryRun": true, "name": "near"], replies: 99),
      Call(BackupStore.name, ["label": "monday"], keep: ["backup": ["path"]]),
      Call(RestoreStore.name, ["backup": "$backup"]), Call(PauseSync.name, near),
      Call(ResumeSync.name, near), Call(SyncNow.name, near),
      // The replica is opened anew after the restore.
      Call(WaitForSync.name, ["name": "near", "timeout": 60]),
      Call(ExplainValue.name, ["entity": "Item", "id": "$id", "property": "name"]),
      Call(ListConflicts.name), Call(ListQuarantine.name),
      Call(
        GetConflict.name, ["id": "019507C0-5A00-0001-8D3F-1B2C3D4E5F60"],
        error: "io.cairn.Sync.EntryNotFound"),
      Call(
        RestoreConflict.name, ["id": "019507C0-5A00-0001-8D3F-1B2C3D4E5F60"],
        error: "io.cairn.Sync.EntryNotFound"),
      Call(GetQuarantined.name, ["id": unknown], error: "io.cairn.Sync.EntryNotFound"),
      Call(
        DiscardQuarantine.name, ["id": unknown, "revision": "abcd"],
        error: "io.cairn.Sync.EntryNotFound"), Call(RetryQuarantine.name),
      Call(AcceptHeld.name, ["name": "near"]), Call(ListParked.name), Call(AbandonParked.name),
      Call(ApproveDeletions.name, near, error: "io.cairn.Sync.NotPossible"),
      Call(RevertAuthor.name, ["author": "me", "since": "2026-01-01T00:00:00.000Z"]),
      Call(GetSupportBundle.name, replies: 1_000), Call(DrainDaemon.name, ["timeout": 20]),
    ]
  }

  @Test(
    .enabled(
      if: ForeignTools.python != nil && ForeignTools.varlinkModule != nil,
      "needs Python's client `varlink`: make test-tools"))
  func pythonsStockClientDrivesEveryMethod() async throws {
    let daemon = try await Daemon.withStock()
    let calls = Self.calls(late: daemon.folder.file("late.sqlite"))
    let outcome = try await run(
      try #require(ForeignTools.python), [Project.file("Tests/Varlink/drive.py"), daemon.socket],
      input: calls.map { $0.line + "\n" }.joined(),
      environment: ["PYTHONPATH": try #require(ForeignTools.varlinkModule)])
    #expect(outcome.code == 0, "\(outcome.errors) \(daemon.log(last: 5))")
    let lines = try outcome.output.split(separator: "\n").map { line in
      try #require(try JSONParser.parse(Array(line.utf8)).objectValue)
    }
    let offered = lines.first?["methods"]?.arrayValue?.compactMap(\.stringValue) ?? []
    let methods = Set(GoldenReplay.methods.map { $0.name })
    #expect(Set(offered) == methods)
    #expect(Set(calls.map(\.method)) == methods, "each method is called")
    #expect(lines.count == calls.count + 1)
    for (call, line) in zip(calls, lines.dropFirst()) {
      #expect(line["method"]?.stringValue == call.method)
      #expect(line["error"]?.stringValue == call.error, "\(JSONValue.object(line).text)")
      if call.error == nil { #expect(line["replies"]?.arrayValue?.isEmpty == false) }
    }
    let fetched = zip(calls, lines.dropFirst()).first { $0.0.method == FetchRecords.name }?.1
    #expect(fetched.map { JSONValue.object($0).text.contains("\"nut\"") } == true)
    #expect(await daemon.stop() == 0)
  }

  @Test(.enabled(if: ForeignTools.varlinkctl != nil, "needs varlinkctl of systemd 255 or later"))
  func systemdsClientUnderstandsEveryInterface() async throws {
    let daemon = try await Daemon.withStock(hasReplica: false)
    let program = try #require(ForeignTools.varlinkctl)
    let info = try await run(program, ["info", daemon.socket])
    #expect(info.code == 0 && info.output.contains("io.cairn.Daemon"), "\(info)")
    for interface in Set(GoldenReplay.methods.map { $0.interface }) {
      let text = try await run(program, ["introspect", daemon.socket, interface])
      #expect(text.code == 0, "\(text)")
      let judged = try await run(program, ["validate-idl"], input: text.output)
      #expect(judged.code == 0, "\(interface): \(judged)")
    }
    let status = try await run(program, ["call", "-j", daemon.socket, GetStatus.name, "{}"])
    #expect(status.code == 0 && status.output.contains("\"serving\""), "\(status)")
    #expect(await daemon.stop() == 0)
  }
}
