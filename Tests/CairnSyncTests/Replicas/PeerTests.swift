import CairnContext
import CairnStore
import Foundation
import Synchronization
import Testing

@testable import CairnSync

/// Links to a daemon that applies for itself.
struct PeerTests {
  private let fleet = Fleet(seed: 34)
  private let a: Fleet.Site
  private let b: Fleet.Site
  private let line: Line

  /// The way to the daemon of `b`; what it says instead of the daemon is up to a test.
  final class Line: PeerChannel {
    private let service: PeerService
    let insteadOf = Mutex<(@Sendable (PeerQuestion, Data) -> PeerAnswer?)?>(nil)
    let asked = Mutex<[PeerQuestion]>([])

    init(_ service: PeerService) { self.service = service }

    func ask(_ question: Data) throws -> Data {
      let decoded = try PeerQuestion(decoding: question)
      asked.withLock { $0.append(decoded) }
      let instead = insteadOf.withLock { $0 }
      return instead?(decoded, question)?.encoded ?? service.answer(question)
    }
  }

  init() throws {
    (a, b) = (try fleet.addRetaining("a"), try fleet.addRetaining("b"))
    let engine = try SyncEngine(
      coordinator: b.coordinator, local: b.store, configuration: b.access.configuration,
      environment: b.access.environment)
    line = Line(PeerService(engine))
  }

  private func pass(direction: SyncDirection = .both) throws {
    try fleet.pass(a, "peer", direction: direction) { PeerSide(line, place: "peer", $0) }
    fleet.advance(1)
  }

  private func insert(_ keys: [String], _ site: Fleet.Site) throws {
    try site.write { context in
      for key in keys { _ = try site.insert("Item", ["key": key, "value": key], in: context) }
    }
    fleet.advance(1)
  }

  private func expectNothingWaits(_ sites: [Fleet.Site]) throws {
    for site in sites {
      #expect(try site.picture() == ["item stays stays nil ^- []"], "\(site.name)")
      #expect(try site.access.held().count == 0, "\(site.name)")
    }
  }

  /// The other daemon has heard of the delete from a third store, and has no one to keep that for.
  @Test func aReferenceToWhatTheOtherHasForgottenWaitsForNothingThere() throws {
    let c = try fleet.addRetaining("c")
    try insert(["goes", "stays"], a)
    for _ in 0..<2 { try pass() }
    try fleet.sync([(c, b)])
    fleet.advance(10)
    try c.delete("goes")
    fleet.advance(10)
    try a.refer()
    try fleet.sync([(c, b)])
    for _ in 0..<3 { try pass(direction: .pull) }
    for site in [a, c] { try b.access.acknowledge(site.access, name: site.name) }
    #expect(try b.purge(age: 0).records == 1)
    for _ in 0..<4 { try pass() }
    try expectNothingWaits([a, b])
    // Nor where the third store has the reference from.
    try fleet.sync([(c, b)])
    try expectNothingWaits([c])
  }

  /// The other daemon is never told of the delete.
  @Test func aReferenceToWhatThisStoreHasForgottenWaitsForNothingHere() throws {
    try insert(["goes", "stays"], b)
    for _ in 0..<3 { try pass(direction: .pull) }
    fleet.advance(10)
    try a.delete("goes")
    #expect(try a.purge(age: 0).records == 1)
    fleet.advance(10)
    try b.refer()
    for _ in 0..<3 { try pass(direction: .pull) }
    try expectNothingWaits([a])
    #expect(try b.picture().count == 2)
  }

  @Test func eachAppliesForItselfWhatTheOtherHas() throws {
    try insert(["k1", "k2"], a)
    try insert(["k3"], b)
    try pass()
    try pass()
    #expect(try a.picture() == b.picture())
    #expect(try a.picture().count == 3)
    // Nothing is sent back.
    let taken = line.asked.withLock { asked in
      asked.flatMap { question in
        if case .take(let set, _, _, _) = question.matter { return set.records.map(\.id) }
        return []
      }
    }
    #expect(taken.count == 2)
  }

  @Test func aDaemonIsBelievedWhatItSaysAndNoMore() throws {
    try insert(["k1"], a)
    try pass()
    try insert(["k2"], a)
    let served = try b.access.ledger().cursor(for: a.access.ledger().storeID)
    line.insteadOf.withLock {
      $0 = { question, _ in
        if case .take = question.matter { return .taken(served, .init()) }
        return nil
      }
    }
    #expect(throws: SyncError.self) { try pass() }
    line.insteadOf.withLock { $0 = nil }
    #expect(try b.picture().count == 1)
    try pass()
    #expect(try b.picture() == a.picture())
  }

  @Test func whatAnAnswerTellsIsHowFarTheDaemonIs() throws {
    try insert(["k1", "k2", "k3"], a)
    // It has taken a part.
    let half = SyncCursor(position: 1, mark: 7)
    line.insteadOf.withLock {
      $0 = { question, _ in
        if case .take = question.matter { return .taken(half, .init()) }
        return nil
      }
    }
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = a.coordinator
    let setting = PassSetting(local: a.access, context: context, direction: .push)
    let side = PeerSide(line, place: "peer", setting)
    let pass = ChangeSetPass(setting, with: side)
    for step in [PassState.Step.identify, .captureLocal, .captureReplica] {
      _ = try context.performAndWait { try pass.perform(step) }
    }
    let report = try context.performAndWait { try pass.perform(.move(.push)) }
    #expect(report.position == 1)
    #expect(try side.cursor(for: a.access.ledger().storeID) == half)
  }

  /// A set leaves out what came from the daemon: one that was restored from a backup since would pass that over.
  @Test(arguments: [true, false])
  func aDaemonThatIsNotWhatASetWasMadeForTakesNothing(isAnother: Bool) throws {
    try insert(["k1"], b)
    try pass()
    try insert(["k2"], a)
    let other = StoreID(high: 8, low: 8)
    line.insteadOf.withLock {
      $0 = { [line] question, _ in
        guard case .take(let set, let end, let names, let claim) = question.matter,
          claim.store != other, claim.cursor.mark != 1
        else { return nil }
        var served = claim.cursor
        if !isAnother { served.mark = 1 }
        let changed = PeerQuestion(
          asker: question.asker, name: question.name,
          .take(
            set, end, names: names,
            by: .init(cursor: served, store: isAnother ? other : claim.store, ids: claim.ids)))
        return (try? line.ask(changed.encoded)).flatMap { try? PeerAnswer(decoding: $0) }
      }
    }
    let before = try b.access.ledger().head.sequence
    let error = #expect(throws: SyncError.self) { try pass() }
    #expect(error?.code == .fileMoved && error?.recovery == .retry)
    #expect(try b.access.ledger().head.sequence == before)
    line.insteadOf.withLock { $0 = nil }
    try pass()
    #expect(try b.picture() == a.picture() && b.picture().count == 2)
  }

  @Test func aQuestionThatComesTwiceChangesNothing() throws {
    try insert(["k1", "k2"], a)
    try pass()
    let takes = line.asked.withLock { asked in
      asked.filter {
        if case .take = $0.matter { return true }
        return false
      }
    }
    let before = try b.access.ledger().head.sequence
    for question in takes { _ = try line.ask(question.encoded) }
    #expect(!takes.isEmpty)
    #expect(try b.access.ledger().head.sequence == before)
    #expect(try a.picture() == b.picture())
  }

  @Test func whatItRefusesIsSaidToWaitThere() throws {
    let long = String(repeating: "x", count: SampleModel.mostLength + 1)
    try insert(["k1"], a)
    try pass()
    fleet.advance(10)
    let id = try #require(
      try a.write { try a.find("Item", "k1", in: $0)?.objectID }
        .flatMap { try a.access.ledger().recordID(for: $0) })
    var state = RecordState(id: id, entity: "Item")
    state.registers["value"] = Register(
      value: .string(long),
      write: PropertyWrite(
        stamp: Stamp(
          clock: ClockReading(milliseconds: 1_000_008), store: StoreID(high: 9, low: 9))))
    let asker = try a.access.ledger().storeID
    let cursor = try b.access.ledger().cursor(for: asker)
    let set = ChangeSet(
      source: asker, after: cursor.position, upTo: cursor.position, records: [state])
    let claim = PeerQuestion.Claim(
      cursor: SyncCursor(), store: try b.access.ledger().storeID, ids: [asker])
    _ = try line.ask(
      PeerQuestion(
        asker: asker, name: "a",
        .take(set, cursor, names: a.access.schema.namesDigest, by: claim)
      ).encoded)
    let answer = try PeerAnswer(
      decoding: line.ask(PeerQuestion(asker: asker, name: "a", .held).encoded))
    guard case .held(let held) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(held.invalid == 1 && held.reason?.isEmpty == false)
  }

  @Test func bytesThatAreNoMessageAreRefused() throws {
    let asker = StoreID(high: 1, low: 2)
    var cursor = SyncCursor()
    cursor.position = 5
    let claim = PeerQuestion.Claim(cursor: cursor, store: asker, ids: [asker])
    let matters: [PeerQuestion.Matter] = [
      .greet(filter: Data([1, 2]), names: Data([3])), .present(claim),
      .news, .firstRead, .changes(after: cursor, acknowledged: 3, batchSize: 7),
      .states([RecordID(high: 3, low: 4)]),
      .take(ChangeSet(source: asker, after: 1, upTo: 2), cursor, names: 9, by: claim), .retry,
      .held, .pending(after: 8), .awaited(after: nil),
      .awaited(after: RecordID(high: 1, low: 1)),
      .forgotten([RecordID(high: 5, low: 6)], readUpTo: 7),
      .gone([RecordID(high: 7, low: 8)]),
    ]
    for matter in matters {
      let question = PeerQuestion(asker: asker, name: "a", matter)
      #expect(try PeerQuestion(decoding: question.encoded) == question)
      for length in 0..<question.encoded.count {
        #expect(throws: SyncError.self) {
          try PeerQuestion(decoding: question.encoded.prefix(length))
        }
      }
    }
    var held = HeldRecords()
    (held.invalid, held.parked, held.reason) = (300, 2, "why")
    let answers: [PeerAnswer] = [
      .identity(asker, former: [asker], served: cursor, names: Data([1])), .done, .number(4),
      .firstRead(SyncCursor(streamingUntil: 9, forgotten: 4)),
      .changes(ChangeSet(source: asker, after: 1, upTo: 2), cursor, hasForgotten: true),
      .changes(nil, cursor, hasForgotten: false),
      .states(ChangeSet(source: asker, after: 1, upTo: 2)),
      .taken(cursor, .init(records: 1, links: 2, conflicts: 3)), .held(held),
      .refused(code: "failed", message: "m", recovery: "wait"),
      .records([RecordID(high: 9, low: 10)]),
    ]
    for answer in answers {
      #expect(try PeerAnswer(decoding: answer.encoded) == answer)
      for length in 0..<answer.encoded.count {
        #expect(throws: SyncError.self) {
          try PeerAnswer(decoding: answer.encoded.prefix(length))
        }
      }
    }
    let entry = LogEntry(
      mark: 1, place: 2, placeMark: 3, time: 4, names: 5, seen: [asker: 6],
      set: ChangeSet(source: asker, after: 1, upTo: 2))
    #expect(try LogEntry(decoding: entry.encoded) == entry)
    for length in 0..<entry.encoded.count {
      #expect(throws: SyncError.self) { try LogEntry(decoding: entry.encoded.prefix(length)) }
    }
  }
}
