import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// What stores tell each other belongs together: values and their stamps, what waits and what joins it.
struct StampTests {
  private let fleet = Fleet(seed: 71)

  private func register(_ name: String, _ site: Fleet.Site) throws -> Stamp? {
    try site.write { context in
      let object = try #require(try site.find("Item", "k", in: context))
      let ledger = try site.access.ledger()
      let id = try #require(try ledger.recordID(for: object.objectID))
      return try ledger.record(id)?.write(of: name)?.stamp
    }
  }

  private func set(_ value: Any, _ name: String, _ site: Fleet.Site) throws {
    try site.write { try site.find("Item", "k", in: $0)?.setValue(value, forKey: name) }
  }

  /// Specification: sync.md 3: what is ahead is held; 2.2: nothing of it is lost, whatever comes meanwhile
  /// and from wherever.
  @Test(arguments: [true, false])
  func whatWaitsIsJoinedWithWhatOtherStoresSendAndReachesAll(isLaterAhead: Bool) throws {
    let a = try fleet.add("a")
    let ahead = try fleet.add("ahead", skew: 600_000)
    let other = try fleet.add("other", skew: isLaterAhead ? 600_000 : 0)
    let links = [(a, ahead), (a, other)]
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "0", "other": 1.0], in: $0) }
    _ = try fleet.settle(links)
    fleet.advance(10)
    try set("ahead", "value", ahead)
    try fleet.pass(a, ahead)
    #expect(try a.entries(.quarantine) == 1)
    fleet.advance(10)
    try set(5.0, "other", other)
    try fleet.pass(a, other)
    #expect(try a.entries(.quarantine) == 1, "what waits is not taken for done")
    #expect(try a.picture() == ["item k 0 1.0 ^- []"])
    fleet.advance(600_000)
    #expect(try fleet.settle(links) < 40)
    for site in [a, ahead, other] {
      #expect(try site.picture() == ["item k ahead 5.0 ^- []"], "\(site.name)")
      #expect(try site.entries(.quarantine) == 0)
    }
  }

  /// Specification: sync.md 3: a program that writes after history was captured and before rows are read.
  @Test func aValueIsNeverSentUnderTheStampOfAnEarlierOne() throws {
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "0"], in: $0) }
    _ = try fleet.settle([(a, b)])
    fleet.advance(10)
    try set("captured", "value", a)
    fleet.interrupt(a, at: .beforeExport) {
      try a.write { try a.find("Item", "k", in: $0)?.setValue("late", forKey: "value") }
    }
    try fleet.pass(a, b)
    #expect(fleet.wasInterrupted)
    try HistoryCapture(access: a.access).run()
    let shown = try b.write { try b.find("Item", "k", in: $0)?.value(forKey: "value") as? String }
    #expect(shown == "late", "it is read anew with its own stamp")
    #expect(try register("value", b) == register("value", a))
  }

  /// Specification: sync.md 1, stamp: the clock of a store is never behind what it has taken in, so that
  /// what is written afterwards, also to other records, is stamped later.
  @Test func whatIsWrittenAfterSomethingArrivedIsStampedLater() throws {
    let a = try fleet.add("a") { $0.allowedClockSkew = 60_000 }
    let ahead = try fleet.add("ahead", skew: 60_000)
    // The last of several in one millisecond, which is the latest that is believed.
    for name in ["earlier", "first"] {
      try ahead.write { _ = try ahead.insert("Tag", ["name": name], in: $0) }
    }
    try fleet.pass(a, ahead)
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "0"], in: $0) }
    try HistoryCapture(access: a.access).run()
    #expect(
      try #require(try register("value", a)) > register("name", of: "first", ahead),
      "the writer had seen the tag")
  }

  private func register(
    _ name: String, of tag: String, _ site: Fleet.Site
  ) throws -> Stamp {
    try site.write { context in
      let object = try #require(
        try site.all("Tag", in: context).first { $0.value(forKey: "name") as? String == tag })
      let ledger = try site.access.ledger()
      let id = try #require(try ledger.recordID(for: object.objectID))
      return try #require(try ledger.record(id)?.write(of: name)?.stamp)
    }
  }
}
