/// A set of slot numbers.
///
/// Entities with up to 64 slots cost no allocation.
struct SlotSet: Equatable {
  var low: UInt64 = 0
  var high: [UInt64] = []

  var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }

  @inline(__always)
  func contains(_ slot: Int) -> Bool {
    if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
    let word = slot / 64 - 1
    return word < high.count && high[word] & (1 << UInt64(slot % 64)) != 0
  }

  @inline(__always)
  mutating func insert(_ slot: Int) {
    if slot < 64 {
      low |= 1 << UInt64(slot)
    } else {
      insertHigh(slot)
    }
  }

  private mutating func insertHigh(_ slot: Int) {
    let word = slot / 64 - 1
    while high.count <= word { high.append(0) }
    high[word] |= 1 << UInt64(slot % 64)
  }

  mutating func remove(_ slot: Int) {
    if slot < 64 {
      low &= ~(1 << UInt64(slot))
    } else {
      let word = slot / 64 - 1
      if word < high.count { high[word] &= ~(1 << UInt64(slot % 64)) }
    }
  }

  mutating func removeAll() {
    low = 0
    if !high.isEmpty { high = [] }
  }

  /// The members in ascending order.
  var members: [Int] {
    var result: [Int] = []
    result.reserveCapacity(low.nonzeroBitCount)
    forEach { result.append($0) }
    return result
  }

  /// The members that pass a test.
  @inline(__always)
  func filter(_ isIncluded: (Int) -> Bool) -> SlotSet {
    var result = SlotSet()
    forEach { if isIncluded($0) { result.insert($0) } }
    return result
  }

  /// Goes over the members in ascending order.
  @inline(__always)
  private func forEach(_ body: (Int) -> Void) {
    var word = 0
    var rest = low
    while true {
      while rest != 0 {
        body(word * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
      guard word < high.count else { return }
      rest = high[word]
      word += 1
    }
  }
}
