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
    for part in Array(bytes).split(separator: 0, omittingEmptySubsequences: false).enumerated() {
      if part.offset > 0 {
        messages.append(pending)
        pending.removeAll()
      }
      guard pending.count + part.element.count <= limit else { throw Overflow(limit: limit) }
      pending.append(contentsOf: part.element)
    }
    return messages
  }

  /// The bytes to send for a message.
  public static func frame(_ message: JSONValue) -> [UInt8] {
    var bytes = message.bytes()
    bytes.append(0)
    return bytes
  }
}
