import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "A replica away longer than the retention", where what a link exchanges, or the
/// way it goes, was changed: how far a store has read says nothing of what it was never given.
struct ChangedLinkTests {
  private let scratch: Scratch
  private let fleet: Fleet
  private let a: Fleet.Site
  private let b: Fleet.Site
  private let hub: Fleet.Site

  init() throws {
    scratch = try Scratch()
    fleet = Fleet(seed: 31, directory: scratch.url)
    (a, b, hub) = (
      try fleet.addRetaining("a"), try fleet.addRetaining("b"), try fleet.addRetaining("hub")
    )
  }

  private func filter(_ entities: Set<String>) throws -> EntityFilter? {
    try EntityFilter(
      ReplicaConfiguration(
        name: "hub", url: URL(fileURLWithPath: "/hub"), entities: entities), a.access.schema)
  }

  private func insert(_ entity: String, _ keys: [String], _ site: Fleet.Site) throws {
    try site.write { context in
      for key in keys {
        _ = try site.insert(entity, [entity == "Tag" ? "name" : "key": key], in: context)
      }
    }
  }

  private func count(_ entity: String, _ site: Fleet.Site) throws -> Int {
    try site.write { try site.all(entity, in: $0).count }
  }

  /// Deletes an item of `a` and purges what tells of it.
  private func forget(_ key: String, filter: EntityFilter?) throws {
    try a.write { context in try a.find("Item", key, in: context).map(context.delete) }
    for _ in 0..<2 { try fleet.pass(a, hub, filter: filter) }
    try insert("Item", ["later"], a)
    for _ in 0..<2 { try fleet.pass(a, hub, filter: filter) }
    try a.access.acknowledge(hub.access, name: "hub")
    try hub.access.acknowledge(a.access, name: "a")
    for site in [a, hub] { try site.purge(age: 0) }
    #expect(try a.access.ledger().retention().floor > 0)
    #expect(try hub.access.ledger().retention().floor > 0)
  }

  @Test(arguments: SyncDirection.allCases)
  func recordsThatAFilterKeptBackStayInTheirStoreWhateverTheLinkBecomes(
    _ direction: SyncDirection
  ) throws {
    let items = try filter(["Item"])
    try insert("Tag", (0..<5).map { "t\($0)" }, a)
    try insert("Item", ["stays", "goes"], a)
    for _ in 0..<2 { try fleet.pass(a, hub, filter: items) }
    #expect(try count("Tag", hub) == 0)
    try forget("goes", filter: items)
    for _ in 0..<3 { try fleet.pass(a, hub, direction: direction) }
    #expect(try count("Tag", a) == 5)
    #expect(try count("Tag", hub) == (direction.pushes ? 5 : 0))
    #expect(try count("Item", a) == 2 && count("Item", hub) == 2)
  }

  /// What another daemon wrote into the hub, and this one had passed over.
  @Test(arguments: SyncDirection.allCases)
  func recordsThatAFilterPassedOverStayInTheReplicaWhateverTheLinkBecomes(
    _ direction: SyncDirection
  ) throws {
    let items = try filter(["Item"])
    try insert("Tag", (0..<5).map { "t\($0)" }, b)
    try insert("Item", ["goes"], a)
    try fleet.sync([(b, hub)])
    for _ in 0..<2 { try fleet.pass(a, hub, filter: items) }
    try forget("goes", filter: items)
    for _ in 0..<3 {
      try fleet.pass(a, hub, direction: direction)
      try fleet.pass(b, hub)
    }
    #expect(try count("Tag", hub) == 5 && count("Tag", b) == 5)
    #expect(try count("Tag", a) == (direction.pulls ? 5 : 0))
  }

  /// What the replica deleted while a link brought it nothing is no word about what it had before.
  @Test func aLinkThatBecomesOneWayDeletesByNoCursorOfTheOtherWay() throws {
    try insert("Item", ["mine", "goes"], a)
    for _ in 0..<2 { try fleet.pass(a, hub) }
    try forget("goes", filter: nil)
    try hub.write { context in try hub.find("Item", "mine", in: context).map(context.delete) }
    fleet.advance(1)
    for _ in 0..<3 {
      try HistoryCapture(access: hub.access).run()
      try hub.purge()
      fleet.advance(PurgeTests.retention + 1)
    }
    try hub.purge()
    let reader = ReturningReader(access: a.access, source: hub.access, isRead: false)
    #expect(try reader.isExpired())
    for _ in 0..<2 { try fleet.pass(a, hub, direction: .pull) }
    #expect(try a.write { try a.find("Item", "mine", in: $0) } != nil)
  }
}
