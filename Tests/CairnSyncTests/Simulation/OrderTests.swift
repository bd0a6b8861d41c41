import CairnContext
import CairnModel
import Foundation
import Testing

@testable import CairnSync

// How the order of ordered relationships travels, on stores in memory.
struct OrderTests {
  /// The members of an item's parts or picks; new ones are inserted.
  func arrange(
    _ site: Fleet.Site, _ relationship: String, _ keys: [String], item: String = "k"
  ) throws {
    try site.write { context in
      let entity = relationship == "picks" ? "Tag" : "Part"
      let name = relationship == "picks" ? "name" : "key"
      let owner =
        try site.find("Item", item, in: context)
        ?? site.insert("Item", ["key": item], in: context)
      let members = try keys.map { key in
        try site.find(entity, key, in: context) ?? site.insert(entity, [name: key], in: context)
      }
      owner.setValue(NSOrderedSet(array: members), forKey: relationship)
    }
    try HistoryCapture(access: site.access).run()
  }

  func list(_ site: Fleet.Site, _ relationship: String, item: String = "k") throws -> [String] {
    try site.write { context in
      try site.find("Item", item, in: context).map { Fleet.Site.list(relationship, of: $0) } ?? []
    }
  }

  func expectEqual(_ a: Fleet.Site, _ b: Fleet.Site) throws {
    #expect(try a.picture() == b.picture())
    let report = try StoreComparison(local: a.access, replica: b.access).run(name: b.name)
    #expect(report.isEqual, "\(report.differences)")
  }

  @Test(arguments: ["parts", "picks"])
  func theOrderOfMembersTravelsAndAMoveIsOneWrite(relationship: String) throws {
    let fleet = Fleet(seed: 1)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try arrange(a, relationship, ["c", "a", "e", "b", "d"])
    _ = try fleet.settle([(a, b)])
    #expect(try list(b, relationship) == ["c", "a", "e", "b", "d"])
    fleet.advance(5)
    try arrange(b, relationship, ["d", "c", "a", "e", "b"])
    // One member moved: one record or link is sent.
    #expect(try fleet.pass(a, b) == 1)
    #expect(try list(a, relationship) == ["d", "c", "a", "e", "b"])
    try expectEqual(a, b)
    #expect(try fleet.pass(a, b) == 0)
  }

  @Test(arguments: ["parts", "picks"])
  func concurrentInsertsInterleaveAndNoneIsLost(relationship: String) throws {
    let fleet = Fleet(seed: 2)
    let (a, b, hub) = (try fleet.add("a"), try fleet.add("b"), try fleet.add("hub"))
    try arrange(a, relationship, ["1", "9"])
    _ = try fleet.settle([(a, hub), (b, hub)])
    try arrange(a, relationship, ["1", "a1", "a2", "9", "a3"])
    fleet.advance(5)
    try arrange(b, relationship, ["b0", "1", "b1", "b2", "9", "b3"])
    _ = try fleet.settle([(a, hub), (b, hub)])
    let merged = try list(a, relationship)
    #expect(merged.count == 9 && merged.first == "b0")
    // Each writer's order is kept.
    #expect(merged.filter { !$0.hasPrefix("b") } == ["1", "a1", "a2", "9", "a3"])
    #expect(merged.filter { !$0.hasPrefix("a") } == ["b0", "1", "b1", "b2", "9", "b3"])
    try expectEqual(a, hub)
    try expectEqual(b, hub)
  }

  @Test(arguments: ["parts", "picks"])
  func ofTwoConcurrentMovesOfAMemberTheLaterWinsAndTheOtherIsJournaled(
    relationship: String
  ) throws {
    let fleet = Fleet(seed: 3)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try arrange(a, relationship, ["1", "2", "3", "4"])
    _ = try fleet.settle([(a, b)])
    try arrange(a, relationship, ["4", "1", "2", "3"])
    fleet.advance(5)
    try arrange(b, relationship, ["1", "4", "2", "3"])
    _ = try fleet.settle([(a, b)])
    #expect(try list(a, relationship) == ["1", "4", "2", "3"])
    try expectEqual(a, b)
    let rules = ReplicationTests()
    let journal = try rules.journal(a) + rules.journal(b)
    #expect(journal.contains { $0.property?.hasSuffix("#position") == true })
  }

  @Test func eachSideOfAManyToManyHasAnOrderOfItsOwn() throws {
    let fleet = Fleet(seed: 4)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    for item in ["x", "y", "z"] { try arrange(a, "picks", ["t"], item: item) }
    func reorder(_ site: Fleet.Site, _ keys: [String]) throws {
      try site.write { context in
        let tag = try site.find("Tag", "t", in: context)
        let items = try keys.compactMap { try site.find("Item", $0, in: context) }
        tag?.setValue(NSOrderedSet(array: items), forKey: "pickedBy")
      }
      try HistoryCapture(access: site.access).run()
    }
    try reorder(a, ["z", "x", "y"])
    _ = try fleet.settle([(a, b)])
    #expect(try b.picture().contains("picked t [\"z\", \"x\", \"y\"]"))
    fleet.advance(5)
    try reorder(b, ["y", "z", "x"])
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture().contains("picked t [\"y\", \"z\", \"x\"]"))
    try expectEqual(a, b)
  }

  @Test(arguments: ["parts", "picks"])
  func rowsFromBeforeSyncAreTakenUpInTheirOrder(relationship: String) throws {
    let fleet = Fleet(seed: 5)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      let keys = (0..<700).map { "p\($0)" }.shuffled()
      let item = try a.insert("Item", ["key": "k"], in: context)
      let isParts = relationship == "parts"
      let members = try keys.map {
        try a.insert(isParts ? "Part" : "Tag", [isParts ? "key" : "name": $0], in: context)
      }
      item.setValue(NSOrderedSet(array: members), forKey: relationship)
    }
    let history = try a.access.history()
    _ = try history.purgeHistory(before: try history.lastTransactionNumber() + 1, date: nil)
    let before = try list(a, relationship)
    _ = try fleet.settle([(a, b)], limit: 1000)
    #expect(try list(b, relationship) == before)
    try expectEqual(a, b)
  }

  @Test func aMemberThatArrivesBeforeItsOwnerTakesItsPlaceWhenTheOwnerComes() throws {
    let fleet = Fleet(seed: 6)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try arrange(a, "parts", ["c", "a", "b"])
    try HistoryCapture(access: b.access).run()
    let importer = Importer(fleet: fleet, destination: b)
    let all = try importer.everything(from: a).records
    let (owners, parts) = (all.filter { $0.entity == "Item" }, all.filter { $0.entity == "Part" })
    for part in parts.reversed() { try importer.deliver([part], from: a) }
    #expect(try list(b, "parts").isEmpty)
    try importer.deliver(owners, from: a)
    #expect(try list(b, "parts") == ["c", "a", "b"])
  }
}
