import CairnModel
import CairnStore
import Foundation
import Synchronization
import Testing

@testable import CairnSync

/// Specification: sync.md 2.3, 7: what an operator gives up in a replica is in two journals, each with a commit of its
/// own, and a death between the two loses nothing.
struct DiscardDeathTests {
  private let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private struct Died: Error {}

  /// A daemon whose replica refuses a value, and that dies once between the two commits.
  private func refused() async throws -> SyncEngineTests.Daemon {
    let isDead = Mutex(false)
    var environment = SyncEnvironment.live
    environment.reach = { failpoint in
      guard failpoint == .afterDiscardNote else { return }
      let isFirst = isDead.withLock { isDead in
        defer { isDead = true }
        return !isDead
      }
      if isFirst { throw Died() }
    }
    let daemon = try SyncEngineTests.Daemon("local", in: scratch, environment: environment)
    _ = try await daemon.addReplica(in: scratch, with: ["k"])
    try daemon.breakRule(value: String(repeating: "x", count: 200))
    await #expect(throws: SyncError.self) { try await daemon.engine.wait(timeout: .patience) }
    let item = try #require(try await daemon.engine.quarantine().items.first)
    await #expect(throws: (any Error).self) {
      try await daemon.engine.discard(item.id, revision: item.revision)
    }
    #expect(isDead.withLock { $0 })
    return daemon
  }

  private func journals(_ daemon: SyncEngineTests.Daemon) async throws -> [String] {
    let discarded = ConflictFilter(rules: [.discarded])
    return try await daemon.engine.conflicts(matching: discarded).conflicts.map { found in
      found.journals.map(\.text).joined(separator: " ")
    }
  }

  @Test func whatIsNotGivenUpYetStillWaitsAndIsInTheJournalThatStays() async throws {
    let daemon = try await refused()
    #expect(try await journals(daemon) == ["local"])
    let item = try #require(try await daemon.engine.quarantine().items.first)
    #expect(item.discardEffect == .keepsValues(["value"]))
    // Were the replica thrown away now, nothing would have been lost.
    #expect(try daemon.item("k", "value")?.count == 200)
    try await daemon.close()
  }

  @Test func anotherDiscardGivesItUpAndBothJournalsHaveIt() async throws {
    let daemon = try await refused()
    let item = try #require(try await daemon.engine.quarantine().items.first)
    _ = try await daemon.engine.discard(item.id, revision: item.revision)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.item("k", "value") == "k")
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    #expect(try await journals(daemon).contains("local nas"))
    try await daemon.close()
  }
}
