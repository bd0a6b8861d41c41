import CairnContext
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

// Links beside programs that write without pause.
struct PacingTests {
  @Test func commitsThatComeOneByOneAreNotGathered() {
    var pacing = PassPacing(limit: 100)
    #expect(pacing.passWanted(at: 1000) == 1000)
    for now in stride(from: UInt64(1000), to: 2000, by: 20) {
      pacing.passEnded(at: now)
      #expect(pacing.passWanted(at: now + 10) == now + 10)
    }
  }

  @Test func gatheringBecomesShorterWhereCommitsBecomeFewer() {
    var pacing = PassPacing(limit: 100)
    var pauses: [UInt64] = []
    for (now, gap) in [(1000, 1), (1100, 8), (1200, 3), (1300, 20), (1400, 30), (1500, 9)] {
      pacing.passEnded(at: UInt64(now))
      pauses.append(pacing.passWanted(at: UInt64(now + gap)) - UInt64(now + gap))
    }
    #expect(pauses == [5, 10, 20, 10, 5, 0])
  }

  @Test func withoutAPauseTheyAreGatheredLongerAndLongerUpToTheLimit() {
    var pacing = PassPacing(limit: 30)
    var pauses: [UInt64] = []
    for now in stride(from: UInt64(1000), to: 1500, by: 100) {
      pacing.passEnded(at: now)
      pauses.append(pacing.passWanted(at: now + 1) - now - 1)
    }
    #expect(pauses == [5, 10, 20, 30, 30])
    pacing.passEnded(at: 2000)
    #expect(pacing.passWanted(at: 2050) == 2050)
    pacing.passEnded(at: 2060)
    #expect(pacing.passWanted(at: 2061) == 2066)
  }

  @Test func aClockThatGoesBackIsNotWaitedFor() {
    var pacing = PassPacing(limit: 100)
    pacing.passEnded(at: 5000)
    #expect(pacing.passWanted(at: 100) == 100)
  }

  @Test func batchesShrinkWhileProgramsWriteAndGrowAgain() {
    var batch = BatchPacing(most: 1000)
    func moved(_ count: Int, metWriters: Bool) -> Int {
      for _ in 0..<count { batch.moved(metWriters: metWriters) }
      return batch.size
    }
    #expect(moved(1, metWriters: false) == 1000)
    #expect(moved(1, metWriters: true) == 250)
    #expect(moved(1, metWriters: true) == 128)
    #expect(moved(1, metWriters: true) == 128)
    #expect(moved(7, metWriters: false) == 128, "the next one may meet the program again")
    #expect(moved(1, metWriters: false) == 256)
    #expect(moved(7, metWriters: false) == 256)
    #expect(moved(1, metWriters: true) == 128)
    #expect(moved(40, metWriters: false) == 1000)
    #expect(moved(50, metWriters: false) == 1000)
    var small = BatchPacing(most: 7)
    small.moved(metWriters: true)
    #expect(small.size == 7)
  }

  @Test func gatheringEndsWhenACallerWaits() async throws {
    let scratch = try Scratch()
    var environment = SyncEnvironment.live
    // The clock stands still: every commit follows the pass before at once, and no pause ends by itself.
    environment.now = { 1_700_000_000_000 }
    let daemon = try SyncEngineTests.Daemon(
      "local", in: scratch, environment: environment, pollInterval: .seconds(3600)
    ) { $0.gatheringLimit = .seconds(3600) }
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    for key in ["a", "b", "c"] {
      try daemon.insert([key])
      try await daemon.engine.wait(timeout: .patience)
      #expect(try await daemon.engine.verify(name: "nas").isEqual)
    }
    try await daemon.close()
  }

  @Test func anImportTellsOfProgramsThatHaveWrittenSinceTheOneBefore() throws {
    let fleet = Fleet(seed: 83)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "first"], in: $0) }
    _ = try fleet.settle([(a, b)])
    for (key, isMet) in [("quiet", false), ("busy", true)] {
      try a.write { _ = try a.insert("Item", ["key": key], in: $0) }
      try HistoryCapture(access: a.access).run()
      if isMet { try b.write { _ = try b.insert("Item", ["key": "other"], in: $0) } }
      let (source, destination) = (try a.access.ledger(), try b.access.ledger())
      let cursor = try destination.cursor(for: source.storeID)
      let set = try #require(
        try ChangeExporter(access: a.access, destination: destination.storeID).next(after: cursor))
      let next = SyncCursor(position: set.upTo, mark: try a.access.mark(at: set.upTo))
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = fleet.coordinator
      let outcome = try context.performAndWait {
        try ChangeImporter(access: b.access, context: context).apply(set, cursor: next)
      }
      #expect(outcome.metWriters == isMet)
    }
  }
}
