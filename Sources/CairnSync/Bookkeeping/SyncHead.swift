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

  /// What is missing because history was gone before it was captured.
  enum Gap: UInt8, Sendable {
    case none = 0
    /// Rows may have gone.
    case rows = 1
    /// Values may have changed; only a comparison with another store tells which.
    case values = 2
  }

  /// The last number given out in the change order.
  var sequence: UInt64 = 0
  var clock = HybridLogicalClock()
  /// The last history transaction turned into stamps.
  var captured: Int64 = 0
  var bootstrap = Bootstrap.history
  var gap = Gap.none
  /// The digest of the ``SchemaNames`` that the bookkeeping uses; 0 before they were kept.
  var names: UInt64 = 0
  /// Who writes here since the store went back in time; nil for the store's own UUID.
  var incarnation: StoreID?
  /// How often the store's stamps have begun anew because its clock went back; see ``StoreID/writer(_:)``.
  var epoch: UInt64 = 0
  /// Of a store that sync has not written yet: there is nothing to index.
  var journalIndex = JournalIndex.State.whole

  init() {}

  // Bytes: version 2 (1: without the next line; 3: with the last) · sequence 8 · clock 8 · captured 8 ·
  // 0 history, 1 scanning (string, 8), 2 done ·
  // gap · digest of names 8 · 0, 1 incarnation 16 ·
  // epoch 8 ·
  // in either version: nothing, or the state of the journal's index (older versions do not read it, and leave
  // it out where they write)
  var encoded: Data {
    var writer = ByteWriter()
    // Older versions read all stores whose clocks were always right.
    writer.byte(epoch == 0 ? 2 : 3)
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
    writer.byte(gap.rawValue)
    writer.fixed(names)
    writer.byte(incarnation == nil ? 0 : 1)
    if let incarnation { writer.identity(incarnation) }
    if epoch != 0 { writer.fixed(epoch) }
    if journalIndex != .missing { writer.byte(journalIndex.rawValue) }
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    let version = try reader.byte()
    journalIndex = .missing
    guard (1...3).contains(version) else { throw ByteReader.damaged }
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
    if version == 1 { return }
    guard let gap = Gap(rawValue: try reader.byte()) else { throw ByteReader.damaged }
    self.gap = gap
    names = try reader.fixed()
    if try reader.byte() == 1 { incarnation = try reader.identity(StoreID.self) }
    if version == 3 { epoch = try reader.fixed() }
    if reader.isAtEnd { return }
    guard let index = JournalIndex.State(rawValue: try reader.byte()) else {
      throw ByteReader.damaged
    }
    journalIndex = index
  }
}

extension SyncHead {
  /// What this head, planned on another one, becomes on top of what others have committed since.
  ///
  /// What was stamped here keeps its stamps: no rule compares those of records that one commit did not
  /// read together.
  ///
  /// - Returns: Nil when both changed the same, or others what everything depends on.
  func rebased(from base: SyncHead, onto theirs: SyncHead) -> SyncHead? {
    guard theirs.sequence >= base.sequence, theirs.bootstrap == base.bootstrap,
      theirs.gap == base.gap, theirs.names == base.names, theirs.incarnation == base.incarnation,
      theirs.epoch == base.epoch, epoch == base.epoch, theirs.journalIndex == base.journalIndex,
      captured == base.captured || theirs.captured == base.captured
    else { return nil }
    var result = self
    result.sequence = theirs.sequence + (sequence - base.sequence)
    result.clock.follow(theirs.clock)
    if captured == base.captured { result.captured = theirs.captured }
    return result
  }
}

/// How far one store has been served from another.
struct SyncCursor: Hashable, Sendable {
  /// The last number of the source's change order that was applied.
  var position: UInt64 = 0
  /// While the first copy runs: the number at which it ends.
  var streamingUntil: UInt64 = 0
  /// The mark of the source's commit that the position lies in; 0 when the source had none.
  var mark: UInt64 = 0
  /// What the source had forgotten when the first copy began, or when this store last caught up with that.
  var forgotten: UInt64 = 0

  var isStreaming: Bool { position < streamingUntil }

  /// What was forgotten up to there is not missed: it has been read, or was gone before the first copy began.
  var furthest: UInt64 { max(position, forgotten) }

  /// Reads all once more that has been read; what was purged meanwhile is not missed.
  var fromStart: SyncCursor {
    // It reads from there already.
    if position == 0 { return self }
    return SyncCursor(
      streamingUntil: max(position, streamingUntil), mark: isStreaming ? 0 : mark,
      forgotten: furthest)
  }

  /// How far all had been read when reading from the start began, until that has moved; nil where it does not, or had
  /// not read all.
  var readBefore: UInt64? {
    position == 0 && streamingUntil > 0 && mark != 0 ? streamingUntil : nil
  }

  /// The place that ``mark`` belongs to: where reading from the start began, until it has moved.
  var markedPosition: UInt64 { position == 0 ? streamingUntil : position }

  // Bytes: position 8 · streamingUntil 8 · mark 8 (none from versions without marks) ·
  // forgotten 8, where that is not streamingUntil (versions without it took that for it)
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(position)
    writer.fixed(streamingUntil)
    writer.fixed(mark)
    if forgotten != streamingUntil { writer.fixed(forgotten) }
    return writer.data
  }
  /// - Parameter forgotten: Nil for all up to where the first copy ends.
  init(
    position: UInt64 = 0, streamingUntil: UInt64 = 0, mark: UInt64 = 0, forgotten: UInt64? = nil
  ) {
    self.position = position
    self.streamingUntil = streamingUntil
    self.mark = mark
    self.forgotten = forgotten ?? streamingUntil
  }
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    position = try reader.sequence()
    streamingUntil = try reader.sequence()
    if !reader.isAtEnd { mark = try reader.fixed() }
    forgotten = try reader.isAtEnd ? streamingUntil : reader.sequence()
  }
}
