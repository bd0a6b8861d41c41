import Foundation

/// The one entry of a store's bookkeeping that every commit of sync replaces, on condition that it
/// is unchanged: so all that a commit was planned on still holds when it is made.
struct SyncHead: Hashable, Sendable {
  /// How far the rows that were there before sync have been taken up.
  enum Bootstrap: Hashable, Sendable {
    /// History is being read from its beginning.
    case history
    /// Rows without history are being read: root entity and the last key done.
    case scanning(entity: String, after: Int64)
    case done
  }

  /// The last number given out in the change order.
  var sequence: UInt64 = 0
  var clock = HybridLogicalClock()
  /// The last history transaction turned into stamps.
  var captured: Int64 = 0
  var bootstrap = Bootstrap.history

  init() {}

  // Bytes: version 1 · sequence 8 · clock 8 · captured 8 · 0 history, 1 scanning (string, 8), 2 done
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.fixed(sequence)
    writer.fixed(clock.last.bits)
    writer.fixed(UInt64(bitPattern: captured))
    switch bootstrap {
    case .history: writer.byte(0)
    case .scanning(let entity, let after):
      writer.byte(1)
      writer.string(entity)
      writer.fixed(UInt64(bitPattern: after))
    case .done: writer.byte(2)
    }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    sequence = try reader.sequence()
    clock = HybridLogicalClock(last: ClockReading(bits: try reader.fixed()))
    captured = Int64(bitPattern: try reader.fixed())
    switch try reader.byte() {
    case 0: bootstrap = .history
    case 1:
      let entity = try reader.string()
      bootstrap = .scanning(entity: entity, after: Int64(bitPattern: try reader.fixed()))
    case 2: bootstrap = .done
    default: throw ByteReader.damaged
    }
  }
}

/// How far one store has been served from another.
struct SyncCursor: Hashable, Sendable {
  /// The last number of the source's change order that was applied.
  var position: UInt64 = 0
  /// While the first copy runs: the number at which it ends.
  var streamingUntil: UInt64 = 0

  var isStreaming: Bool { position < streamingUntil }

  // Bytes: position 8 · streamingUntil 8
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(position)
    writer.fixed(streamingUntil)
    return writer.data
  }
  init(position: UInt64 = 0, streamingUntil: UInt64 = 0) {
    self.position = position
    self.streamingUntil = streamingUntil
  }
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    position = try reader.sequence()
    streamingUntil = try reader.sequence()
  }
}
