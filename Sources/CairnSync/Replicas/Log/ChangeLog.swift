import Foundation

/// Where a log lies, such as a folder of change sets: streams of entries, each appended to by one writer and read by
/// all.
///
/// All that is decided about a log is decided by ``LogSide``; a medium keeps bytes under numbers. What it promises:
/// an append is whole, and lasts when it returns; an entry that was read stays what it was, or is gone.
protocol ChangeLog: Sendable {
  /// Who the log is, from when it was made: another one under its name has another.
  func identifier() throws -> StoreID
  /// The lives of the log, the present one last; see ``LogSide``.
  func lives() throws -> [StoreID]
  /// Begins a life after another, unless that has been done.
  func beginLife(_ new: StoreID, after old: StoreID) throws
  func streams() throws -> [LogStream]
  /// Begins a stream without entries, unless there is one of its identity.
  func begin(_ stream: LogStream) throws
  /// An entry of a stream by its number; nil where there is none, or none any more.
  func entry(_ number: UInt64, of stream: StoreID) throws -> Data?
  /// Appends the entry that follows those which are there.
  ///
  /// - Returns: False where there is an entry of that number already.
  func append(_ entry: Data, as number: UInt64, to stream: StoreID) throws -> Bool
  /// The names that entries are in, by their digest; nil where they were not kept.
  func names(_ digest: UInt64) throws -> Data?
  func keep(names: Data, as digest: UInt64) throws
}

/// A stream of a log: what one writer has appended.
struct LogStream: Hashable, Sendable {
  let id: StoreID
  /// The store, in one of its lives, whose change order the stream follows.
  let writer: StoreID
  /// The life of the log in which it was begun.
  let life: StoreID
  /// The entities that the writer exchanges, as an ``EntityFilter`` encodes them; nil for all.
  let filter: Data?
  /// The number of the first entry that is there: more than 1 where the stream was cut.
  var first: UInt64 = 1
  /// The number of the last entry; 0 without any.
  var last: UInt64 = 0
}

/// What a writer appends to its stream at once: a change set, how far it has come itself by then, and what it has
/// read of others.
struct LogEntry: Hashable, Sendable {
  /// An unguessable number, by which a reader tells this entry from another of the same number.
  var mark: UInt64
  /// The last place of the writer's change order that the stream has, with this entry, and the mark of the commit
  /// there.
  var place: UInt64
  var placeMark: UInt64
  /// When it was appended, by the writer's clock, in milliseconds since 1970.
  var time: UInt64
  /// The digest of the ``SchemaNames`` that the set is in.
  var names: UInt64
  /// By stream, the last entry that the writer had read; what it has acknowledged.
  var seen: [StoreID: UInt64] = [:]
  var set: ChangeSet

  // Bytes: version 1 · mark 8 · place 8 · its mark 8 · time 8 · names 8 ·
  // count, seen (stream 16, number 8) by stream · change set
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    for number in [mark, place, placeMark, time, names] { writer.fixed(number) }
    writer.count(seen.count)
    for (stream, number) in seen.sorted(by: { $0.key < $1.key }) {
      writer.identity(stream)
      writer.fixed(number)
    }
    writer.bytes(set.encoded())
    return writer.data
  }

  init(
    mark: UInt64, place: UInt64, placeMark: UInt64, time: UInt64, names: UInt64,
    seen: [StoreID: UInt64], set: ChangeSet
  ) {
    self.mark = mark
    self.place = place
    self.placeMark = placeMark
    self.time = time
    self.names = names
    self.seen = seen
    self.set = set
  }

  /// - Throws: ``SyncError`` when the bytes are anything else.
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    mark = try reader.fixed()
    place = try reader.sequence()
    placeMark = try reader.fixed()
    time = try reader.fixed()
    names = try reader.fixed()
    for _ in 0..<(try reader.count()) {
      let stream = try reader.identity(StoreID.self)
      seen[stream] = try reader.sequence()
    }
    set = try ChangeSet(decoding: try reader.data())
    guard reader.isAtEnd else { throw ByteReader.damaged }
  }
}

extension ChangeLog {
  func decoded(_ number: UInt64, of stream: StoreID) throws -> LogEntry? {
    try entry(number, of: stream).map(LogEntry.init(decoding:))
  }

  /// The last entry of a stream; nil without any.
  func lastEntry(of stream: LogStream) throws -> LogEntry? {
    stream.last == 0 ? nil : try decoded(stream.last, of: stream.id)
  }
}
