import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

// Replicas that have some entities only.
struct EntityFilterTests {
  private func daemon(_ scratch: Scratch) throws -> SyncEngineTests.Daemon {
    try SyncEngineTests.Daemon("local", in: scratch)
  }

  private func replica(_ scratch: Scratch, _ entities: Set<String>?, _ name: String = "nas")
    -> ReplicaConfiguration
  {
    ReplicaConfiguration(
      name: name, url: scratch.url.appendingPathComponent("\(name).sqlite"), entities: entities)
  }

  /// An item with a part and a tag.
  private func fill(_ daemon: SyncEngineTests.Daemon) throws {
    try daemon.site.write { context in
      let item = try daemon.site.insert("Item", ["key": "i"], in: context)
      let tag = try daemon.site.insert("Tag", ["name": "t"], in: context)
      let part = try daemon.site.insert("Part", ["key": "p"], in: context)
      part.setValue(item, forKey: "item")
      item.setValue(Set([tag]), forKey: "tags")
    }
  }

  /// What another program sees in the replica's file.
  private func picture(_ scratch: Scratch, _ name: String = "nas") async throws -> [String] {
    let reader = try SyncEngineTests.Daemon(name, in: scratch)
    let picture = try reader.site.picture()
    try await reader.close()
    return picture
  }

  @Test func aReplicaGetsAndGivesTheEntitiesItIsToHaveAndIsInStepThen() async throws {
    let scratch = try Scratch()
    let daemon = try daemon(scratch)
    try fill(daemon)
    try daemon.engine.addReplica(replica(scratch, ["Part"]))
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await picture(scratch) == ["part p of - at -1"])
    let other = try SyncEngineTests.Daemon("nas", in: scratch)
    try other.site.write { context in
      _ = try other.site.insert("Part", ["key": "q"], in: context)
      _ = try other.site.insert("Item", ["key": "theirs"], in: context)
    }
    try await other.close()
    try await daemon.engine.wait(timeout: .patience)
    let here = try daemon.site.picture()
    #expect(here.contains("part q of - at -1"))
    #expect(!here.contains { $0.contains("theirs") })
    for level in VerifyLevel.allCases {
      let report = try await daemon.engine.verify(name: "nas", level: level, timeout: .patience)
      // Not those which only one of the two has and is to have.
      #expect(report.isEqual && report.records == 2 && report.links == 0, "\(report)")
    }
    await daemon.engine.stop()
  }

  @Test func aReferenceToARecordThatIsNotExchangedIsKeptAndForwarded() async throws {
    let scratch = try Scratch()
    let daemon = try daemon(scratch)
    try fill(daemon)
    try daemon.engine.addReplica(replica(scratch, ["Part", "Tag"]))
    try await daemon.engine.wait(timeout: .patience)
    // A write to the part there does not take the reference away here.
    let other = try SyncEngineTests.Daemon("nas", in: scratch)
    try other.site.write { context in
      try other.site.find("Part", "p", in: context)?.setValue("p2", forKey: "key")
    }
    try await other.close()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.picture().contains("part p2 of i at 0"))
    // Who has the item too learns of both from the replica alone.
    let third = try SyncEngineTests.Daemon("third", in: scratch)
    try third.engine.addReplica(replica(scratch, nil))
    try await third.engine.completeForTests("nas")
    #expect(try third.site.picture().contains("part p2 of - at -1"))
    try daemon.engine.addReplica(replica(scratch, ["Item"], "items"))
    try await daemon.engine.wait(timeout: .patience)
    try third.engine.addReplica(replica(scratch, nil, "items"))
    // The one replica has what the other's references wait for.
    try await third.engine.completeForTests("items")
    try await third.engine.wait(timeout: .patience)
    #expect(try third.site.picture() == daemon.site.picture())
    await third.engine.stop()
    await daemon.engine.stop()
  }

  @Test func whatWaitsInAReplicaOfEntitiesThatAreNotExchangedKeepsNoLinkOutOfStep() async throws {
    let scratch = try Scratch()
    let whole = try SyncEngineTests.Daemon("whole", in: scratch)
    let some = try daemon(scratch)
    try whole.engine.addReplica(replica(scratch, nil))
    try await whole.engine.wait(timeout: .patience)
    let path = scratch.url.appendingPathComponent("nas.sqlite").path
    let file = try DatabaseQueue(patient: path)
    try await file.write { database in
      try database.execute(
        sql: """
          CREATE TRIGGER rule BEFORE INSERT ON ZITEM WHEN NEW.ZKEY = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END
          """)
    }
    try file.close()
    try whole.site.write { _ = try whole.site.insert("Item", ["key": "bad"], in: $0) }
    let refusal = await #expect(throws: SyncError.self) {
      try await whole.engine.wait(timeout: .patience)
    }
    #expect(refusal?.code == .recordsHeld, "\(refusal?.message ?? "")")
    try some.engine.addReplica(replica(scratch, ["Part"]))
    try await some.engine.wait(timeout: .patience)
    // Once it is exchanged it is waited for.
    try await some.engine.removeReplica(named: "nas")
    try some.engine.addReplica(replica(scratch, ["Part", "Item"]))
    let other = await #expect(throws: SyncError.self) {
      try await some.engine.wait(timeout: .patience)
    }
    #expect(other?.code == .recordsHeld, "\(other?.message ?? "")")
    await some.engine.stop()
    await whole.engine.stop()
  }

  @Test func moreEntitiesBringTheirRecordsAndFewerLeaveThem() async throws {
    let scratch = try Scratch()
    let daemon = try daemon(scratch)
    try fill(daemon)
    try daemon.engine.addReplica(replica(scratch, ["Item"]))
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await picture(scratch) == ["item i nil nil ^- []"])
    for entities in [["Item", "Tag", "Part"], nil] as [Set<String>?] {
      try await daemon.engine.removeReplica(named: "nas")
      try daemon.engine.addReplica(replica(scratch, entities))
      try await daemon.engine.wait(timeout: .patience)
      #expect(try await picture(scratch) == daemon.site.picture())
    }
    try await daemon.engine.removeReplica(named: "nas")
    try daemon.engine.addReplica(replica(scratch, ["Tag"]))
    try daemon.site.write { context in
      try daemon.site.find("Item", "i", in: context)?.setValue("new", forKey: "value")
      try daemon.site.find("Tag", "t", in: context)?.setValue("new", forKey: "note")
    }
    try await daemon.engine.wait(timeout: .patience)
    let there = try await picture(scratch)
    #expect(there.contains("tag t new") && there.contains("item i nil nil ^- [\"t\"]"))
    await daemon.engine.stop()
  }

  /// The delete is passed over while it is none of the link's business, and purged like any other.
  @Test func aDeleteOfWhatIsNotExchangedForAWhileArrivesLater() async throws {
    let scratch = try Scratch()
    let daemon = try daemon(scratch)
    try fill(daemon)
    try daemon.insert(["goes", "stays"])
    for entities in [nil, ["Tag"], nil] as [Set<String>?] {
      try daemon.engine.addReplica(replica(scratch, entities))
      try await daemon.engine.wait(timeout: .patience)
      if entities != nil {
        try daemon.site.write { context in
          if let item = try daemon.site.find("Item", "goes", in: context) { context.delete(item) }
        }
        try await daemon.engine.wait(timeout: .patience)
        let purged = try await daemon.engine.purge(olderThan: .zero)
        #expect(purged.first?.records == 1, "\(purged)")
        #expect(try await picture(scratch).contains { $0.contains("item goes") })
      } else {
        #expect(try await picture(scratch) == daemon.site.picture())
        #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
      }
      try await daemon.engine.removeReplica(named: "nas")
    }
    #expect(try !daemon.site.picture().contains { $0.contains("item goes") })
    await daemon.engine.stop()
  }

  /// Items take their parts along; one daemon has items only, and one parts only.
  @Test(arguments: [false, true], [SyncDirection.both, .pull])
  func whatGoesAlongWithARecordThatIsNotExchangedGoesThereToo(
    _ isWrittenMeanwhile: Bool, _ direction: SyncDirection
  ) async throws {
    let scratch = try Scratch()
    let filters: [String: Set<String>?] = [
      "all": nil, "parts": ["Part", "Tag"], "items": ["Item"],
    ]
    var daemons: [String: SyncEngineTests.Daemon] = [:]
    for (name, entities) in filters {
      let daemon = try SyncEngineTests.Daemon(name, in: scratch)
      if name == "all" {
        try fill(daemon)
        try daemon.site.write { context in
          let second = try daemon.site.insert("Part", ["key": "q"], in: context)
          second.setValue(try daemon.site.find("Item", "i", in: context), forKey: "item")
        }
      }
      var shared = replica(scratch, entities)
      if name == "parts", !isWrittenMeanwhile { shared.direction = direction }
      try daemon.engine.addReplica(shared)
      daemons[name] = daemon
    }
    let all = try #require(daemons["all"])
    let parts = try #require(daemons["parts"])
    let items = try #require(daemons["items"])
    func settle() async throws {
      for _ in 0..<3 {
        for daemon in [all, items, parts] { try await daemon.engine.wait(timeout: .patience) }
      }
    }
    try await settle()
    let kept = try all.site.write { context in
      try all.site.all("Part", in: context).compactMap {
        try all.site.access.ledger().recordID(for: $0.objectID)
      }
    }
    #expect(try kept.count == 2 && parts.site.picture().contains { $0.contains("part q") })
    try parts.engine.pause()
    try items.site.write { context in
      context.delete(try #require(try items.site.find("Item", "i", in: context)))
    }
    for daemon in [items, all] { try await daemon.engine.wait(timeout: .patience) }
    #expect(try !all.site.picture().contains { $0.contains("part") })
    if isWrittenMeanwhile {
      try parts.site.write { context in
        try parts.site.find("Part", "q", in: context)?.setValue("later", forKey: "key")
      }
    }
    try parts.engine.resume()
    try await settle()
    let left = isWrittenMeanwhile ? ["part later of - at -1"] : []
    if direction == .both {
      let ledger = try all.site.access.ledger()
      for id in kept {
        #expect(try ledger.record(id)?.deletion != nil, "they have deletes of their own everywhere")
      }
    }
    for daemon in [parts, all] {
      #expect(try daemon.site.picture().filter { $0.contains("part") } == left)
      let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
      #expect(report.isEqual, "\(report)")
    }
    for daemon in daemons.values { try await daemon.close() }
  }

  /// Items take their children along, too: the deleter knew neither the item between nor the part.
  @Test func whatGoesAlongWithARecordThatIsHiddenItselfGoesThereToo() async throws {
    let scratch = try Scratch()
    func open(_ name: String, _ entities: Set<String>?) throws -> SyncEngineTests.Daemon {
      let model = SampleModel.make()
      model.entitiesByName["Item"]?.relationshipsByName["children"]?.deleteRule = .cascade
      let daemon = try SyncEngineTests.Daemon(name, in: scratch, model: model)
      try daemon.engine.addReplica(replica(scratch, entities))
      return daemon
    }
    let (all, items, parts) = (
      try open("all", nil), try open("items", ["Item"]), try open("parts", ["Part"])
    )
    func settle(_ daemons: SyncEngineTests.Daemon...) async throws {
      for _ in 0..<3 { for daemon in daemons { try await daemon.engine.wait(timeout: .patience) } }
    }
    try all.site.write { _ = try all.site.insert("Item", ["key": "top"], in: $0) }
    try await settle(all, items, parts)
    try await items.engine.rest()
    try all.site.write { context in
      let between = try all.site.insert("Item", ["key": "between"], in: context)
      between.setValue(try all.site.find("Item", "top", in: context), forKey: "parent")
      _ = try all.site.insert("Part", ["key": "p", "item": between], in: context)
    }
    try await settle(all, parts)
    #expect(try parts.site.picture() == ["part p of - at -1"])
    try items.site.delete("top")
    try items.engine.resume()
    try await settle(items, all, parts)
    for daemon in [all, items, parts] {
      #expect(try daemon.site.picture() == [])
      let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
      #expect(report.isEqual, "\(report)")
      try await daemon.close()
    }
  }

  /// A reference to what only another store knows to be united with another record.
  @Test func aRepairKeepsReferencesToWhatIsNotExchanged() async throws {
    let scratch = try Scratch()
    let (first, second) = (
      try SyncEngineTests.Daemon("first", in: scratch),
      try SyncEngineTests.Daemon("second", in: scratch)
    )
    let items = try SyncEngineTests.Daemon("items", in: scratch)
    for daemon in [first, second] { try daemon.engine.addReplica(replica(scratch, nil)) }
    try items.engine.addReplica(replica(scratch, ["Item"]))
    for daemon in [first, second, items] { try await daemon.engine.wait(timeout: .patience) }
    // The smaller ID, which is the older one, survives.
    try second.engine.pause()
    try second.site.write { _ = try second.site.insert("Tag", ["name": "same"], in: $0) }
    try first.site.write { context in
      let tag = try first.site.insert("Tag", ["name": "same"], in: context)
      let item = try first.site.insert("Item", ["key": "i"], in: context)
      item.setValue(tag, forKey: "label")
    }
    for daemon in [first, items] { try await daemon.engine.wait(timeout: .patience) }
    try second.engine.resume()
    for _ in 0..<2 {
      for daemon in [second, first, items] { try await daemon.engine.wait(timeout: .patience) }
    }
    func label(_ daemon: SyncEngineTests.Daemon) throws -> String? {
      try daemon.site.write { context in
        let item = try daemon.site.find("Item", "i", in: context)
        return (item?.value(forKey: "label") as? ManagedObject)?.value(forKey: "name") as? String
      }
    }
    #expect(try label(first) == "same")
    let report = try await items.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual, "\(report)")
    _ = try await items.engine.repair(name: "nas")
    for daemon in [items, first, second] { try await daemon.engine.wait(timeout: .patience) }
    #expect(try label(first) == "same" && label(second) == "same")
    for daemon in [first, second, items] { try await daemon.close() }
  }

  /// An order of records that are not exchanged waits for nothing, and is no difference.
  @Test(arguments: [["Item"], ["Part"], ["Tag"]])
  func orderedRelationshipsThatLeadOutKeepNothingFromBeingInStep(_ entities: [String]) async throws
  {
    let scratch = try Scratch()
    let daemon = try daemon(scratch)
    try daemon.site.write { context in
      let item = try daemon.site.insert("Item", ["key": "i"], in: context)
      let parts = try ["p", "q", "r"].map {
        try daemon.site.insert("Part", ["key": $0], in: context)
      }
      let tags = try ["t", "u"].map { try daemon.site.insert("Tag", ["name": $0], in: context) }
      item.setValue(NSOrderedSet(array: parts), forKey: "parts")
      item.setValue(NSOrderedSet(array: tags), forKey: "picks")
    }
    try daemon.engine.addReplica(replica(scratch, Set(entities)))
    for isTurned in [false, true] {
      if isTurned {
        try daemon.site.write { context in
          let item = try #require(try daemon.site.find("Item", "i", in: context))
          for name in ["parts", "picks"] {
            let members = try #require(item.value(forKey: name) as? NSOrderedSet)
            item.setValue(members.reversed, forKey: name)
          }
        }
      }
      try await daemon.engine.wait(timeout: .patience)
      for level in VerifyLevel.allCases {
        let report = try await daemon.engine.verify(name: "nas", level: level, timeout: .patience)
        #expect(report.isEqual, "\(report)")
      }
    }
    await daemon.engine.stop()
  }

  @Test func verifyTellsOfWhatDiffersAmongTheEntitiesAlone() async throws {
    let scratch = try Scratch()
    let daemon = try daemon(scratch)
    try fill(daemon)
    try daemon.engine.addReplica(replica(scratch, ["Part", "Tag"]))
    try await daemon.engine.wait(timeout: .patience)
    try daemon.engine.pause()
    try daemon.site.write { context in
      try daemon.site.find("Item", "i", in: context)?.setValue("new", forKey: "value")
      try daemon.site.find("Part", "p", in: context)?.setValue("p2", forKey: "key")
    }
    try HistoryCapture(access: daemon.site.access).run()
    let link = try daemon.engine.link("nas")
    let replica = try #require(link.replica)
    for level in VerifyLevel.allCases {
      let report = try SyncEngine.compare(
        daemon.site.access, replica, level, link.filter, name: "nas")
      #expect(report.differences.map(\.property) == ["key"], "\(report)")
      #expect(report.records == 2)
    }
    await daemon.engine.stop()
  }

  @Test func aReplicaThatOnlyGivesOrTakesLeavesNoWordOfItsEntitiesWhereNothingArrives() throws {
    for (direction, isHere, isThere) in [
      (SyncDirection.push, false, true), (.pull, true, false), (.both, true, true),
    ] {
      let pair = try ContentionTests.Pair(items: 1)
      let filter = try EntityFilter(
        ReplicaConfiguration(
          name: "disk", url: URL(fileURLWithPath: "/disk"), entities: ["Item"]),
        pair.local.access.schema)
      _ = try pair.fleet.pass(pair.local, pair.replica, direction: direction, filter: filter)
      let here = try pair.local.access.ledger()
      let there = try pair.replica.access.ledger()
      #expect(try (here.value(SyncKey.filter(there.storeID)) != nil) == isHere)
      #expect(try (there.value(SyncKey.filter(here.storeID)) != nil) == isThere)
    }
  }

  @Test func entitiesThatTheModelDoesNotHaveAreRefused() async throws {
    let scratch = try Scratch()
    let daemon = try daemon(scratch)
    for entities in [["Nope"], []] as [Set<String>] {
      let error = #expect(throws: SyncError.self) {
        try daemon.engine.addReplica(replica(scratch, entities))
      }
      #expect(error?.code == .invalidConfiguration && error?.recovery == .person)
    }
    #expect(try daemon.engine.status().replicas.isEmpty)
    await daemon.engine.stop()
  }
}

extension SyncEngine {
  /// A pass that may leave references waiting.
  func completeForTests(_ name: String) async throws {
    try await link(name).completePass(timeout: .patience)
  }
}
