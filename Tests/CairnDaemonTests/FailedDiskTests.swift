// The local store's disk fails once: what was written is there, and writing goes on by itself.
import CFaultVFS
import Cairn
import CairnControl
import CairnStore
import CairnTesting
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct FailedDiskTests {
  private final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
  }

  private struct Stage {
    let folder: TemporaryFolder
    let keeper: EngineKeeper
    let host = EngineHost()
    let faults: Int32

    init() throws {
      folder = try TemporaryFolder()
      try #require(cfault_install() == 0)
      let disk = folder.file("disk")
      try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
      faults = cfault_begin(disk)
      try #require(faults >= 0)
      var sync = SyncSection()
      sync.pollInterval = .milliseconds(100)
      let configuration = DaemonConfiguration(
        model: .file(try TroubledFile.model(in: folder)),
        control: ControlSection(socket: folder.file("control")),
        local: LocalSection(path: "\(disk)/local.sqlite"), sync: sync)
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      keeper = EngineKeeper(
        configuration: configuration, ownership: StoreOwnership(of: configuration.local.path),
        host: host,
        conductor: DaemonConductor(notifier: ServiceNotifier { _, _ in }, logger: logger),
        logger: logger)
    }

    func group() async throws -> OpenGroup { try await host.current().current() }

    func insert(_ name: String) async throws {
      let context = try await group().newContext(named: "test")
      try await context.perform {
        let item = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        try context.save()
      }
    }

    func names() async throws -> [String] {
      let context = try await group().newContext(named: "test")
      return try await context.perform {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
          .compactMap { $0.value(forKey: "name") as? String }.sorted()
      }
    }

    func end() async {
      await keeper.stop()
      cfault_end(faults)
    }
  }

  @Test func aLocalStoreWhoseDiskFailedOnceIsOpenedAnewAndWrittenAgain() async throws {
    let stage = try Stage()
    #expect(await stage.keeper.start())
    try await stage.insert("nut")
    let first = try stage.host.current()
    cfault_arm(stage.faults, UInt32(CFAULT_WRITE), 1, 0, Int32(CFAULT_FAILS))
    await #expect(throws: (any Error).self) { try await stage.insert("lost") }
    #expect(cfault_injected(stage.faults) == 1)
    let found = Flag()
    let host = stage.host
    #expect(
      await eventually {
        Task { if let now = try? host.current(), now !== first { found.set() } }
        return found.isSet
      }, "the store is opened anew")
    try await stage.insert("bolt")
    #expect(try await stage.names() == ["bolt", "nut"])
    await stage.end()
  }

  @Test func aDiskThatFailsAgainAndAgainIsTriedLessAndLessOften() {
    var pace = ReopeningPace()
    let second: UInt64 = 1_000_000_000
    let tries = (0...3600).filter { pace.begins(now: UInt64($0) * second) }
    #expect(tries == [0, 10, 30, 70, 150, 310, 630, 1230, 1830, 2430, 3030])
    // After a long time without a failure the first one is mended at once.
    let later = [90_000, 90_009, 90_010].filter { pace.begins(now: $0 * second) }
    #expect(later == [90_000, 90_010])
  }
}
