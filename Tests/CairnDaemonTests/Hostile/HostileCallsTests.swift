// Every method of the control interface, called with what nobody should send: each call is
// answered, and the daemon goes on.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: control.md, "Errors" – a caller gets a declared error, and harms nobody else.
@Suite struct HostileCallsTests {
  @Test(.timeLimit(.minutes(10)))
  func everyCallIsAnsweredAndTheDaemonLivesOn() async throws {
    let given = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0 ... .max)
    print("hostile calls: seed \(seed) (CAIRN_TEST_SEED=\(seed) repeats them)")
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: TestModel.write("Hostile", in: folder, contents: HostileModel.contents),
        replicas: [("near", folder.file("near.sqlite"))]))
    try await daemon.start()
    let pid = daemon.pid
    try await offPool {
      var calls = HostileCalls(daemon: daemon, seed: seed)
      try calls.run()
    }
    #expect(daemon.isRunning && daemon.pid == pid, "seed \(seed): \(daemon.log(last: 20))")
    #expect(try await daemon.ctl("resume").code == 0)
    // One of the calls may have taken back all that was written before.
    #expect(try await daemon.ctl("insert", "Box", "name=after", "shelf=1").code == 0)
    let waited = try await daemon.ctl("wait", "--timeout", "60")
    #expect(waited.code == 0, "seed \(seed): \(waited.errors)")
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 0, "seed \(seed): \(verified.output)\(verified.errors)")
    let boxes = try await daemon.values("Box", "name", store: "near")
    #expect(boxes.contains("after"), "seed \(seed)")
    #expect(!daemon.logText.contains("event=callFailed"), "seed \(seed)")
    #expect(await daemon.stop() == 0)
  }
}

/// One daemon's calls, one after the other.
private struct HostileCalls {
  let daemon: Daemon
  let seed: UInt64
  private var values: HostileValues
  private var client: ControlClient?

  init(daemon: Daemon, seed: UInt64) {
    self.daemon = daemon
    self.seed = seed
    values = HostileValues(numbers: SeededNumbers(seed: seed))
  }

  mutating func run() throws {
    let saved = try call(SaveRecords.name, Self.graph)
    let ids = saved.parameters["inserted"]?.arrayValue?.compactMap(\.stringValue) ?? []
    try #require(ids.count == 5, "seed \(seed): \(saved)")
    let good = good(ids)
    // What has no good call here is tried with those of the golden files, which may be refused.
    let known = Set(good.map(\.method))
    let others = GoldenFile.all.flatMap(\.exchanges).filter { !known.contains($0.method) }
      .map { exchange -> (method: String, parameters: [String: JSONValue], count: Int) in
        // A drained daemon answers nothing else.
        if exchange.method == DrainDaemon.name {
          return (method: exchange.method, parameters: ["timeout": -1], count: 0)
        }
        // It has no end.
        if exchange.method == MonitorDaemon.name {
          return (method: exchange.method, parameters: ["after": "x"], count: 0)
        }
        // A stream that is followed has no end that could be waited for.
        let parameters = exchange.parameters.objectValue?.filter { $0.key != "follow" }
        return (method: exchange.method, parameters: parameters ?? [:], count: 8)
      }
    #expect(known.union(others.map(\.method)) == Set(GoldenReplay.methods.map { $0.name }))
    for (method, parameters, count) in good + others {
      if method == RemoveStore.name { _ = try call(AddStore.name, late) }
      let reply = try call(method, parameters)
      if known.contains(method) {
        #expect(reply.error == nil, "seed \(seed): \(method): \(reply)")
      } else {
        check(reply, method, parameters)
      }
      try clean(after: method, reply)
      for _ in 0..<count {
        let changed = values.change(parameters)
        let reply = try call(method, changed)
        check(reply, method, changed)
        try clean(after: method, reply)
      }
    }
    // A damaged path would be another file, anywhere.
    try sendDamagedMessages(
      good.filter { $0.method != AddStore.name }.map {
        ControlCall(method: $0.method, parameters: $0.parameters, more: true)
      })
  }

  /// Undoes what a call that was carried out left behind.
  private mutating func clean(after method: String, _ reply: ControlReply) throws {
    guard reply.error == nil else { return }
    switch method {
    case AddStore.name:
      let name = reply.parameters["store"]?.objectValue?["name"] ?? .null
      _ = try call(RemoveStore.name, ["name": name])
    case PauseSync.name: _ = try call(ResumeSync.name, [:])
    default: break
    }
  }

  private func check(_ reply: ControlReply, _ method: String, _ parameters: [String: JSONValue]) {
    guard let name = reply.error else { return }
    let error = ControlError(name: name, fields: reply.parameters)
    let isDeclared = if case .other = error { false } else { true }
    let text = JSONValue.object(parameters).text.prefix(2000)
    #expect(
      isDeclared && name != ControlError.internalFailure(reference: "").name,
      "seed \(seed): \(method) \(text): \(reply.error ?? "") \(daemon.log(last: 2))")
  }

  /// Calls, reads a stream to its end, and gives the last answer.
  private mutating func call(
    _ method: String, _ parameters: [String: JSONValue]
  ) throws -> ControlReply {
    let client = try self.client ?? daemon.client()
    self.client = client
    do {
      try client.send(ControlCall(method: method, parameters: parameters, more: true))
      var reply = try client.receive()
      while reply.continues { reply = try client.receive() }
      // After these the daemon ends the connection.
      let ending = [
        ControlError.messageTooLarge(limit: 0).name,
        ControlError.messageMalformed(offset: 0, reason: "").name,
      ]
      if let error = reply.error, ending.contains(error) { self.client = nil }
      return reply
    } catch {
      let text = JSONValue.object(parameters).text.prefix(2000)
      Issue.record("seed \(seed): \(method) \(text): \(error) \(daemon.log(last: 20))")
      throw error
    }
  }

  /// Whole messages with damaged bytes, each on a connection of its own.
  private mutating func sendDamagedMessages(_ calls: [ControlCall]) throws {
    for _ in 0..<100 {
      guard let call = calls.randomElement(using: &values.numbers) else { return }
      let stream = try UnixStream(connectingTo: daemon.socket)
      defer { stream.close() }
      try stream.write(values.change(call.message.bytes()) + [0], timeout: .patience)
      let answer = try stream.read(timeout: .patience)
      #expect(!answer.isEmpty, "seed \(seed): \(daemon.log(last: 20))")
      let text = String(decoding: answer, as: UTF8.self)
      #expect(!text.contains("InternalFailure"), "seed \(seed): \(text.prefix(2000))")
    }
  }

  // MARK: Good calls

  /// A store that can be added.
  private var late: [String: JSONValue] {
    [
      "name": "late", "type": "sqlite", "location": .string(daemon.folder.file("late.sqlite")),
      "direction": "both",
    ]
  }

  private static let item: [String: JSONValue] = [
    "name": "a", "i16": 1, "i32": 2, "i64": 3, "dec": "12.50", "dbl": 1.5, "flt": 0.5,
    "flag": true, "date": "2026-03-14T15:09:26.535Z", "data": "AAECAw==",
    "uuid": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "uri": "http://localhost/x", "code": "abc",
  ]

  private static let graph: [String: JSONValue] = [
    "inserts": [
      .object(["entity": "Box", "label": "b", "values": ["name": "good", "shelf": 1]]),
      .object(["entity": "Tag", "label": "t", "values": ["name": "t"]]),
      .object(["entity": "Part", "label": "p", "values": ["size": 1]]),
      .object(["entity": "Part", "label": "q", "values": ["size": 2]]),
      .object([
        "entity": "Item",
        "values": .object(
          item.merging(["box": "#b", "tags": ["#t"], "parts": ["#p", "#q"]]) { $1 }),
      ]),
    ]
  ]

  /// A good call of every method, and how many bad ones are made of it.
  private func good(
    _ ids: [String]
  ) -> [(method: String, parameters: [String: JSONValue], count: Int)] {
    let near: [String: JSONValue] = ["name": "near"]
    let relations: [String: JSONValue] = [
      "box": .string(ids[0]), "tags": [.string(ids[1])],
      "parts": [.string(ids[3]), .string(ids[2])],
    ]
    let update = JSONValue.object([
      "entity": "Item", "id": .string(ids[4]),
      "values": .object(Self.item.merging(relations) { $1 }),
    ])
    let insert = JSONValue.object([
      "entity": "Item", "label": "i",
      "values": .object(Self.item.merging(["box": "#b", "tags": ["#t"]]) { $1 }),
    ])
    let row = JSONValue.object(
      Self.item.merging(["box": ["name": "good", "shelf": 1], "tags": [["name": "t"]]]) { $1 })
    return [
      (GetInfo.name, [:], 20),
      (GetInterfaceDescription.name, ["interface": "io.cairn.Data"], 50),
      (GetStatus.name, [:], 20), (ListStores.name, [:], 20), (GetModel.name, [:], 20),
      (AddStore.name, late, 150), (RemoveStore.name, ["name": "late"], 50),
      (VerifyStores.name, near, 50), (SyncNow.name, near, 50),
      (WaitForSync.name, ["name": "near", "timeout": 20], 80),
      (PauseSync.name, near, 50), (ResumeSync.name, near, 50),
      (
        FetchRecords.name,
        [
          "entity": "Item", "predicate": "name == 'a' OR i64 > 0",
          "sort": ["-name", "i64", "box.name"],
          "properties": ["name", "box.name", "tags.@count", "parts.@sum.size", "dec", "parts"],
          "limit": 10, "offset": 0, "store": "near",
        ], 900
      ),
      (
        SaveRecords.name,
        [
          "inserts": [
            .object(["entity": "Box", "label": "b", "values": ["name": "box", "shelf": 7]]),
            .object(["entity": "Tag", "label": "t", "values": ["name": "u"]]), insert,
            .object(["entity": "Part", "values": ["size": 3]]),
          ],
          "updates": [update], "deletes": [], "author": "me",
        ], 500
      ),
      (
        ImportRecords.name,
        [
          "entity": "Item", "rows": [row, row], "lines": [1, 2], "key": ["name", "i64"],
          "createMissing": true, "author": "me",
        ], 400
      ),
      (
        ImportRecords.name,
        ["entity": "Item", "rows": [], "lines": [], "part": .string(row.text)], 100
      ),
    ]
  }
}
