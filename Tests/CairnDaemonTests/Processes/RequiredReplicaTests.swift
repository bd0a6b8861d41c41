// A replica that is required and not there: it holds back READY for a while, and nothing else ever.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct RequiredReplicaTests {
  private let folder: TemporaryFolder
  private let replica: String

  init() throws {
    folder = try TemporaryFolder()
    replica = folder.file("mount/nas.sqlite")
  }

  /// A daemon whose required replica is in a folder that may not be there.
  private func daemon(wait: String) throws -> Daemon {
    let configuration = """
      replicas: [{name: nas, path: \(replica), required: true}]
      sync: {requiredWait: \(wait), maxRetryDelay: 1s, pollInterval: 1s}
      """
    return try Daemon(in: folder, Daemon.Setup(extra: configuration))
  }

  /// A file where a folder is needed: nothing makes the folder then.
  private func block() throws {
    try Data().write(to: URL(fileURLWithPath: folder.file("mount")))
  }

  private func unblock() throws {
    try FileManager.default.removeItem(atPath: folder.file("mount"))
    try FileManager.default.createDirectory(
      atPath: folder.file("mount"), withIntermediateDirectories: false)
  }

  @Test func theLocalStoreIsServedWhileReadyWaits() async throws {
    try block()
    let daemon = try daemon(wait: "10m")
    try daemon.launch()
    #expect(await eventually { (try? daemon.status().local?.state) == .open })
    let status = try daemon.status()
    #expect(status.state == .starting)
    #expect(status.replicas.map(\.name) == ["nas"] && status.replicas[0].required)
    let saved = try await daemon.ctl("insert", "Package", "name=nut")
    #expect(saved.code == 0, "\(saved)")
    try unblock()
    #expect(
      try await eventually {
        let status = try daemon.status()
        return status.state == .serving && status.problems.isEmpty
      })
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Package", "name", store: "nas") == ["nut"])
    #expect(await daemon.stop() == 0)
  }

  @Test func aStopDoesNotWaitForIt() async throws {
    try block()
    let daemon = try daemon(wait: "10m")
    try daemon.launch()
    #expect(await eventually { (try? daemon.status().local?.state) == .open })
    #expect(await daemon.stop() == 0)
  }

  @Test func aPauseEndsTheWaitForItAndMendsNothing() async throws {
    try block()
    let daemon = try daemon(wait: "10m")
    try daemon.launch()
    #expect(await eventually { (try? daemon.status().local?.state) == .open })
    #expect(try await daemon.ctl("pause", "nas").code == 0)
    #expect(try await eventually { try daemon.status().state == .degraded })
    #expect(await daemon.stop() == 0)
    try await daemon.start()
    let status = try daemon.status()
    #expect(status.state == .degraded && status.replicas.map(\.state) == [.paused])
    #expect(status.problems.map(\.code) == ["required-replica-missing"])
    #expect(status.problems.map(\.message) == ["nas: it is paused, and not open"])
    try unblock()
    #expect(try await daemon.ctl("resume", "nas").code == 0)
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(await daemon.stop() == 0)
  }

  @Test func theDaemonIsReadyAndDegradedWithoutItAndWellOnceItIsThere() async throws {
    try block()
    let daemon = try daemon(wait: "0s")
    try await daemon.start()
    let status = try daemon.status()
    #expect(status.state == .degraded)
    #expect(status.problems.map(\.code) == ["required-replica-missing"], "\(status.problems)")
    #expect(status.problems.first?.message.hasPrefix("nas: ") == true)
    #expect(status.local?.state == .open)
    let screen = try await daemon.ctl("status")
    #expect(screen.output.contains("make its place reachable"), "\(screen.output)")
    #expect(try await daemon.ctl("insert", "Package", "name=nut").code == 0)
    // A reload that takes another engine waits for it no more than a start does.
    try daemon.reconfigure { $0.replacing("maxRetryDelay: 1s", with: "maxRetryDelay: 2s") }
    let reload = try await daemon.ctl("reload")
    #expect(reload.code == 0 && reload.output == "changed: sync.maxRetryDelay\n", "\(reload)")
    #expect(try await daemon.values("Package", "name") == ["nut"])
    #expect(try daemon.status().problems.map(\.code) == ["required-replica-missing"])
    try unblock()
    #expect(try await eventually { try daemon.status().state == .serving })
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Package", "name", store: "nas") == ["nut"])
    #expect(await daemon.stop() == 0)
  }
}
