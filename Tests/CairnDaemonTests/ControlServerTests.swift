import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import Logging
import NIOCore
import Testing

@testable import CairnDaemon

@Suite struct ControlServerTests {
  /// Those of a daemon that stops: no stream goes on for ever.
  private static let ended: StreamEndings = {
    let endings = StreamEndings()
    endings.endAll()
    return endings
  }()
  private static let table = HandlerTable(
    host: EngineHost(), actions: .idle, endings: ended
  ).handlers

  @Test func everyMethodHasOneHandlerAndARole() {
    let names = Self.table.map { $0.method.name }
    #expect(Set(names).count == names.count)
    #expect(Self.table.allSatisfy { $0.method.role > .none })
  }

  @Test(arguments: table.map { $0.method.name })
  func everyMethodIsRefusedBelowItsRole(_ name: String) async throws {
    let method = try #require(Self.table.map(\.method).first { $0.name == name })
    let dispatcher = ControlDispatcher(
      handlers: Self.table, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    for role in ControlRole.allCases {
      let frame = await dispatcher.dispatch(
        ControlCall(method: name, more: true),
        caller: ControlCaller(user: 1000, process: 1, role: role, connection: 1)
      ) { _ in }
      let message = try JSONParser.parse(Array(frame.buffer.readableBytesView.dropLast()))
      let reply = try #require(ControlReply(message: message))
      let isRefused = reply.error == ControlError.permissionDenied.name
      #expect(isRefused == (role < method.role), "\(role)")
    }
  }

  @Test func rolesComeFromUserAndGroups() {
    let policy = RolePolicy(daemonUser: 900, statusGroup: 10, adminGroup: 11)
    func role(_ user: UInt32, _ groups: Set<UInt32>) -> ControlRole {
      policy.role(of: PeerCredentials(process: 1, user: user, groups: groups))
    }
    #expect(role(0, []) == .owner)
    #expect(role(900, []) == .owner)
    #expect(role(1000, [11, 10]) == .control)
    #expect(role(1000, [5, 10]) == .status)
    #expect(role(1000, [5]) == .none)
    #expect(role(65534, [10, 11]) == .none)
  }

  @Test func theProcessThatDrivesADaemonIsItsOwnerWhereItHasTheDaemonsUser() {
    var policy = RolePolicy(daemonUser: 65534, statusGroup: nil, adminGroup: nil)
    func role(_ process: Int32) -> ControlRole {
      policy.role(of: PeerCredentials(process: process, user: 65534, groups: []))
    }
    #expect(role(77) == .none)
    policy.driver = 77
    #expect(role(77) == .owner && role(78) == .none)
    // The number may have gone to a process of another user since.
    #expect(policy.role(of: PeerCredentials(process: 77, user: 1000, groups: [])) == .none)
    // The kernel's stand-ins: a process that it does not name, and the one that adopts orphans.
    for stranger: Int32 in [0, 1] {
      policy.driver = stranger
      #expect(role(stranger) == .none)
    }
  }

  @Test func callsAreAnsweredInOrderOnOneConnection() async throws {
    let running = try await RunningServer()
    try await offPool { () throws -> Void in
      let client = try running.client()
      try client.send(GetStatus.self, NoValues())
      try client.send(ListStores.self, NoValues())
      #expect(try client.receive(GetStatus.self).reply.status.pid == 4711)
      #expect(try client.receive(ListStores.self).reply.stores.isEmpty)
    }
  }

  @Test func rowsComeAsAStream() async throws {
    let running = try await RunningServer()
    try await offPool { () throws -> Void in
      var names: [JSONValue] = []
      try running.client().stream(FetchRecords.self, .init(entity: "Item")) { reply in
        names += reply.rows.compactMap { $0["name"] }
      }
      #expect(names == ["nut, large", "bolt\u{1B}[31m"])
    }
  }

  @Test func declaredErrorsArriveAsThemselves() async throws {
    let running = try await RunningServer()
    try await offPool { () throws -> Void in
      #expect(throws: ControlError.storeNotFound(name: "x")) {
        try running.client().call(RemoveStore.self, .init(name: "x"))
      }
      #expect(throws: ControlError.invalidParameter("nam")) {
        let client = try running.client()
        try client.send(ControlCall(method: RemoveStore.name, parameters: ["nam": "x"]))
        _ = try client.receive(RemoveStore.self)
      }
      #expect(throws: ControlError.expectedMore) {
        let client = try running.client()
        try client.send(ControlCall(method: FetchRecords.name, parameters: ["entity": "Item"]))
        _ = try client.receive(FetchRecords.self)
      }
    }
  }

  @Test func anUnexpectedFaultShowsAReferenceAndNothingElse() async throws {
    let running = try await RunningServer()
    try await offPool { () throws -> Void in
      let client = try running.client()
      let error = #expect(throws: ControlError.self) {
        try client.call(
          SaveRecords.self, .init(deletes: [.init(entity: "Item", id: "crash")]))
      }
      #expect(error?.name == "io.cairn.Daemon.InternalFailure")
      // The connection and the daemon go on.
      #expect(try client.call(GetStatus.self, NoValues()).status.pid == 4711)
    }
  }

  @Test func aMessageTooLargeIsRefusedAndTheConnectionEnds() async throws {
    let running = try await RunningServer { $0.messageLimit = 1000 }
    try await offPool { () throws -> Void in
      let stream = try UnixStream(connectingTo: running.socket)
      try stream.write([UInt8](repeating: 0x20, count: 1001), timeout: .patience)
      let answer = String(decoding: try stream.read(timeout: .patience), as: UTF8.self)
      #expect(answer.contains("MessageTooLarge"))
      #expect(try stream.read(timeout: .patience).isEmpty)
    }
  }

  @Test(arguments: ["{", "[]", "{\"method\":\"a\",\"method\":\"b\"}", "{\"method\":1}"])
  func nonsenseIsAnsweredAndTheConnectionEnds(_ text: String) async throws {
    let running = try await RunningServer()
    try await offPool { () throws -> Void in
      let stream = try UnixStream(connectingTo: running.socket)
      try stream.write(Array(text.utf8) + [0])
      #expect(
        String(decoding: try stream.read(timeout: .patience), as: UTF8.self).contains("error"))
      #expect(try stream.read(timeout: .patience).isEmpty)
    }
  }

  @Test func aMessageThatTakesTooLongEndsItsConnectionOnly() async throws {
    let running = try await RunningServer { $0.messageTimeout = .milliseconds(50) }
    try await offPool { () throws -> Void in
      let slow = try UnixStream(connectingTo: running.socket)
      let idle = try running.client()
      try slow.write(Array("{\"meth".utf8))
      #expect(
        String(decoding: try slow.read(timeout: .patience), as: UTF8.self).contains("Busy"))
      #expect(try slow.read(timeout: .patience).isEmpty)
      #expect(try idle.call(GetStatus.self, NoValues()).status.pid == 4711)
    }
  }

  @Test func aClientThatDoesNotReadIsDroppedAndOthersAreServed() async throws {
    let running = try await RunningServer { $0.writeTimeout = .milliseconds(100) }
    let reader = try UnixStream(connectingTo: running.socket)
    let call = ControlCall(
      method: FetchRecords.name, parameters: ["entity": "Item", "predicate": "endless"], more: true)
    try reader.write(MessageFraming.frame(call.message))
    let server = running.server
    try await offPool { () throws -> Void in
      let status = try running.client().call(GetStatus.self, NoValues()).status
      #expect(status.pid == 4711)
    }
    #expect(await eventually { server.connectionCount == 0 })
  }

  @Test func connectionsAreLimited() async throws {
    // Tests run as the server's own user, for whom one place more is kept here.
    let running = try await RunningServer {
      $0.limits = .init(total: 2, perUser: 2, ownerReserve: 1)
    }
    try await offPool { () throws -> Void in
      let clients = try (0..<3).map { _ in try running.client() }
      for client in clients { _ = try client.call(GetStatus.self, NoValues()) }
      let last = try running.client()
      #expect(throws: ControlError.busy(reason: "too many connections")) {
        try last.call(GetStatus.self, NoValues())
      }
    }
  }

  @Test func aUserWhoHoldsAllPlacesLeavesSomeToOwners() {
    let table = ConnectionTable(limits: .init(total: 4, perUser: 2, ownerReserve: 2))
    func admit(_ user: UInt32, owner: Bool = false) -> Int? {
      table.admit(user: user, isOwner: owner) {}
    }
    for user: UInt32 in [1000, 1001] {
      #expect(admit(user) != nil && admit(user) != nil)
      #expect(admit(user) == nil, "a user's share")
    }
    #expect(admit(1002) == nil, "all places are held")
    let first = admit(0, owner: true)
    #expect(first != nil && admit(900, owner: true) != nil)
    #expect(admit(0, owner: true) == nil, "the places of owners are held")
    first.map(table.remove)
    #expect(admit(1002) == nil, "they are for owners only")
    #expect(admit(0, owner: true) != nil)
  }

  @Test func onlySoManyAreToldThatThereIsNoRoom() {
    let table = ConnectionTable(limits: .init(turnedAway: 2))
    #expect(table.beginTurningAway() && table.beginTurningAway())
    #expect(!table.beginTurningAway())
    table.endTurningAway()
    #expect(table.beginTurningAway())
  }

  @Test func thoseWhoAreNotToldAreClosedAndHoldNothing() async throws {
    let running = try await RunningServer {
      $0.limits = .init(total: 1, perUser: 1, ownerReserve: 0, turnedAway: 1)
      $0.refusalTimeout = .minutes(10)
    }
    try await offPool { () throws -> Void in
      let first = try running.client()
      _ = try first.call(GetStatus.self, NoValues())
      // The first of these hears why, and is open until it hangs up.
      let told = try UnixStream(connectingTo: running.socket)
      let answer = String(decoding: try told.read(timeout: .patience), as: UTF8.self)
      #expect(answer.contains("too many connections"), "\(answer)")
      for _ in 0..<50 {
        let next = try UnixStream(connectingTo: running.socket)
        #expect(try next.read(timeout: .patience).isEmpty)
      }
      _ = try first.call(GetStatus.self, NoValues())
      told.close()
    }
  }

  /// As many more clients as threads serve connections, so that one of them shares the thread of the first.
  @Test func aCallThatBlocksItsThreadDelaysNoOtherConnection() async throws {
    let gate = Gate()
    let status = DaemonStatus(version: "", pid: 1, startedAt: .now, state: .serving)
    let running = try await RunningServer(handlers: [
      ControlHandler(ListStores.self) { _, _ in
        gate.wait()
        return .init(stores: [])
      },
      .remembering(GetStatus.self) { .init(status: status) },
    ])
    defer { gate.open() }
    try await offPool { () throws -> Void in
      let blocked = try running.client()
      try blocked.send(ListStores.self, NoValues())
      gate.waitUntilReached()
      for _ in 0...System.coreCount {
        #expect(try running.client().call(GetStatus.self, NoValues()).status.pid == 1)
      }
      gate.open()
      #expect(try blocked.receive(ListStores.self).reply.stores.isEmpty)
    }
  }

  @Test func aClientThatLeavesTakesItsCallWithIt() async throws {
    let fake = FakeHandlers()
    let running = try await RunningServer(handlers: fake.all)
    let client = try running.client()
    try client.send(WaitForSync.self, .init(name: "slow", timeout: 60))
    let server = running.server
    #expect(await eventually { server.connectionCount == 1 })
    client.close()
    #expect(await eventually { fake.waitWasCancelled.withLock { $0 } })
  }

  @Test func stoppingRemovesTheSocketAndEndsIdleConnections() async throws {
    let running = try await RunningServer()
    let stream = try UnixStream(connectingTo: running.socket)
    let server = running.server
    #expect(await eventually { server.connectionCount == 1 })
    await running.stop()
    #expect(!FileManager.default.fileExists(atPath: running.socket))
    #expect(try stream.read(timeout: .patience).isEmpty)
  }
}

/// Where the handler of a test stands still, and with it the thread that carries it out.
private final class Gate: Sendable {
  private let reached = DispatchSemaphore(value: 0)
  private let opened = DispatchSemaphore(value: 0)

  func wait() {
    reached.signal()
    opened.wait()
  }

  func waitUntilReached() { reached.wait() }

  func open() { opened.signal() }
}
