// The keys that place members of ordered relationships between their neighbours.

import Testing

@testable import CairnSync

struct PositionKeyTests {
  @Test func thereIsAlwaysRoomBetweenTwoKeys() {
    var generator = SeededGenerator(seed: 3)
    var keys: [PositionKey] = []
    for number in 0..<2000 {
      let place = generator.chance(50) ? 0 : Int.random(in: 0...keys.count, using: &generator)
      let lower = place > 0 ? keys[place - 1] : nil
      let upper = place < keys.count ? keys[place] : nil
      let record = RecordID(high: 0, low: UInt64(number) << 8)
      let key = PositionKey.between(lower, upper, for: record)
      if let lower { #expect(lower < key) }
      if let upper { #expect(key < upper) }
      #expect(PositionKey(data: key.data) == key)
      keys.insert(key, at: place)
    }
    #expect(keys == keys.sorted())
  }

  @Test func aNewOrderChangesAsFewKeysAsPossible() {
    var generator = SeededGenerator(seed: 4)
    var next: UInt64 = 0
    func fresh() -> (record: RecordID, key: PositionKey?) {
      next += 1
      return (RecordID(high: 0, low: next << 7), nil)
    }
    var list = (0..<3000).map { _ in fresh() }
    for round in 0..<200 {
      let new = PositionKey.assign(list)
      let without = list.count { $0.key == nil }
      // In each round one member was moved.
      #expect(new.count >= without && new.count <= without + 1)
      for (index, key) in new { list[index].key = key }
      let keys = list.compactMap(\.key)
      #expect(keys.count == list.count)
      #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
      list.swapAt(round, round + 1)
      for _ in 0..<5 {
        list.insert(fresh(), at: Int.random(in: 0...list.count, using: &generator))
      }
    }
    #expect(PositionKey.assign(list.filter { $0.key != nil }).count <= 1)
  }

  @Test func keysDoNotGrowAtTheEndsAndGrowSlowlyInBulk() {
    var list: [(record: RecordID, key: PositionKey?)] = []
    for number in 0..<500 {
      list.insert(
        (RecordID(high: 0, low: .max - UInt64(number)), nil), at: number % 2 == 0 ? 0 : list.count)
      for (index, key) in PositionKey.assign(list) { list[index].key = key }
    }
    #expect(list.allSatisfy { $0.key?.bytes.count == 8 })
    let many = (0..<10_000).map { (record: RecordID(high: 1, low: $0), key: PositionKey?.none) }
    list.insert(contentsOf: many, at: 250)
    let keys = PositionKey.assign(list)
    #expect(keys.count == many.count)
    #expect((keys.values.map(\.bytes.count).max() ?? 0) < 32)
  }

  @Test func twoWritersAtOnePlaceGetDifferentKeysWithRoomBetween() {
    let a = PositionKey.between(nil, nil, for: RecordID(high: 0, low: 1))
    let b = PositionKey.between(nil, nil, for: RecordID(high: 0, low: 2))
    #expect(a < b)
    let c = PositionKey.between(a, b, for: RecordID(high: 0, low: 0))
    #expect(a < c && c < b)
  }
}
