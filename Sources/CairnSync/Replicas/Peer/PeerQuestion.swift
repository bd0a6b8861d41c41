import Foundation

/// What one daemon asks another.
struct PeerQuestion: Hashable, Sendable {
  enum Matter: Hashable, Sendable {
    /// Who are you, and how far have I brought you? With what the asker exchanges, nil for all, and the names
    /// of its model.
    case greet(filter: Data?, names: Data)
    /// Are you still what you were?
    case present(Claim)
    /// What programs have written to your store is to be taken up.
    case news
    /// With which cursor does a first read begin now?
    case firstRead
    /// What follows a cursor? The asker has all up to `acknowledged`.
    case changes(after: SyncCursor, acknowledged: UInt64, batchSize: UInt64)
    case states([RecordID])
    /// Take this, in the names of the digest, and note the cursor with it, if you are still what you were.
    case take(ChangeSet, SyncCursor, names: UInt64, by: Claim)
    /// What waits is to be tried once more.
    case retry
    /// What of mine has arrived and is not visible?
    case held
    /// How much follows a place?
    case pending(after: UInt64)
    /// Which records do references that have arrived wait for? Those after one of them, nil for the first.
    case awaited(after: RecordID?)
    /// Which of these records, which references wait for, are not going to come? With how far the asker has read.
    case forgotten([RecordID], readUpTo: UInt64)
    /// These are not going to come from me.
    case gone([RecordID])
  }
  /// This far the asker has been served by that store, under these identities of its own.
  struct Claim: Hashable, Sendable {
    let cursor: SyncCursor
    let store: StoreID
    let ids: [StoreID]
  }

  /// The store of the asker.
  let asker: StoreID
  /// What its group is called.
  let name: String
  let matter: Matter

  // Bytes: version 1 · asker 16 · name string · matter: a tag, then what it has
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    writer.identity(asker)
    writer.string(name)
    switch matter {
    case .greet(let filter, let names):
      writer.byte(0)
      writer.byte(filter == nil ? 0 : 1)
      if let filter { writer.bytes(filter) }
      writer.bytes(names)
    case .present(let claim):
      writer.byte(1)
      claim.encode(to: &writer)
    case .news: writer.byte(2)
    case .firstRead: writer.byte(3)
    case .changes(let cursor, let acknowledged, let batchSize):
      writer.byte(4)
      writer.bytes(cursor.encoded)
      writer.fixed(acknowledged)
      writer.fixed(batchSize)
    case .states(let ids):
      writer.byte(5)
      writer.identities(ids)
    case .take(let set, let cursor, let names, let claim):
      writer.byte(6)
      writer.bytes(set.encoded())
      writer.bytes(cursor.encoded)
      writer.fixed(names)
      claim.encode(to: &writer)
    case .retry: writer.byte(7)
    case .held: writer.byte(8)
    case .pending(let position):
      writer.byte(9)
      writer.fixed(position)
    case .awaited(let last):
      writer.byte(10)
      writer.identities([last].compactMap { $0 })
    case .forgotten(let ids, let position):
      writer.byte(11)
      writer.identities(ids)
      writer.fixed(position)
    case .gone(let ids):
      writer.byte(12)
      writer.identities(ids)
    }
    return writer.data
  }

  init(asker: StoreID, name: String, _ matter: Matter) {
    self.asker = asker
    self.name = name
    self.matter = matter
  }

  /// - Throws: ``SyncError`` when the bytes are anything else.
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    asker = try reader.identity(StoreID.self)
    name = try reader.string()
    matter = try Self.matter(from: &reader)
    guard reader.isAtEnd else { throw ByteReader.damaged }
  }

  private static func matter(from reader: inout ByteReader) throws -> Matter {
    switch try reader.byte() {
    case 0:
      let filter = try reader.byte() == 1 ? try reader.data() : nil
      return .greet(filter: filter, names: try reader.data())
    case 1:
      return .present(try Claim(from: &reader))
    case 2: return .news
    case 3: return .firstRead
    case 4:
      let cursor = try SyncCursor(decoding: try reader.data())
      return .changes(
        after: cursor, acknowledged: try reader.sequence(), batchSize: try reader.sequence())
    case 5: return .states(try reader.identities(RecordID.self))
    case 6:
      let set = try ChangeSet(decoding: try reader.data())
      return .take(
        set, try SyncCursor(decoding: try reader.data()), names: try reader.fixed(),
        by: try Claim(from: &reader))
    case 7: return .retry
    case 8: return .held
    case 9: return .pending(after: try reader.sequence())
    case 10: return .awaited(after: try reader.identities(RecordID.self).first)
    case 11:
      let ids = try reader.identities(RecordID.self)
      return .forgotten(ids, readUpTo: try reader.sequence())
    case 12: return .gone(try reader.identities(RecordID.self))
    default: throw ByteReader.damaged
    }
  }
}

extension PeerQuestion.Claim {
  /// What a destination has to be still, as a store says it that reads from there.
  init(_ expected: ExpectedDestination) throws {
    self.init(
      cursor: expected.claim?.cursor ?? SyncCursor(), store: expected.id,
      ids: try expected.claim?.ids() ?? [])
  }

  var expected: ExpectedDestination {
    ExpectedDestination(id: store, claim: ReaderClaim(cursor: cursor, ids: { ids }))
  }

  fileprivate func encode(to writer: inout ByteWriter) {
    writer.bytes(cursor.encoded)
    writer.identity(store)
    writer.identities(ids)
  }

  fileprivate init(from reader: inout ByteReader) throws {
    self.init(
      cursor: try SyncCursor(decoding: try reader.data()),
      store: try reader.identity(StoreID.self), ids: try reader.identities(StoreID.self))
  }
}

extension ByteWriter {
  /// A number of identities, with their count before them.
  mutating func identities(_ ids: [some SixteenBytes]) {
    count(ids.count)
    for id in ids { identity(id) }
  }
}

extension ByteReader {
  /// A number of identities, with their count before them.
  mutating func identities<Identity: SixteenBytes>(_ type: Identity.Type) throws -> [Identity] {
    var found: [Identity] = []
    for _ in 0..<(try count()) { found.append(try identity(type)) }
    return found
  }
}
