import CairnModel
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 6: which of two versions a shared replica is brought to.
struct VersionDirectionTests {
  private func hashes(_ hub: FileHub) throws -> [String: Data]? {
    let metadata = try SQLiteStoreKind().metadata(at: hub.replica.url, options: StoreOptions([:]))
    return ManagedObjectModel.entityHashes(inStoreMetadata: metadata)
  }

  private func model(_ change: (EntityDescription) -> Void) -> ManagedObjectModel {
    let model = SampleModel.make()
    for name in ["Item", "Tag"] { model.entitiesByName[name].map(change) }
    return model
  }

  /// The same in both models, but for a rule.
  private var withoutRule: ManagedObjectModel { model { $0.uniquenessConstraints = [] } }

  @Test func aRuleThatTheModelHasDroppedIsDroppedInTheReplica() async throws {
    let hub = try FileHub()
    let old = try hub.daemon("a")
    try await old.engine.wait(timeout: .patience)
    let before = try hashes(hub)
    try await old.close()
    let new = try hub.daemon("a", model: withoutRule)
    for _ in 0..<2 {
      try new.site.write { _ = try new.site.insert("Tag", ["name": "same"], in: $0) }
      try await new.engine.wait(timeout: .patience)
    }
    #expect(try hashes(hub) != before)
    #expect(try new.site.write { try new.site.all("Tag", in: $0).count } == 2)
    try await new.close()
  }

  @Test func aDaemonOfTheOlderVersionLeavesTheReplicaAtTheNewerOne() async throws {
    let hub = try FileHub()
    let old = try hub.daemon("a")
    try await old.engine.wait(timeout: .patience)
    try await old.close()
    let new = try hub.daemon("a", model: withoutRule)
    try await new.engine.wait(timeout: .patience)
    let after = try hashes(hub)
    let other = try hub.daemon("b")
    try other.insert(["k"])
    for daemon in [other, new, other] { try await daemon.engine.wait(timeout: .patience) }
    #expect(try hashes(hub) == after)
    for daemon in [other, new] { try await daemon.close() }
  }

  @Test func aVersionThatWouldLoseAnOrderStopsAtTheReplica() async throws {
    let hub = try FileHub()
    let ordered = try hub.daemon("a")
    try await ordered.engine.wait(timeout: .patience)
    let before = try hashes(hub)
    let unordered = model { $0.relationshipsByName["parts"]?.isOrdered = false }
    let other = try hub.daemon("b", model: unordered)
    let error = await #expect(throws: SyncError.self) {
      try await other.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .incompatibleModel)
    #expect(error?.message.contains("the order of Item.parts") == true, "\(error?.message ?? "")")
    #expect(try hashes(hub) == before)
    for daemon in [other, ordered] { try await daemon.close() }
  }

  @Test func aStoreKnowsTheVersionsThatItHasLeft() throws {
    let (old, new) = (SampleModel.make(), SampleModel.make(.newer))
    let first: [String: Any] = [StoreMetadataKey.versionHashes: old.entityVersionHashesByName]
    var second = LeftVersions.noted(in: first, migratedTo: new)
    #expect(LeftVersions(in: second).contains(old) && !LeftVersions(in: second).contains(new))
    second[StoreMetadataKey.versionHashes] = new.entityVersionHashesByName
    let third = LeftVersions.noted(in: second, migratedTo: old)
    #expect(LeftVersions(in: third).contains(new) && !LeftVersions(in: third).contains(old))
  }
}
