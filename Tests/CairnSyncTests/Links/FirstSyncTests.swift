import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Synchronization
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "First sync": it shows progress, and continues where it was after a restart.
struct FirstSyncTests {
  /// Counts the change sets that are imported, and lets only so many through.
  private final class Gate: Sendable {
    private let limit: Int
    private let passed = Mutex(0)
    init(limit: Int) { self.limit = limit }
    var count: Int { passed.withLock { $0 } }

    var environment: SyncEnvironment {
      var environment = SyncEnvironment.live
      environment.reach = { [self] failpoint in
        guard failpoint == .beforeImport else { return }
        let isThrough = passed.withLock { count in
          if count < limit { count += 1 }
          return count < limit
        }
        if !isThrough {
          throw SyncError(.storeUnavailable, "the store is closed for a test", recovery: .wait)
        }
      }
      return environment
    }
  }

  private static func daemon(_ scratch: Scratch, _ gate: Gate) throws -> SyncEngineTests.Daemon {
    try SyncEngineTests.Daemon("local", in: scratch, environment: gate.environment) {
      $0.batchSize = 20
    }
  }

  @Test func itShowsHowFarItIsAndGoesOnThereAfterARestart() async throws {
    let scratch = try Scratch()
    let nas = ReplicaConfiguration(
      name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite"))
    let first = Gate(limit: 4)
    let daemon = try Self.daemon(scratch, first)
    // What one transaction has written comes at once.
    for start in stride(from: 0, to: 200, by: 10) {
      try daemon.insert((start..<start + 10).map { "k\($0)" })
    }
    try daemon.engine.addReplica(nas)
    let link = try daemon.engine.link("nas")
    await #expect(throws: SyncError.self) {
      try await link.completePass(timeout: .patience, isPatient: false)
    }
    let progress = try #require(try daemon.engine.status().replicas[0].firstSyncProgress)
    #expect(progress > 0 && progress < 1)
    // What is written meanwhile comes after.
    try daemon.insert(["late"])
    try await daemon.close()
    let second = Gate(limit: .max)
    let next = try Self.daemon(scratch, second)
    let events = next.engine.events()
    try next.engine.addReplica(nas)
    try await next.engine.wait(timeout: .patience)
    let status = try next.engine.status().replicas[0]
    #expect(status.firstSyncProgress == nil && status.lagTransactions == 0)
    #expect(try await next.engine.verify(name: "nas", timeout: .patience).records == 201)
    await next.engine.stop()
    var shown: [Double] = []
    for await event in events {
      if case .firstSync(_, let progress) = event { shown.append(progress) }
    }
    #expect(shown.allSatisfy { $0 > progress } && shown == shown.sorted() && !shown.isEmpty)
    #expect(status.counters.recordsPushed < 201, "\(status.counters.recordsPushed)")
  }
}
