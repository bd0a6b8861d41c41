import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "A replica away longer than the retention": what was deleted meanwhile does
/// not come back with it, and nothing that was written meanwhile is lost, on either side.
struct ReturningReaderTests {
  private let fleet: Fleet
  /// The local store and the replica that goes away.
  private let a: Fleet.Site
  private let disk: Fleet.Site

  init() throws {
    fleet = Fleet(seed: 9)
    (a, disk) = (try fleet.addRetaining("a"), try fleet.addRetaining("disk"))
  }

  private func insert(_ keys: [String], _ site: Fleet.Site) throws {
    try site.write { context in
      for key in keys { _ = try site.insert("Item", ["key": key, "value": key], in: context) }
    }
  }

  private func set(_ key: String, _ value: String, _ site: Fleet.Site) throws {
    try site.write { try site.find("Item", key, in: $0)?.setValue(value, forKey: "value") }
  }

  private func delete(_ keys: [String], _ site: Fleet.Site) throws {
    try site.write { context in
      for key in keys { try site.find("Item", key, in: context).map(context.delete) }
    }
  }

  private func values(_ site: Fleet.Site) throws -> [String] {
    try site.write { context in
      try site.all("Item", in: context).map {
        "\($0.value(forKey: "key") ?? "")=\($0.value(forKey: "value") ?? "nil")"
      }
    }
  }

  /// Lets the retention pass twice, so that readers are silent for too long and all is old.
  private func wait(_ sites: [Fleet.Site]) throws {
    for _ in 0..<3 {
      for site in sites {
        try HistoryCapture(access: site.access).run()
        try site.purge()
      }
      fleet.advance(PurgeTests.retention + 1)
    }
    for site in sites { try site.purge() }
  }

  private func expect(
    _ expected: [String], _ links: [(Fleet.Site, Fleet.Site)],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try fleet.settle(links) < 40, sourceLocation: location)
    for (local, replica) in links {
      #expect(try values(local) == expected, sourceLocation: location)
      #expect(try values(replica) == expected, sourceLocation: location)
      #expect(try fleet.differences(local, replica).isEmpty, sourceLocation: location)
    }
  }

  /// - Parameter isPushed: Whether the records came from the local store, or were written at the replica.
  @Test(arguments: [true, false], [true, false])
  func whatWasDeletedMeanwhileDoesNotComeBack(isPushed: Bool, isLocalAway: Bool) throws {
    let (stays, away) = isLocalAway ? (disk, a) : (a, disk)
    try insert(["stays", "goes", "changes"], isPushed == isLocalAway ? away : stays)
    // A single pass: none follows in which the other would acknowledge what it was just given.
    try fleet.pass(a, disk)
    try delete(["goes"], stays)
    try set("changes", "new", stays)
    try wait([stays])
    #expect(try stays.entries(.records) == 2)
    try insert(["written meanwhile"], away)
    try expect(["changes=new", "stays=stays", "written meanwhile=written meanwhile"], [(a, disk)])
  }

  /// Specification: sync.md 9, `plan`.
  @Test(arguments: [1, nil]) func aPlanCountsWhatAReturningStoreDeletes(_ most: Int?) throws {
    try insert(["stays", "goes", "goes too"], a)
    try fleet.pass(a, disk)
    try delete(["goes", "goes too"], a)
    try wait([a])
    try insert(["written meanwhile"], disk)
    let limit = DeletionLimit(count: most, share: nil, smallest: 0)
    let members = try [a, disk].map { site in
      GroupStores.Member(
        name: site.name, id: try site.access.ledger().storeID, access: site.access, link: nil,
        translation: nil)
    }
    func plan() throws -> [DirectionPlan] {
      try [members, members.reversed()].map { pair in
        try PassPlanning(
          source: pair[0], destination: pair[1], coordinator: fleet.coordinator, limit: 10,
          deletionLimit: limit, replica: "disk", localSchema: a.access.schema
        ).run()
      }
    }
    let (push, pull) = (try plan()[0], try plan()[1])
    #expect(
      push.entities.map { [$0.inserted, $0.updated, $0.deleted, $0.cascaded] } == [[0, 0, 2, 0]])
    #expect(push.records.map(\.kind) == [.delete, .delete])
    #expect(
      pull.entities.map { [$0.inserted, $0.updated, $0.deleted, $0.cascaded] } == [[1, 0, 0, 0]])
    #expect(push.awaitingApproval?.entities.map(\.deleted) == (most == nil ? nil : [2]))
    #expect(pull.awaitingApproval == nil)
    try expect(["stays=stays", "written meanwhile=written meanwhile"], [(a, disk)])
    #expect(try plan().allSatisfy(\.isEmpty))
  }

  /// What the replica deleted and forgot is no business of a local store that only pushes, nor the other
  /// way round.
  @Test(arguments: [SyncDirection.push, .pull])
  func aLinkOfOneDirectionDeletesNothingWhereItGivesNothing(_ direction: SyncDirection) throws {
    let (giving, taking) = direction == .push ? (a, disk) : (disk, a)
    try insert(["stays", "goes"], giving)
    for _ in 0..<2 { try fleet.pass(a, disk, direction: direction) }
    try delete(["goes"], taking)
    try wait([taking])
    #expect(try ReturningReader(access: giving.access, source: taking.access).isExpired())
    for _ in 0..<2 { try fleet.pass(a, disk, direction: direction) }
    #expect(try values(giving) == ["goes=goes", "stays=stays"])
    #expect(try values(taking) == ["stays=stays"])
  }

  /// A store that has only given reads for the first time, and another daemon purges after the pass has looked.
  @Test func whatIsForgottenBeforeAFirstReadBeginsIsDeletedAllTheSame() throws {
    try insert(["stays", "goes"], a)
    for _ in 0..<2 { try fleet.pass(a, disk, direction: .push) }
    try delete(["goes"], disk)
    try HistoryCapture(access: disk.access).run()
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fleet.coordinator
    let pass = SyncPass(local: a.access, replica: disk.access, context: context)
    var machine = PassState(direction: .both)
    var isPurged = false
    while let step = machine.step {
      if case .move = step, !isPurged {
        try wait([disk])
        #expect(try disk.entries(.records) == 1)
        isPurged = true
      }
      machine.take(try context.performAndWait { try pass.perform(step) }.event)
    }
    try expect(["stays=stays"], [(a, disk)])
  }

  /// The delete lies ahead in the copy, and is forgotten while the store that copies is silent.
  @Test func whatIsForgottenInTheMiddleOfAFirstReadIsDeletedAllTheSame() throws {
    try insert(["stays", "goes"], a)
    for _ in 0..<2 { try fleet.pass(a, disk, direction: .push) }
    for key in ["k1", "k2", "k3"] {
      try insert([key], disk)
      try HistoryCapture(access: disk.access).run()
    }
    try delete(["goes"], disk)
    try HistoryCapture(access: disk.access).run()
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fleet.coordinator
    var pass = SyncPass(local: a.access, replica: disk.access, context: context)
    pass.batchSize = { 1 }
    var machine = PassState(direction: .both)
    func cursor() throws -> SyncCursor {
      try a.access.ledger().cursor(for: disk.access.ledger().storeID)
    }
    while let step = machine.step, try cursor() == SyncCursor() {
      machine.take(try context.performAndWait { try pass.perform(step) }.event)
    }
    #expect(try cursor().isStreaming)
    try wait([disk])
    #expect(try disk.entries(.records) == 4)
    try expect(["k1=k1", "k2=k2", "k3=k3", "stays=stays"], [(a, disk)])
  }

  /// What is kept so travels once the link goes both ways again: the other has read past it, and forgotten it.
  @Test(arguments: [SyncDirection.push, .pull])
  func whatALinkOfOneDirectionKeepsTravelsWhenItGoesBothWaysAgain(
    _ direction: SyncDirection
  ) throws {
    let (away, stays) = direction == .pull ? (a, disk) : (disk, a)
    try away.write { context in
      let item = try away.insert("Item", ["key": "goes", "value": "goes"], in: context)
      item.setValue(
        NSSet(object: try away.insert("Tag", ["name": "t"], in: context)), forKey: "tags")
    }
    try insert(["stays"], away)
    try fleet.sync([(a, disk)])
    fleet.advance(10)
    try delete(["goes"], stays)
    try wait([stays])
    for _ in 0..<3 { try fleet.pass(a, disk, direction: direction) }
    #expect(try values(away) == ["goes=goes", "stays=stays"], "nothing is deleted on its word")
    try expect(["goes=goes", "stays=stays"], [(a, disk)])
    #expect(try a.picture() == disk.picture())
  }

  /// The store that only reads has the links of the record from the one that has forgotten them with it.
  @Test(arguments: [SyncDirection.push, .pull])
  func aRecordThatIsWrittenWhereALinkOnlyReadsBringsItsLinksWhenItGoesBothWays(
    _ direction: SyncDirection
  ) throws {
    let (away, stays) = direction == .pull ? (a, disk) : (disk, a)
    try stays.write { context in
      let item = try stays.insert("Item", ["key": "goes", "value": "goes"], in: context)
      item.setValue(
        NSSet(object: try stays.insert("Tag", ["name": "t"], in: context)), forKey: "tags")
    }
    for _ in 0..<3 { try fleet.pass(a, disk, direction: direction) }
    let whole = try away.picture()
    fleet.advance(10)
    try delete(["goes"], stays)
    try wait([stays])
    try set("goes", "again", away)
    for _ in 0..<3 { try fleet.pass(a, disk, direction: direction) }
    try expect(["goes=again"], [(a, disk)])
    let picture = whole.map { $0.replacing("item goes goes", with: "item goes again") }
    #expect(try a.picture() == picture && disk.picture() == picture)
  }

  /// Specification: sync.md 9: a pass that would delete much asks, also when it is for a store that comes
  /// back.
  @Test(arguments: [true, false])
  func moreThanTheLimitIsAskedAboutAndWaitsForApproval(isLocalAway: Bool) throws {
    let (stays, away) = isLocalAway ? (disk, a) : (a, disk)
    let limit = DeletionLimit(share: 0.5, smallest: 4)
    try insert(["1", "2", "3", "4"], stays)
    for _ in 0..<2 { try fleet.pass(a, disk) }
    try delete(["1", "2", "3"], stays)
    try wait([stays])
    try insert(["meanwhile"], away)
    func ask() -> DeletionPlan? {
      do {
        try fleet.pass(a, disk, deletions: limit)
      } catch {
        return (error as? ApprovalNeeded)?.plan
      }
      return nil
    }
    let plan = try #require(ask())
    #expect(plan.entities == [PendingDeletion(entity: "Item", deleted: 3, total: 5)])
    #expect(plan.store == (isLocalAway ? "local" : "disk") && !plan.isRejected)
    #expect(try away.write { try away.all("Item", in: $0).count } == 5, "nothing is deleted before")
    func decide(_ isApproved: Bool) throws {
      let ledger = try away.access.ledger()
      ledger.put(
        SyncKey.verdict(plan.source),
        DeletionVerdict(extent: plan.extent, isApproved: isApproved).encoded)
      #expect(try away.access.commit(ledger))
    }
    try decide(false)
    #expect(try #require(ask()).isRejected)
    #expect(try away.write { try away.all("Item", in: $0).count } == 5)
    try decide(true)
    #expect(ask() == nil)
    try expect(["4=4", "meanwhile=meanwhile"], [(a, disk)])
  }

  @Test func whatAFilterKeepsFromTheOtherIsNotTakenForForgotten() throws {
    let filter = try EntityFilter(
      ReplicaConfiguration(
        name: "disk", url: URL(fileURLWithPath: "/disk"), entities: ["Item"]), a.access.schema)
    try insert(["stays", "goes"], a)
    try a.write { context in
      let tag = try a.insert("Tag", ["name": "kept here"], in: context)
      try a.find("Item", "stays", in: context)?.setValue(Set([tag]), forKey: "tags")
    }
    for _ in 0..<2 { try fleet.pass(a, disk, filter: filter) }
    try delete(["goes"], disk)
    try wait([disk])
    #expect(try ReturningReader(access: a.access, source: disk.access).isExpired())
    for _ in 0..<2 { try fleet.pass(a, disk, filter: filter) }
    #expect(try values(a) == ["stays=stays"] && values(disk) == ["stays=stays"])
    #expect(try a.picture().contains("tag kept here nil"))
    #expect(try a.picture().contains { $0.hasSuffix("[\"kept here\"]") })
  }

  @Test func aRecordThatWasWrittenWhileItsDeleteWasForgottenComesBack() throws {
    try insert(["k", "other"], a)
    _ = try fleet.settle([(a, disk)])
    try delete(["k", "other"], a)
    try wait([a])
    try set("k", "mine", disk)
    try expect(["k=mine"], [(a, disk)])
  }

  @Test func bothSidesForgot() throws {
    let (left, right) = (try fleet.addRetaining("left"), try fleet.addRetaining("right"))
    try insert(["deleted at a", "deleted at disk", "stays"], a)
    _ = try fleet.settle([(a, disk), (a, left), (disk, right)])
    try delete(["deleted at a"], a)
    try delete(["deleted at disk"], disk)
    try insert(["new at a"], a)
    try insert(["new at disk"], disk)
    for _ in 0..<4 {
      _ = try fleet.settle([(a, left), (disk, right)])
      try a.purge()
      try disk.purge()
      fleet.advance(PurgeTests.retention + 1)
    }
    #expect(try a.entries(.records) == 3 && disk.entries(.records) == 3)
    try expect(
      ["new at a=new at a", "new at disk=new at disk", "stays=stays"],
      [(a, disk), (a, left), (disk, right)])
  }

  @Test func aStoreBehindASharedReplicaIsToldToo() throws {
    let (b, far) = (try fleet.addRetaining("b"), try fleet.addRetaining("far"))
    // far is known to b alone, which goes away with it.
    try insert(["goes", "stays"], a)
    _ = try fleet.settle([(a, disk), (b, disk), (b, far)])
    try delete(["goes"], a)
    _ = try fleet.settle([(a, disk)])
    for _ in 0..<4 {
      fleet.advance(PurgeTests.retention + 1)
      _ = try fleet.settle([(a, disk)])
      for site in [a, disk] { try site.purge() }
    }
    #expect(try disk.entries(.records) == 1 && a.entries(.records) == 1)
    try set("stays", "by b", b)
    try expect(["stays=by b"], [(a, disk), (b, disk), (b, far)])
  }

  /// A machine sleeps in the middle of a pass, after its look at what the other store has forgotten, for longer than
  /// the retention, and others have that store forget meanwhile.
  @Test(arguments: [true, false])
  func whatIsForgottenInTheMiddleOfAPassDoesNotStay(isPull: Bool) throws {
    let (stays, away) = isPull ? (disk, a) : (a, disk)
    try insert(["goes", "stays"], stays)
    for _ in 0..<2 { try fleet.pass(a, disk) }
    try delete(["goes"], stays)
    try HistoryCapture(access: stays.access).run()
    let fleet = fleet
    fleet.interrupt(stays, at: .beforeExport) {
      for _ in 0..<3 {
        fleet.advance(PurgeTests.retention + 1)
        try stays.purge()
      }
    }
    try fleet.pass(a, disk)
    #expect(fleet.wasInterrupted)
    #expect(try values(away) == ["stays=stays"])
    try expect(["stays=stays"], [(a, disk)])
  }

  /// Specification: sync.md 2.1: where one store has forgotten a delete and another has not, a record that a
  /// third brings back does not live in the one and not in the other.
  @Test func aStoreThatHasNotForgottenADeleteTellsTheOneThatHas() throws {
    let (c, d) = (try fleet.addRetaining("c"), try fleet.addRetaining("d"))
    try a.write { context in
      let tag = try a.insert("Tag", ["name": "red"], in: context)
      for key in ["goes", "stays"] {
        let item = try a.insert("Item", ["key": key, "value": key], in: context)
        item.setValue(Set([tag]), forKey: "tags")
      }
    }
    _ = try fleet.settle([(a, disk), (c, disk)])
    try delete(["goes"], a)
    try a.write { context in
      try a.find("Item", "stays", in: context)?.setValue(Set<ManagedObject>(), forKey: "tags")
    }
    for _ in 0..<4 {
      // Each time: what is old is told by when purges looked.
      try disk.purge()
      fleet.advance(PurgeTests.retention + 1)
      _ = try fleet.settle([(a, disk)])
    }
    try disk.purge()
    #expect(try disk.entries(.records) == 2 && a.entries(.records) == 3)
    // d has never met those, and does not know that c was away.
    _ = try fleet.settle([(c, d)])
    try expect(["stays=stays"], [(d, disk), (a, disk), (c, d)])
    for site in [a, disk, d, c] {
      #expect(try site.picture().contains("item stays stays nil ^- []"), "\(site.name)")
    }
  }

  @Test func removedMembersDoNotComeBackAndNewOnesStay() throws {
    try a.write { context in
      let tags = try ["old", "kept"].map { try a.insert("Tag", ["name": $0], in: context) }
      for key in ["k", "other"] {
        let item = try a.insert("Item", ["key": key], in: context)
        item.setValue(Set(tags), forKey: "tags")
      }
    }
    _ = try fleet.settle([(a, disk)])
    try a.write { context in
      let kept = try a.find("Tag", "kept", in: context)
      try a.find("Item", "k", in: context)?.setValue(Set([kept]), forKey: "tags")
    }
    try wait([a])
    try disk.write { context in
      let tag = try disk.insert("Tag", ["name": "new"], in: context)
      let item = try disk.find("Item", "k", in: context)
      let tags = item?.value(forKey: "tags") as? Set<ManagedObject> ?? []
      item?.setValue(tags.union([tag]), forKey: "tags")
    }
    #expect(try fleet.settle([(a, disk)]) < 40)
    let picture = try a.picture()
    #expect(try disk.picture() == picture)
    #expect(picture.contains("item k nil nil ^- [\"kept\", \"new\"]"), "\(picture)")
    #expect(picture.contains("item other nil nil ^- [\"kept\", \"old\"]"), "\(picture)")
  }

  /// Specification: sync.md 7: a person can bring back what a returning store was made to delete.
  @Test func whatIsDeletedInAReturningStoreIsInItsJournal() throws {
    try a.write { context in
      let tags = try ["old", "kept"].map { try a.insert("Tag", ["name": $0], in: context) }
      for key in ["goes", "stays"] {
        let item = try a.insert("Item", ["key": key, "value": "of \(key)"], in: context)
        item.setValue(Set(tags), forKey: "tags")
      }
    }
    _ = try fleet.settle([(a, disk)])
    try delete(["goes"], a)
    try a.write { context in
      let kept = try a.find("Tag", "kept", in: context)
      try a.find("Item", "stays", in: context)?.setValue(Set([kept]), forKey: "tags")
    }
    try wait([a])
    #expect(try ReplicationTests().journal(disk).isEmpty)
    _ = try fleet.settle([(a, disk)])
    let journal = try ReplicationTests().journal(disk)
    let values = journal.filter { $0.rule == .deleteWon }
    #expect(Set(values.compactMap(\.property)).isSuperset(of: ["key", "value"]))
    #expect(values.contains { $0.property == "value" && $0.losingValue == .string("of goes") })
    #expect(Set(values.map(\.record)).count == 1)
    let removed = journal.filter { $0.member != nil }
    #expect(removed.map(\.property) == ["tags"] && removed.map(\.winningValue) == [.null])
    #expect(try ReplicationTests().journal(a).isEmpty, "it is deleted once")
  }

  /// Specification: sync.md 4: a write after the delete brings the whole record back, its links among that.
  @Test(arguments: [true, false])
  func aRecordThatComesBackBringsItsLinksAlsoThoseOfRecordsThatNobodyTouched(
    isLocalAway: Bool
  ) throws {
    let (stays, away) = isLocalAway ? (disk, a) : (a, disk)
    try stays.write { context in
      let tags = try ["one", "both"].map { try stays.insert("Tag", ["name": $0], in: context) }
      for key in ["written", "untouched"] {
        let item = try stays.insert("Item", ["key": key, "value": key], in: context)
        item.setValue(Set(tags), forKey: "tags")
        item.setValue(NSOrderedSet(array: tags), forKey: "picks")
      }
    }
    for _ in 0..<2 { try fleet.pass(a, disk) }
    let whole = try away.picture()
    try delete(["written"], stays)
    try stays.write { context in
      try stays.find("Tag", "both", in: context).map(context.delete)
    }
    try wait([stays])
    #expect(try stays.entries(.records) == 2)
    try set("written", "again", away)
    try away.write { try away.find("Tag", "both", in: $0)?.setValue("again", forKey: "note") }
    #expect(try fleet.settle([(a, disk)]) < 40)
    let picture = whole.map {
      $0.replacing("item written written", with: "item written again")
        .replacing("tag both nil", with: "tag both again")
    }
    #expect(try a.picture() == picture && disk.picture() == picture)
    #expect(try fleet.differences(a, disk).isEmpty)
  }

  @Test func whatWaitsInQuarantineIsNotTakenForForgotten() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 10, directory: scratch.url)
    let (a, disk) = (try fleet.addRetaining("a"), try fleet.addRetaining("disk"))
    try insert(["k"], a)
    try insert(["long"], disk)
    // A value that the rules forbid, past those of the replica: the local store does not take it.
    let request = BatchUpdateRequest(entityName: "Item")
    request.predicate = ObjectPredicate(format: "key == 'long'")
    request.propertiesToUpdate = ["value": String(repeating: "x", count: 200)]
    request.affectedStores = [disk.store]
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = disk.coordinator
    _ = try context.performAndWait { try context.execute(request) }
    _ = try fleet.settle([(a, disk)])
    #expect(try a.entries(.quarantine) == 1)
    try delete(["k"], a)
    for _ in 0..<4 {
      try HistoryCapture(access: a.access).run()
      try a.purge()
      fleet.advance(PurgeTests.retention + 1)
    }
    _ = try fleet.settle([(a, disk)])
    #expect(try disk.write { try disk.all("Item", in: $0).count } == 1)
    #expect(try a.entries(.quarantine) == 1)
  }

  @Test func aStoreOfAnotherLifeIsNotTakenForOneThatWasAway() throws {
    // The records that a restored store has lost are in the replica alone.
    try insert(["first"], a)
    _ = try fleet.settle([(a, disk)])
    try insert(["lost at a"], a)
    _ = try fleet.settle([(a, disk)])
    let ledger = try disk.access.ledger()
    var cursor = try ledger.cursor(for: a.access.ledger().storeID)
    // The mark of another life.
    cursor.mark ^= 1
    ledger.setCursor(cursor, for: try a.access.ledger().storeID)
    #expect(try disk.access.commit(ledger))
    try insert(["more"], a)
    try wait([a])
    try expect(["first=first", "lost at a=lost at a", "more=more"], [(a, disk)])
    #expect(try a.access.ledger().head.incarnation != nil)
  }

  @Test func aReaderThatComesBackIsOfTheSameLifeAlthoughMarksWentAndIsTold() throws {
    try insert(["k", "goes"], a)
    _ = try fleet.settle([(a, disk)])
    for round in 0..<30 {
      try set("k", "\(round)", a)
      try HistoryCapture(access: a.access).run()
      fleet.advance(1)
    }
    try delete(["goes"], a)
    try wait([a])
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = a.coordinator
    let pass = SyncPass(local: a.access, replica: disk.access, context: context)
    var returned: [String: Int] = [:]
    var machine = PassState(direction: .both)
    while let step = machine.step {
      let report = try context.performAndWait { try pass.perform(step) }
      #expect(report.restored.isEmpty)
      returned.merge(report.returned) { $0 + $1 }
      machine.take(report.event)
    }
    #expect(returned.values.reduce(0, +) == 1)
    #expect(try a.access.ledger().head.incarnation == nil)
    try expect(["k=29"], [(a, disk)])
    #expect(try a.purge().newlyExpired.isEmpty)
  }
}
