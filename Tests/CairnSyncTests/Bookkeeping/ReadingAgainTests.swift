import CairnContext
import CairnModel
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.1 and 5, "Purge": a store that reads the others once more knows what it has deleted,
/// although it has forgotten that.
struct ReadingAgainTests {
  private let fleet: Fleet
  private let a: Fleet.Site
  private let hub: Fleet.Site

  init() throws {
    fleet = Fleet(seed: 37)
    (a, hub) = (try fleet.addRetaining("a"), try fleet.addRetaining("hub"))
  }

  /// Of what came from the hub, deletes an item and removes a link, and forgets both.
  private func forget(_ direction: SyncDirection) throws {
    try hub.write { context in
      let tag = try hub.insert("Tag", ["name": "t"], in: context)
      for key in ["goes", "stays"] {
        try hub.insert("Item", ["key": key], in: context).setValue(
          NSSet(object: tag), forKey: "tags")
      }
    }
    for _ in 0..<3 { try fleet.pass(a, hub, direction: direction) }
    fleet.advance(10)
    try a.write { context in
      try a.find("Item", "goes", in: context).map(context.delete)
      try a.find("Item", "stays", in: context)?.setValue(NSSet(), forKey: "tags")
    }
    try HistoryCapture(access: a.access).run()
    // Silent for longer than the retention, so that nothing is kept for it.
    fleet.advance(PurgeTests.retention + 1)
    let report = try a.purge(age: 0)
    #expect(report.records == 1 && report.links > 0)
  }

  private func readAgain(_ names: Set<String> = []) throws {
    let ledger = try a.access.ledger()
    try ledger.readOthersAgain(havingLost: names)
    #expect(try a.access.commit(ledger))
  }

  private static let left = ["item stays nil nil ^- []", "tag t nil"]

  /// With both, it is the hub that comes back after the retention.
  @Test(arguments: [SyncDirection.pull, .both])
  func whatIsDeletedAndForgottenStaysDeleted(_ direction: SyncDirection) throws {
    try forget(direction)
    try readAgain()
    for _ in 0..<4 { try fleet.pass(a, hub, direction: direction) }
    #expect(try a.picture() == Self.left)
    if direction == .both { #expect(try hub.picture() == Self.left) }
  }

  /// It stops before it has read anything, and then has to read again for another reason.
  @Test func itStaysDeletedWhereReadingBeginsTwice() throws {
    try forget(.pull)
    try readAgain()
    try readAgain()
    for _ in 0..<4 { try fleet.pass(a, hub, direction: .pull) }
    #expect(try a.picture() == Self.left)
  }

  /// A write that the store had not heard of outlives the delete.
  @Test func whatWasWrittenSinceComesBack() throws {
    try forget(.pull)
    try hub.write { try hub.find("Item", "goes", in: $0)?.setValue("later", forKey: "value") }
    try readAgain()
    for _ in 0..<4 { try fleet.pass(a, hub, direction: .pull) }
    #expect(
      try a.write { try a.all("Item", in: $0).map { $0.value(forKey: "key") as? String } } == [
        "goes", "stays",
      ])
  }

  /// Then that nothing is known of its records does not mean that they were deleted.
  @Test func whatAMigrationHasDroppedComesBack() throws {
    try forget(.pull)
    try readAgain(["Item", "Item.tags"])
    // All that was lost before is read once more, too.
    try readAgain()
    for _ in 0..<4 { try fleet.pass(a, hub, direction: .pull) }
    #expect(
      try a.write { try a.all("Item", in: $0).map { $0.value(forKey: "key") as? String } } == [
        "goes", "stays",
      ])
    // Once all was read, a delete is one again.
    #expect(try a.access.ledger().lostNames() == ["Item", "Item.tags"])
    try readAgain()
    #expect(try a.access.ledger().lostNames().isEmpty)
  }
}
