// Many callers who all want what costs much, with the real daemon.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: operations.md 4, "request floods".
@Suite struct RequestFloodTests {
  @Test(arguments: [VerifyStores.name, BackupStore.name, CheckpointStore.name, RepairStores.name])
  func oneRunsAndTheOthersAreToldSo(_ method: String) async throws {
    let daemon = try await Daemon.withStock()
    for number in 0..<20 { try await daemon.ctl("insert", "Item", "name=\(number)") }
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let socket = daemon.socket
    // Each on a connection of its own; all begin before one is answered.
    let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await offPool {
            let client = try ControlClient(socket: socket, timeout: .patience)
            try client.send(ControlCall(method: method, parameters: [:], more: true))
            var reply = try client.receive()
            while reply.continues { reply = try client.receive() }
            return reply.error ?? "done"
          }
        }
      }
      // The daemon serves a small request meanwhile.
      let status = try await offPool { try daemon.status().state }
      #expect(status == .serving)
      return try await group.reduce(into: [:]) { counts, name in counts[name, default: 0] += 1 }
    }
    let busy = ControlError.busy(reason: "").name
    #expect((outcomes["done"] ?? 0) >= 1, "\(outcomes)")
    var expected = ["done", busy]
    // Copies are named by the second: one made in the same second is there already.
    if method == BackupStore.name {
      expected.append(ControlError.notPossible(code: "", reason: "").name)
    }
    #expect(Set(outcomes.keys).isSubset(of: expected), "\(outcomes)")
    #expect(outcomes.values.reduce(0, +) == 100)
    #expect(try await daemon.ctl("verify").code == 0, "nobody is turned away when it is over")
    #expect(!daemon.logText.contains("event=callFailed"))
    #expect(await daemon.stop() == 0)
  }

  /// The kernel reports a connection that waits again at once.
  @Test func connectionsThatTheLimitOfFilesKeepsOutWaitAndCostNothing() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder, Daemon.Setup(shell: "ulimit -n 64"))
    try await daemon.start()
    let socket = daemon.socket
    var streams: [UnixStream] = []
    for _ in 0..<80 { streams.append(try UnixStream(connectingTo: socket)) }
    let isNoted = await eventually { daemon.logText.contains("event=acceptFailed") }
    #expect(isNoted, "\(daemon.log(last: 5))")
    #expect(daemon.logText.contains("raise the limit of open files from 64 with LimitNOFILE="))
    func ticks() throws -> Int {
      let text = try String(contentsOfFile: "/proc/\(daemon.pid)/stat", encoding: .utf8)
      let fields = text.split(separator: " ")
      return (Int(fields[13]) ?? 0) + (Int(fields[14]) ?? 0)
    }
    let before = try ticks()
    // What it spends meanwhile is counted.
    try await Task.sleep(for: .seconds(4))
    #expect(try ticks() - before < 100, "hundredths of a second in four seconds")
    streams.removeAll()
    let answers = await eventually { (try? daemon.status().state) == .serving }
    #expect(answers)
    #expect(await daemon.stop() == 0)
  }

  /// Specification: operations.md 4, "message too big".
  @Test func messagesOfMoreThanOneMebibyteAreRefusedAndLeaveNothing() async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    let socket = daemon.socket
    func send() async throws {
      let answer = try await offPool {
        let stream = try UnixStream(connectingTo: socket)
        // The daemon may have closed it before all is written.
        try? stream.write([UInt8](repeating: 0x20, count: (1 << 20) + 1), timeout: .patience)
        return String(decoding: try stream.read(timeout: .patience), as: UTF8.self)
      }
      #expect(answer.contains("MessageTooLarge"))
    }
    let process = try daemon.status().pid
    func memory() throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
      return try #require(Int(line.split(separator: " ").dropFirst().first ?? ""))
    }
    for _ in 0..<5 { try await send() }
    let before = try memory()
    for _ in 0..<20 { try await send() }
    #expect(try memory() - before < 8 * 1024, "KiB; twenty of them that stay would be 20 MiB")
    #expect(await daemon.stop() == 0)
  }
}
