import CairnContext
import CairnModel
import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 6: a shared replica may be at a newer version than a daemon; what that one does
/// not know is kept and passed on, and nothing is lost while daemons are upgraded one at a time.
struct RollingUpgradeTests {
  typealias Daemon = SyncEngineTests.Daemon
  private let scratch: Scratch
  private let hub: ReplicaConfiguration

  init() throws {
    scratch = try Scratch()
    hub = ReplicaConfiguration(name: "hub", url: scratch.url.appendingPathComponent("hub.sqlite"))
  }

  private func daemon(_ name: String, _ version: SampleModel.Version) throws -> Daemon {
    let daemon = try Daemon(name, in: scratch, model: SampleModel.make(version))
    try daemon.engine.addReplica(hub)
    return daemon
  }

  private func settle(_ daemons: Daemon...) async throws {
    for _ in 0..<2 { for daemon in daemons { try await daemon.engine.wait(timeout: .patience) } }
    for daemon in daemons {
      let report = try await daemon.engine.verify(name: "hub", timeout: .patience)
      #expect(report.isEqual, "\(report.differences)")
    }
  }

  /// The version that the file of the hub says it has.
  private func entityHashes() throws -> [String: Data]? {
    let metadata = try SQLiteStoreKind().metadata(at: hub.url, options: StoreOptions([:]))
    return ManagedObjectModel.entityHashes(inStoreMetadata: metadata)
  }

  private func texts(_ daemon: Daemon, _ property: String) throws -> [String] {
    try daemon.site.write { context in
      try daemon.site.all("Item", in: context).map {
        "\($0.value(forKey: "key") ?? "-") \($0.value(forKey: property) ?? "-")"
      }
    }
  }

  @Test func anOlderDaemonGoesOnWhileTheReplicaIsMigratedUnderIt() async throws {
    let old = try daemon("old", .current)
    try old.insert(["a", "b"])
    try await settle(old)
    let new = try Daemon("new", in: scratch, model: SampleModel.make(.muchNewer))
    try new.engine.addReplica(hub)
    try await new.engine.wait(timeout: .patience)
    try old.insert(["c"])
    try await settle(old, new)
    try new.site.write { context in
      let item = try new.site.find("Item", "a", in: context)
      item?.setValue("new text", forKey: "text")
      item?.setValue("more", forKey: "extra")
    }
    try await settle(new, old)
    #expect(try texts(old, "value") == ["a new text", "b b", "c c"])
    try old.site.write { context in
      try old.site.find("Item", "a", in: context)?.setValue("old text", forKey: "value")
      try old.site.find("Item", "b", in: context).map(context.delete)
    }
    try await settle(old, new)
    #expect(try texts(new, "text") == ["a old text", "c c"])
    #expect(try texts(new, "extra") == ["a more", "c -"])
    try await old.close()
    try await new.close()
  }

  @Test func whatAnOlderDaemonKeptIsThereOnceItIsUpgraded() async throws {
    let new = try daemon("new", .muchNewer)
    try new.site.write { context in
      let item = try new.site.insert("Item", ["key": "a", "text": "t", "extra": "x"], in: context)
      let tag = try new.site.insert("Tag", ["name": "blue"], in: context)
      let fresh = try new.site.insert("Fresh", ["title": "f", "item": item], in: context)
      fresh.setValue(Set([tag]), forKey: "tags")
    }
    try await settle(new)
    let old = try daemon("old", .current)
    try await settle(old, new)
    #expect(try texts(old, "value") == ["a t"])
    // Through the older one, to a replica that only the two of them share.
    let other = ReplicaConfiguration(
      name: "other", url: scratch.url.appendingPathComponent("other.sqlite"))
    try old.engine.addReplica(other)
    try await old.engine.wait(timeout: .patience)
    try await old.close()
    try await new.close()

    let upgraded = try daemon("old", .muchNewer)
    try upgraded.engine.addReplica(other)
    try await settle(upgraded)
    let report = try await upgraded.engine.verify(name: "other", timeout: .patience)
    #expect(report.isEqual, "\(report.differences)")
    #expect(try texts(upgraded, "extra") == ["a x"])
    let store = try #require(
      upgraded.site.coordinator.persistentStore(for: other.url))
    let site = Fleet.Site(
      name: "other",
      access: StoreAccess(
        store: store, schema: upgraded.site.access.schema, environment: .live,
        configuration: SyncConfiguration()), coordinator: upgraded.site.coordinator)
    for site in [upgraded.site, site] {
      let found = try site.write { context in
        try site.all("Fresh", in: context).map { fresh in
          let tags = fresh.value(forKey: "tags") as? Set<ManagedObject> ?? []
          let item = fresh.value(forKey: "item") as? ManagedObject
          return "\(fresh.value(forKey: "title") ?? "") \(item?.value(forKey: "key") ?? "") "
            + tags.compactMap { $0.value(forKey: "name") as? String }.joined()
        }
      }
      #expect(found == ["f a blue"])
    }
    try await upgraded.close()
  }

  @Test func whatAnOlderDaemonInsertsThereIsTheSameWriteOnceItIsUpgraded() async throws {
    let new = try daemon("new", .muchNewer)
    try await settle(new)
    let old = try daemon("old", .current)
    try old.insert(["a"])
    try await settle(old, new)
    try await old.close()
    let upgraded = try daemon("old", .muchNewer)
    try await settle(upgraded, new)
    try await upgraded.close()
    try await new.close()
  }

  @Test func aReplicaOfANewerVersionIsNeverMigrated() async throws {
    let new = try daemon("new", .newer)
    try new.insert(["a"])
    try await settle(new)
    try await new.close()
    let before = try entityHashes()
    let old = try daemon("old", .older)
    try old.insert(["b"])
    try await settle(old)
    try await old.close()
    #expect(try entityHashes() == before)
    let again = try daemon("new", .newer)
    try await settle(again)
    #expect(try texts(again, "extra") == ["a -", "b -"])
    try await again.close()
  }
}
