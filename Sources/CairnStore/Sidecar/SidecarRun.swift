/// Many entries of one map of a sidecar, whose keys have one length, and whose values have one.
///
/// Their bytes lie behind each other, and most of them are the same in all entries: each is a copy of what the run
/// began with, in which a few numbers are set. The entries are in ascending order of their keys.
public struct SidecarRun: Sendable, Hashable {
  /// The name of the map: lower-case letters, digits and underscores.
  public let map: String
  public let keySize: Int
  public let valueSize: Int
  private let pattern: [UInt8]
  /// Key and value of the first entry, of the second, and so on.
  private(set) var bytes: [UInt8] = []

  /// - Parameters:
  ///   - key: What the keys are, but for the numbers that are set in each.
  ///   - value: The same of the values.
  ///   - capacity: How many entries are to come.
  public init(map: String, key: [UInt8], value: [UInt8], capacity: Int) {
    self.map = map
    keySize = key.count
    valueSize = value.count
    pattern = key + value
    bytes.reserveCapacity(capacity * pattern.count)
  }

  private var stride: Int { keySize + valueSize }
  public var count: Int { bytes.count / max(1, stride) }

  /// Adds an entry with nothing set.
  public mutating func append() { bytes.append(contentsOf: pattern) }

  /// Sets eight bytes of the last entry, in big-endian order.
  ///
  /// - Parameter offset: Where they begin, counted from the begin of the key; those of the value follow on the key.
  public mutating func set(_ number: UInt64, at offset: Int) {
    let start = bytes.count - stride + offset
    withUnsafeBytes(of: number.bigEndian) { number in
      for index in 0..<8 { bytes[start + index] = number[index] }
    }
  }

  /// Calls a closure with key and value of each entry, which are there until it returns.
  public func forEach(
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try withEntries(of: 1) { entry in try body(entry.key(0), entry.value(0)) }
  }

  /// Calls a closure with as many entries at a time; what is left at the end is passed over.
  ///
  /// - Parameter first: The entry to begin with.
  public func withEntries(
    of size: Int, from first: Int = 0, _ body: (Block) throws -> Void
  ) rethrows {
    try bytes.withUnsafeBytes { bytes in
      var place = first
      while place + size <= count {
        let part = bytes[place * stride..<(place + size) * stride]
        try body(Block(part, keySize: keySize, stride: stride))
        place += size
      }
    }
  }
}
