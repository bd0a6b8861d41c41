import CairnContext
import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 6: a relationship that has an order in a newer model, which one daemon has before the other.
struct OrderUpgradeTests {
  private typealias Daemon = SyncEngineTests.Daemon

  private func model(isOrdered: Bool) -> ManagedObjectModel {
    let model = SampleModel.make()
    model.entitiesByName["Item"]?.relationshipsByName["parts"]?.isOrdered = isOrdered
    return model
  }

  /// One save each, so that the rows have the order of the keys.
  private func insertParts(_ keys: [String], by daemon: Daemon) throws {
    for key in keys {
      try daemon.site.write { context in
        let item = try #require(try daemon.site.find("Item", "i", in: context))
        _ = try daemon.site.insert("Part", ["key": key, "item": item], in: context)
      }
    }
  }

  private func order(_ keys: [String], by daemon: Daemon) throws {
    try daemon.site.write { context in
      let item = try #require(try daemon.site.find("Item", "i", in: context))
      let parts = try keys.map { try #require(try daemon.site.find("Part", $0, in: context)) }
      item.setValue(NSOrderedSet(array: parts), forKey: "parts")
    }
  }

  private func parts(_ daemon: Daemon) throws -> [String] {
    try daemon.site.write { context in
      let item = try #require(try daemon.site.find("Item", "i", in: context))
      return Fleet.Site.list("parts", of: item)
    }
  }

  /// Both models, with an item and its parts; the newer model has written an order.
  private func daemons(on hub: FileHub) async throws -> (old: Daemon, new: Daemon) {
    let old = try hub.daemon("old", model: model(isOrdered: false))
    try old.site.write { _ = try old.site.insert("Item", ["key": "i"], in: $0) }
    try insertParts(["p", "q", "r"], by: old)
    try await old.engine.wait(timeout: .patience)
    let new = try hub.daemon("new", model: model(isOrdered: true))
    try await new.engine.wait(timeout: .patience)
    try order(["r", "q", "p"], by: new)
    try await new.engine.wait(timeout: .patience)
    return (old, new)
  }

  private func expect(_ keys: [String], in daemons: [Daemon]) async throws {
    for _ in 0..<2 { for daemon in daemons { try await daemon.engine.wait(timeout: .patience) } }
    for daemon in daemons {
      #expect(try parts(daemon) == keys)
      let report = try await daemon.engine.verify(name: "hub", timeout: .patience)
      #expect(report.isEqual, "\(report.differences)")
      try await daemon.close()
    }
  }

  @Test func anOrderStaysWhenADaemonIsUpgradedThatHasWrittenMembersWithoutIt() async throws {
    let hub = try FileHub()
    let (old, new) = try await daemons(on: hub)
    try insertParts(["s"], by: old)
    try await old.close()
    let upgraded = try hub.daemon("old", model: model(isOrdered: true))
    try await expect(["r", "q", "p", "s"], in: [upgraded, new])
  }

  @Test func anOrderThatAProgramOfTheNewModelWritesBeforeItsDaemonIsUpgradedCounts() async throws {
    let hub = try FileHub()
    let (old, new) = try await daemons(on: hub)
    try await old.close()
    let upgraded = try Daemon("old", in: hub.scratch, model: model(isOrdered: true))
    try order(["q", "r", "p"], by: upgraded)
    try upgraded.engine.addReplica(hub.replica)
    try await expect(["q", "r", "p"], in: [upgraded, new])
  }
}
