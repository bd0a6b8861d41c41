import Foundation

/// Compressed bytes that break the rules of RFC 1951.
package struct InflateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong; stable.
  package enum Code: String, Sendable, Hashable {
    case truncated
    case invalidBlock
    case invalidCode
    case invalidDistance
    case tooLarge
  }
  package let code: Code

  package var description: String {
    switch code {
    case .truncated: return "The compressed data ends too early."
    case .invalidBlock: return "The compressed data holds a block of an unknown or broken kind."
    case .invalidCode: return "The compressed data holds a code that stands for nothing."
    case .invalidDistance: return "The compressed data refers to before its beginning."
    case .tooLarge: return "The data would become larger than allowed when decompressed."
    }
  }
}

/// Decompresses raw DEFLATE streams (RFC 1951: no zlib or gzip header).
package struct Inflate {
  private let input: [UInt8]
  private let limit: Int
  private var position = 0
  private var bits: UInt32 = 0
  private var bitCount: UInt32 = 0
  private var output: [UInt8] = []

  /// The bytes that a stream stands for; what follows its last block is passed over.
  ///
  /// - Parameter limit: the largest number of bytes to produce.
  /// - Throws: ``InflateError``, never anything worse, whatever the bytes.
  package static func decompress(_ data: Data, limit: Int = 256 << 20) throws(InflateError) -> Data
  {
    var state = Inflate(input: [UInt8](data), limit: limit)
    try state.run()
    return Data(state.output)
  }

  private init(input: [UInt8], limit: Int) {
    self.input = input
    self.limit = limit
    output.reserveCapacity(min(limit, input.count * 4))
  }

  private mutating func run() throws(InflateError) {
    var isLast = false
    while !isLast {
      isLast = try take(1) == 1
      switch try take(2) {
      case 0: try stored()
      case 1: try block(literals: .fixedLiterals, distances: .fixedDistances)
      case 2:
        let (literals, distances) = try dynamicTables()
        try block(literals: literals, distances: distances)
      default: throw InflateError(code: .invalidBlock)
      }
    }
  }

  /// The next bits, least significant first.
  private mutating func take(_ count: UInt32) throws(InflateError) -> Int {
    while bitCount < count {
      guard position < input.count else { throw InflateError(code: .truncated) }
      bits |= UInt32(input[position]) << bitCount
      position += 1
      bitCount += 8
    }
    let value = bits & ((1 << count) - 1)
    bits >>= count
    bitCount -= count
    return Int(value)
  }

  /// Section 3.2.4: bytes as they are.
  private mutating func stored() throws(InflateError) {
    bits = 0
    bitCount = 0
    guard position + 4 <= input.count else { throw InflateError(code: .truncated) }
    let length = Int(input[position]) | Int(input[position + 1]) << 8
    let check = Int(input[position + 2]) | Int(input[position + 3]) << 8
    guard length == ~check & 0xFFFF else { throw InflateError(code: .invalidBlock) }
    position += 4
    guard position + length <= input.count else { throw InflateError(code: .truncated) }
    guard output.count + length <= limit else { throw InflateError(code: .tooLarge) }
    output.append(contentsOf: input[position..<(position + length)])
    position += length
  }

  /// Section 3.2.3: literals and references to earlier bytes.
  private mutating func block(
    literals: HuffmanTable, distances: HuffmanTable
  ) throws(InflateError) {
    while true {
      let symbol = try decode(literals)
      if symbol < 256 {
        guard output.count < limit else { throw InflateError(code: .tooLarge) }
        output.append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol - 257 < DeflateCodes.lengthBases.count else {
        throw InflateError(code: .invalidCode)
      }
      let length =
        DeflateCodes.lengthBases[symbol - 257]
        + (try take(UInt32(DeflateCodes.lengthExtraBits[symbol - 257])))
      let code = try decode(distances)
      guard code < DeflateCodes.distanceBases.count else {
        throw InflateError(code: .invalidCode)
      }
      let distance =
        DeflateCodes.distanceBases[code]
        + (try take(UInt32(DeflateCodes.distanceExtraBits[code])))
      guard distance <= output.count else { throw InflateError(code: .invalidDistance) }
      guard output.count + length <= limit else { throw InflateError(code: .tooLarge) }
      let start = output.count - distance
      for offset in 0..<length { output.append(output[start + offset]) }
    }
  }

  /// Section 3.2.7: the tables of a block, compressed themselves.
  private mutating func dynamicTables() throws(InflateError) -> (HuffmanTable, HuffmanTable) {
    let literalCount = try take(5) + 257
    let distanceCount = try take(5) + 1
    let lengthCount = try take(4) + 4
    // There are two more numbers of each than codes.
    guard literalCount <= 286, distanceCount <= 30 else { throw InflateError(code: .invalidBlock) }
    var lengths = [UInt8](repeating: 0, count: 19)
    for index in 0..<lengthCount {
      lengths[DeflateCodes.codeLengthOrder[index]] = UInt8(try take(3))
    }
    let table = try HuffmanTable(lengths: lengths)
    guard table.isComplete else { throw InflateError(code: .invalidBlock) }
    lengths = []
    let total = literalCount + distanceCount
    while lengths.count < total {
      let symbol = try decode(table)
      let value: UInt8
      let count: Int
      switch symbol {
      case 0..<16:
        value = UInt8(symbol)
        count = 1
      case 16:
        guard let last = lengths.last else { throw InflateError(code: .invalidBlock) }
        value = last
        count = 3 + (try take(2))
      case 17:
        value = 0
        count = 3 + (try take(3))
      default:
        value = 0
        count = 11 + (try take(7))
      }
      guard lengths.count + count <= total else { throw InflateError(code: .invalidBlock) }
      lengths.append(contentsOf: repeatElement(value, count: count))
    }
    let literals = try HuffmanTable(lengths: Array(lengths[..<literalCount]))
    let distances = try HuffmanTable(lengths: Array(lengths[literalCount...]))
    guard lengths[256] > 0, literals.isComplete || literals.hasOneBitAtMost,
      distances.isComplete || distances.hasOneBitAtMost
    else { throw InflateError(code: .invalidBlock) }
    return (literals, distances)
  }

  private mutating func decode(_ table: HuffmanTable) throws(InflateError) -> Int {
    var code = 0
    var first = 0
    var index = 0
    for length in 1...15 {
      code |= try take(1)
      let count = table.counts[length]
      if code - count < first { return table.symbols[index + code - first] }
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw InflateError(code: .invalidCode)
  }
}

/// A canonical Huffman code: how many codes there are of each length, and their symbols in order.
private struct HuffmanTable {
  var counts = [Int](repeating: 0, count: 16)
  var symbols: [Int] = []
  /// Whether every row of bits stands for something.
  private(set) var isComplete = true
  /// Whether no code has more than one bit: a code of one symbol, or of none, cannot be complete.
  var hasOneBitAtMost: Bool { counts[2...].allSatisfy { $0 == 0 } }

  /// - Throws: ``InflateError`` when there are more codes than bits can tell apart.
  init(lengths: [UInt8]) throws(InflateError) {
    for length in lengths { counts[Int(length)] += 1 }
    counts[0] = 0
    var free = 1
    for length in 1...15 {
      free = free * 2 - counts[length]
      guard free >= 0 else { throw InflateError(code: .invalidBlock) }
    }
    isComplete = free == 0
    for length in 1...15 {
      for (symbol, own) in lengths.enumerated() where Int(own) == length { symbols.append(symbol) }
    }
  }

  private init(trusted lengths: [UInt8]) {
    for length in lengths { counts[Int(length)] += 1 }
    counts[0] = 0
    for length in 1...15 {
      for (symbol, own) in lengths.enumerated() where Int(own) == length { symbols.append(symbol) }
    }
  }

  /// Section 3.2.6: the code that both sides know.
  static let fixedLiterals = HuffmanTable(
    trusted: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  static let fixedDistances = HuffmanTable(trusted: [UInt8](repeating: 5, count: 30))
}
