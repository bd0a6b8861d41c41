import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 4, "Delete rules": what a delete rule nullified is not a write against a
/// delete.
struct DeleteRuleTests {
  /// Two stores with a child below a parent, and a part of an item.
  private func family(
    _ policy: DeleteConflictPolicy, seed: UInt64
  ) throws -> (fleet: Fleet, a: Fleet.Site, b: Fleet.Site) {
    let fleet = Fleet(seed: seed)
    let set: (inout SyncConfiguration) -> Void = { $0.deleteConflicts = policy }
    let (a, b) = (try fleet.add("a", configure: set), try fleet.add("b", configure: set))
    try a.write { context in
      let parent = try a.insert("Item", ["key": "parent"], in: context)
      _ = try a.insert("Item", ["key": "child", "value": "v", "parent": parent], in: context)
    }
    try fleet.pass(a, b)
    return (fleet, a, b)
  }

  @Test(arguments: [DeleteConflictPolicy.lastWriter, .deleteWins, .writeWins])
  func twoDeletesBringNothingBack(policy: DeleteConflictPolicy) throws {
    let (fleet, a, b) = try family(policy, seed: 11)
    try a.delete("child")
    fleet.advance(50)
    // Nullifies the child's reference here, where the child still is.
    try b.delete("parent")
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == [])
    #expect(try b.picture() == [])
  }

  @Test func aWriteAfterTheDeleteStillBringsTheRecordBackWhenARuleWroteLast() throws {
    let (fleet, a, b) = try family(.lastWriter, seed: 12)
    try a.delete("child")
    fleet.advance(50)
    try b.write { try b.find("Item", "child", in: $0)?.setValue("kept", forKey: "value") }
    try HistoryCapture(access: b.access).run()
    fleet.advance(50)
    try b.delete("parent")
    _ = try fleet.settle([(a, b)])
    #expect(try a.picture() == ["item child kept nil ^- []"])
    #expect(try b.picture() == a.picture())
  }

  @Test func aReferenceThatWasMeantLaterThanTheDeleteCountsAlsoWhenARuleTookItAway() throws {
    let (fleet, a, b) = try family(.lastWriter, seed: 13)
    try a.delete("child")
    fleet.advance(50)
    try b.write { context in
      let other = try b.insert("Item", ["key": "other"], in: context)
      try b.find("Item", "child", in: context)?.setValue(other, forKey: "parent")
    }
    try HistoryCapture(access: b.access).run()
    fleet.advance(50)
    try b.delete("other")
    _ = try fleet.settle([(a, b)])
    #expect(
      try a.picture() == ["item child v nil ^- []", "item parent nil nil ^- []"])
    #expect(try b.picture() == a.picture())
  }

  @Test func aReferenceThatAProgramTookAwayIsAWrite() throws {
    let (fleet, a, b) = try family(.lastWriter, seed: 14)
    try a.delete("child")
    fleet.advance(50)
    try b.write { try b.find("Item", "child", in: $0)?.setValue(nil, forKey: "parent") }
    try HistoryCapture(access: b.access).run()
    _ = try fleet.settle([(a, b)])
    #expect(
      try a.picture() == ["item child v nil ^- []", "item parent nil nil ^- []"])
    #expect(try b.picture() == a.picture())
  }

  @Test func whoWroteIsKeptInBytes() throws {
    let stamp = Stamp(clock: ClockReading(milliseconds: 5), store: StoreID(high: 1, low: 2))
    let later = Stamp(clock: ClockReading(milliseconds: 9), store: StoreID(high: 3, low: 4))
    for write in [
      PropertyWrite(stamp: stamp), PropertyWrite(stamp: stamp).overwritten(at: later),
      PropertyWrite(stamp: stamp).overwritten(at: later, byRule: true),
    ] {
      var writer = ByteWriter()
      writer.write(write)
      var reader = ByteReader(writer.data)
      #expect(try reader.write() == write && reader.isAtEnd)
    }
  }
}
