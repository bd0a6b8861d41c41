import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.1, 5 "Purge": a store in which a deleted record lives again sends what it then shows with
/// it: others have forgotten that with the delete.
struct LivingAgainTests {
  private let fleet: Fleet
  private let hub: Fleet.Site
  /// A store that forgets nothing.
  private let c: Fleet.Site

  init() throws {
    fleet = Fleet(seed: 83)
    (hub, c) = (try fleet.addRetaining("hub"), try fleet.addRetaining("c"))
  }

  private func tag(_ key: String, _ name: String, at site: Fleet.Site) throws {
    try site.write { context in
      let tag = try #require(try site.find("Tag", name, in: context))
      try site.find("Item", key, in: context)?.setValue(Set([tag]), forKey: "tags")
    }
  }

  private func delete(_ key: String, at site: Fleet.Site) throws {
    try site.write { context in try site.find("Item", key, in: context).map(context.delete) }
  }

  /// An item that was deleted at the hub, which has forgotten that, and linked at `c` meanwhile, which has not.
  private func forgetAtHub(_ others: [Fleet.Site] = []) throws {
    try c.write { context in
      _ = try c.insert("Item", ["key": "k"], in: context)
      _ = try c.insert("Tag", ["name": "red"], in: context)
    }
    _ = try fleet.settle([(c, hub)] + others.map { ($0, hub) })
    fleet.advance(10)
    try tag("k", "red", at: c)
    try HistoryCapture(access: c.access).run()
    fleet.advance(10)
    try delete("k", at: hub)
    _ = try fleet.settle([(c, hub)])
    for _ in 0..<4 {
      fleet.advance(PurgeTests.retention + 1)
      _ = try fleet.settle([(c, hub)])
      _ = try hub.purge()
    }
    #expect(try hub.entries(.links) == 0 && hub.entries(.records) == 1)
    #expect(try c.entries(.links) == 1 && c.entries(.records) == 2)
  }

  private func expectLink(_ links: [(Fleet.Site, Fleet.Site)]) throws {
    #expect(try fleet.settle(links) < 40)
    for (local, replica) in links {
      for site in [local, replica] {
        #expect(try site.picture().contains { $0.hasPrefix("item k") && $0.hasSuffix("[\"red\"]") })
      }
      #expect(try fleet.differences(local, replica).isEmpty)
    }
  }

  @Test func theLinksOfARecordThatAnotherStoreBringsBackAreSent() throws {
    let away = try fleet.addRetaining("away")
    try forgetAtHub([away])
    try away.write { try away.find("Item", "k", in: $0)?.setValue("again", forKey: "value") }
    try expectLink([(away, hub), (c, hub)])
  }

  @Test func theLinksOfARecordThatAnOperatorBringsBackAreSent() throws {
    try forgetAtHub()
    let save = OperatorSave(access: c.access, coordinator: fleet.coordinator, author: "anna")
    _ = try save.run { ledger in
      var found: RecordID?
      try c.store.capabilities.sidecar?.visitEntries(of: .records) { key, value in
        if try RecordEntry(decoding: value).key == nil {
          found = try SyncKey.identity(RecordID.self, in: key)
        }
      }
      let id = try #require(found)
      var decision = OperatorDecision()
      decision.edits = [.revive(id, entity: "Item", values: ["key": .string("k")])]
      decision.edits += try ledger.linksToShow(of: id)
      return decision
    }
    try expectLink([(c, hub)])
  }

  /// What goes along with a deleted record has no delete of its own, and comes back as it was.
  @Test func whatHadGoneAlongWithARecordIsSentWithItOnce() throws {
    let setting = try PlanLawTests.setting(.lastWriter)
    var stores = (1...3).map { PureStore(UInt64($0), setting) }
    let (item, part) = (PlanLawTests.item, PlanLawTests.part)
    func stamp(_ time: UInt64, _ store: Int) -> Stamp {
      Stamp(clock: ClockReading(bits: time), store: stores[store].id)
    }
    stores[0].insert(item, "Item", ["key": .string("i")], stamp(10, 0))
    for other in 1...2 { try stores[other].receive(from: stores[0]) }
    stores[1].insert(
      part, "Part", ["key": .string("p"), "item": .reference(item)], stamp(20, 1))
    stores[0].delete(item, stamp(30, 0))
    try stores[0].receive(from: stores[1])
    #expect(stores[0].rows.isEmpty)
    stores[2].write(item, "value", .string("later"), stamp(40, 2))
    let plan = try stores[0].plan(stores[2].states, [], from: stores[2].id)
    #expect(Set(plan.records.filter(\.isNews).map(\.id)) == [item, part])
    #expect(plan.records.first { $0.id == part }?.origin == nil)
    try stores[0].receive(from: stores[2])
    #expect(stores[0].rows.count == 2)
    let again = try stores[0].plan(stores[2].states, [], from: stores[2].id)
    #expect(!again.hasNews)
  }
}
