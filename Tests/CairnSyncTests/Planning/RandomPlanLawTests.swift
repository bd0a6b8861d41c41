import CairnModel
import Foundation
import Testing

@testable import CairnSync

/// The laws of planning on longer histories of everything the sample model has: unique names, links,
/// ordered members, references, and one label that no other item has.
struct RandomPlanLawTests {
  private static let items = (1...3).map { RecordID(high: 1, low: $0) }
  private static let tags = (11...13).map { RecordID(high: 1, low: $0) }
  private static let parts = (21...24).map { RecordID(high: 1, low: $0) }

  /// One write of an application that happens to choose it.
  private static func act(_ store: inout PureStore, _ stamp: Stamp, _ chance: inout SeededGenerator)
  {
    let item = chance.pick(items) ?? items[0]
    let tag = chance.pick(tags) ?? tags[0]
    let part = chance.pick(parts) ?? parts[0]
    let present = items.filter { store.rows[$0] != nil }
    let target = chance.pick(present).map { WireValue.reference($0) } ?? .null
    switch Int.random(in: 0..<13, using: &chance) {
    case 0, 1: store.insert(item, "Item", ["key": .string("\(item.low)"), "parent": target], stamp)
    case 2:
      // Of two tags one name: they are one tag.
      let name = WireValue.string(chance.pick(["red", "blue"]) ?? "red")
      let isTaken = store.rows.values.contains { $0["name"] == name }
      if !isTaken { store.insert(tag, "Tag", ["name": name], stamp) }
    case 3, 4: store.insert(part, "Part", ["key": .string("\(part.low)"), "item": target], stamp)
    case 5: store.write(item, "value", .string("\(stamp.clock.bits)"), stamp)
    case 6: store.write(tag, "note", .string("\(stamp.clock.bits)"), stamp)
    case 7: store.write(part, "item", target, stamp)
    case 8: store.write(item, "parent", target, stamp)
    case 9:
      let isTaken = store.rows.contains { $0.key != item && $0.value["label"]?.reference == tag }
      if !isTaken { store.write(item, "label", .reference(tag), stamp) }
    case 10, 11:
      store.link(
        LinkKey(relationship: "Item.tags", owner: item, member: tag), chance.chance(60), stamp)
    default: store.delete(chance.pick(items + tags + parts) ?? item, stamp)
    }
  }

  private static func flaw(
    seed: UInt64, _ settings: [ImportSetting], operations: Int
  ) throws -> String? {
    var chance = SeededGenerator(seed: seed)
    var stores = (0..<3).map { PureStore(UInt64($0 + 1), settings[$0 % settings.count]) }
    for time in 1...operations {
      let number = Int.random(in: 0..<3, using: &chance)
      let stamp = Stamp(clock: ClockReading(bits: UInt64(time * 10)), store: stores[number].id)
      act(&stores[number], stamp, &chance)
      if let flaw = stores[number].flaw() { return "after a write: \(flaw)" }
      if chance.chance(15) {
        let (from, to) = chance.pick(PlanLawTests.orders[0]) ?? (0, 1)
        try stores[to].receive(from: stores[from])
        if let flaw = stores[to].flaw() { return "after a delivery: \(flaw)" }
      }
    }
    return try PlanLawTests.flawAtRest(stores, &chance)
  }

  /// One policy for all stores, or one for each.
  private static let policies: [[DeleteConflictPolicy]] =
    DeleteConflictPolicy.allCases.map { [$0] } + [[.deleteWins, .lastWriter, .writeWins]]

  @Test(arguments: policies, [false, true])
  func longHistoriesComeToTheSameInEveryOrder(
    policies: [DeleteConflictPolicy], denies: Bool
  ) throws {
    let settings = try policies.map { try PlanLawTests.setting($0, denies: denies) }
    let first = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) } ?? 1
    for seed in first..<first + 20 {
      do {
        if let flaw = try Self.flaw(seed: seed, settings, operations: 25) {
          Issue.record("seed \(seed), \(policies), denies \(denies): \(flaw)")
          return
        }
      } catch {
        Issue.record("seed \(seed), \(policies), denies \(denies): \(error)")
        return
      }
    }
  }
}
