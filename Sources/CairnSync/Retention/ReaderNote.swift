import CairnStore
import Foundation

/// What a store keeps about another one that is served from it.
///
/// Cursors lie in the destination, with the data. Several daemons use a shared replica, and none of them
/// knows the others: so each leaves here how far it has come and when it was there last, and nothing goes
/// that one of them needs.
struct ReaderNote: Hashable, Sendable {
  /// The greatest reading of this store that the other may have seen.
  var reading = ClockReading(bits: 0)
  /// How far in this store's change order the other has come, as far as it has told.
  var position: UInt64 = 0
  /// A number that the other cannot have come beyond.
  var offered: UInt64 = 0
  /// When the other was there last, in milliseconds since 1970; 0 for a note of a version that did not
  /// write it.
  var heard: UInt64 = 0
  /// What stands there for one that was taken out of the group: longer ago than any retention.
  static let released: UInt64 = 1
  /// Whether the other was found to be silent for longer than the retention, and that was reported.
  var isExpired = false
  /// The other's name, for people; empty when it has none.
  var name = ""

  init() {}

  /// How many numbers of the change order a note is ahead and behind, so that it is seldom written.
  static let slack: UInt64 = 1000

  /// The part of the retention after which a reader shows that it is there.
  static let signsPerRetention: UInt64 = 64

  /// The note once the other has come for more.
  ///
  /// - Parameters:
  ///   - position: Where its cursor is.
  ///   - isFinal: Whether to write down all of it now.
  func visited(
    at position: UInt64, head: SyncHead, now: UInt64, name: String,
    _ configuration: SyncConfiguration, isFinal: Bool = false
  ) -> ReaderNote {
    var note = self
    if head.clock.last > reading {
      note.reading = head.clock.last.advanced(milliseconds: configuration.allowedClockSkew / 10)
    }
    if head.sequence > offered { note.offered = head.sequence + Self.slack }
    let isSilent =
      now < heard || now - heard >= configuration.retentionMilliseconds / Self.signsPerRetention
    // A reader that went back in time needs again what it had.
    let hasMoved = position < self.position || position - self.position >= Self.slack
    guard isSilent || hasMoved || isExpired || isFinal || name != self.name else { return note }
    note.position = position
    note.heard = now
    note.isExpired = false
    note.name = name
    return note
  }

  // Bytes: reading 8 · [position 8 · offered 8 · heard 8 · 1 expired · name string]
  var encoded: Data {
    var writer = ByteWriter()
    writer.fixed(reading.bits)
    writer.fixed(position)
    writer.fixed(offered)
    writer.fixed(heard)
    writer.byte(isExpired ? 1 : 0)
    writer.string(name)
    return writer.data
  }

  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    reading = ClockReading(bits: try reader.fixed())
    if reader.isAtEnd { return }
    position = try reader.sequence()
    offered = try reader.fixed()
    heard = try reader.fixed()
    isExpired = try reader.byte() == 1
    name = try reader.string()
  }
}

extension StoreAccess {
  /// The stores that are served from this one.
  func readers() throws -> [StoreID: ReaderNote] {
    guard let sidecar = store.capabilities.sidecar else { return [:] }
    var notes: [StoreID: ReaderNote] = [:]
    try sidecar.visitEntries(of: .readers) { key, value in
      notes[try SyncKey.identity(StoreID.self, in: key)] = try ReaderNote(decoding: value)
    }
    return notes
  }

  /// What is kept about the stores that are served from this one, by name.
  func readersByName() throws -> [String: ReaderNote] {
    // A name may have been given to one store after the other.
    Dictionary(
      try readers().values.map { ($0.name, $0) },
      uniquingKeysWith: { $0.heard < $1.heard ? $1 : $0 })
  }

  /// Notes in this store, before anything is read for another, what that one may see and how far it has
  /// come.
  ///
  /// - Parameters:
  ///   - position: Where its cursor is; nil for where it was.
  ///   - isFinal: Whether to write it down although it is not due.
  ///   - latest: What it may see, where that is later than the store's clock.
  /// - Returns: The greatest reading of this store that it may see.
  @discardableResult
  func offer(
    to reader: StoreID, at position: UInt64?, name: String, isFinal: Bool = false,
    upTo latest: ClockReading? = nil
  ) throws -> ClockReading {
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      let key = SyncKey.reader(reader)
      let stored = try ledger.value(key)
      let note = try stored.map(ReaderNote.init(decoding:)) ?? ReaderNote()
      var next = note.visited(
        at: position ?? note.position, head: ledger.head, now: environment.now(), name: name,
        configuration, isFinal: isFinal)
      if let latest { next.reading = max(next.reading, latest) }
      if next == note, stored != nil { return next.reading }
      ledger.put(key, next.encoded)
      if try commit(ledger) { return next.reading }
    }
    throw Self.contention(store)
  }

  /// Leaves in this store how far a reader has come and that it is there, so that a purge knows.
  func acknowledge(_ reader: StoreAccess, name: String) throws {
    let ledger = try reader.ledger()
    let cursor = try ledger.cursor(for: try self.ledger().storeID)
    try offer(to: ledger.storeID, at: cursor.position, name: name, isFinal: true)
  }

  /// Keeps nothing for a reader from now on, as if it had been silent for longer than the retention.
  ///
  /// Its note stays, a few bytes: should the reader come back all the same, the note tells it from one of
  /// another life of this store.
  func releaseReader(_ reader: StoreID) throws {
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      let key = SyncKey.reader(reader)
      guard var note = try ledger.value(key).map(ReaderNote.init(decoding:)) else { return }
      note.heard = ReaderNote.released
      note.isExpired = true
      note.name = ""
      ledger.put(key, note.encoded)
      if try commit(ledger) { return }
    }
    throw Self.contention(store)
  }
}

extension ChangeSet {
  /// The latest of what a store has written itself of what the set brings; nil where all of it was written up to a
  /// reading.
  func latestReading(of store: StoreID, after reading: ClockReading) -> ClockReading? {
    func latest(_ stamps: [Stamp]) -> ClockReading? {
      stamps.filter { $0.clock > reading && $0.store.isEpoch(of: store) }.map(\.clock).max()
    }
    let states = records.filter { $0.latestReading > reading }
    let changes = links.filter { $0.state.latestReading > reading }
    return latest(
      states.flatMap { $0.stamps(newTo: nil) } + changes.flatMap { $0.state.stamps(newTo: nil) })
  }
}
