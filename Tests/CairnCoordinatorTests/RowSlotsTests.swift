// The values of a row where they lie: what is put into a slot comes out of it, and goes once.

import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@Suite struct RowSlotsTests {
  private static let id = ManagedObjectID(
    entity: EntityDescription(), storeIdentity: nil, key: .row(7))

  /// One value of every case, with the longest and the shortest payloads.
  private static let values: [AttributeValue] = [
    .null, .boolean(true), .boolean(false), .integer(.min), .integer(-1), .integer(.max),
    .float(-0.5), .double(.pi), .double(-.infinity),
    .decimal(Decimal(string: "12.345678901234567") ?? 0),
    .string(""), .string("fifteen bytes.."), .string("a string that does not fit in a word"),
    .date(Date(timeIntervalSinceReferenceDate: -1e9)), .data(Data()), .data(Data([1, 2, 3])),
    .data(Data(repeating: 9, count: 100_000)),
    .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255))),
    .url(URL(fileURLWithPath: "/a/b")), .object(id),
  ]

  private static func row(_ values: [AttributeValue]) -> RowSnapshot {
    .make(objectID: id, version: 3, values: values)
  }

  @Test(arguments: 0..<40) func aRowOfAnyLengthGivesBackItsValues(count: Int) {
    let values = (0..<count).map { Self.values[$0 * 7 % Self.values.count] }
    let row = Self.row(values)
    #expect(row.count == count)
    #expect(row.values == values)
    #expect((0..<count).map { row[$0] } == values)
    #expect(row.version == 3)
    #expect(row.objectID === Self.id)
  }

  /// Each write is made over the neighbour's first byte.
  @Test func aWriteLeavesTheOtherSlotsAsTheyAre() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededNumbers(seed: seed)
    var expected = Self.values
    let row = RowSnapshot.draft(count: expected.count) { slots in
      for (slot, value) in expected.enumerated() { slots.initialize(slot, to: value) }
    }
    for _ in 0..<5_000 {
      let slot = Int.random(in: 0..<expected.count, using: &random)
      let value = Self.values.randomElement(using: &random) ?? .null
      expected[slot] = value
      row.slots[slot] = value
      #expect(row.values == expected, "seed \(seed)")
    }
  }

  @Test func valuesGoWithTheirRowOrWhenTheyAreReplacedAndNotBefore() {
    weak var first: ManagedObjectID?
    weak var second: ManagedObjectID?
    do {
      let row: RowSnapshot
      do {
        let one = ManagedObjectID.temporary(entity: Self.id.entity)
        let other = ManagedObjectID.temporary(entity: Self.id.entity)
        (first, second) = (one, other)
        row = .draft(count: 2) { slots in
          slots.initialize(0, to: .object(one))
          slots.initialize(1, to: .object(other))
        }
      }
      #expect(first != nil && second != nil)
      row.slots[0] = .integer(1)
      #expect(first == nil)
      #expect(row.slots[1] == second.map { .object($0) })
      withExtendedLifetime(row) {}
    }
    #expect(second == nil)
  }

  @Test func aCopyHasReferencesOfItsOwn() {
    weak var kept: ManagedObjectID?
    var copy: RowSnapshot?
    do {
      let id = ManagedObjectID.temporary(entity: Self.id.entity)
      kept = id
      let row = Self.row([.null, .object(id), .string("a string that does not fit in a word")])
      copy = .draft(count: 3) { $0.initialize(from: row.slots, count: 3) }
    }
    #expect(kept != nil)
    #expect(copy?.slots[2] == .string("a string that does not fit in a word"))
    copy = nil
    #expect(kept == nil)
  }

  @Test func aRowThatCouldNotBeFilledLeavesNothingBehind() {
    struct Refused: Error {}
    weak var known: ManagedObjectID?
    do {
      let id = ManagedObjectID.temporary(entity: Self.id.entity)
      known = id
      #expect(throws: Refused.self) {
        try RowSnapshot.make(objectID: id, version: 0, count: 3) { _ in throw Refused() }
      }
    }
    #expect(known == nil)
  }
}
