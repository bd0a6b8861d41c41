// How much JSON a peer may make us read.

/// Limits that are checked while parsing, before memory is spent.
public struct JSONLimits: Sendable, Hashable {
  /// Bytes of the whole document.
  public var byteCount: Int
  /// Levels of arrays and objects inside each other.
  public var depth: Int
  /// Members of one object.
  public var memberCount: Int
  /// Values in all, those inside others included: each takes more memory than its text may have.
  public var valueCount: Int

  /// Sets limits.
  public init(
    byteCount: Int, depth: Int = 64, memberCount: Int = 100_000, valueCount: Int = .max
  ) {
    self.valueCount = valueCount
    self.byteCount = byteCount
    self.depth = depth
    self.memberCount = memberCount
  }

  /// What one call may hold: 1 MiB.
  public static let message = JSONLimits(byteCount: 1 << 20)
  /// What one answer may hold, since rows travel in answers: 16 MiB, as for systemd's clients.
  public static let answer = JSONLimits(byteCount: 16 << 20)
  /// What one row of an import may have, which comes in parts where it is longer than a call: as much as an answer
  /// that holds it, and no more values than a call has room for.
  public static let row = JSONLimits(byteCount: 16 << 20, valueCount: 1 << 19)
}

/// Why a text is not acceptable JSON.
public struct JSONProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// Bytes from the start to where it went wrong.
  public let offset: Int
  /// What is wrong there.
  public let reason: String

  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  public var description: String { "\(reason) at byte \(offset)" }
}
