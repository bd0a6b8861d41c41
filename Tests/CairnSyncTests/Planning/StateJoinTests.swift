import Foundation
import Testing

@testable import CairnSync

// The laws by which the order and number of deliveries cannot matter.
struct StateJoinTests {
  static let stores = (1...3).map { StoreID(high: 0, low: UInt64($0)) }
  static let id = RecordID(high: 7, low: 7)

  static func stamp(_ generator: inout SeededGenerator) -> Stamp {
    Stamp(
      clock: ClockReading(bits: UInt64.random(in: 1...4, using: &generator)),
      store: generator.pick(stores) ?? stores[0])
  }

  static func seen(_ generator: inout SeededGenerator) -> SeenWrites {
    var seen = SeenWrites()
    for _ in 0..<Int.random(in: 0...2, using: &generator) { seen.insert(stamp(&generator)) }
    return seen
  }

  /// A number; of decimals some that a SQLite store keeps as the same.
  static func value(_ generator: inout SeededGenerator) -> WireValue {
    if generator.chance(50) { return .integer(Int64.random(in: 1...3, using: &generator)) }
    let texts = ["0.5", "0.50000000000000000001", "0.50000000000000000002", "0.6"]
    return .decimal(generator.pick(texts).flatMap { Decimal(string: $0) } ?? 0)
  }

  static func state(_ generator: inout SeededGenerator) -> RecordState {
    var state = RecordState(id: id, entity: "Item")
    for name in ["a", "b", "c"] where generator.chance(60) {
      let value = Self.value(&generator)
      let (first, second) = (stamp(&generator), stamp(&generator))
      // What a delete rule wrote, sometimes; it came after what a program meant.
      let meant = first < second && generator.chance(30) ? first : nil
      state.registers[name] = Register(
        value: value,
        write: PropertyWrite(stamp: second, seen: seen(&generator), lastMeant: meant))
    }
    if generator.chance(30) {
      let policies = [nil] + DeleteConflictPolicy.allCases
      let (first, second) = (generator.pick(policies) ?? nil, generator.pick(policies) ?? nil)
      state.deletion = Deletion(stamp: stamp(&generator), seen: SeenWrites(), policy: first)
        .joined(
          with: Deletion(stamp: stamp(&generator), seen: seen(&generator), policy: second))
    }
    if generator.chance(15) {
      state.survivor = RecordID(high: 1, low: UInt64.random(in: 1...3, using: &generator))
    }
    return state
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func joiningRecordStatesIsCommutativeAssociativeAndIdempotent(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let (a, b, c) = (Self.state(&generator), Self.state(&generator), Self.state(&generator))
      #expect(a.joined(with: b) == b.joined(with: a), "seed \(seed)")
      #expect(
        a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c)), "seed \(seed)")
      #expect(a.joined(with: a) == a, "seed \(seed)")
      let ab = a.joined(with: b)
      #expect(ab.joined(with: b) == ab && ab.joined(with: a) == ab, "seed \(seed)")
    }
  }

  @Test func ofTwoDeletesTheLaterCounts() {
    let deletions = (1...2).map { number in
      Deletion(
        stamp: Stamp(
          clock: ClockReading(bits: UInt64(number)), store: StoreID(high: 0, low: UInt64(number))))
    }
    #expect(deletions[0].joined(with: deletions[1]).stamp == deletions[1].stamp)
    #expect(deletions[1].joined(with: deletions[0]).stamp == deletions[1].stamp)
  }

  @Test func thePolicyOfTheLaterDeleteHoldsForBoth() {
    func deletion(_ time: UInt64, _ policy: DeleteConflictPolicy?) -> Deletion {
      Deletion(
        stamp: Stamp(clock: ClockReading(bits: time), store: Self.stores[0]), policy: policy)
    }
    let (early, late) = (deletion(1, .deleteWins), deletion(2, .lastWriter))
    #expect(early.joined(with: late).policy == .lastWriter)
    #expect(late.joined(with: early).policy == .lastWriter)
    // The same delete, from a build that kept no policy.
    #expect(deletion(2, nil).joined(with: late).policy == .lastWriter)
    #expect(late.joined(with: deletion(2, nil)).policy == .lastWriter)
  }

  @Test func joiningAllSmallRegistersIsCommutativeAssociativeAndIdempotent() {
    var all: [Register] = []
    for store in Self.stores {
      for clock in 1...2 {
        for value in 1...2 {
          all.append(
            Register(
              value: .integer(Int64(value)),
              write: PropertyWrite(
                stamp: Stamp(clock: ClockReading(bits: UInt64(clock)), store: store))))
        }
      }
    }
    for a in all {
      #expect(a.joined(with: a) == a)
      for b in all {
        #expect(a.joined(with: b) == b.joined(with: a))
        for c in all {
          #expect(a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c)))
        }
      }
    }
  }

  @Test func joiningAllSmallLinksIsLawfulAndAddWinsTies() {
    var all: [LinkState] = []
    for store in Self.stores {
      for clock in 1...2 {
        for isMember in [true, false] {
          all.append(
            LinkState(
              stamp: Stamp(clock: ClockReading(bits: UInt64(clock)), store: store),
              isMember: isMember))
        }
      }
    }
    for a in all {
      #expect(a.joined(with: a) == a)
      for b in all {
        #expect(a.joined(with: b) == b.joined(with: a))
        if a.stamp == b.stamp { #expect(a.joined(with: b).isMember == (a.isMember || b.isMember)) }
        for c in all {
          #expect(a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c)))
        }
      }
    }
  }

  static func linkState(_ generator: inout SeededGenerator) -> LinkState {
    func position(_ generator: inout SeededGenerator) -> Register? {
      guard generator.chance(60) else { return nil }
      let key = Data([UInt8.random(in: 1...3, using: &generator)])
      return Register(
        value: .data(key),
        write: PropertyWrite(stamp: stamp(&generator), seen: seen(&generator)))
    }
    return LinkState(
      write: PropertyWrite(stamp: stamp(&generator), seen: seen(&generator)),
      isMember: generator.chance(50), memberPosition: position(&generator),
      ownerPosition: position(&generator))
  }

  @Test func joiningLinksWithPositionsIsCommutativeAssociativeAndIdempotent() {
    var generator = SeededGenerator(seed: 12)
    for _ in 0..<2000 {
      let a = Self.linkState(&generator)
      let (b, c) = (Self.linkState(&generator), Self.linkState(&generator))
      #expect(a.joined(with: b) == b.joined(with: a))
      #expect(a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c)))
      #expect(a.joined(with: a) == a)
    }
  }

  @Test func uniteGivesTheSameSurvivorWhicheverSideDecides() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<500 {
      var a = Self.state(&generator)
      let c = Self.state(&generator)
      a.survivor = nil
      let b = RecordState(id: RecordID(high: 8, low: 0), entity: "Item", registers: c.registers)
      let one = RecordDecision.unite(a, b, policy: .lastWriter)
      let other = RecordDecision.unite(b, a, policy: .lastWriter)
      #expect(one.survivor == other.survivor && one.tombstone == other.tombstone)
      #expect(one.survivor.id == a.id && one.tombstone.survivor == a.id)
    }
  }
}
