import CairnStore
import Foundation

/// Puts a key of the sidecar together, in place as long as it is short.
struct KeyWriter {
  private var words = SidecarKey.Words()
  private var count = 0
  /// The whole key, once it has become too long.
  private var long: Data?

  mutating func byte(_ value: UInt8) {
    if long == nil, count < 32 {
      put(UInt64(value) << UInt64(56 - 8 * (count % 8)), at: count / 8)
    } else {
      append(value)
    }
    count += 1
  }

  private mutating func put(_ bits: UInt64, at place: Int) {
    switch place {
    case 0: words.first |= bits
    case 1: words.second |= bits
    case 2: words.third |= bits
    default: words.fourth |= bits
    }
  }

  private mutating func append(_ value: UInt8) {
    var data = long ?? SidecarKey(map: "", words: words, count: count).key
    long = nil
    data.append(value)
    long = data
  }

  mutating func fixed(_ value: UInt64) {
    if count + 8 > 32 {
      for shift in stride(from: 56, through: 0, by: -8) {
        byte(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
      }
      return
    }
    let (place, shift) = (count / 8, UInt64(8 * (count % 8)))
    put(value >> shift, at: place)
    if shift > 0 { put(value << (64 - shift), at: place + 1) }
    count += 8
  }

  mutating func text(_ value: String) {
    for unit in value.utf8 { byte(unit) }
  }

  func key(in map: SyncMap) -> SidecarKey {
    if let long { return map.key(long) }
    return SidecarKey(map: map.rawValue, words: words, count: count)
  }
}
