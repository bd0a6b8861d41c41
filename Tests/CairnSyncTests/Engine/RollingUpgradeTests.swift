import CairnContext
import CairnModel
import CairnPostgreSQL
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

  init() throws { scratch = try Scratch() }

  private func hub(_ place: HubPlace) throws -> ReplicaConfiguration {
    try place.configuration("hub", in: scratch)
  }

  private func daemon(
    _ name: String, _ version: SampleModel.Version, _ hub: ReplicaConfiguration
  ) throws -> Daemon {
    let daemon = try Daemon(
      name, in: scratch, model: SampleModel.make(version), kinds: [PostgreSQLStoreKind()])
    try daemon.engine.addReplica(hub)
    return daemon
  }

  private func settle(_ daemons: Daemon...) async throws { try await settle(daemons) }

  private func settle(_ daemons: [Daemon]) async throws {
    for _ in 0..<2 { for daemon in daemons { try await daemon.engine.wait(timeout: .patience) } }
    for daemon in daemons {
      let report = try await daemon.engine.verify(name: "hub", timeout: .patience)
      #expect(report.isEqual, "\(report.differences)")
    }
  }

  /// The version that the hub says it has.
  private func entityHashes(_ hub: ReplicaConfiguration) throws -> [String: Data]? {
    let kinds: [any StoreKind] = [SQLiteStoreKind(), PostgreSQLStoreKind()]
    let kind = try #require(kinds.first { $0.type == hub.type })
    let metadata = try kind.metadata(at: hub.url, options: StoreOptions([:]))
    return ManagedObjectModel.entityHashes(inStoreMetadata: metadata)
  }

  private func texts(_ daemon: Daemon, _ property: String) throws -> [String] {
    try daemon.site.write { context in
      try daemon.site.all("Item", in: context).map {
        "\($0.value(forKey: "key") ?? "-") \($0.value(forKey: property) ?? "-")"
      }
    }
  }

  @Test(arguments: HubPlace.all) func anOlderDaemonGoesOnWhileTheReplicaIsMigratedUnderIt(
    _ place: HubPlace
  ) async throws {
    let hub = try hub(place)
    let old = try daemon("old", .current, hub)
    try old.insert(["a", "b"])
    try await settle(old)
    let new = try daemon("new", .muchNewer, hub)
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

  @Test(arguments: HubPlace.all) func whatAnOlderDaemonKeptIsThereOnceItIsUpgraded(
    _ place: HubPlace
  ) async throws {
    let hub = try hub(place)
    let new = try daemon("new", .muchNewer, hub)
    try new.site.write { context in
      let item = try new.site.insert("Item", ["key": "a", "text": "t", "extra": "x"], in: context)
      let tag = try new.site.insert("Tag", ["name": "blue"], in: context)
      let fresh = try new.site.insert("Fresh", ["title": "f", "item": item], in: context)
      fresh.setValue(Set([tag]), forKey: "tags")
    }
    try await settle(new)
    let old = try daemon("old", .current, hub)
    try await settle(old, new)
    #expect(try texts(old, "value") == ["a t"])
    // Through the older one, to a replica that only the two of them share.
    let other = try place.configuration("other", in: scratch)
    try old.engine.addReplica(other)
    try await old.engine.wait(timeout: .patience)
    try await old.close()
    try await new.close()

    let upgraded = try daemon("old", .muchNewer, hub)
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

  @Test(arguments: HubPlace.all)
  func whatAnOlderDaemonKeptComesBeforeTheDefaultThatItsMigrationFillsIn(
    _ place: HubPlace
  ) async throws {
    let hub = try hub(place)
    let old = try daemon("old", .current, hub)
    try old.site.write { _ = try old.site.insert("Leaf", ["key": "a"], in: $0) }
    try await settle(old)
    let new = try daemon("new", .muchNewer, hub)
    try await settle(new, old)
    try new.site.write { context in
      try new.site.find("Leaf", "a", in: context)?.setValue("x", forKey: "extra")
      _ = try new.site.insert("Leaf", ["key": "b", "extra": "y"], in: context)
      _ = try new.site.insert("Leaf", ["key": "c"], in: context)
    }
    try await settle(new, old)
    try await old.close()
    let upgraded = try daemon("old", .muchNewer, hub)
    try await settle(upgraded, new)
    for daemon in [upgraded, new] {
      let found = try daemon.site.write { context in
        try daemon.site.all("Leaf", in: context).map {
          "\($0.value(forKey: "key") ?? "-") \($0.value(forKey: "extra") ?? "-")"
        }
      }
      #expect(found.sorted() == ["a x", "b y", "c "])
    }
    try await upgraded.close()
    try await new.close()
  }

  @Test(arguments: HubPlace.all) func whatAnOlderDaemonInsertsThereIsTheSameWriteOnceItIsUpgraded(
    _ place: HubPlace
  ) async throws {
    let hub = try hub(place)
    let new = try daemon("new", .muchNewer, hub)
    try await settle(new)
    let old = try daemon("old", .current, hub)
    try old.insert(["a"])
    try await settle(old, new)
    try await old.close()
    let upgraded = try daemon("old", .muchNewer, hub)
    try await settle(upgraded, new)
    try await upgraded.close()
    try await new.close()
  }

  @Test(arguments: HubPlace.all) func aReplicaOfANewerVersionIsNeverMigrated(_ place: HubPlace)
    async throws
  {
    let hub = try hub(place)
    let new = try daemon("new", .newer, hub)
    try new.insert(["a"])
    try await settle(new)
    try await new.close()
    let before = try entityHashes(hub)
    let old = try daemon("old", .older, hub)
    try old.insert(["b"])
    try await settle(old)
    try await old.close()
    #expect(try entityHashes(hub) == before)
    let again = try daemon("new", .newer, hub)
    try await settle(again)
    #expect(try texts(again, "extra") == ["a -", "b -"])
    try await again.close()
  }

  @Test(arguments: HubPlace.all)
  func tenDaemonsAreUpgradedOneAtATimeWhileAllWrite(_ place: HubPlace) async throws {
    let hub = try hub(place)
    var daemons = try (0..<10).map { try daemon("d\($0)", .current, hub) }
    var written: Set<String> = []
    func writeEverywhere(_ round: Int) throws {
      for (index, daemon) in daemons.enumerated() {
        let key = "d\(index)-\(round)"
        let isNew = daemon.site.coordinator.managedObjectModel.entitiesByName["Fresh"] != nil
        try daemon.site.write { context in
          _ = try daemon.site.insert(
            "Item", ["key": key, isNew ? "text" : "value": key], in: context)
        }
        written.insert("\(key) \(key)")
      }
    }
    for round in daemons.indices {
      try writeEverywhere(round)
      try await daemons[round].close()
      daemons[round] = try daemon("d\(round)", .muchNewer, hub)
    }
    try writeEverywhere(daemons.count)
    try await settle(daemons)
    for daemon in daemons { #expect(try Set(texts(daemon, "text")) == written) }
    for daemon in daemons { try await daemon.close() }
  }
}
