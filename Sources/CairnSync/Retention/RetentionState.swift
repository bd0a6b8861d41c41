import Foundation

/// How far a store has been purged.
struct RetentionState: Hashable, Sendable {
  /// Nothing up to this number of the change order is kept for readers.
  ///
  /// Raised before the first entry goes, so that a reader which is not past it can be told to compare.
  var floor: UInt64 = 0
  /// Everything up to this number has been looked at; what is left of it is needed.
  var scanned: UInt64 = 0
  /// When a purge ended last, in milliseconds since 1970.
  var completed: UInt64 = 0
  /// When all replicas were compared last by schedule; of the local store only.
  var verified: UInt64 = 0
  var calendar = SequenceCalendar()

  init() {}

  // Bytes: version 1 · floor 8 · scanned 8 · completed 8 · verified 8 · calendar
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.fixed(floor)
    writer.fixed(scanned)
    writer.fixed(completed)
    writer.fixed(verified)
    calendar.encode(to: &writer)
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    floor = try reader.sequence()
    scanned = try reader.sequence()
    completed = try reader.fixed()
    verified = try reader.fixed()
    calendar = try SequenceCalendar(from: &reader)
  }
}

extension Ledger {
  func retention() throws -> RetentionState {
    try value(SyncKey.retention).map(RetentionState.init(decoding:)) ?? RetentionState()
  }

  func setRetention(_ state: RetentionState) { put(SyncKey.retention, state.encoded) }
}
