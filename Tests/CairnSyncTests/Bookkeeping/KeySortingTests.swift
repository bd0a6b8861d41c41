import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

// The order in which entries are read and written.
struct KeySortingTests {
  /// Map by map, in a map byte by byte; the plain way.
  private func plainly(_ keys: [SidecarKey]) -> [SidecarKey] {
    keys.sorted { a, b in
      a.map == b.map ? a.key.lexicographicallyPrecedes(b.key) : a.map < b.map
    }
  }

  @Test func keysAreSortedAsTheMapsHaveThemWhateverTheyHaveInCommon() {
    let seed = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap(UInt64.init) ?? 1
    print("sorting keys: CAIRN_TEST_SEED=\(seed)")
    var generator = SeededGenerator(seed: seed)
    func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
    for _ in 0..<300 {
      let prefixes = (0..<3).map { _ in Data((0..<random(20)).map { _ in UInt8(random(3)) }) }
      let keys = (0..<random(60)).map { _ -> SidecarKey in
        let map = SyncMap.allCases[random(4)]
        // Short ones, ends of zeros, and the same again.
        let end = Data((0..<random(random(2) == 0 ? 3 : 40)).map { _ in UInt8(random(2) * 255) })
        return map.key(prefixes[random(random(2) == 0 ? 1 : 3)] + end)
      }
      #expect(SyncKey.sorted(keys) == plainly(keys))
    }
  }

  @Test func aKeyHoldsItsBytesHoweverLongItIs() {
    for count in 0..<70 {
      let bytes = Data((0..<count).map { UInt8($0 * 7 % 256) })
      var writer = KeyWriter()
      for (index, byte) in bytes.enumerated() where index < count % 8 { writer.byte(byte) }
      for start in stride(from: count % 8, to: count, by: 8) {
        writer.fixed(bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
      }
      for key in [SyncMap.ids.key(bytes), writer.key(in: .ids)] {
        #expect(key.key == bytes && key.count == count)
        #expect(key.withUnsafeBytes { Data($0) } == bytes)
        #expect(key == SyncMap.ids.key(bytes) && key.hashValue == SyncMap.ids.key(bytes).hashValue)
      }
    }
  }

  @Test func slicesOfDataAreSortedByWhatTheyHold() {
    let bytes = Data([9, 9, 1, 2, 3, 9, 1, 2])
    let keys = [bytes[2..<5], bytes[6..<8], bytes[0..<1]].map(SyncMap.meta.key)
    #expect(SyncKey.sorted(keys).map { [UInt8]($0.key) } == [[1, 2], [1, 2, 3], [9]])
  }
}
