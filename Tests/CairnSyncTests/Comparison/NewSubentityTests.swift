import CairnContext
import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Comparison", and 6: a record of a subentity that only a newer version of the model has is
/// in the rows of one store, and kept beside those of the other.
struct NewSubentityTests {
  private let hub: FileHub

  init() throws { hub = try FileHub() }

  /// The model with a subentity of tags more.
  private func newer() -> ManagedObjectModel {
    let model = SampleModel.make()
    let badge = EntityDescription(name: "Badge")
    badge.properties = [AttributeDescription(name: "shine", type: .string)]
    model.entitiesByName["Tag"]?.subentities.append(badge)
    model.entities.append(badge)
    return model
  }

  /// Gives the item `k` these tags, one of which is a badge, and in this order.
  private func give(_ names: [String], _ daemon: SyncEngineTests.Daemon) throws {
    try daemon.site.write { context in
      let tags = try names.map { try #require(try daemon.site.find("Tag", $0, in: context)) }
      try daemon.set("k", "tags", Set(tags), in: context)
      try daemon.set("k", "picks", NSOrderedSet(array: tags), in: context)
    }
  }

  @Test func whoBelongsToItIsNoDifferenceWhereOneStoreHasNoObjectOfIt() async throws {
    let old = try hub.daemon("old")
    try old.insert(["k"])
    try old.tag("k", with: "t")
    try await old.engine.wait(timeout: .patience)
    let new = try hub.daemon("new", model: newer())
    try await new.engine.wait(timeout: .patience)
    try new.site.write {
      _ = try new.site.insert("Badge", ["name": "b", "shine": "gold"], in: $0)
    }
    try give(["b", "t"], new)
    for daemon in [new, old, new, old] { try await daemon.engine.wait(timeout: .patience) }
    for daemon in [old, new] {
      let report = try await daemon.engine.verify(name: "hub", timeout: .patience)
      #expect(report.isEqual, "\(report.differences)")
      try await daemon.engine.wait(timeout: .patience)
    }
    // What the older daemon has yet to get of its links is one.
    let badge = try new.record("Tag", "b")
    try await old.engine.rest()
    try give(["t"], new)
    try await new.engine.wait(timeout: .patience)
    let replica = try #require(try old.engine.link("hub").replica)
    let found = try SyncEngine.compare(old.site.access, replica, .full, name: "hub")
    #expect(found.differences.contains { $0.record == badge && $0.kind == .members })
    try old.engine.resume()
    try await old.engine.wait(timeout: .patience)
    #expect(try await old.engine.verify(name: "hub", timeout: .patience).isEqual)
    try await old.close()
    try await new.close()
  }
}
