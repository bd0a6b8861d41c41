import Foundation

/// What a daemon answers another.
enum PeerAnswer: Hashable, Sendable {
  /// Who it is, who it was, and how far it has been brought by the asker; the names of its model.
  case identity(StoreID, former: [StoreID], served: SyncCursor, names: Data)
  case done
  case number(UInt64)
  /// With which cursor a first read begins.
  case firstRead(SyncCursor)
  /// What follows a cursor, and whether something is forgotten that the asker has yet to learn of.
  case changes(ChangeSet?, SyncCursor, hasForgotten: Bool)
  case states(ChangeSet)
  /// How far it has been brought now, and what came of a set.
  case taken(SyncCursor, Counts)
  case held(HeldRecords)
  case records([RecordID])
  /// Why it cannot answer: code, message and recovery of a ``SyncError``.
  case refused(code: String, message: String, recovery: String)

  struct Counts: Hashable, Sendable {
    var records: UInt64 = 0
    var links: UInt64 = 0
    var conflicts: UInt64 = 0
  }

  // Bytes: version 1 · a tag · what it has
  var encoded: Data {
    var writer = ByteWriter()
    writer.byte(1)
    switch self {
    case .identity(let id, let former, let served, let names):
      writer.byte(0)
      writer.identity(id)
      writer.identities(former)
      writer.bytes(served.encoded)
      writer.bytes(names)
    case .done: writer.byte(1)
    case .number(let number):
      writer.byte(2)
      writer.fixed(number)
    case .changes(let set, let cursor, let hasForgotten):
      writer.byte(3)
      writer.byte((set == nil ? 0 : 1) | (hasForgotten ? 2 : 0))
      if let set { writer.bytes(set.encoded()) }
      writer.bytes(cursor.encoded)
    case .states(let set):
      writer.byte(4)
      writer.bytes(set.encoded())
    case .taken(let cursor, let counts):
      writer.byte(5)
      writer.bytes(cursor.encoded)
      for number in [counts.records, counts.links, counts.conflicts] { writer.fixed(number) }
    case .held(let held):
      writer.byte(6)
      for number in [held.invalid, held.ahead, held.parked] { writer.count(number) }
      writer.string(held.reason ?? "")
    case .firstRead(let cursor):
      writer.byte(8)
      writer.bytes(cursor.encoded)
    case .records(let ids):
      writer.byte(9)
      writer.identities(ids)
    case .refused(let code, let message, let recovery):
      writer.byte(7)
      for text in [code, message, recovery] { writer.string(text) }
    }
    return writer.data
  }

  /// - Throws: ``SyncError`` when the bytes are anything else.
  init(decoding data: Data) throws {
    var reader = ByteReader(data)
    guard try reader.byte() == 1 else { throw ByteReader.damaged }
    self = try Self.read(&reader)
    guard reader.isAtEnd else { throw ByteReader.damaged }
  }

  private static func read(_ reader: inout ByteReader) throws -> PeerAnswer {
    switch try reader.byte() {
    case 0:
      let id = try reader.identity(StoreID.self)
      let former = try reader.identities(StoreID.self)
      let served = try SyncCursor(decoding: try reader.data())
      return .identity(id, former: former, served: served, names: try reader.data())
    case 1: return .done
    case 2: return .number(try reader.sequence())
    case 3:
      let flags = try reader.byte()
      let set = flags & 1 == 0 ? nil : try ChangeSet(decoding: try reader.data())
      return .changes(
        set, try SyncCursor(decoding: try reader.data()), hasForgotten: flags & 2 != 0)
    case 4: return .states(try ChangeSet(decoding: try reader.data()))
    case 5:
      let cursor = try SyncCursor(decoding: try reader.data())
      let counts = Counts(
        records: try reader.sequence(), links: try reader.sequence(),
        conflicts: try reader.sequence())
      return .taken(cursor, counts)
    case 6:
      var held = HeldRecords()
      held.invalid = try Self.number(&reader)
      held.ahead = try Self.number(&reader)
      held.parked = try Self.number(&reader)
      let reason = try reader.string()
      held.reason = reason.isEmpty ? nil : reason
      return .held(held)
    case 7:
      return .refused(
        code: try reader.string(), message: try reader.string(), recovery: try reader.string())
    case 8: return .firstRead(try SyncCursor(decoding: try reader.data()))
    case 9: return .records(try reader.identities(RecordID.self))
    default: throw ByteReader.damaged
    }
  }

  /// A number that is not that of what follows.
  private static func number(_ reader: inout ByteReader) throws -> Int {
    Int(clamping: try reader.varint())
  }

  init(_ error: any Error) {
    let error = SyncError(describing: error, at: nil)
    self = .refused(
      code: error.code.rawValue, message: error.message, recovery: error.recovery.rawValue)
  }
}
