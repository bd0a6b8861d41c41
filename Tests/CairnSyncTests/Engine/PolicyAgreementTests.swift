import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Daemons that merge one replica go by the same policies, or one of them waits and says so.
///
/// Specification: sync.md 2.1 and 2.7: what one deletes and another keeps would differ for ever.
struct PolicyAgreementTests {
  private let hub: FileHub

  init() throws { hub = try FileHub() }

  private func daemon(
    _ name: String, _ policy: DeleteConflictPolicy,
    _ byEntity: [String: DeleteConflictPolicy] = [:]
  ) throws -> SyncEngineTests.Daemon {
    try hub.daemon(name, policy: policy) { $0.deleteConflictsByEntity = byEntity }
  }

  private func settle(_ daemons: SyncEngineTests.Daemon...) async throws {
    for _ in 0..<2 {
      for daemon in daemons { try await daemon.engine.wait(timeout: .patience) }
    }
  }

  private func isWaiting(_ daemon: SyncEngineTests.Daemon) async throws -> SyncError? {
    #expect(
      try await eventually {
        try daemon.engine.status().replicas.first?.lastError?.code == .policyDiffers
      })
    return try daemon.engine.status().replicas.first?.lastError
  }

  @Test func whoDiffersBringsNothingAndSaysWhatTheOthersHave() async throws {
    let a = try daemon("a", .deleteWins)
    try a.insert(["a"])
    try await settle(a)
    let b = try daemon("b", .lastWriter, ["Item": .writeWins])
    try b.insert(["b"])
    let error = try #require(try await isWaiting(b))
    #expect(
      error.message.contains(
        "sync.conflict {default: deleteWins}, and this daemon is to do so by "
          + "{default: lastWriter, Item: writeWins}"), "\(error)")
    try await settle(a)
    #expect(try a.site.picture() == ["item a a nil ^- []"])
    try await b.close()
    let again = try daemon("b", .deleteWins)
    try await settle(again, a)
    #expect(try a.site.picture() == ["item a a nil ^- []", "item b b nil ^- []"])
    try await again.close()
    try await a.close()
  }

  @Test func aChangeReachesTheReplicaAndStopsThoseWhoHaveNotMadeIt() async throws {
    let before = try daemon("a", .lastWriter)
    let b = try daemon("b", .lastWriter)
    try before.insert(["a"])
    try await settle(before, b)
    try await before.close()
    let a = try daemon("a", .deleteWins)
    try a.insert(["new"])
    try await settle(a)
    _ = try await isWaiting(b)
    #expect(try b.site.picture() == ["item a a nil ^- []"])
    try await b.close()
    let after = try daemon("b", .deleteWins)
    try await settle(after, a)
    #expect(try after.site.picture() == a.site.picture())
    try await after.close()
    try await a.close()
  }

  /// Both change the same thing, each for itself.
  @Test func aChangeThatAllMakeIsNone() async throws {
    let old = [try daemon("a", .lastWriter), try daemon("b", .lastWriter)]
    try await settle(old[0], old[1])
    for daemon in old { try await daemon.close() }
    let new = [try daemon("a", .writeWins), try daemon("b", .writeWins)]
    try new[0].insert(["a"])
    try new[1].insert(["b"])
    try await settle(new[0], new[1])
    #expect(try new[0].site.picture() == new[1].site.picture())
    for daemon in new { try await daemon.close() }
  }

  @Test(arguments: [
    (["Item": DeleteConflictPolicy.lastWriter], true), (["Item": .deleteWins], false),
    (["Fresh": .deleteWins], true),
  ])
  func whatIsTheSameForAllEntitiesOfTheModelAgrees(
    _ byEntity: [String: DeleteConflictPolicy], _ agrees: Bool
  ) throws {
    let model = SampleModel.make()
    try model.prepareForUse()
    let schema = try SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:])
    var configuration = SyncConfiguration()
    let plain = MergePolicies(configuration)
    configuration.deleteConflictsByEntity = byEntity
    let other = MergePolicies(configuration)
    #expect(plain.agrees(with: other, in: schema) == agrees)
    let record = PolicyRecord(number: 3, policies: other, previous: plain)
    #expect(try PolicyRecord(decoding: record.encoded) == record)
  }
}
