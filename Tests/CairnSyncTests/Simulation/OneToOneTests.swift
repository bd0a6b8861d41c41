import CairnContext
import CairnModel
import Foundation
import Testing

@testable import CairnSync

// Two records that claim the same target of a one-to-one relationship, on stores in memory.
struct OneToOneTests {
  func label(_ site: Fleet.Site, _ item: String, _ tag: String?) throws {
    try site.write { context in
      let target = try tag.flatMap { try site.find("Tag", $0, in: context) }
      try site.find("Item", item, in: context)?.setValue(target, forKey: "label")
    }
    try HistoryCapture(access: site.access).run()
  }

  func labels(_ site: Fleet.Site) throws -> [String] {
    try site.picture().filter { $0.hasPrefix("label") }
  }

  enum LettingGo: CaseIterable { case withoutValue, otherTarget, deleted }

  /// `a` labels x, `b` later labels y with the same tag; then the holder lets go in one of them.
  @Test(arguments: LettingGo.allCases, ["a", "b"])
  func aClaimThatWasStolenIsMetWhenTheHolderLetsGo(way: LettingGo, where place: String) throws {
    let fleet = Fleet(seed: 1)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      for key in ["x", "y"] { _ = try a.insert("Item", ["key": key], in: context) }
      for name in ["t", "u"] { _ = try a.insert("Tag", ["name": name], in: context) }
    }
    _ = try fleet.settle([(a, b)])
    try label(a, "x", "t")
    fleet.advance(5)
    try label(b, "y", "t")
    _ = try fleet.settle([(a, b)])
    #expect(try labels(a) == ["label of y t"])
    #expect(try labels(b) == ["label of y t"])
    fleet.advance(5)
    let site = place == "a" ? a : b
    switch way {
    case .withoutValue: try label(site, "y", nil)
    case .otherTarget: try label(site, "y", "u")
    case .deleted:
      try site.write { context in try site.find("Item", "y", in: context).map(context.delete) }
    }
    _ = try fleet.settle([(a, b)])
    let expected = way == .otherTarget ? ["label of x t", "label of y u"] : ["label of x t"]
    #expect(try labels(a) == expected)
    #expect(try a.picture() == b.picture())
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
  }

  /// Neither had seen the other: the earlier claim lost, and is in the journal of both, once.
  @Test func aClaimThatIsTakenByALaterOneIsJournaled() throws {
    let fleet = Fleet(seed: 3)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      for key in ["x", "y"] { _ = try a.insert("Item", ["key": key], in: context) }
      _ = try a.insert("Tag", ["name": "t"], in: context)
    }
    _ = try fleet.settle([(a, b)])
    try label(a, "x", "t")
    fleet.advance(5)
    try label(b, "y", "t")
    _ = try fleet.settle([(a, b)])
    func id(_ entity: String, _ key: String) throws -> RecordID {
      let object = try #require(try a.write { try a.find(entity, key, in: $0)?.objectID })
      return try #require(try a.access.ledger().recordID(for: object))
    }
    let (x, y, t) = (try id("Item", "x"), try id("Item", "y"), try id("Tag", "t"))
    for site in [a, b] {
      let lost = try ReplicationTests().journal(site).filter { $0.property == "label" }
      #expect(lost.map(\.record) == [x] && lost.map(\.losingValue) == [.reference(t)])
      #expect(lost.map(\.winningValue) == [.reference(y)] && lost.map(\.rule) == [.lastWriter])
      #expect(lost.allSatisfy { $0.losingStamp < $0.winningStamp })
    }
    let count = try ReplicationTests().journal(a).count
    _ = try fleet.settle([(a, b)])
    #expect(try ReplicationTests().journal(a).count == count)
  }

  @Test func aLinkAddedOnOneSideAndRemovedOnTheOtherIsJournaledWithItsMember() throws {
    let fleet = Fleet(seed: 2)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      let item = try a.insert("Item", ["key": "k"], in: context)
      let tags = try ["t1", "t2"].map { try a.insert("Tag", ["name": $0], in: context) }
      item.setValue(Set(tags), forKey: "tags")
    }
    _ = try fleet.settle([(a, b)])
    func set(_ site: Fleet.Site, _ names: [String]) throws {
      try site.write { context in
        let tags = try names.compactMap { try site.find("Tag", $0, in: context) }
        try site.find("Item", "k", in: context)?.setValue(Set(tags), forKey: "tags")
      }
      try HistoryCapture(access: site.access).run()
      fleet.advance(5)
    }
    // What a removed and added again, b removed later without having seen that.
    try set(a, [])
    try set(a, ["t1", "t2"])
    try set(b, [])
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture().first == "item k nil nil ^- []")
    #expect(try a.picture() == b.picture())
    let rules = ReplicationTests()
    let lost = Set(try (rules.journal(a) + rules.journal(b)).filter { $0.member != nil })
    #expect(lost.count == 2)
    for conflict in lost {
      #expect(conflict.losingValue == conflict.member.map(WireValue.reference))
      #expect(conflict.winningValue == .null && conflict.rule == .lastWriter)
      #expect(["tags", "items"].contains(conflict.property))
    }
    // An ordinary removal by a writer who saw the link is no conflict.
    try set(a, ["t1"])
    _ = try fleet.settle([(a, b)])
    try set(b, [])
    _ = try fleet.settle([(a, b)])
    #expect(
      Set(try (rules.journal(a) + rules.journal(b)).filter { $0.member != nil }) == lost)
  }
}
