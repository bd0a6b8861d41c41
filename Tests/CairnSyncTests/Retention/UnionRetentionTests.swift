import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 4, uniqueness, and 5, "Purge": a store that has not heard which record stands for
/// one of its own goes on with that one, and its writes count all the same, however long ago the others
/// united the two.
struct UnionRetentionTests {
  private let fleet: Fleet
  private let a: Fleet.Site
  private let hub: Fleet.Site

  init() throws {
    fleet = Fleet(seed: 17)
    (a, hub) = (try fleet.addRetaining("a"), try fleet.addRetaining("hub"))
  }

  /// Has the hub and `a` each make a tag of the same name, the hub's being the survivor, with an item that
  /// has it, and `a` push.
  ///
  /// - Parameter isServed: Whether the hub has ever served `a`.
  private func unite(isServed: Bool) throws {
    if isServed { for _ in 0..<2 { try fleet.pass(a, hub) } }
    for (site, key) in [(hub, "h"), (a, "k")] {
      try site.write { context in
        let item = try site.insert("Item", ["key": key], in: context)
        let tag = try site.insert("Tag", ["name": "red"], in: context)
        item.setValue(Set([tag]), forKey: "tags")
      }
      try HistoryCapture(access: site.access).run()
      fleet.advance(10)
    }
    for _ in 0..<3 { try fleet.pass(a, hub, direction: .push) }
    #expect(try tags("k", hub) == ["red"] && hub.write { try hub.all("Tag", in: $0).count } == 1)
  }

  private func tags(_ key: String, _ site: Fleet.Site) throws -> [String]? {
    try site.write { context in
      let item = try site.find("Item", key, in: context)
      return (item?.value(forKey: "tags") as? Set<ManagedObject>)?
        .compactMap { $0.value(forKey: "name") as? String }.sorted()
    }
  }

  private func untag(_ key: String, _ site: Fleet.Site) throws {
    try site.write { context in
      try site.find("Item", key, in: context)?.setValue(Set<ManagedObject>(), forKey: "tags")
    }
    try HistoryCapture(access: site.access).run()
  }

  /// Lets the hub forget whatever it may.
  private func purge() throws {
    for _ in 0..<3 {
      try hub.purge()
      fleet.advance(PurgeTests.retention + 1)
    }
    try hub.purge(age: 0)
  }

  /// An expired store that still pushes is one that may still write.
  @Test(arguments: [true, false])
  func aLinkOfAStoreThatTakesNothingIsRemovedFromTheSurvivor(isServed: Bool) throws {
    try unite(isServed: isServed)
    try purge()
    #expect(try hub.access.readers().values.map(\.isExpired) == (isServed ? [true] : []))
    try untag("k", a)
    for _ in 0..<2 { try fleet.pass(a, hub, direction: .push) }
    #expect(try tags("k", hub) == [])
    try fleet.sync([(a, hub)])
    #expect(try tags("k", a) == [] && tags("h", a) == ["red"])
    #expect(try a.picture() == hub.picture())
    #expect(try fleet.differences(a, hub).isEmpty)
  }

  /// Nothing of them is left under the record that was united, for a store that joins to bring back.
  @Test func linksOfARecordThatIsUnitedLaterAreUnderItsSurvivorAlone() throws {
    for (site, key, name) in [(hub, "h", "red"), (a, "k", "blue")] {
      try site.write { context in
        let item = try site.insert("Item", ["key": key], in: context)
        let tag = try site.insert("Tag", ["name": name], in: context)
        item.setValue(Set([tag]), forKey: "tags")
      }
      try HistoryCapture(access: site.access).run()
      fleet.advance(10)
    }
    try fleet.pass(a, hub, direction: .push)
    #expect(try tags("k", hub) == ["blue"])
    try a.write { context in
      try a.find("Tag", "blue", in: context)?.setValue("red", forKey: "name")
    }
    for _ in 0..<2 { try fleet.pass(a, hub, direction: .push) }
    #expect(try tags("k", hub) == ["red"] && tags("h", hub) == ["red"])
    let ledger = try hub.access.ledger()
    var members: Set<RecordID> = []
    try hub.store.capabilities.sidecar?.visitEntries(of: .links) { key, _ in
      members.insert(try SyncKey.linkKey(from: key).member)
      members.insert(try SyncKey.linkKey(from: key).owner)
    }
    #expect(members.count == 3, "two items and one tag")
    #expect(try members.allSatisfy { try ledger.record($0)?.survivor == nil })
  }

  /// What a link was before its record was united must not outlive that it was removed since.
  @Test func aLinkThatASurvivorHasLostDoesNotComeToAStoreThatJoins() throws {
    try unite(isServed: false)
    try untag("k", hub)
    try purge()
    let c = try fleet.addRetaining("c")
    try fleet.sync([(c, hub)])
    #expect(try tags("k", hub) == [] && tags("k", c) == [])
    // Nor with the store that never heard of it, when it is served at last.
    try fleet.sync([(a, hub), (c, hub)])
    for site in [a, hub, c] {
      #expect(try tags("k", site) == [] && tags("h", site) == ["red"], "\(site.name)")
    }
    #expect(try fleet.differences(a, hub).isEmpty && fleet.differences(c, hub).isEmpty)
  }

  /// Its row goes, and what stands for it has its values only to be deleted.
  @Test func aRecordWhoseSurvivorWasDeletedAndForgottenDoesNotComeBack() throws {
    try unite(isServed: false)
    try hub.write { context in try hub.find("Tag", "red", in: context).map(context.delete) }
    try HistoryCapture(access: hub.access).run()
    try purge()
    try fleet.sync([(a, hub)])
    for site in [a, hub] {
      #expect(try site.write { try site.all("Tag", in: $0).isEmpty }, "\(site.name)")
      #expect(try tags("k", site) == [] && tags("h", site) == [], "\(site.name)")
      #expect(try site.access.held().count == 0, "\(site.name) waits for the survivor")
    }
    #expect(try fleet.differences(a, hub).isEmpty)
  }
}
