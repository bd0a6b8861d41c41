// Daemons that agree through a PostgreSQL store.

import CairnContext
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

@Suite(.needsServer) struct HubTests {
  typealias Daemon = SyncEngineTests.Daemon

  /// Runs the passes that it takes until what one daemon wrote is with all others.
  private func settle(_ daemons: [Daemon]) async throws {
    for daemon in daemons + daemons { try await daemon.engine.wait(timeout: .patience) }
  }

  private func fill(_ daemon: Daemon, _ prefix: String) throws {
    try daemon.site.write { context in
      let site = daemon.site
      let tags = try ["red", "\(prefix)-tag"].map {
        try site.insert("Tag", ["name": $0, "note": prefix], in: context)
      }
      var parent: ManagedObject?
      for number in 0..<20 {
        let item = try site.insert(
          "Item", ["key": "\(prefix)\(number)", "value": "v\(number)", "other": 1.5], in: context)
        item.setValue(Set(tags.prefix(number % 3)), forKey: "tags")
        item.setValue(parent, forKey: "parent")
        item.setValue(NSOrderedSet(array: tags.reversed()), forKey: "picks")
        let parts = try (0..<3).map {
          try site.insert("Part", ["key": "\(prefix)\(number)-\($0)"], in: context)
        }
        item.setValue(NSOrderedSet(array: parts), forKey: "parts")
        parent = number % 4 == 0 ? item : parent
      }
    }
  }

  @Test func daemonsWithDifferentDataEndWithTheSame() async throws {
    let hub = try Hub()
    let (first, second) = (try hub.daemon("first"), try hub.daemon("second"))
    try fill(first, "a")
    try fill(second, "b")
    for daemon in [first, second] { try daemon.engine.addReplica(hub.configuration()) }
    try await settle([first, second])
    let picture = try first.site.picture()
    #expect(picture.filter { $0.contains("a1") }.count > 0)
    #expect(try second.site.picture() == picture)
    #expect(try first.picture(of: "hub") == picture)
    for daemon in [first, second] {
      for level in VerifyLevel.allCases {
        let report = try await daemon.engine.verify(
          name: "hub", level: level, timeout: .patience)
        #expect(report.isEqual, "\(level): \(report)")
      }
      try await daemon.close()
    }
  }

  @Test func whatOneWritesReachesTheOthersByItself() async throws {
    let hub = try Hub()
    let daemons = try hub.daemons("first", "second")
    try await settle(daemons)
    try daemons[0].insert(["k"])
    #expect(try await eventually { try daemons[1].item("k", "value") == "k" })
    try daemons[1].site.write { try daemons[1].set("k", "value", "changed", in: $0) }
    #expect(try await eventually { try daemons[0].item("k", "value") == "changed" })
    for daemon in daemons { try await daemon.close() }
  }

  @Test func changesAndDeletesOfBothSidesMeet() async throws {
    let hub = try Hub()
    let daemons = try hub.daemons("first", "second")
    try daemons[0].insert((0..<60).map { "k\($0)" })
    try await settle(daemons)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (place, daemon) in daemons.enumerated() {
        group.addTask {
          for round in 0..<30 {
            try daemon.site.write { context in
              let item = try daemon.site.find("Item", "k\(round + place * 15)", in: context)
              if round % 5 == 0 {
                if let item { context.delete(item) }
              } else {
                item?.setValue("\(place)-\(round)", forKey: "value")
              }
              _ = try daemon.site.insert("Part", ["key": "p\(place)-\(round)"], in: context)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await settle(daemons)
    let picture = try daemons[0].site.picture()
    #expect(try daemons[1].site.picture() == picture)
    #expect(try daemons[0].picture(of: "hub") == picture)
    for daemon in daemons { try await daemon.close() }
  }

  @Test func aNumberThatNoCommitGotIsNoGapInHistory() async throws {
    let hub = try Hub()
    let daemons = try hub.daemons("first", "second")
    let events = daemons[1].engine.events()
    let listening = Task { () -> [SyncEvent] in
      var lost: [SyncEvent] = []
      for await event in events {
        if case .historyLost = event { lost.append(event) }
      }
      return lost
    }
    try daemons[0].insert(["k"])
    try await settle(daemons)
    for round in 0..<3 {
      // As commits that fail at the end leave it.
      try hub.sql("SELECT nextval('@cairn_transaction_number')")
      try daemons[0].insert(["n\(round)"])
      try await settle(daemons)
    }
    #expect(try daemons[1].item("n2", "value") == "n2")
    for daemon in daemons { try await daemon.close() }
    #expect(await listening.value.isEmpty)
  }

  @Test func purgedHistoryOfTheHubIsAGap() async throws {
    let hub = try Hub()
    let daemons = try hub.daemons("first")
    let daemon = daemons[0]
    try daemon.insert(["k"])
    try await settle(daemons)
    try daemon.engine.pause()
    try await daemon.engine.rest()
    let open = try #require(try daemon.engine.link("hub").openReplica)
    let site = Fleet.Site(name: "hub", access: open.access, coordinator: open.coordinator)
    try site.write { context in
      try site.find("Item", "k", in: context)?.setValue("unseen", forKey: "value")
    }
    let last = try open.access.history().lastTransactionNumber()
    _ = try open.access.history().purgeHistory(before: last + 1, date: nil)
    try daemon.engine.resume()
    try await settle(daemons)
    #expect(try daemon.item("k", "value") == "unseen")
    try await daemon.close()
  }

  /// Specification: sync.md 2, promise 5: one bad record delays no other record.
  @Test func aRecordThatATriggerOfTheDatabaseRefusesHoldsUpNoOther() async throws {
    let hub = try Hub()
    let daemons = try hub.daemons("first")
    try daemons[0].insert(["early"])
    try await settle(daemons)
    try hub.sql(
      "CREATE FUNCTION @refuse() RETURNS trigger LANGUAGE plpgsql AS "
        + "$$ BEGIN RAISE EXCEPTION 'not here'; END $$")
    try hub.sql(
      "CREATE TRIGGER refuse BEFORE INSERT ON @item FOR EACH ROW WHEN (NEW.key = 'bad') "
        + "EXECUTE FUNCTION @refuse()")
    try daemons[0].insert(["good", "bad", "fine"])
    await #expect {
      try await daemons[0].engine.wait(timeout: .patience)
    } throws: { ($0 as? SyncError)?.code == .recordsHeld }
    #expect(try hub.sql("SELECT key FROM @item ORDER BY key") == "early\nfine\ngood")
    let held = try daemons[0].engine.status().replicas.first?.held
    #expect(held?.invalid == 1)
    try hub.sql("DROP TRIGGER refuse ON @item")
    try daemons[0].site.write { try daemons[0].set("bad", "value", "better", in: $0) }
    try await settle(daemons)
    #expect(try hub.sql("SELECT count(*) FROM @item") == "4")
    for daemon in daemons { try await daemon.close() }
  }
}
