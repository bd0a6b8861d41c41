// A planned shutdown, with the real daemon.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct DrainTests {
  @Test func whatIsCommittedIsBroughtAndNothingMoreIsAccepted() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(replicas: [
        ("near", folder.file("near.sqlite")), ("far", folder.file("far.sqlite")),
      ]))
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("pause", "far").code == 0)
    for index in 0..<20 { try await daemon.ctl("insert", "Section", "name=s\(index)") }
    let drained = try await daemon.ctl("drain", "--timeout", "60")
    #expect(drained.code == 75, "far lacks what was written: \(drained.errors)")
    #expect(drained.output.contains("near has all of it"), "\(drained.output)")
    #expect(drained.output.contains("far lacks"), "\(drained.output)")
    do {
      let near = try ApplicationStore(
        model: daemon.setup.model, path: folder.file("near.sqlite"), isReadOnly: true)
      #expect(try near.values("Section", "name").count == 20)
    }
    for arguments in [["insert", "Section", "name=x"], ["fetch", "Section"], ["sync"]] {
      let refused = try await daemon.ctl(arguments)
      #expect(refused.code == 1 && refused.errors.contains("drained"), "\(refused.errors)")
    }
    #expect(try daemon.status().state == .draining)
    #expect(try await daemon.ctl("status").code == 0)
    #expect(try await daemon.ctl("drain").output == drained.output, "again, it says the same")
    // The stores are closed: their logs are gone.
    #expect(!FileManager.default.fileExists(atPath: daemon.localPath + "-wal"))
    let reload = try await daemon.ctl("reload")
    #expect(reload.code == 1, "\(reload.output)")
    #expect(await daemon.stop() == 0)
    try await daemon.start()
    #expect(try await daemon.ctl("resume", "far").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Section", "name", store: "far").count == 20)
    let whole = try await daemon.ctl("drain", "--json")
    #expect(whole.code == 0 && !whole.output.contains("reason"), "\(whole.output)")
    #expect(await daemon.stop() == 0)
  }

  @Test func aReplicaIsNotWaitedForWhoseNextAttemptComesTooLate() async throws {
    let folder = try TemporaryFolder()
    let replicas = """
      replicas:
        - {name: away, path: \(folder.file("no/such/folder/r.sqlite"))}
        - {name: near, path: \(folder.file("near.sqlite")), entities: [Section]}
      """
    let daemon = try Daemon(in: folder, Daemon.Setup(extra: replicas))
    try await daemon.start()
    try await daemon.ctl("insert", "Section", "name=s")
    // Each failure makes the pause longer.
    let isLate = try await eventually {
      _ = try daemon.client().call(SyncNow.self, .init(name: "away"))
      let next = try daemon.replica("away")?.nextAttempt ?? .now
      return next.milliseconds > WireDate.now.milliseconds + 25_000
    }
    #expect(isLate)
    let reply = try await offPool {
      try daemon.client().call(DrainDaemon.self, .init(timeout: 20))
    }
    let (away, near) = (reply.replicas.first, reply.replicas.last)
    #expect(away?.reason?.contains("cannot be opened") == true, "\(reply)")
    #expect(away?.reason?.contains("not in step yet") == false, "it was waited for: \(reply)")
    #expect(near?.behind == 0 && near?.reason == nil, "\(reply)")
    #expect(near?.leftOut == "it has Section only")
    #expect(try await daemon.ctl("drain").code == 75)
    #expect(await daemon.stop() == 0)
  }

  @Test func aDrainedDaemonNamesTheWayBackAndNothingThatMendsItself() async throws {
    let folder = try TemporaryFolder()
    let configuration = """
      replicas: [{name: away, path: \(folder.file("no/such/r.sqlite")), required: true}]
      sync: {requiredWait: 0s}
      """
    let daemon = try Daemon(in: folder, Daemon.Setup(extra: configuration))
    try await daemon.start()
    #expect(try daemon.status().state == .degraded)
    #expect(try await daemon.ctl("drain", "--timeout", "0").code == 75)
    let status = try daemon.status()
    #expect(status.state == .draining && status.problems.isEmpty, "\(status)")
    #expect(status.local?.problem?.message.contains("systemctl restart cairnd") == true)
    #expect(status.replicas.map(\.state) == [.stopped])
    for arguments in [["reload"], ["restore", "x"], ["store", "migrate"]] {
      let refused = try await daemon.ctl(arguments)
      #expect(refused.code == 1, "\(refused)")
      #expect(refused.errors.contains("drained for a planned shutdown"), "\(refused.errors)")
      #expect(refused.errors.contains("systemctl restart cairnd"), "\(refused.errors)")
    }
    #expect(await daemon.stop() == 0)
  }

  /// A daemon with a replica that is not there, and how a wait for it ends that is under way.
  private func waiting() async throws -> (daemon: Daemon, end: Task<ControlError?, any Error>) {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("away", folder.file("no/such/folder/r.sqlite"))]))
    try await daemon.start()
    let end = Task {
      try await offPool { () throws -> ControlError? in
        do {
          _ = try daemon.client().call(WaitForSync.self, .init(timeout: 300))
          return nil
        } catch let error as ControlError {
          return error
        }
      }
    }
    // Its connection and the one that asks.
    let isThere = await eventually {
      let text = try? daemon.client().call(GetMetrics.self, NoValues()).text
      return text?.contains("cairn_control_connections 2\n") ?? false
    }
    #expect(isThere)
    // A call that comes later is answered: the wait has begun.
    try await daemon.ctl("stores")
    return (daemon, end)
  }

  @Test func aWaitThatADrainEndsIsToldSo() async throws {
    let (daemon, end) = try await waiting()
    #expect(try await daemon.ctl("drain", "--timeout", "1").code == 75)
    guard case .notReady("draining", let reason)? = try await end.value else {
      Issue.record("the wait has another end")
      return
    }
    #expect(reason.contains("drained"))
    #expect(await daemon.stop() == 0)
  }

  @Test func aWaitHoldsUpNoStop() async throws {
    let (daemon, end) = try await waiting()
    let start = ContinuousClock.now
    #expect(await daemon.stop() == 0)
    // What the control server leaves to calls in progress.
    #expect(ContinuousClock.now - start < .seconds(5))
    let stopping = ControlError.notReady(state: "draining", reason: "the daemon is stopping")
    #expect(try await end.value == stopping)
  }

  @Test func aDaemonWithoutAStoreIsDrainedAtOnce() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try Data("rubbish".utf8).write(to: URL(fileURLWithPath: daemon.localPath))
    try await daemon.start()
    #expect(try daemon.status().state == .degraded)
    let drained = try await daemon.ctl("drain")
    #expect(drained.code == 0 && drained.output.contains("was not open"), "\(drained.errors)")
    #expect(await daemon.stop() == 0)
  }
}
