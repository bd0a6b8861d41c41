import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

// One rule of replication each, on stores in memory.
struct ReplicationTests {
  @Test func whatOneStoreWroteIsInAllAfterAPassEach() throws {
    let fleet = Fleet(seed: 1)
    let (a, b, hub) = (try fleet.add("a"), try fleet.add("b"), try fleet.add("hub"))
    try a.write { context in
      let parent = try a.insert("Item", ["key": "p", "value": "1", "other": 2.5], in: context)
      let child = try a.insert("Item", ["key": "c", "parent": parent], in: context)
      let tag = try a.insert("Tag", ["name": "red"], in: context)
      child.setValue(Set([tag]), forKey: "tags")
      _ = try a.insert("Part", ["key": "x", "item": child], in: context)
    }
    try fleet.pass(a, hub)
    #expect(try hub.picture() == a.picture())
    try fleet.pass(b, hub)
    #expect(try b.picture() == a.picture())
    #expect(try a.picture().count == 4)
    // Nothing echoes.
    #expect(try fleet.pass(a, hub) == 0)
    #expect(try fleet.pass(b, hub) == 0)
    #expect(try StoreComparison(local: a.access, replica: hub.access).run(name: "hub").isEqual)
  }

  @Test func ofConcurrentWritesOfOnePropertyTheLaterWinsAndTheOtherIsJournaled() throws {
    let fleet = Fleet(seed: 2)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "0"], in: $0) }
    try fleet.pass(a, b)
    try a.write { try a.find("Item", "k", in: $0)?.setValue("from a", forKey: "value") }
    try HistoryCapture(access: a.access).run()
    fleet.advance(10)
    try b.write {
      try b.find("Item", "k", in: $0)?.setValue("from b", forKey: "value")
      try b.find("Item", "k", in: $0)?.setValue(7.0, forKey: "other")
    }
    try HistoryCapture(access: b.access).run()
    try fleet.pass(a, b)
    #expect(try a.picture() == ["item k from b 7.0 ^- []"])
    #expect(try b.picture() == a.picture())
    let journal = try journal(a) + journal(b)
    #expect(journal.contains { $0.losingValue == .string("from a") && $0.property == "value" })
  }

  @Test(arguments: [DeleteConflictPolicy.lastWriter, .deleteWins, .writeWins])
  func aDeleteAgainstALaterWriteFollowsThePolicy(policy: DeleteConflictPolicy) throws {
    let fleet = Fleet(seed: 3)
    let set: (inout SyncConfiguration) -> Void = { $0.deleteConflicts = policy }
    let (a, b) = (try fleet.add("a", configure: set), try fleet.add("b", configure: set))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "0", "other": 1.0], in: $0) }
    try fleet.pass(a, b)
    try a.write { context in try a.find("Item", "k", in: context).map(context.delete) }
    try HistoryCapture(access: a.access).run()
    fleet.advance(10)
    try b.write { try b.find("Item", "k", in: $0)?.setValue("late", forKey: "value") }
    _ = try fleet.settle([(a, b)])
    let expected = policy == .deleteWins ? [] : ["item k late 1.0 ^- []"]
    #expect(try a.picture() == expected)
    #expect(try b.picture() == expected)
    #expect(try !(journal(a) + journal(b)).isEmpty)
  }

  @Test func aReferenceWaitsForItsTargetAndIsCompletedWhenItArrives() throws {
    let fleet = Fleet(seed: 4)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    // The child is older than its parent, so a first copy in small batches sends it first.
    try a.write { _ = try a.insert("Item", ["key": "c"], in: $0) }
    try HistoryCapture(access: a.access).run()
    fleet.advance(10)
    try a.write { context in
      for number in 0..<20 {
        _ = try a.insert("Item", ["key": "n\(number)"], in: context)
      }
    }
    try a.write { context in
      let parent = try a.insert("Item", ["key": "p"], in: context)
      try a.find("Item", "c", in: context)?.setValue(parent, forKey: "parent")
    }
    try HistoryCapture(access: a.access).run()
    let importer = Importer(fleet: fleet, destination: b)
    try HistoryCapture(access: b.access).run()
    // Deliver by hand: the child without its parent, twice, then the parent.
    let all = try importer.everything(from: a)
    let child = try #require(all.records.first { $0.registers["key"]?.value == .string("c") })
    let parent = try #require(all.records.first { $0.registers["key"]?.value == .string("p") })
    try importer.deliver([child], from: a)
    try importer.deliver([child], from: a)
    #expect(try b.picture() == ["item c nil nil ^- []"])
    try importer.deliver([parent], from: a)
    #expect(try b.picture() == ["item c nil nil ^p []", "item p nil nil ^- []"])
    _ = try fleet.settle([(a, b)])
    #expect(try b.picture() == a.picture())
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
  }

  @Test func linksAddedAndRemovedOnBothSidesAreMergedOneByOne() throws {
    let fleet = Fleet(seed: 5)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      let item = try a.insert("Item", ["key": "k"], in: context)
      let tags = try ["t1", "t2", "t3"].map { try a.insert("Tag", ["name": $0], in: context) }
      item.setValue(Set(tags[0...1]), forKey: "tags")
    }
    try fleet.pass(a, b)
    func change(_ site: Fleet.Site, add: String, remove: String) throws {
      try site.write { context in
        guard let item = try site.find("Item", "k", in: context),
          let added = try site.find("Tag", add, in: context),
          let removed = try site.find("Tag", remove, in: context)
        else { throw Fleet.Stopped() }
        var tags = item.value(forKey: "tags") as? Set<ManagedObject> ?? []
        tags.insert(added)
        tags.remove(removed)
        item.setValue(tags, forKey: "tags")
      }
      try HistoryCapture(access: site.access).run()
      fleet.advance(5)
    }
    try change(a, add: "t3", remove: "t1")
    try change(b, add: "t1", remove: "t2")
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture().first == "item k nil nil ^- [\"t3\"]")
    #expect(try b.picture() == a.picture())
  }

  @Test func twoPopulatedStoresAreJoinedByUniquenessAndReferencesFollowTheSurvivor() throws {
    let fleet = Fleet(seed: 6)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    for site in [a, b] {
      try site.write { context in
        let tag = try site.insert("Tag", ["name": "red"], in: context)
        if site.name == "b" { tag.setValue("noted", forKey: "note") }
        let item = try site.insert("Item", ["key": site.name], in: context)
        item.setValue(Set([tag]), forKey: "tags")
      }
      try HistoryCapture(access: site.access).run()
      fleet.advance(5)
    }
    _ = try fleet.settle([(a, b)])
    #expect(
      try a.picture() == [
        "item a nil nil ^- [\"red\"]", "item b nil nil ^- [\"red\"]", "tag red noted",
      ])
    #expect(try b.picture() == a.picture())
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
  }

  @Test func aCascadeTakesWhatOnlyTheDestinationKnewAndTheRestHearsOfIt() throws {
    let fleet = Fleet(seed: 7)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      _ = try a.insert("Item", ["key": "k"], in: context)
      let child = try a.insert("Item", ["key": "c"], in: context)
      child.setValue(try a.find("Item", "k", in: context), forKey: "parent")
    }
    try fleet.pass(a, b)
    try b.write { context in
      _ = try b.insert(
        "Part", ["key": "x", "item": try b.find("Item", "k", in: context) as Any], in: context)
      _ = try b.insert(
        "Item", ["key": "d", "parent": try b.find("Item", "k", in: context) as Any], in: context)
    }
    fleet.advance(5)
    try a.write { context in try a.find("Item", "k", in: context).map(context.delete) }
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == ["item c nil nil ^- []", "item d nil nil ^- []"])
    #expect(try b.picture() == a.picture())
  }

  /// core-data-semantics 3.5, as in a migration: a writer of an older model does not know an attribute.
  @Test func whatTheWriterOfARecordDoesNotKnowHasItsDefaultOnlyIfItMustHaveAValue() throws {
    let model = SampleModel.make()
    let item = model.entitiesByName["Item"]
    item?.attributesByName["other"]?.defaultValue = 7.0
    item?.attributesByName["value"]?.defaultValue = "new"
    item?.attributesByName["value"]?.isOptional = false
    let fleet = Fleet(seed: 14, model: model)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "1", "other": 2.5], in: $0) }
    try HistoryCapture(access: a.access).run()
    try HistoryCapture(access: b.access).run()
    let importer = Importer(fleet: fleet, destination: b)
    let records = try importer.everything(from: a).records.map { record in
      var record = record
      record.registers["other"] = nil
      record.registers["value"] = nil
      return record
    }
    try importer.deliver(records, from: a)
    #expect(try b.picture() == ["item k new nil ^- []"])
  }

  @Test func anInvalidRecordIsQuarantinedAndTheRestGoesOn() throws {
    let fleet = Fleet(seed: 8)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { context in
      for number in 0..<5 { _ = try a.insert("Item", ["key": "k\(number)"], in: context) }
    }
    try HistoryCapture(access: a.access).run()
    try HistoryCapture(access: b.access).run()
    let importer = Importer(fleet: fleet, destination: b)
    var all = try importer.everything(from: a)
    let place = try #require(
      all.records.firstIndex { $0.registers["key"]?.value == .string("k2") })
    let good = all.records[place]
    let write = try #require(good.registers["value"]?.write)
    all.records[place].registers["value"] = Register(
      value: .string(String(repeating: "x", count: 200)), write: write)
    let outcome = try importer.deliver(all.records, from: a)
    #expect(outcome.held.map(\.name) == ["Item \(good.id)"])
    #expect(try b.picture().count == 4)
    let entry = try #require(try quarantine(b).first)
    #expect(entry.reason == .validation && entry.state?.id == good.id)
    // A later write mends it.
    fleet.advance(100)
    try a.write { try a.find("Item", "k2", in: $0)?.setValue("short", forKey: "value") }
    _ = try fleet.settle([(a, b)])
    #expect(try b.picture() == a.picture())
    #expect(try quarantine(b).isEmpty)
  }

  @Test func aRecordFromTheFutureIsHeldUntilTimeCatchesUp() throws {
    let fleet = Fleet(seed: 9)
    let a = try fleet.add("a", skew: 60_000)
    let b = try fleet.add("b")
    try a.write { _ = try a.insert("Item", ["key": "k"], in: $0) }
    try HistoryCapture(access: a.access).run()
    try fleet.pass(b, a)
    #expect(try b.picture().isEmpty)
    #expect(try quarantine(b).map(\.reason) == [.clockSkew])
    fleet.advance(60_000)
    try fleet.pass(b, a)
    #expect(try b.picture() == a.picture())
    #expect(try quarantine(b).isEmpty)
  }

  @Test func rowsFromBeforeSyncAreTakenUpInChunksAcrossCrashes() throws {
    let fleet = Fleet(seed: 10)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    for round in 0..<3 {
      try a.write { context in
        let tag = try a.insert("Tag", ["name": "t\(round)"], in: context)
        for number in 0..<400 {
          let item = try a.insert("Item", ["key": "k\(round)-\(number)"], in: context)
          item.setValue(Set([tag]), forKey: "tags")
        }
      }
    }
    let history = try a.access.history()
    _ = try history.purgeHistory(before: try history.lastTransactionNumber() + 1, date: nil)
    fleet.crash(percent: 40)
    for _ in 0..<30 { try fleet.pass(a, b) }
    fleet.crash(percent: 0)
    #expect(try fleet.settle([(a, b)]) < 40)
    #expect(try a.picture().count == 1203)
    #expect(try b.picture() == a.picture())
  }

  /// Specification: sync.md 5, "In step means in step": what two stores have sent waits for both.
  @Test func whatWaitsCountsForEachStoreThatHasSentIt() throws {
    let fleet = Fleet(seed: 31)
    let a = try fleet.add("a")
    let (hub, nas) = (try fleet.add("hub", skew: 60_000), try fleet.add("nas", skew: 60_000))
    try hub.write { _ = try hub.insert("Item", ["key": "k"], in: $0) }
    try fleet.pass(hub, nas)
    for replica in [hub, nas, hub] { try fleet.pass(a, replica, direction: .pull) }
    for replica in [hub, nas] {
      let held = try a.access.held(from: [replica.access.ledger().storeID])
      #expect(held.ahead == 1, "\(replica.name)")
    }
    #expect(try a.access.held().ahead == 1)
    let entry = try #require(try quarantine(a).first)
    #expect(try QuarantineEntry(decoding: entry.encoded) == entry)
  }

  func journal(_ site: Fleet.Site) throws -> [Conflict] {
    let sidecar = try #require(site.store.capabilities.sidecar)
    return try sidecar.sidecarEntries(of: SyncMap.journal.rawValue, from: nil, to: nil, limit: 0)
      .map { try JournalEntry(decoding: $0.value).conflict }
  }

  func quarantine(_ site: Fleet.Site) throws -> [QuarantineEntry] {
    let sidecar = try #require(site.store.capabilities.sidecar)
    return try sidecar.sidecarEntries(
      of: SyncMap.quarantine.rawValue, from: nil, to: nil, limit: 0
    ).map { try QuarantineEntry(decoding: $0.value) }
  }
}

/// Delivers change sets by hand.
struct Importer {
  let fleet: Fleet
  let destination: Fleet.Site

  func everything(from source: Fleet.Site) throws -> ChangeSet {
    var configuration = source.access.configuration
    configuration.batchSize = 100_000
    let access = StoreAccess(
      store: source.store, schema: source.access.schema,
      environment: source.access.environment, configuration: configuration)
    let exporter = ChangeExporter(
      access: access, destination: try destination.access.ledger().storeID)
    return try exporter.next(after: SyncCursor())
      ?? ChangeSet(source: try source.access.ledger().storeID, after: 0, upTo: 0)
  }

  @discardableResult
  func deliver(
    _ records: [RecordState], from source: Fleet.Site
  ) throws -> ChangeImporter.Outcome {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fleet.coordinator
    let set = ChangeSet(
      source: try source.access.ledger().storeID, after: 0, upTo: 0, records: records)
    return try context.performAndWait {
      try ChangeImporter(access: destination.access, context: context).apply(set, cursor: nil)
    }
  }
}
