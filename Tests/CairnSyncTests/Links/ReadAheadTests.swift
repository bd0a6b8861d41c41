import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// The change set that follows is read while one is applied; what was read is used where it belongs, or not at all.
struct ReadAheadTests {
  private static func exporter(
    of site: Fleet.Site, to destination: UInt64 = 1, batchSize: Int = 7
  ) -> ChangeExporter {
    ChangeExporter(
      access: site.access, destination: StoreID(high: 9, low: destination), batchSize: batchSize)
  }

  @Test func whatWasReadAheadIsUsedForItsOwnCursorAlone() throws {
    let fleet = Fleet(seed: 3, model: NewRowTests.model())
    let a = try fleet.add("a")
    try a.write { for key in 0..<20 { _ = try a.insert("Folder", ["key": "\(key)"], in: $0) } }
    try HistoryCapture(access: a.access).run()
    let source = try a.access.ledger().storeID
    let ahead = ReadAhead()
    let start = SyncCursor()
    let later = SyncCursor(position: 1)
    func read(_ cursor: SyncCursor) { ahead.begin(after: cursor, by: Self.exporter(of: a))() }
    read(start)
    #expect(ahead.take(after: later, from: source, by: Self.exporter(of: a)) == nil)
    #expect(
      ahead.take(after: start, from: source, by: Self.exporter(of: a)) == nil, "it was dropped")
    read(start)
    let other = StoreID(high: 0, low: 0)
    #expect(ahead.take(after: start, from: other, by: Self.exporter(of: a)) == nil)
    read(start)
    #expect(ahead.take(after: start, from: source, by: Self.exporter(of: a, to: 2)) == nil)
    read(start)
    #expect(
      ahead.take(after: start, from: source, by: Self.exporter(of: a, batchSize: 6)) == nil,
      "commits have become smaller")
    read(start)
    let set = try #require(ahead.take(after: start, from: source, by: Self.exporter(of: a)))
    #expect(try set == Self.exporter(of: a).next(after: start))
    #expect(ahead.take(after: start, from: source, by: Self.exporter(of: a)) == nil, "once")
  }

  @Test func whatAProgramWritesWhileSetsAreReadAheadArrives() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 3, directory: scratch.url, model: NewRowTests.model())
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    for start in [0, 10, 20] {
      try a.write { context in
        for key in start..<start + 10 {
          _ = try a.insert("Folder", ["key": "\(key)"], in: context)
        }
      }
    }
    fleet.interrupt(b, at: .beforeImportCommit) {
      try a.write { context in
        for folder in try a.all("Folder", in: context) {
          let key = folder.value(forKey: "key") as? String ?? ""
          folder.setValue("new \(key)", forKey: "key")
        }
      }
    }
    _ = try fleet.pass(a, b)
    #expect(fleet.wasInterrupted)
    #expect(try fleet.settle([(a, b)]) < 40)
    for site in [a, b] {
      let keys = try site.write { context in
        try site.all("Folder", in: context).compactMap { $0.value(forKey: "key") as? String }
      }
      #expect(keys.count == 30 && keys.allSatisfy { $0.hasPrefix("new ") }, "\(site.name)")
    }
  }

  @Test func onlyWhatSyncWroteItselfIsPassedOver() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 3, directory: scratch.url, model: NewRowTests.model())
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    _ = try fleet.pass(a, b)
    for number in 0..<40 {
      try a.write { _ = try a.insert("Folder", ["key": "a\(number)"], in: $0) }
      try HistoryCapture(access: a.access).run()
      // Between two commits of sync, a program writes.
      if number == 30 { try b.write { _ = try b.insert("Folder", ["key": "b"], in: $0) } }
      let source = try a.access.ledger().storeID
      let cursor = try b.access.ledger().cursor(for: source)
      let exporter = ChangeExporter(
        access: a.access, destination: try b.access.ledger().storeID, batchSize: 7)
      let set = try #require(try exporter.next(after: cursor))
      let context = ManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = fleet.coordinator
      _ = try context.performAndWait {
        try ChangeImporter(access: b.access, context: context)
          .apply(set, cursor: SyncCursor(position: set.upTo))
      }
      let own = try b.access.ownTransactions(after: try b.access.ledger().head.captured)
      #expect(own.count <= 17, "what is looked at each time does not grow")
    }
    #expect(try fleet.settle([(a, b)]) < 40)
    let keys = try a.write { context in
      try a.all("Folder", in: context).compactMap { $0.value(forKey: "key") as? String }
    }
    #expect(keys.count == 41 && keys.contains("b"))
  }
}
