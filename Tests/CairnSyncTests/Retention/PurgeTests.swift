import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Purge": what goes, what stays, and for whom.
struct PurgeTests {
  /// In milliseconds.
  static let retention: UInt64 = 100_000

  private let fleet: Fleet
  private let a: Fleet.Site
  private let hub: Fleet.Site

  init() throws {
    fleet = Fleet(seed: 5)
    (a, hub) = (try fleet.addRetaining("a"), try fleet.addRetaining("hub"))
  }

  private func insert(_ keys: [String]) throws {
    try a.write { context in
      for key in keys { _ = try a.insert("Item", ["key": key, "value": key], in: context) }
    }
  }

  private func delete(_ keys: [String], _ site: Fleet.Site) throws {
    try site.write { context in
      for key in keys { try site.find("Item", key, in: context).map(context.delete) }
    }
  }

  /// A store that only pushes never hears which record another one stands for, and goes on with its own.
  @Test func whatStandsForARecordOfAStoreThatIsNotServedStays() throws {
    for (site, key) in [(hub, "h"), (a, "k")] {
      try site.write { context in
        let item = try site.insert("Item", ["key": key], in: context)
        item.setValue(try site.insert("Tag", ["name": "red"], in: context), forKey: "label")
      }
      try HistoryCapture(access: site.access).run()
      fleet.advance(10)
    }
    for _ in 0..<3 { _ = try fleet.pass(a, hub, direction: .push) }
    _ = try hub.purge()
    fleet.advance(2 * Self.retention)
    _ = try hub.purge()
    // From now on the link goes both ways.
    try fleet.sync([(a, hub)])
    #expect(try a.picture() == hub.picture())
    #expect(try a.picture().contains("label of k red"))
    #expect(try fleet.differences(a, hub).isEmpty)
  }

  @Test func aDeletedRecordGoesWithItsValuesOnceAllHaveItAndItIsOld() throws {
    try insert(["stays", "goes"])
    try fleet.sync([(a, hub)])
    // The hub has the values of what it deletes for another.
    try delete(["goes"], a)
    try fleet.sync([(a, hub)])
    for site in [a, hub] {
      #expect(try site.entries(.records) == 2)
      #expect(try site.purge().records == 0, "it is not old enough")
    }
    fleet.advance(Self.retention / 2)
    try fleet.sync([(a, hub)])
    #expect(try a.purge().records == 0)
    fleet.advance(Self.retention)
    try fleet.sync([(a, hub)])
    for site in [a, hub] {
      #expect(try site.purge(isPlan: true).records == 1)
      #expect(try site.entries(.records) == 2, "a plan removes nothing")
      #expect(try site.purge().records == 1)
      #expect(try site.entries(.records) == 1 && site.entries(.changes) == 1)
    }
    try insert(["later"])
    try fleet.sync([(a, hub)])
    #expect(try a.picture() == hub.picture())
    #expect(try fleet.differences(a, hub).isEmpty)
  }

  /// A record that its owner's deleter did not know has no row and no delete of its own.
  @Test func whatWentAlongWithADeletedRecordGoesWithItsTombstone() throws {
    try insert(["goes"])
    try fleet.sync([(a, hub)])
    try delete(["goes"], a)
    try hub.write { context in
      let item = try #require(try hub.find("Item", "goes", in: context))
      _ = try hub.insert("Part", ["key": "part", "item": item], in: context)
    }
    for site in [a, hub] { try HistoryCapture(access: site.access).run() }
    try fleet.sync([(a, hub)])
    for site in [a, hub] {
      #expect(try site.picture() == [])
      #expect(try site.entries(.records) == 2 && site.entries(.parked) > 0)
      // A note for purges is needed before time goes by.
      try site.purge()
    }
    fleet.advance(Self.retention + 1)
    try insert(["later"])
    try fleet.sync([(a, hub)])
    for site in [a, hub] {
      let report = try site.purge()
      #expect(report.records == 2 && report.postponed == 0, "\(site.name): \(report)")
      #expect(try site.entries(.records) == 1 && site.entries(.changes) == 1)
      #expect(try site.entries(.parked) == 0)
    }
    #expect(try fleet.differences(a, hub).isEmpty && hub.picture() == a.picture())
  }

  @Test func whatALiveReaderHasNotSeenStays() throws {
    let b = try fleet.addRetaining("b")
    try insert(["stays", "goes"])
    try fleet.sync([(a, hub), (b, hub)])
    try hub.purge()
    fleet.advance(Self.retention / 16)
    try delete(["goes"], a)
    try fleet.sync([(a, hub)])
    try hub.purge()
    fleet.advance(Self.retention - 10)
    // b is there for the last time before it would expire, and goes at once, without what is new.
    try hub.access.offer(
      to: b.access.ledger().storeID,
      at: b.access.ledger().cursor(for: hub.access.ledger().storeID).position, name: "b")
    fleet.advance(Self.retention / 2)
    try fleet.sync([(a, hub)])
    let report = try hub.purge()
    #expect(report.records == 0)
    let reader = try #require(report.readers.first { $0.name == "b" })
    #expect(reader.holdsBack && !reader.isExpired && reader.behind > 0)
    #expect(try hub.purge(age: 0).records == 0, "nor by an operator's hand")
    try fleet.sync([(b, hub), (a, hub)])
    #expect(try b.picture() == a.picture() && b.picture().count == 1)
    #expect(try hub.purge(age: 0).records == 1)
  }

  @Test func linksMarkersMarksAndJournalGo() throws {
    try a.write { context in
      let item = try a.insert("Item", ["key": "k"], in: context)
      let tag = try a.insert("Tag", ["name": "t"], in: context)
      item.setValue(Set([tag]), forKey: "tags")
    }
    try fleet.sync([(a, hub)])
    try a.write { try a.find("Item", "k", in: $0)?.setValue(Set<ManagedObject>(), forKey: "tags") }
    for round in 0..<20 {
      try a.write { try a.find("Item", "k", in: $0)?.setValue("\(round)", forKey: "value") }
      try fleet.sync([(a, hub)])
    }
    try hub.write { try hub.find("Item", "k", in: $0)?.setValue("theirs", forKey: "value") }
    try a.write { try a.find("Item", "k", in: $0)?.setValue("mine", forKey: "value") }
    try fleet.sync([(a, hub)])
    #expect(try a.entries(.marks) > 10 && a.entries(.changes) > 10)
    #expect(try a.entries(.journal) == 1)
    try a.purge()
    fleet.advance(Self.retention + 1)
    try fleet.sync([(a, hub)])
    // The write that moves the item on is young again.
    let report = try a.purge()
    #expect(report.links == 1 && report.conflicts == 1 && report.marks > 20, "\(report)")
    #expect(try a.entries(.links) == 0 && a.entries(.backlinks) == 0 && a.entries(.journal) == 0)
    #expect(try a.entries(.marks) <= 2 && a.entries(.changes) == 2)
    #expect(try fleet.pass(a, hub) == 0)
    #expect(try fleet.differences(a, hub).isEmpty)
    #expect(try a.access.ledger().head.incarnation == nil)
  }

  @Test func aDeletedRecordThatSomethingRefersToStaysUntilItIsLetGo() throws {
    let b = try fleet.addRetaining("b")
    try insert(["parent"])
    try fleet.sync([(a, hub), (b, hub)])
    try delete(["parent"], a)
    try b.write { context in
      let parent = try b.find("Item", "parent", in: context) as Any
      _ = try b.insert("Item", ["key": "child", "parent": parent], in: context)
    }
    try fleet.sync([(a, hub), (b, hub)])
    let report = try hub.purge(age: 0)
    #expect(report.records == 0 && report.postponed == 1, "\(report)")
    #expect(try hub.access.held().count == 0)
    try b.write { context in
      let other = try b.insert("Item", ["key": "other"], in: context)
      try b.find("Item", "child", in: context)?.setValue(other, forKey: "parent")
    }
    try fleet.sync([(a, hub), (b, hub)])
    #expect(try hub.purge(age: 0).records == 1)
    #expect(try fleet.differences(a, hub).isEmpty)
  }

  @Test func aPurgeThatIsKilledAtAnyCommitLosesNothingAndIsFinishedByTheNext() throws {
    for crash in 0..<10 {
      let fleet = Fleet(seed: UInt64(crash))
      let (a, hub) = (try fleet.addRetaining("a"), try fleet.addRetaining("hub"))
      try a.write { context in
        for key in 0..<70 { _ = try a.insert("Item", ["key": "k\(key)"], in: context) }
      }
      try fleet.sync([(a, hub)])
      try a.write { context in
        for item in try a.all("Item", in: context).prefix(60) { context.delete(item) }
      }
      try fleet.sync([(a, hub)])
      // Killed before the first commits, between them and after them.
      fleet.kill(a, atPurgeCommit: crash)
      _ = try? a.purge(age: 0, entriesPerCommit: 20)
      try a.write { _ = try a.insert("Item", ["key": "new"], in: $0) }
      try fleet.sync([(a, hub)])
      fleet.kill(a, atPurgeCommit: nil)
      try a.purge(age: 0, entriesPerCommit: 20)
      #expect(try a.entries(.records) == 11 && a.entries(.changes) == 11, "crash \(crash)")
      try fleet.sync([(a, hub)])
      #expect(try a.picture() == hub.picture() && a.picture().count == 11)
      #expect(try fleet.differences(a, hub).isEmpty)
    }
  }

  @Test func aWriteBetweenTwoCommitsOfAPurgeIsNotDisturbed() throws {
    try insert((0..<60).map { "k\($0)" })
    try fleet.sync([(a, hub)])
    try delete((0..<60).map { "k\($0)" }, a)
    try fleet.sync([(a, hub)])
    var purge = try Purge(access: a.access, name: "a", age: 0, entriesPerCommit: 20)
    var count = 0
    while try purge.step() {
      try insert(["w\(count)"])
      count += 1
      _ = try fleet.pass(a, hub)
    }
    #expect(purge.report.records == 60)
    try fleet.sync([(a, hub)])
    #expect(try a.picture().count == count && hub.picture() == a.picture())
  }

  @Test func aRemovedReplicaHoldsNothingBack() throws {
    try insert(["k"])
    try fleet.sync([(a, hub)])
    try delete(["k"], a)
    try HistoryCapture(access: a.access).run()
    #expect(try a.purge(age: 0).records == 0)
    try a.access.releaseReader(try hub.access.ledger().storeID)
    let report = try a.purge(age: 0)
    #expect(report.records == 1 && report.newlyExpired.isEmpty)
    // Should it come back all the same, what it has was deleted.
    try fleet.sync([(a, hub)])
    #expect(try hub.picture().isEmpty && a.picture().isEmpty)
  }
}

extension Fleet {
  func addRetaining(_ name: String) throws -> Site {
    try add(name) { $0.retention = .milliseconds(Int64(PurgeTests.retention)) }
  }

  /// Runs passes until nothing moves, and has the stores told how far the others have come.
  func sync(_ links: [(Site, Site)]) throws {
    #expect(try settle(links) < 40)
    for (local, replica) in links {
      try local.access.acknowledge(replica.access, name: replica.name)
      try replica.access.acknowledge(local.access, name: local.name)
    }
  }

  func differences(_ local: Site, _ replica: Site) throws -> [StoreDifference] {
    try StoreComparison(local: local.access, replica: replica.access).run(name: "").differences
  }

  /// Kills purges of a store at one of their commits; nil for none.
  func kill(_ site: Site, atPurgeCommit number: Int?) {
    guard let number else { return interrupt(site, at: .afterExport) {} }
    let failpoints: [SyncEnvironment.Failpoint] = [.beforePurgeCommit, .afterPurgeCommit]
    interrupt(site, at: failpoints[number % 2], skipping: number / 2) { throw Stopped() }
  }
}

extension Fleet.Site {
  @discardableResult
  func purge(
    age: UInt64? = nil, isPlan: Bool = false, entriesPerCommit: Int = 500
  ) throws -> PurgeReport {
    var purge = try Purge(
      access: access, name: name, age: age, isPlan: isPlan, entriesPerCommit: entriesPerCommit)
    return try purge.run()
  }

  func entries(_ map: SyncMap) throws -> Int {
    let sidecar = try #require(store.capabilities.sidecar)
    return try sidecar.sidecarEntries(of: map.rawValue, from: nil, to: nil, limit: 0).count
  }
}
