import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.5 and 6, of links that exchange some entities only, where a uniqueness constraint unites
/// what they exchange with what they do not.
struct SubentityFilterTests {
  private func hub(_ scratch: Scratch, _ entities: Set<String>? = nil) -> ReplicaConfiguration {
    FileHub.replica(in: scratch, entities: entities)
  }

  private func pass(_ daemons: SyncEngineTests.Daemon...) async throws {
    for daemon in daemons { try await daemon.engine.link("hub").completePass(timeout: .patience) }
  }

  /// The commit of another daemon wakes a link for a pass of its own, after the one that a test waited for.
  private func comesToRest(_ daemon: SyncEngineTests.Daemon) async -> Bool {
    await eventually {
      (try? daemon.engine.status().replicas.allSatisfy { $0.phase == .ready }) == true
    }
  }

  @Test func aSurvivorOfAnotherEntityStopsNoLinkAndStaysWhatItIs() async throws {
    let scratch = try Scratch()
    let whole = try SyncEngineTests.Daemon("whole", in: scratch, model: SubentityModel.make())
    try whole.site.write {
      _ = try whole.site.insert("Node", ["key": "x", "note": "node"], in: $0)
    }
    try whole.engine.addReplica(hub(scratch))
    try await pass(whole)
    let part = try SyncEngineTests.Daemon("part", in: scratch, model: SubentityModel.make())
    try part.engine.addReplica(hub(scratch, ["Leaf"]))
    try await pass(part)
    try part.site.write {
      _ = try part.site.insert("Leaf", ["key": "x", "note": "leaf", "shape": "oval"], in: $0)
    }
    try await pass(part, whole, part, whole)
    let record = try whole.record("Node", "x")
    #expect(try whole.site.access.ledger().record(record)?.entity == "Node")
    let lost = try await whole.engine.conflicts().conflicts.map(\.conflict)
    #expect(lost.contains { $0.property == "shape" && $0.losingValue == .string("oval") })
    try whole.site.write {
      try #require(try whole.site.find("Node", "x", in: $0)).setValue("changed", forKey: "note")
    }
    try await pass(whole, part, whole)
    for daemon in [whole, part] { #expect(await comesToRest(daemon)) }
    #expect(try await whole.engine.verify(name: "hub", timeout: .patience).isEqual)
    let error = await #expect(throws: SyncError.self) {
      try await part.engine.wait(timeout: .seconds(20))
    }
    #expect(error?.code == .recordsHeld, "its record became one that does not arrive")
    try await whole.close()
    try await part.close()
  }

  @Test func aSubentityOfANewerVersionIsKeptForWhenTheStoreHasThatVersion() async throws {
    let scratch = try Scratch()
    let new = try SyncEngineTests.Daemon(
      "new", in: scratch, model: SubentityModel.make(isNewer: true))
    try new.site.write {
      _ = try new.site.insert("Twig", ["key": "t", "note": "twig", "bark": "rough"], in: $0)
      _ = try new.site.insert("Mark", ["key": "m"], in: $0)
    }
    try new.engine.addReplica(hub(scratch, ["Node"]))
    try await pass(new)
    let old = try SyncEngineTests.Daemon("old", in: scratch, model: SubentityModel.make())
    try old.engine.addReplica(hub(scratch, ["Node"]))
    try await pass(old)
    let record = try new.record("Twig", "t")
    let kept = try #require(try old.site.access.ledger().record(record))
    #expect(kept.entity == "Twig" && kept.key == nil && kept.overlay["bark"] == .string("rough"))
    // Its key is taken, by a record that this version cannot show.
    try old.site.write { _ = try old.site.insert("Node", ["key": "t", "note": "node"], in: $0) }
    try await pass(old, new, old)
    #expect(await comesToRest(old))
    #expect(try new.site.access.ledger().record(record)?.entity == "Twig")
    let twig = try new.site.write {
      try new.site.find("Twig", "t", in: $0)?.value(forKey: "note") as? String
    }
    #expect(twig == "node", "the later write")
    try await old.close()
    let upgraded = try SyncEngineTests.Daemon(
      "old", in: scratch, model: SubentityModel.make(isNewer: true))
    try upgraded.engine.addReplica(hub(scratch, ["Node"]))
    try await pass(upgraded)
    let bark = try upgraded.site.write {
      try upgraded.site.find("Twig", "t", in: $0)?.value(forKey: "bark") as? String
    }
    #expect(bark == "rough")
    try await upgraded.close()
    try await new.close()
  }
}
