import Testing

@testable import CairnSQL

/// Positions of ordered members.
@Suite struct OrderKeysTests {
  @Test func newMembersStepBy1024From2048() {
    #expect(OrderKeys.assign(existing: [nil, nil, nil]) == [2048, 3072, 4096])
  }

  @Test func aMemberBeforeTheFirstGetsTheMidpointToZero() {
    #expect(OrderKeys.assign(existing: [nil, 2048, 3072]) == [1024, 2048, 3072])
  }

  @Test func aMemberBetweenTwoGetsTheirMidpoint() {
    #expect(OrderKeys.assign(existing: [2048, nil, 3072]) == [2048, 2560, 3072])
  }

  @Test func movingOneMemberChangesOnlyItsPosition() {
    let moved = OrderKeys.assign(existing: [4096, 2048, 3072, 5120])
    #expect(moved.dropFirst() == [2048, 3072, 5120])
    #expect(moved[0] < 2048)
  }

  @Test func everythingIsRenumberedWhenAGapIsUsedUp() {
    #expect(OrderKeys.assign(existing: [1, nil, 2]) == [2048, 3072, 4096])
  }

  @Test func everyAssignmentIsStrictlyIncreasing() {
    var generator = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
    var state = seed
    func next(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    for _ in 0..<300 {
      let existing = (0..<Int(next(12))).map { _ -> Int64? in
        next(3) == 0 ? nil : Int64(next(9000))
      }
      let assigned = OrderKeys.assign(existing: existing)
      let isIncreasing = zip(assigned, assigned.dropFirst()).allSatisfy { $0 < $1 }
      #expect(isIncreasing, "seed \(seed), \(existing) gave \(assigned)")
      #expect(assigned.count == existing.count)
    }
  }
}
