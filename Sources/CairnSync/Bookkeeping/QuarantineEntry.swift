import Foundation

/// An incoming record that could not be applied, kept until it can.
public struct QuarantineEntry: Hashable, Sendable {
  /// Why it waits.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The merged object does not pass validation, or a delete is denied.
    case validation
    /// A stamp lies further in the future than the allowed skew.
    case clockSkew = "clock-skew"
  }

  public let reason: Reason
  /// What validation said, for people.
  public let message: String
  /// The store it came from.
  public let source: StoreID
  /// When it was put here, in milliseconds since 1970.
  public let since: UInt64
  public let state: RecordState

  public init(
    reason: Reason, message: String, source: StoreID, since: UInt64, state: RecordState
  ) {
    self.reason = reason
    self.message = message
    self.source = source
    self.since = since
    self.state = state
  }

  // Bytes: version 1 · reason string · message string · source 16 · since 8 · record
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.string(reason.rawValue)
    writer.string(message)
    writer.identity(source)
    writer.fixed(since)
    writer.record(state)
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1, let reason = Reason(rawValue: try reader.string()) else {
      throw ByteReader.damaged
    }
    self.reason = reason
    message = try reader.string()
    source = try reader.identity(StoreID.self)
    since = try reader.fixed()
    state = try reader.record()
  }
}
