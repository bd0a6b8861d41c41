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

  @Test func twoWritersAtOnePlaceGetDifferentKeysWithRoomBetween() {
    let a = PositionKey.between(nil, nil, for: RecordID(high: 0, low: 1))
    let b = PositionKey.between(nil, nil, for: RecordID(high: 0, low: 2))
    #expect(a < b)
    let c = PositionKey.between(a, b, for: RecordID(high: 0, low: 0))
    #expect(a < c && c < b)
  }
}
