import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSync

// Applications that write to the very records that a pass is about to change.
struct InterruptionTests {
  private static func fleet(onFiles: Bool, seed: UInt64) throws -> (Fleet, Scratch?) {
    let scratch = onFiles ? try Scratch() : nil
    return (Fleet(seed: seed, directory: scratch?.url), scratch)
  }

  @Test(
    arguments: [SyncEnvironment.Failpoint.beforeImport, .afterPlan, .beforeImportCommit],
    [false, true])
  func aWriteWhileADeleteComesInIsNotLost(
    failpoint: SyncEnvironment.Failpoint, onFiles: Bool
  ) throws {
    let (fleet, scratch) = try Self.fleet(onFiles: onFiles, seed: 61)
    defer { withExtendedLifetime(scratch) {} }
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    try a.write { _ = try a.insert("Item", ["key": "k", "value": "0", "other": 1.0], in: $0) }
    try fleet.pass(a, b)
    try a.write { context in try a.find("Item", "k", in: context).map(context.delete) }
    try HistoryCapture(access: a.access).run()
    fleet.advance(10)
    fleet.interrupt(b, at: failpoint) {
      try b.write { try b.find("Item", "k", in: $0)?.setValue("late", forKey: "value") }
    }
    #expect(try fleet.settle([(a, b)]) < 40)
    #expect(fleet.wasInterrupted)
    #expect(try b.picture() == ["item k late 1.0 ^- []"])
    #expect(try a.picture() == b.picture())
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
  }

  @Test(
    arguments: [SyncEnvironment.Failpoint.beforeImport, .afterPlan, .beforeImportCommit],
    [false, true])
  func aWriteWhileDuplicatesAreUnitedIsNotLost(
    failpoint: SyncEnvironment.Failpoint, onFiles: Bool
  ) throws {
    let (fleet, scratch) = try Self.fleet(onFiles: onFiles, seed: 62)
    defer { withExtendedLifetime(scratch) {} }
    let (a, b) = (try fleet.add("a"), try fleet.add("b"))
    // Both make a tag of one name; the one whose ID is smaller stays.
    for (first, second) in [(a, b), (b, a)] {
      let name = "both-\(first.name)"
      try first.write { _ = try first.insert("Tag", ["name": name], in: $0) }
      try HistoryCapture(access: first.access).run()
      fleet.advance(10)
      try second.write { _ = try second.insert("Tag", ["name": name], in: $0) }
      try HistoryCapture(access: second.access).run()
      fleet.advance(10)
    }
    fleet.interrupt(b, at: failpoint) {
      for site in [a, b] {
        try site.write { context in
          for tag in try site.all("Tag", in: context) {
            tag.setValue("noted", forKey: "note")
          }
        }
      }
    }
    #expect(try fleet.settle([(a, b)]) < 40)
    #expect(fleet.wasInterrupted)
    #expect(try a.picture() == ["tag both-a noted", "tag both-b noted"])
    #expect(try b.picture() == a.picture())
    #expect(try StoreComparison(local: a.access, replica: b.access).run(name: "b").isEqual)
  }
}
