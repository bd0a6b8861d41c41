import Foundation

/// What was known of a store's records when it lost history: a program may have changed only those without a trace.
struct GapExtent: Hashable, Sendable {
  /// The store's last number of the change order, and the last reading of its clock.
  var sequence: UInt64
  var clock: ClockReading

  /// Whether a record may have a value that a program wrote without history, where another store has the value as
  /// it was: under a write that both know, and that was known here before history was lost.
  func mayHaveLost(_ entry: RecordEntry, as state: RecordState) -> Bool {
    state.registers.contains { name, register in
      guard let write = entry.write(of: name), write.stamp == register.write.stamp else {
        return false
      }
      // A clock that was ahead may have given later readings.
      return write.stamp.clock <= clock || entry.sequence <= sequence
    }
  }

  // Bytes: sequence 8 · clock 8
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(sequence)
    writer.fixed(clock.bits)
    return writer.data
  }

  init(sequence: UInt64, clock: ClockReading) {
    self.sequence = sequence
    self.clock = clock
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    sequence = try reader.fixed()
    clock = ClockReading(bits: try reader.fixed())
  }
}

extension Ledger {
  /// Takes note that history is missing, up to now.
  func beginGap() {
    head.gap = .rows
    put(SyncKey.gapExtent, GapExtent(sequence: head.sequence, clock: head.clock.last).encoded)
  }

  /// Of a gap that a version without this has found: everything.
  func gapExtent() throws -> GapExtent {
    try value(SyncKey.gapExtent).map(GapExtent.init(decoding:))
      ?? GapExtent(sequence: .max, clock: ClockReading(bits: .max))
  }
}
