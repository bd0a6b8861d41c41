// Where one message ends and the next begins: a NUL byte after each.

/// Cuts a stream of bytes into messages.
///
/// The size is checked while bytes arrive, before parsing.
public struct MessageFraming: Sendable {
  /// A message longer than allowed.
  public struct Overflow: Error, Sendable, Equatable {
    /// The allowed bytes.
    public let limit: Int
  }

  private var pending: [UInt8] = []
  private let limit: Int

  /// Cuts messages of at most `limit` bytes.
  public init(limit: Int = JSONLimits.message.byteCount) { self.limit = limit }

  /// Whether a message has begun and not ended.
  public var isInsideMessage: Bool { !pending.isEmpty }

  /// Adds arrived bytes and returns the messages they complete, without their NUL.
  public mutating func append(_ bytes: some Sequence<UInt8>) throws -> [[UInt8]] {
    var messages: [[UInt8]] = []
    // An array, since searching bytes of any type looks each of them up.
    var rest = Array(bytes)[...]
    while let end = rest.firstIndex(of: 0) {
      try add(rest[..<end])
      messages.append(pending)
      pending.removeAll()
      rest = rest[(end + 1)...]
    }
    try add(rest)
    return messages
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>) throws {
    guard pending.count + bytes.count <= limit else { throw Overflow(limit: limit) }
    pending.append(contentsOf: bytes)
  }

  /// The bytes to send for a message.
  public static func frame(_ message: JSONValue) -> [UInt8] {
    var bytes = message.bytes()
    bytes.append(0)
    return bytes
  }
}
