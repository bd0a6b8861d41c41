import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Comparison": digests are kept as sync goes, and what they say is so.
struct DigestTests {
  @Test(arguments: [1, 2, 3, 4])
  func afterAnyWorkTheDigestsAreThoseOfACount(seed: UInt64) throws {
    let fleet = Fleet(seed: seed)
    let locals = try ["a", "b"].map { try fleet.addRetaining($0) }
    let hub = try fleet.addRetaining("hub")
    let links = locals.map { ($0, hub) }
    var generator = SeededGenerator(seed: seed)
    for step in 0..<40 {
      fleet.advance(UInt64.random(in: 0...20, using: &generator))
      if Int.random(in: 0..<10, using: &generator) < 6 {
        try write(locals[step % 2], &generator)
      } else {
        let link = links[Int.random(in: 0..<2, using: &generator)]
        fleet.crash(percent: seed % 2 == 0 ? 15 : 0)
        try fleet.pass(link.0, link.1)
        fleet.crash(percent: 0)
      }
      if step % 10 == 9 { try hub.purge(age: 0) }
    }
    try fleet.sync(links)
    for site in locals + [hub] {
      let state = try #require(try site.access.ledger().value(SyncKey.digests))
      #expect(try DigestState(decoding: state).extent == .all, "they were kept from the beginning")
      #expect(try !DigestBuild(access: site.access).audit(), "seed \(seed): \(site.name)")
    }
    for (local, replica) in links {
      let report = try #require(try fleet.quickly(local, replica))
      #expect(report.isEqual && report.level == .quick)
      let full = try StoreComparison(local: local.access, replica: replica.access).run(name: "")
      #expect(full.isEqual && full.records == report.records)
    }
  }

  /// A save of a few random writes of every kind.
  private func write(_ site: Fleet.Site, _ generator: inout SeededGenerator) throws {
    var random = generator
    try site.write { context in
      for _ in 0..<3 {
        let items = try site.all("Item", in: context).filter { !$0.isDeleted }
        let key = "\(random.next())"
        let item = items.randomElement(using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1: _ = try site.insert("Item", ["key": key, "value": "v"], in: context)
        case 2: item?.setValue(key, forKey: "value")
        case 3: item?.setValue(items.randomElement(using: &random), forKey: "parent")
        case 4:
          let name = "t\(Int.random(in: 0..<4, using: &random))"
          let tag =
            try site.find("Tag", name, in: context)
            ?? site.insert("Tag", ["name": name], in: context)
          let tags = item?.value(forKey: "tags") as? Set<ManagedObject> ?? []
          item?.setValue(tags.symmetricDifference([tag]), forKey: "tags")
        case 5:
          if let item { _ = try site.insert("Part", ["key": key, "item": item], in: context) }
        default:
          item.map(context.delete)
          context.processPendingChanges()
        }
      }
    }
    generator = random
  }

  @Test func whatDiffersIsFoundWithoutTheRest() throws {
    let fleet = Fleet(seed: 3)
    let (a, hub) = (try fleet.add("a"), try fleet.add("hub"))
    for minute in 0..<20 {
      try a.write { context in
        for key in 0..<5 {
          _ = try a.insert("Item", ["key": "\(minute) \(key)", "value": "v"], in: context)
        }
      }
      try HistoryCapture(access: a.access).run()
      fleet.advance(600_000)
    }
    _ = try fleet.settle([(a, hub)])
    try hub.write { context in
      try hub.find("Item", "3 3", in: context)?.setValue("new", forKey: "value")
      try hub.find("Item", "7 1", in: context).map(context.delete)
      _ = try hub.insert("Item", ["key": "more"], in: context)
    }
    try HistoryCapture(access: hub.access).run()
    let report = try #require(try fleet.quickly(a, hub))
    #expect(Set(report.differences.map(\.kind)) == [.value, .onlyLocal, .onlyReplica])
    #expect(report.differences.count == 3)
  }

  @Test func removedAndAddedMembersAreADifference() throws {
    let fleet = Fleet(seed: 4)
    let (a, hub) = (try fleet.add("a"), try fleet.add("hub"))
    try a.write { context in
      let tag = try a.insert("Tag", ["name": "t"], in: context)
      for key in ["k", "l"] {
        let item = try a.insert("Item", ["key": key], in: context)
        if key == "k" { item.setValue(Set([tag]), forKey: "tags") }
      }
    }
    _ = try fleet.settle([(a, hub)])
    #expect(try fleet.quickly(a, hub)?.isEqual == true)
    try a.write { context in
      let tags = try Set(a.all("Tag", in: context))
      try a.find("Item", "l", in: context)?.setValue(tags, forKey: "tags")
      try a.find("Item", "k", in: context)?.setValue(Set<ManagedObject>(), forKey: "tags")
    }
    try HistoryCapture(access: a.access).run()
    let report = try #require(try fleet.quickly(a, hub))
    #expect(report.differences.contains { $0.kind == .members }, "\(report.differences)")
  }

  @Test func aWrongDigestIsNoticedAndCountedAnew() throws {
    let fleet = Fleet(seed: 5)
    let (a, hub) = (try fleet.add("a"), try fleet.add("hub"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "v"], in: $0) }
    _ = try fleet.settle([(a, hub)])
    for site in [a, hub] {
      let bucket = try #require(try DigestComparison.digests(of: site.access).keys.first)
      let ledger = try site.access.ledger()
      ledger.put(bucket.key, Data(repeating: 7, count: 32))
      #expect(try site.access.commit(ledger))
      // Counts that do not fit the tables are not believed.
      #expect(try fleet.quickly(a, hub) == nil)
      let report = try SyncEngine.compare(a.access, hub.access, .quick, name: "hub")
      #expect(report.level == .full && report.isEqual && report.hadWrongDigests)
      #expect(try fleet.quickly(a, hub)?.isEqual == true)
      #expect(try !DigestBuild(access: site.access).audit())
    }
  }

  @Test func digestsOfOtherNamesAreNotKeptAndCountedAnew() throws {
    let fleet = Fleet(seed: 6)
    let (a, hub) = (try fleet.add("a"), try fleet.add("hub"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "v"], in: $0) }
    _ = try fleet.settle([(a, hub)])
    let ledger = try a.access.ledger()
    ledger.put(SyncKey.digests, DigestState(names: 1, extent: .all).encoded)
    #expect(try a.access.commit(ledger))
    try a.write { try a.find("Item", "k", in: $0)?.setValue("w", forKey: "value") }
    _ = try fleet.settle([(a, hub)])
    #expect(try a.access.ledger().value(SyncKey.digests) == nil)
    #expect(try fleet.quickly(a, hub)?.isEqual == true)
    #expect(try !DigestBuild(access: a.access).audit())
  }

  @Test func digestsAreCountedWhileOthersWrite() throws {
    let fleet = Fleet(seed: 7)
    let a = try fleet.add("a")
    try a.write { context in
      let tags = try Set([a.insert("Tag", ["name": "t"], in: context)])
      for key in 0..<300 {
        let item = try a.insert("Item", ["key": "k\(key)"], in: context)
        if key % 9 == 0 { item.setValue(tags, forKey: "tags") }
      }
    }
    try HistoryCapture(access: a.access).run()
    let build = DigestBuild(access: a.access, entriesPerCommit: 50)
    try build.discard()
    var steps = 0
    while try !build.step() {
      steps += 1
      try a.write { context in
        let items = try a.all("Item", in: context)
        items[(steps * 397) % items.count].setValue("new \(steps)", forKey: "value")
        context.delete(items[(steps * 211) % items.count])
        let new = try a.insert("Item", ["key": "more \(steps)"], in: context)
        new.setValue(try Set(a.all("Tag", in: context)), forKey: "tags")
      }
      try HistoryCapture(access: a.access).run()
      fleet.advance(70_000)
    }
    #expect(steps > 4)
    #expect(try !build.audit())
  }

  @Test func rowsThatSqlMovedAreFoundQuickly() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let url = try await daemon.addReplica(in: scratch, with: ["k", "l"])
    let report = try await daemon.engine.verify(name: "nas", level: .quick, timeout: .patience)
    #expect(report.isEqual && report.level == .quick && report.records == 2)
    let file = try DatabaseQueue(patient: url.path)
    // As many rows as before.
    try await file.write { database in
      try database.execute(sql: "UPDATE ZITEM SET Z_PK = 77 WHERE ZKEY = 'k'")
    }
    try file.close()
    let found = try await daemon.engine.verify(name: "nas", level: .quick, timeout: .patience)
    #expect(found.level == .full)
    #expect(Set(found.differences.map(\.kind)) == [.onlyLocal, .unknownReplica])
    await daemon.engine.stop()
  }
}

extension Fleet {
  func quickly(_ local: Site, _ replica: Site) throws -> VerifyReport? {
    try DigestComparison(local: local.access, replica: replica.access).run(name: "")
  }
}
