import CairnStore
import Foundation

/// A log during one pass: our own stream is appended to, those of others are read.
///
/// How far we have been appended our last entry says, so that this mark is never ahead of what lasts. How far we have
/// read the others stands in the local store, with what was read.
///
/// A log that lacks entries which were read or acknowledged, or that were cut off before they were read, begins a new
/// **life**:
/// every writer that sees it begins a new stream, and appends all it has once more, also what had come from the log.
/// So nothing is lost that any writer still has.
// Unchecked: used on the queue of the link's context alone.
final class LogSide: ChangeSetSide, @unchecked Sendable {
  let log: any ChangeLog
  /// Who the log was when it was opened.
  private let identifier: String?
  let place: String
  let local: StoreAccess
  let filter: Data?
  let direction: SyncDirection
  let name: String

  /// The present life of the log.
  private(set) var life = StoreID(high: 0, low: 0)
  private var lives: [StoreID] = []
  /// Our stream; nil before anything was appended in this life.
  private(set) var own: LogStream?
  /// Its last entry.
  private(set) var last: LogEntry?
  /// The streams of others, and former ones of ours.
  private var others: [LogStream] = []

  init(log: any ChangeLog, identifier: String?, place: String, _ setting: PassSetting) {
    self.log = log
    self.identifier = identifier
    self.place = place
    local = setting.local
    filter = setting.filter?.encoded
    direction = setting.direction
    name = setting.context.name ?? ""
  }

  // MARK: Identity

  func identify() throws -> [String] {
    guard try log.identifier().description == identifier else {
      throw SyncError(.fileMoved, "\(place) is another log now", recovery: .retry)
    }
    var renewed: [String] = []
    let claims = LogClaims(log: log, local: local)
    if try local.renewIfRestored(asSeenBy: claims.claim) { renewed.append(local.place) }
    if try claims.renewIfIncomplete(own: { try self.isOwn($0) }) { renewed.append(place) }
    try find()
    return renewed
  }

  private func find() throws {
    lives = try log.lives()
    life = lives.last ?? life
    let streams = try log.streams()
    own = try streams.first { try isOwn($0) }
    last = try own.flatMap { try log.lastEntry(of: $0) }
    others = streams.filter { $0.id != own?.id }.sorted { $0.id < $1.id }
  }

  private func isOwn(_ stream: LogStream) throws -> Bool {
    try stream.writer == local.ledger().storeID && stream.life == log.lives().last
      && stream.filter == filter
  }

  func senders() throws -> Set<StoreID> { Set(lives) }

  // MARK: News

  func lookForNews() throws {
    if direction.pulls {
      try LogClaims(log: log, local: local).note(
        others.filter { $0.life == life && $0.last > 0 }.map(\.id), of: life)
    }
    guard direction.pushes, let own else { return }
    let floor = try local.ledger().retention().floor
    for stream in others where stream.life == life {
      let cursor = try local.ledger().cursor(for: stream.id)
      guard stream.last > cursor.position, let latest = try log.lastEntry(of: stream),
        let next = try log.decoded(cursor.position + 1, of: stream.id)
      else { continue }
      try local.offer(
        to: stream.writer, at: place(of: own, seenBy: latest, stream), name: "\(name)/other")
      // What it wrote before it had read of deletes which are forgotten here would bring them to life.
      if floor > 0, try place(of: own, seenBy: next, stream) < floor { try readAgain() }
    }
  }

  private func place(
    of own: LogStream, seenBy entry: LogEntry, _ stream: LogStream
  ) throws -> UInt64 {
    try LogAcknowledgement(own: own.id, theirs: stream.id, seen: entry.seen).place { number in
      try log.decoded(number, of: own.id).map {
        .init(number: number, place: $0.place, seen: $0.seen)
      }
    }
  }

  /// Reads all of the log once more, our own entries, too: they have the deletes that were forgotten here.
  private func readAgain() throws {
    let streams = others + [own].compactMap { $0 }
    for _ in 0..<StoreAccess.attempts {
      let ledger = try local.ledger()
      if try streams.contains(where: { try ledger.cursor(for: $0.id).isStreaming }) { return }
      for stream in streams {
        let cursor = try ledger.cursor(for: stream.id)
        let end = stream.id == own?.id ? stream.last : cursor.position
        ledger.setCursor(
          SyncCursor(position: stream.first - 1, streamingUntil: max(end, stream.first - 1)),
          for: stream.id)
      }
      if try local.commit(ledger) { return }
    }
    throw StoreAccess.contention(local.store)
  }

  // MARK: As a source

  func streams() throws -> [StoreID] {
    // Our own is read where all is read once more.
    let isRead = try own.map { try local.ledger().cursor(for: $0.id).isStreaming } ?? false
    return (isRead ? [own?.id].compactMap { $0 } : []) + others.map(\.id)
  }

  // Entries are whole transactions.
  func firstRead(of stream: StoreID) throws -> SyncCursor { SyncCursor() }
  // What is read of a stream our next entry says.
  func acknowledge(_ reader: StoreID, at position: UInt64, of stream: StoreID) throws {}

  func changes(
    after cursor: SyncCursor, of stream: StoreID, for reader: StoreID
  ) throws -> SourceChanges? {
    let number = cursor.position + 1
    guard let entry = try log.decoded(number, of: stream) else { return nil }
    var set = ChangeSet(
      source: life, after: cursor.position, upTo: number, records: entry.set.records,
      links: entry.set.links)
    if entry.names != local.schema.namesDigest {
      guard let names = try log.names(entry.names) else { throw ByteReader.damaged }
      set = SchemaTranslation(from: try SchemaNames(decoding: names), to: local.schema)
        .changes(set)
    }
    return SourceChanges(
      set: set,
      end: SyncCursor(
        position: number, streamingUntil: cursor.streamingUntil, mark: entry.mark))
  }

  func hasForgotten(after cursor: SyncCursor, of stream: StoreID) throws -> Bool {
    if try log.entry(cursor.position + 1, of: stream) != nil { return false }
    guard let now = try log.streams().first(where: { $0.id == stream }) else { return true }
    return now.last != cursor.position
  }

  func states(of ids: Set<RecordID>, for reader: StoreID) throws -> ChangeSet {
    ChangeSet(source: life, after: 0, upTo: 0)
  }

  func unread() throws -> Int {
    var count = 0
    for stream in others {
      var number = try local.ledger().cursor(for: stream.id).position + 1
      while let entry = try log.decoded(number, of: stream.id) {
        count += entry.set.records.count + entry.set.links.count
        number += 1
      }
    }
    return count
  }

  // Its streams are what their writers had, whatever has become of the local store.
  func claim(on destination: StoreID) -> ReaderClaim? { nil }

  // MARK: As a destination

  var takesParts: Bool { false }

  func reader() throws -> StoreID { life }

  func cursor(for stream: StoreID) throws -> SyncCursor {
    last.map { SyncCursor(position: $0.place, mark: $0.placeMark) } ?? SyncCursor()
  }

  func take(
    _ changes: SourceChanges, of stream: StoreID, by expected: ExpectedDestination,
    asking: ((Set<RecordID>) throws -> [RecordState])?
  ) throws -> Acknowledgement {
    try append(changes.set, at: changes.end.position, mark: changes.end.mark)
    var outcome = ChangeImporter.Outcome()
    outcome.records = changes.set.records.count
    outcome.links = changes.set.links.count
    return Acknowledgement(outcome: outcome, position: changes.end.position)
  }

  private func append(_ set: ChangeSet, at place: UInt64, mark: UInt64) throws {
    let environment = local.environment
    var stream = try own ?? begin()
    let digest = local.schema.namesDigest
    if try log.names(digest) == nil { try log.keep(names: local.schema.names.encoded, as: digest) }
    let entry = LogEntry(
      mark: environment.random(), place: place, placeMark: mark, time: environment.now(),
      names: digest, seen: try seen(), set: set)
    try environment.reach(.beforeAppend)
    guard try log.append(entry.encoded, as: stream.last + 1, to: stream.id) else {
      throw SyncError(
        .contention, "another daemon appends to \(self.place) as the same store; trying again",
        recovery: .retry)
    }
    try environment.reach(.afterAppend)
    // Not before: what is not appended for good has to be appended still.
    stream.last += 1
    (own, last) = (stream, entry)
  }

  private func begin() throws -> LogStream {
    let environment = local.environment
    let stream = LogStream(
      id: StoreID(high: environment.random(), low: environment.random()),
      writer: try local.ledger().storeID, life: life, filter: filter)
    try log.begin(stream)
    return stream
  }

  /// How far each stream of this life has been read.
  private func seen() throws -> [StoreID: UInt64] {
    let ledger = try local.ledger()
    var seen: [StoreID: UInt64] = [:]
    for stream in others where stream.life == life {
      let cursor = try ledger.cursor(for: stream.id)
      // While all is read once more, what was read before counts.
      let number = max(cursor.position, cursor.streamingUntil)
      if number > 0 { seen[stream.id] = number }
    }
    return seen
  }

  /// Nothing waits in a log; who has not appended for a while shows that it is still there.
  func retry() throws -> PassReport {
    let now = local.environment.now()
    let pause = local.configuration.retentionMilliseconds / ReaderNote.signsPerRetention
    if let last, now >= last.time, now - last.time < pause { return PassReport(event: .retried) }
    try append(
      ChangeSet(source: try local.ledger().storeID, after: 0, upTo: 0), at: last?.place ?? 0,
      mark: last?.placeMark ?? 0)
    return PassReport(event: .retried)
  }

  func comeBack(_ side: PassState.Side) throws -> [String: Int] {
    // A stream that was just begun has missed nothing.
    if side == .push, last?.place ?? 0 == 0 { return [:] }
    throw side == .pull
      ? SyncError(
        .fileMoved, "\(place) has lost entries that were not read; looking again", recovery: .retry)
      : SyncError(
        .notSyncing,
        "\(place) was away for longer than the retention, and deletes that it has not got are forgotten here; "
          + "begin a new log", recovery: .person)
  }

  func settle() throws -> HeldRecords {
    let there = try log.streams().first { $0.id == own?.id }
    guard try log.lives().last == life, there?.last == own?.last else {
      throw SyncError(.fileMoved, "\(place) is another log now, or none", recovery: .retry)
    }
    return HeldRecords()
  }
}
