import CairnContext
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// What is served from one store to another, and what is written down of it: rules that only a crash, or
/// a writer at the wrong moment, shows.
struct ServingTests {
  /// How many transactions a store's write-ahead log holds.
  private static func commits(in file: URL) throws -> Int {
    let log = try Data(contentsOf: URL(fileURLWithPath: file.path + "-wal"))
    func number(_ offset: Int) -> Int {
      log[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    guard log.count > 32 else { return 0 }
    // Header 32: page size at 8, salts at 16. Frames of 24 and a page: size of the file after a commit
    // at 4, otherwise 0; salts at 8.
    let frame = 24 + number(8)
    return stride(from: 32, to: log.count - frame + 1, by: frame).count(where: {
      number($0 + 4) > 0 && log[($0 + 8)..<($0 + 16)] == log[16..<24]
    })
  }

  @Test func whatIsAppliedAndTheCursorAreOneCommit() throws {
    let scratch = try Scratch()
    let fleet = Fleet(seed: 81, directory: scratch.url)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "first"], in: $0) }
    _ = try fleet.settle([(a, b)])
    // No insert, whose new keys are handed out in a commit of their own.
    try a.write { try a.find("Item", "first", in: $0)?.setValue("v", forKey: "value") }
    try HistoryCapture(access: a.access).run()
    let source = try a.access.ledger()
    let cursor = try b.access.ledger().cursor(for: source.storeID)
    let exporter = ChangeExporter(access: a.access, destination: try b.access.ledger().storeID)
    let set = try #require(try exporter.next(after: cursor))
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fleet.coordinator
    let file = scratch.url.appendingPathComponent("b.sqlite")
    let before = try Self.commits(in: file)
    let next = SyncCursor(position: set.upTo, mark: try a.access.mark(at: set.upTo))
    _ = try context.performAndWait {
      try ChangeImporter(access: b.access, context: context).apply(set, cursor: next)
    }
    #expect(try Self.commits(in: file) == before + 1)
    #expect(try b.access.ledger().cursor(for: source.storeID) == next)
    #expect(try b.picture() == a.picture())
  }

  @Test func aValueTravelsUnderTheStampOfItsWriteAlone() throws {
    let fleet = Fleet(seed: 82)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "0"], in: $0) }
    _ = try fleet.settle([(a, b)])
    fleet.advance(10)
    try a.write { try a.find("Item", "k", in: $0)?.setValue("1", forKey: "value") }
    try HistoryCapture(access: a.access).run()
    fleet.advance(10)
    try b.write { try b.find("Item", "k", in: $0)?.setValue("other", forKey: "value") }
    try HistoryCapture(access: b.access).run()
    fleet.advance(10)
    let destination = try b.access.ledger().storeID
    let cursor = try b.access.ledger().cursor(for: a.access.ledger().storeID)
    // Between the entries and the rows of what is sent.
    fleet.interrupt(a, at: .beforeExport) {
      try a.write { try a.find("Item", "k", in: $0)?.setValue("2", forKey: "value") }
    }
    let old = try a.access.ledger().head.clock.last
    let set = try #require(
      try ChangeExporter(access: a.access, destination: destination).next(after: cursor))
    #expect(fleet.wasInterrupted)
    let register = try #require(set.records.first?.registers["value"])
    #expect(register.value == .string("2") && register.write.stamp.clock > old)
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == ["item k 2 nil ^- []"])
    #expect(try b.picture() == a.picture())
  }

  @Test func whatWaitedGoesOnAlsoToTheStoreThatSentTheRestOfIt() throws {
    let fleet = Fleet(seed: 83)
    let local = try fleet.add("local")
    let (ahead, other) = (try fleet.add("ahead", skew: 3_600_000), try fleet.add("other"))
    try local.write { _ = try local.insert("Item", ["key": "k"], in: $0) }
    _ = try fleet.settle([(local, other), (local, ahead)])
    try ahead.write { try ahead.find("Item", "k", in: $0)?.setValue("late", forKey: "value") }
    try fleet.pass(local, ahead)
    fleet.advance(10)
    try other.write { try other.find("Item", "k", in: $0)?.setValue(2.0, forKey: "other") }
    try fleet.pass(local, other)
    #expect(try ReplicationTests().quarantine(local).count == 1)
    fleet.advance(2 * 3_600_000)
    #expect(try fleet.settle([(local, other)]) < 40)
    #expect(try local.picture() == ["item k late 2.0 ^- []"])
    #expect(try other.picture() == local.picture())
  }

  @Test func aStoreStampsLaterThanAllThatItHasReceived() throws {
    let fleet = Fleet(seed: 84)
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    for key in ["1", "2", "3"] {
      try b.write { _ = try b.insert("Item", ["key": key], in: $0) }
    }
    try HistoryCapture(access: b.access).run()
    try fleet.pass(a, b)
    let received = try b.access.ledger().head.clock.last
    try a.write { _ = try a.insert("Item", ["key": "later"], in: $0) }
    try HistoryCapture(access: a.access).run()
    #expect(try a.access.ledger().head.clock.last > received)
  }
}
