import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// What waits because of a clock is joined with what arrives, and only the join is kept: the journal has what lost.
///
/// Specification: sync.md 7. The store `a` only reads from two whose clocks are ahead, so that no store but `a` has both
/// writes.
struct WaitingLossesTests {
  private let fleet = Fleet(seed: 82)
  private let rules = ReplicationTests()

  /// Three stores that have an item with a tag.
  private func sites() throws -> (a: Fleet.Site, first: Fleet.Site, second: Fleet.Site) {
    let a = try fleet.add("a")
    let first = try fleet.add("first", skew: 600_000)
    let second = try fleet.add("second", skew: 600_000)
    try a.write { context in
      let item = try a.insert("Item", ["key": "k", "value": "0"], in: context)
      let tag = try a.insert("Tag", ["name": "t"], in: context)
      item.setValue(Set([tag]), forKey: "tags")
    }
    _ = try fleet.settle([(a, first), (a, second)])
    fleet.advance(10)
    return (a, first, second)
  }

  private func change(
    _ site: Fleet.Site, _ work: (ManagedObjectContext, ManagedObject) throws -> Void
  ) throws {
    try site.write { try work($0, try #require(try site.find("Item", "k", in: $0))) }
    // Each as a change of its own.
    try HistoryCapture(access: site.access).run()
    fleet.advance(10)
  }

  private func read(_ sources: [Fleet.Site], into site: Fleet.Site) throws -> [Conflict] {
    for source in sources {
      try fleet.pass(site, source, direction: .pull)
      #expect(try site.entries(.quarantine) > 0)
    }
    return try rules.journal(site)
  }

  @Test(arguments: [true, false])
  func theJournalHasTheValueThatLosesToOneThatWaits(isLaterFirst: Bool) throws {
    let (a, first, second) = try sites()
    try change(first) { $1.setValue("1", forKey: "value") }
    try change(second) { $1.setValue("2", forKey: "value") }
    let lost = try read(isLaterFirst ? [second, first] : [first, second], into: a)
    #expect(lost.map(\.losingValue) == [.string("1")])
    #expect(lost.map(\.winningValue) == [.string("2")])
    #expect(try a.picture().first == "item k 0 nil ^- [\"t\"]", "both wait")
    // The same once more tells of nothing new.
    #expect(try read([first, second, first], into: a) == lost)
  }

  @Test(arguments: [true, false])
  func theJournalHasWhatLosesToADeleteThatWaits(isDeleteFirst: Bool) throws {
    let (a, first, second) = try sites()
    try change(first) { $1.setValue("1", forKey: "value") }
    try change(second) { $0.delete($1) }
    let lost = try read(isDeleteFirst ? [second, first] : [first, second], into: a)
    #expect(lost.contains { $0.losingValue == .string("1") && $0.rule == .deleteWon })
  }

  @Test(arguments: [true, false])
  func theJournalHasTheLinkThatLosesToOneThatWaits(isLaterFirst: Bool) throws {
    let (a, first, second) = try sites()
    try change(first) { $1.setValue(Set<ManagedObject>(), forKey: "tags") }
    let tags = { @Sendable (context: ManagedObjectContext) in
      Set(try second.all("Tag", in: context))
    }
    try change(second) { $1.setValue(Set<ManagedObject>(), forKey: "tags") }
    try change(second) { $1.setValue(try tags($0), forKey: "tags") }
    let lost = try read(isLaterFirst ? [second, first] : [first, second], into: a)
    #expect(lost.contains { $0.property == "tags" && $0.losingValue == .null })
  }

  /// What the reader shows, or a writer there has replaced, is not lost to what waits.
  @Test func theJournalHasNothingOfWhatIsShownOrWasReplacedKnowingly() throws {
    let (a, first, second) = try sites()
    try change(second) { $1.setValue("2", forKey: "value") }
    _ = try read([second], into: a)
    // The first store's clock is right for this, so that the value is shown.
    try a.write { try a.find("Item", "k", in: $0)?.setValue("shown", forKey: "value") }
    try HistoryCapture(access: a.access).run()
    fleet.advance(10)
    try fleet.pass(first, a, direction: .pull)
    try change(first) { $1.setValue(7.0, forKey: "other") }
    #expect(try read([first], into: a) == [], "it has sent what is shown here, too")
  }
}
