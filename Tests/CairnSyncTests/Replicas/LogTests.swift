import CairnContext
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Links to a log: what each member appends reaches the others, and what a log has lost is noticed.
struct LogTests {
  private let fleet = Fleet(seed: 33)
  private let log: SimulatedLog
  private let a: Fleet.Site
  private let b: Fleet.Site
  private let c: Fleet.Site

  init() throws {
    var generator = SeededGenerator(seed: 1)
    log = SimulatedLog(&generator) { 0 }
    (a, b, c) = (
      try fleet.addRetaining("a"), try fleet.addRetaining("b"), try fleet.addRetaining("c")
    )
  }

  private func insert(_ keys: [String], _ site: Fleet.Site) throws {
    for key in keys {
      try site.write { _ = try site.insert("Item", ["key": key, "value": key], in: $0) }
      fleet.advance(1)
    }
  }

  private func begin(_ trouble: SimulatedLog.Trouble, seed: UInt64 = 1) -> Bool {
    var generator = SeededGenerator(seed: seed)
    return log.begin(trouble, &generator)
  }

  private func pass(_ site: Fleet.Site, direction: SyncDirection = .both) throws {
    try fleet.pass(site, over: log.view(of: site.name), direction: direction)
    fleet.advance(1)
  }

  private func expectEqual(
    _ sites: [Fleet.Site], items: Int, _ location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try fleet.settle(sites, over: log), sourceLocation: location)
    for site in sites {
      #expect(try site.picture() == sites[0].picture(), sourceLocation: location)
      let count = try site.write { try site.all("Item", in: $0).count }
      #expect(count == items, sourceLocation: location)
    }
  }

  @Test func whatEachAppendsReachesAllAndLiesInTheLogOnce() throws {
    for site in [a, b, c] { try insert([site.name], site) }
    try expectEqual([a, b, c], items: 3)
    var records = 0
    let view = log.view(of: "a")
    for stream in try view.streams() where stream.last > 0 {
      for number in stream.first...stream.last {
        records += try view.decoded(number, of: stream.id)?.set.records.count ?? 0
      }
    }
    #expect(records == 3)
    #expect(log.size.lives == 1)
  }

  @Test func anAppendOfWhichNobodyKnowsIsNotDoneTwiceNorLeftOut() throws {
    try insert(["k1"], a)
    var generator = SeededGenerator(seed: 3)
    for seed in 0..<40 as Range<UInt64> {
      generator = SeededGenerator(seed: seed)
      _ = log.begin(.failing, &generator)
      try insert(["x\(seed)"], a)
      _ = try? fleet.pass(a, over: log.view(of: "a"))
      _ = log.begin(.well, &generator)
      try pass(a)
    }
    try expectEqual([a, b], items: 41)
  }

  @Test func whatWasNotAppendedForGoodHasToBeAppendedStill() throws {
    try insert(["k1"], a)
    try pass(a)
    try insert(["k2"], a)
    #expect(begin(.full))
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = a.coordinator
    let setting = PassSetting(local: a.access, context: context)
    let side = LogSide(
      log: log.view(of: "a"), identifier: try log.view(of: "a").identifier().description,
      place: "log", setting)
    let pass = ChangeSetPass(setting, with: side)
    for step in [PassState.Step.identify, .captureLocal, .captureReplica] {
      _ = try context.performAndWait { try pass.perform(step) }
    }
    let writer = try a.access.ledger().storeID
    let before = try side.cursor(for: writer)
    #expect(throws: SyncError.self) {
      try context.performAndWait { try pass.perform(.move(.push)) }
    }
    #expect(try side.cursor(for: writer) == before)
    #expect(begin(.well))
    let report = try context.performAndWait { try pass.perform(.move(.push)) }
    #expect(report.records == 1)
    try expectEqual([a, b], items: 2)
  }

  // MARK: What a log has lost

  @Test func aLogThatWentBackBeginsANewLifeInWhichNothingIsMissing() throws {
    try pass(a)
    try pass(c)
    #expect(begin(.backedUp))
    try insert(["k1", "k2"], a)
    try pass(a)
    try pass(b)
    // From now on there is no `a` any more that could append it again.
    #expect(begin(.restored))
    try expectEqual([b, c], items: 2)
    #expect(log.size.lives == 2)
    #expect(log.values(seenBy: nil).isSuperset(of: ["k1", "k2"]))
  }

  @Test func aLogThatWasCutBeforeItWasReadIsReadInFullFromANewLife() throws {
    try pass(b)
    for key in ["k1", "k2", "k3", "k4", "k5", "k6"] {
      try insert([key], a)
      try pass(a, direction: .push)
      if key == "k2" { try pass(b) }
    }
    // Of the only stream with so many entries.
    var seed: UInt64 = 0
    while try log.view(of: "b").streams().allSatisfy({ $0.first < 6 }) {
      seed += 1
      _ = begin(.cut, seed: seed)
    }
    try pass(b)
    #expect(log.size.lives == 2)
    try expectEqual([a, b, c], items: 6)
  }

  @Test func aStreamThatIsGoneAsAWholeIsMissed() throws {
    try insert(["k1"], a)
    try pass(a)
    try pass(b)
    let streams = try log.view(of: "b").streams()
    let writer = try a.access.ledger().storeID
    var seed: UInt64 = 0
    while try log.view(of: "b").streams().contains(where: { $0.writer == writer }) {
      seed += 1
      _ = begin(.backedUp)
      _ = begin(.streamLost, seed: seed)
      if try log.view(of: "b").streams().contains(where: { $0.writer == writer }) {
        _ = begin(.restored)
      }
    }
    #expect(streams.count == 2)
    // There is no `a` any more that could append it again.
    try expectEqual([b, c], items: 1)
  }

  @Test func anotherLogUnderTheNameIsNotWrittenTo() throws {
    try insert(["k1"], a)
    try pass(a)
    let identifier = try log.view(of: "a").identifier().description
    #expect(begin(.lost))
    let error = #expect(throws: SyncError.self) {
      try fleet.pass(a) { [log] in
        LogSide(log: log.view(of: "a"), identifier: identifier, place: "log", $0)
      }
    }
    #expect(error?.code == .fileMoved)
    #expect(log.size.entries == 0)
  }

  // MARK: Who has seen what

  @Test func whoHasAppendedWithoutHavingReadHoldsBackThePurge() throws {
    try insert(["k1", "k2"], a)
    try pass(a)
    try pass(b)
    try pass(a)
    try a.write { try a.find("Item", "k1", in: $0).map($0.delete) }
    try pass(a)
    fleet.advance(PurgeTests.retention / 2)
    try insert(["k3"], b)
    // It has not read of the delete.
    try pass(b, direction: .push)
    try pass(a)
    let before = try a.purge(age: 0)
    #expect(before.records == 0 && before.readers.contains { $0.holdsBack })
    for _ in 0..<3 {
      fleet.advance(PurgeTests.retention / 32)
      try pass(b)
      try pass(a)
    }
    let after = try a.purge(age: 0)
    #expect(after.records == 1, "\(after)")
    try expectEqual([a, b], items: 2)
  }

  @Test func aDeleteThatIsForgottenHereIsReadOnceMoreForWhoHadNotHeardOfIt() throws {
    try insert(["k1", "k2"], a)
    try pass(a)
    try pass(b)
    try pass(c)
    try b.write { try b.find("Item", "k1", in: $0)?.setValue("old", forKey: "value") }
    try HistoryCapture(access: b.access).run()
    fleet.advance(5)
    try a.write { try a.find("Item", "k1", in: $0).map($0.delete) }
    for _ in 0..<4 {
      fleet.advance(PurgeTests.retention)
      try pass(a)
      try pass(c)
      try a.purge(age: 0)
    }
    #expect(try a.entries(.records) == 1)
    try pass(b, direction: .push)
    try pass(a)
    #expect(try a.picture() == c.picture(), "it does not live again in between")
    try expectEqual([a, b, c], items: 1)
  }

  // MARK: Settings

  @Test func moreThanMayBeDeletedAsksBeforeAnyOfItIsTaken() throws {
    try insert(["k1", "k2", "k3", "k4", "k5"], a)
    try expectEqual([a, b], items: 5)
    try a.write { context in try a.all("Item", in: context).forEach(context.delete) }
    try pass(a)
    let limit = DeletionLimit(count: 2, share: nil, smallest: 4)
    let needed = #expect(throws: ApprovalNeeded.self) {
      try fleet.pass(b, over: log.view(of: "b"), deletions: limit)
    }
    #expect(needed?.plan.entities.map(\.deleted) == [5])
    #expect(try b.picture().count == 5)
  }

  @Test func aLogIsWaitedForAndNotCompared() async throws {
    let member = SimulatedMember.log(log)
    let engine = try SyncEngine(
      coordinator: a.coordinator, local: a.store, configuration: SyncConfiguration(),
      environment: .live, kinds: [member.replicaKind(on: "a")])
    try insert(["k1"], a)
    try engine.addReplica(member.configuration)
    try await engine.wait(timeout: .patience)
    #expect(log.values(seenBy: nil).contains("k1"))
    let error = await #expect(throws: SyncError.self) {
      try await engine.verify(name: "log", timeout: .patience)
    }
    #expect(error?.code == .unsupportedStore)
    await engine.stop()
  }

  @Test func whatALinkOfOneDirectionLeavesIsCounted() throws {
    func leftOut(_ direction: SyncDirection) throws -> Int {
      try pass(a, direction: direction)
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = a.coordinator
      let setting = PassSetting(local: a.access, context: context, direction: direction)
      let pass = ChangeSetPass(
        setting,
        with: LogSide(
          log: log.view(of: "a"), identifier: try log.view(of: "a").identifier().description,
          place: "log", setting))
      var found = LeftOut()
      return try context.performAndWait {
        _ = try pass.perform(.identify)
        return try pass.countLeftOut(&found)
      }
    }
    try insert(["k1", "k2"], b)
    try pass(b)
    try insert(["k3"], a)
    #expect(try leftOut(.pull) == 1)
    try insert(["k4"], b)
    try pass(b)
    #expect(try leftOut(.push) == 1)
    #expect(try leftOut(.both) == 0)
  }

  @Test func entitiesThatAreNotExchangedAreNeitherAppendedNorTaken() throws {
    try insert(["k1"], a)
    try a.write { _ = try a.insert("Tag", ["name": "t1"], in: $0) }
    let filter = try EntityFilter(
      ReplicaConfiguration(name: "log", url: URL(filePath: "/"), entities: ["Tag"]),
      a.access.schema)
    try fleet.pass(a, over: log.view(of: "a"), filter: filter)
    try pass(b)
    #expect(try b.picture() == ["tag t1 nil"])
    try expectEqual([a, b], items: 1)
  }
}

/// What of a writer's entries another has seen.
struct LogAcknowledgementTests {
  private let a = StoreID(high: 0, low: 1)
  private let b = StoreID(high: 0, low: 2)
  private let c = StoreID(high: 0, low: 3)

  @Test func nobodyHasSeenMoreThanItSaid() {
    let own: [UInt64: LogAcknowledgement.Own] = [
      1: .init(number: 1, place: 10, seen: [:]),
      2: .init(number: 2, place: 20, seen: [c: 4]),
      3: .init(number: 3, place: 30, seen: [c: 6, b: 9]),
    ]
    func place(_ seen: [StoreID: UInt64]) -> UInt64 {
      LogAcknowledgement(own: a, theirs: b, seen: seen).place { own[$0] }
    }
    #expect(place([:]) == 0)
    #expect(place([a: 1]) == 10)
    // It has the entry, and not what its writer had read of another.
    #expect(place([a: 2]) == 10)
    #expect(place([a: 3, c: 5]) == 20)
    // Its own it has.
    #expect(place([a: 3, c: 6]) == 30)
  }
}
