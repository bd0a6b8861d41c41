import Foundation

/// The way to a daemon that applies change sets for itself, such as the byte stream of a process that reaches its
/// machine.
protocol PeerChannel: Sendable {
  /// Sends a question, and waits for the answer to it.
  ///
  /// Whether a question that failed was heard is not known: each may be asked once more.
  func ask(_ question: Data) throws -> Data
}

/// What one daemon asks another.
struct PeerQuestion: Hashable, Sendable {
  enum Matter: Hashable, Sendable {
    /// Who are you, and how far have I brought you? With what the asker exchanges, nil for all, and the names
    /// of its model.
    case greet(filter: Data?, names: Data)
    /// This far I have been served by you as that store, under these identities of mine: are you still what you were?
    case present(SyncCursor, of: StoreID, ids: [StoreID])
    /// What programs have written to your store is to be taken up.
    case news
    case end
    /// What follows a cursor? The asker has all up to `acknowledged`.
    case changes(after: SyncCursor, acknowledged: UInt64, batchSize: UInt64)
    case states([RecordID])
    /// Take this, in the names of the digest, and note the cursor with it.
    case take(ChangeSet, SyncCursor, names: UInt64)
    /// What waits is to be tried once more.
    case retry
    /// What of mine has arrived and is not visible?
    case held
    /// How much follows a place?
    case pending(after: UInt64)
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
    case .present(let cursor, let store, let ids):
      writer.byte(1)
      writer.bytes(cursor.encoded)
      writer.identity(store)
      writer.count(ids.count)
      for id in ids { writer.identity(id) }
    case .news: writer.byte(2)
    case .end: writer.byte(3)
    case .changes(let cursor, let acknowledged, let batchSize):
      writer.byte(4)
      writer.bytes(cursor.encoded)
      writer.fixed(acknowledged)
      writer.fixed(batchSize)
    case .states(let ids):
      writer.byte(5)
      writer.count(ids.count)
      for id in ids { writer.identity(id) }
    case .take(let set, let cursor, let names):
      writer.byte(6)
      writer.bytes(set.encoded())
      writer.bytes(cursor.encoded)
      writer.fixed(names)
    case .retry: writer.byte(7)
    case .held: writer.byte(8)
    case .pending(let position):
      writer.byte(9)
      writer.fixed(position)
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
      let cursor = try SyncCursor(decoding: try reader.data())
      let store = try reader.identity(StoreID.self)
      return .present(cursor, of: store, ids: try reader.identities(StoreID.self))
    case 2: return .news
    case 3: return .end
    case 4:
      let cursor = try SyncCursor(decoding: try reader.data())
      return .changes(
        after: cursor, acknowledged: try reader.sequence(), batchSize: try reader.sequence())
    case 5: return .states(try reader.identities(RecordID.self))
    case 6:
      let set = try ChangeSet(decoding: try reader.data())
      return .take(
        set, try SyncCursor(decoding: try reader.data()), names: try reader.fixed())
    case 7: return .retry
    case 8: return .held
    case 9: return .pending(after: try reader.sequence())
    default: throw ByteReader.damaged
    }
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
