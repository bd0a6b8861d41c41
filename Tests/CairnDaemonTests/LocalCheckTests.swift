// The file of the local store is looked at without being asked.
import CairnControl
import CairnSync
import CairnTesting
import Foundation
import Logging
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct LocalCheckTests {
  private let folder: TemporaryFolder
  private let engine: GroupEngine

  init() async throws {
    folder = try TemporaryFolder()
    let configuration = DaemonConfiguration(
      model: .file(Project.file("Config/demo/DebianPackages.xcdatamodeld")),
      control: ControlSection(socket: folder.file("control")),
      local: LocalSection(path: folder.file("local.sqlite")))
    let ownership = StoreOwnership(of: configuration.local.path)
    try ownership.take()
    engine = GroupEngine(
      configuration: configuration, ownership: ownership, feed: EventFeed(),
      logger: Logger(label: "test"))
    try await engine.start(
      reporter: EngineReporter(onProgress: { _, _ in }, onSummary: { _, _ in }))
  }

  /// Without the look for it, which is made every few seconds: the status never says "open" of a file that is gone.
  @Test func aStatusSaysAtOnceThatTheFileIsGone() async throws {
    #expect(
      await eventually {
        engine.status().local?.state == .open && engine.statusAtHand?.local?.state == .open
      })
    try FileManager.default.moveItem(
      atPath: folder.file("local.sqlite"), toPath: folder.file("elsewhere.sqlite"))
    #expect(engine.statusAtHand == nil, "the file has to be looked at")
    #expect(engine.status().local?.state == .failing)
    #expect(engine.status().local?.problem?.code == "store-unavailable")
    await engine.stop()
  }

  @Test func theFileIsCheckedOnceInAnInterval() async throws {
    let group = try await engine.current()
    func last() throws -> Date {
      try #require(group.figures.values.checks[StoreReference.localName]).date
    }
    #expect(group.figures.values.checks.isEmpty)
    await Verification.checkLocal(of: group, every: .seconds(86400))
    let first = try last()
    await Verification.checkLocal(of: group, every: .seconds(86400))
    #expect(try last() == first)
    await Verification.checkLocal(of: group, every: .zero)
    #expect(try last() > first)
    #expect(group.health.problems.isEmpty)
    await engine.stop()
  }
}
