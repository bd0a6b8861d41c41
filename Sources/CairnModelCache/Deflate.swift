import Foundation

/// Compresses into raw DEFLATE streams (RFC 1951).
///
/// Each is one block with the fixed code, and references to the last 32 KiB found through a hash of
/// three bytes. Cached models are small, so that a code of their own would not pay for itself.
package struct Deflate {
  private let input: [UInt8]
  private var output: [UInt8] = []
  private var bits: UInt64 = 0
  private var bitCount: UInt64 = 0

  /// How many earlier places with the same hash are tried.
  private static let maximumChain = 64

  /// The compressed form; ``Inflate`` and every other decoder give the bytes back.
  package static func compress(_ data: Data) -> Data {
    var state = Deflate(input: [UInt8](data))
    state.run()
    return Data(state.output)
  }

  private init(input: [UInt8]) { self.input = input }

  private mutating func run() {
    put(1, 1)
    put(1, 2)
    var heads = [Int](repeating: -1, count: 1 << 15)
    var previous = [Int](repeating: -1, count: input.count)
    func hash(_ at: Int) -> Int {
      (Int(input[at]) << 10 ^ Int(input[at + 1]) << 5 ^ Int(input[at + 2])) & 0x7FFF
    }
    var position = 0
    while position < input.count {
      var length = 0
      var distance = 0
      if position + 2 < input.count {
        var candidate = heads[hash(position)]
        var tries = 0
        while candidate >= 0, position - candidate <= 32768, tries < Self.maximumChain {
          let found = matchLength(candidate, position)
          if found > length {
            length = found
            distance = position - candidate
          }
          candidate = previous[candidate]
          tries += 1
        }
      }
      let step = length >= 3 ? length : 1
      if length >= 3 {
        putReference(length: length, distance: distance)
      } else {
        putSymbol(Int(input[position]))
      }
      for place in position..<(position + step) where place + 2 < input.count {
        let key = hash(place)
        previous[place] = heads[key]
        heads[key] = place
      }
      position += step
    }
    putSymbol(256)
    if bitCount > 0 { put(0, 8 - bitCount) }
  }

  private func matchLength(_ candidate: Int, _ position: Int) -> Int {
    let limit = min(258, input.count - position)
    var length = 0
    while length < limit, input[candidate + length] == input[position + length] { length += 1 }
    return length
  }

  private mutating func put(_ value: Int, _ count: UInt64) {
    bits |= UInt64(value) << bitCount
    bitCount += count
    while bitCount >= 8 {
      output.append(UInt8(truncatingIfNeeded: bits))
      bits >>= 8
      bitCount -= 8
    }
  }

  /// Huffman codes are written with the most significant bit first.
  private mutating func putCode(_ code: Int, _ count: UInt64) {
    var reversed = 0
    for bit in 0..<Int(count) where code & 1 << bit != 0 { reversed |= 1 << (Int(count) - 1 - bit) }
    put(reversed, count)
  }

  private mutating func putSymbol(_ symbol: Int) {
    switch symbol {
    case ..<144: putCode(0x30 + symbol, 8)
    case ..<256: putCode(0x190 + symbol - 144, 9)
    case ..<280: putCode(symbol - 256, 7)
    default: putCode(0xC0 + symbol - 280, 8)
    }
  }

  private mutating func putReference(length: Int, distance: Int) {
    let lengthCode = DeflateCodes.lengthBases.lastIndex { $0 <= length } ?? 0
    putSymbol(257 + lengthCode)
    put(
      length - DeflateCodes.lengthBases[lengthCode],
      UInt64(DeflateCodes.lengthExtraBits[lengthCode]))
    let code = DeflateCodes.distanceBases.lastIndex { $0 <= distance } ?? 0
    putCode(code, 5)
    put(distance - DeflateCodes.distanceBases[code], UInt64(DeflateCodes.distanceExtraBits[code]))
  }
}
