import CairnModel
import CairnStore
import Foundation

/// The maps of a store's sidecar that belong to sync, and the keys in them.
///
/// | map | key | value |
/// |---|---|---|
/// | `sync_meta` | `head` | ``SyncHead`` |
/// | | `names` | ``SchemaNames`` |
/// | | `additions` | ``SchemaAdditions`` |
/// | | `dropped` | a ``CairnStore/MigrationTrace`` that is not taken up yet |
/// | | `reconsider` | nothing, while rows may have to show more since the model changed |
/// | | `orders` | the ordered relationships of the store's model, each with a line feed |
/// | | `unshown-orders` | those of them that have become so and whose rows do not show the places on record yet |
/// | | `verdict`, source store | ``DeletionVerdict`` |
/// | | `accepted`, `accepted-alone` | what a ``CredibleTime`` accepts |
/// | | `compared` | the ``GapComparisons`` while history is missing |
/// | | `gap` | the ``GapExtent`` of the history that is missing |
/// | | `found/`, another store, record ID | what ``GapFindings`` keep of the record |
/// | | `retention` | ``RetentionState`` |
/// | | `digests` | ``DigestState`` |
/// | | `differences/`, another store | the ``KnownDifferences`` of the two |
/// | | `lost` | the entities and relationships of ``Ledger/readOthersAgain(havingLost:)``, each with a line feed |
/// | | `former` | the identities that the store had before it went back in time, 16 bytes each |
/// | | `replica/`, name | the ``ReplicaIdentity`` of the store that the replica was last |
/// | | `filter/`, source store | the entities that come from there; none for all |
/// | | `streams/`, a log | its life and the streams of it that were read, see ``LogClaims`` |
/// | `sync_ids` | root entity, 0, object key | record ID |
/// | `sync_records` | record ID | ``RecordEntry`` |
/// | `sync_links` | relationship, 0, owner, member | ``LinkEntry`` |
/// | `sync_backlinks` | relationship, 0, member, owner | nothing |
/// | `sync_changes` | number 8, kind, what changed | the store it came from, or a ``MovedMark`` |
/// | `sync_cursors` | source store | ``SyncCursor`` |
/// | `sync_parked` | missing target, owner, property | nothing; 1 where the target is not going to come |
/// | `sync_quarantine` | record ID, or a link's key | ``QuarantineEntry`` |
/// | `sync_journal` | winner's clock 8, digest 16 | ``JournalEntry`` |
/// | `sync_journal_index` | record ID, key in `sync_journal` | nothing; see ``JournalIndex`` |
/// | `sync_readers` | a store that is served from here | ``ReaderNote`` |
/// | `sync_digests` | a ``DigestBucket`` | its ``DigestSum`` |
/// | `sync_marks` | last number of a commit in the change order 8 | an unguessable number 8 |
/// | `row_births` | as in `sync_ids` | the `RowBirth` of a row that is not taken up, kept by a purge of history |
/// | `sync_own` | number of a history transaction that sync wrote and no capture has reached yet | nothing |
///
/// Numbers are big-endian, record and store IDs 16 bytes. In `sync_changes` each record (kind 0)
/// and link (kind 1) stands exactly once, at its last change; where others have moved on from a
/// number, kind 255 has a ``MovedMark``, so that a reader can take all of a transaction together.
enum SyncMap: String, CaseIterable {
  case meta = "sync_meta"
  case ids = "sync_ids"
  case records = "sync_records"
  case links = "sync_links"
  case backlinks = "sync_backlinks"
  case changes = "sync_changes"
  case cursors = "sync_cursors"
  case parked = "sync_parked"
  case quarantine = "sync_quarantine"
  case journal = "sync_journal"
  case journalIndex = "sync_journal_index"
  case own = "sync_own"
  case marks = "sync_marks"
  case readers = "sync_readers"
  case digests = "sync_digests"
  case births = "row_births"

  /// The maps whose keys are read by what they begin with; see ``SyncKey/prefix(of:in:)``.
  static let readByPrefix: [SyncMap] = [.links, .backlinks, .parked]

  func key(_ data: Data) -> SidecarKey { SidecarKey(map: rawValue, key: data) }
  func key(_ id: some SixteenBytes) -> SidecarKey {
    SidecarKey(map: rawValue, words: .init(id.high, id.low), count: 16)
  }
  func key(_ number: UInt64) -> SidecarKey {
    SidecarKey(map: rawValue, words: .init(number), count: 8)
  }
}

enum SyncKey {
  static let head = SyncMap.meta.key(Data("head".utf8))
  static let names = SyncMap.meta.key(Data("names".utf8))
  static let additions = SyncMap.meta.key(Data("additions".utf8))
  static let reconsider = SyncMap.meta.key(Data("reconsider".utf8))
  static let orders = SyncMap.meta.key(Data("orders".utf8))
  static let unshownOrders = SyncMap.meta.key(Data("unshown-orders".utf8))
  static let accepted = SyncMap.meta.key(Data("accepted".utf8))
  static let acceptedAlone = SyncMap.meta.key(Data("accepted-alone".utf8))
  static let gapComparisons = SyncMap.meta.key(Data("compared".utf8))
  static let gapExtent = SyncMap.meta.key(Data("gap".utf8))
  static let digests = SyncMap.meta.key(Data("digests".utf8))
  static let formerIDs = SyncMap.meta.key(Data("former".utf8))
  static let lost = SyncMap.meta.key(Data("lost".utf8))
  static let retention = SyncMap.meta.key(Data("retention".utf8))

  static func verdict(_ source: StoreID) -> SidecarKey {
    SyncMap.meta.key(Data("verdict".utf8) + bytes(source))
  }
  static func differences(_ other: StoreID) -> SidecarKey {
    SyncMap.meta.key(Data("differences/".utf8) + bytes(other))
  }
  static func gapFinding(_ record: RecordID, against other: StoreID) -> SidecarKey {
    SyncMap.meta.key(gapFindings(against: other) + bytes(record))
  }
  /// What the keys of all ``GapFindings`` begin with.
  static func gapFindings(against other: StoreID?) -> Data {
    Data("found/".utf8) + (other.map(bytes) ?? Data())
  }
  static func formerKey(_ record: RecordID) -> SidecarKey {
    SyncMap.meta.key(formerKeys + bytes(record))
  }
  /// What the keys of all ``FormerKeys`` begin with.
  static let formerKeys = Data("former-key/".utf8)
  static func replica(_ name: String) -> SidecarKey {
    SyncMap.meta.key(Data("replica/\(name)".utf8))
  }
  static func filter(_ source: StoreID) -> SidecarKey {
    SyncMap.meta.key(Data("filter/".utf8) + bytes(source))
  }
  static func deleteRules(_ daemon: StoreID) -> SidecarKey {
    SyncMap.meta.key(Data("rules/".utf8) + bytes(daemon))
  }
  static func streams(of log: StoreID) -> SidecarKey {
    SyncMap.meta.key(Data("streams/".utf8) + bytes(log))
  }
  static func record(_ id: RecordID) -> SidecarKey { SyncMap.records.key(id) }
  static func cursor(_ source: StoreID) -> SidecarKey { SyncMap.cursors.key(source) }
  static func own(_ transaction: Int64) -> SidecarKey {
    SidecarKey(map: SyncMap.own.rawValue, transaction: transaction)
  }
  static func reader(_ store: StoreID) -> SidecarKey { SyncMap.readers.key(store) }
  static func mark(_ sequence: UInt64) -> SidecarKey { SyncMap.marks.key(sequence) }
  static func quarantine(_ id: RecordID) -> SidecarKey { SyncMap.quarantine.key(id) }
  static func quarantine(_ key: LinkKey) -> SidecarKey { SyncMap.quarantine.key(link(key).key) }
  static func quarantine(_ key: HeldKey) -> SidecarKey {
    switch key {
    case .record(let id): return quarantine(id)
    case .link(let key): return quarantine(key)
    }
  }

  static func object(_ id: ManagedObjectID) -> SidecarKey? { object(id, in: .ids) }
  static func birth(_ id: ManagedObjectID) -> SidecarKey? { object(id, in: .births) }

  private static func object(_ id: ManagedObjectID, in map: SyncMap) -> SidecarKey? {
    var writer = KeyWriter()
    writer.text(id.entity.rootEntity.name ?? "")
    writer.byte(0)
    switch id.key {
    case .row(let number): writer.fixed(UInt64(bitPattern: number))
    case .reference(let text): writer.text(text)
    case .temporary: return nil
    }
    return writer.key(in: map)
  }

  static func link(_ key: LinkKey) -> SidecarKey {
    SyncMap.links.key(linkPrefix(key.relationship, key.owner) + bytes(key.member))
  }
  static func backlink(_ key: LinkKey) -> SidecarKey {
    SyncMap.backlinks.key(linkPrefix(key.relationship, key.member) + bytes(key.owner))
  }
  /// What all links of one record on one side begin with.
  static func linkPrefix(_ relationship: String, _ record: RecordID) -> Data {
    Data(relationship.utf8) + Data([0]) + bytes(record)
  }

  static func journalIndex(_ record: RecordID, _ entry: Data) -> SidecarKey {
    SyncMap.journalIndex.key(bytes(record) + entry)
  }

  static func parked(_ target: RecordID, owner: RecordID, property: String) -> SidecarKey {
    SyncMap.parked.key(bytes(target) + bytes(owner) + Data(property.utf8))
  }

  /// The reference that a key of `sync_parked` names, and the record that it waits for.
  static func parked(from data: Data) throws -> (target: RecordID, reference: WaitingReference) {
    var reader = ByteReader(data)
    let target = try reader.identity(RecordID.self)
    let owner = try reader.identity(RecordID.self)
    return (target, WaitingReference(owner: owner, property: try reader.rest()))
  }

  /// The prefix of the keys in `sync_parked` for a target; `sync_links` without the far end.
  static func prefix(of key: Data, in map: SyncMap) -> Data? {
    switch map {
    case .links, .backlinks: return key.dropLast(16)
    case .parked: return key.prefix(16)
    case .meta, .ids, .records, .changes, .cursors, .quarantine, .journal, .journalIndex,
      .own, .marks, .readers, .digests, .births:
      return nil
    }
  }

  /// What stands at a place of the change order.
  enum Changed: Hashable {
    case record(RecordID)
    case link(LinkKey)
    /// Others have moved on from here.
    case moved
  }

  /// The place of the change order that a key of `sync_changes` names, and what stands there.
  static func change(from data: Data) throws -> (sequence: UInt64, what: Changed) {
    var reader = ByteReader(data)
    let sequence = try reader.sequence()
    switch try reader.byte() {
    case movedKind: return (sequence, .moved)
    case recordKind: return (sequence, .record(try reader.identity(RecordID.self)))
    default: return (sequence, .link(try linkKey(from: data.dropFirst(9))))
    }
  }

  static let recordKind: UInt8 = 0
  static let linkKind: UInt8 = 1
  static let movedKind: UInt8 = 255

  static func change(_ sequence: UInt64, record: RecordID) -> SidecarKey {
    var writer = KeyWriter()
    writer.fixed(sequence)
    writer.byte(recordKind)
    writer.fixed(record.high)
    writer.fixed(record.low)
    return writer.key(in: .changes)
  }
  static func change(_ sequence: UInt64, link key: LinkKey) -> SidecarKey {
    SyncMap.changes.key(number(sequence) + Data([linkKind]) + link(key).key)
  }
  static func moved(_ sequence: UInt64) -> SidecarKey {
    SyncMap.changes.key(number(sequence) + Data([movedKind]))
  }

  static func bytes(_ id: some SixteenBytes) -> Data {
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { Data($0) }
  }
  static func number(_ value: UInt64) -> Data {
    withUnsafeBytes(of: value.bigEndian) { Data($0) }
  }

  /// The record that a key of `sync_records` names.
  static func identity(in key: SidecarKey) throws -> RecordID {
    guard key.count == 16 else { throw ByteReader.damaged }
    return RecordID(high: key.words.first, low: key.words.second)
  }

  static func identity<Identity: SixteenBytes>(
    _ type: Identity.Type, in data: Data
  ) throws -> Identity {
    guard data.count >= 16 else { throw ByteReader.damaged }
    return data.withUnsafeBytes { bytes in
      Identity(
        high: UInt64(bigEndian: bytes.number(at: 0)),
        low: UInt64(bigEndian: bytes.number(at: 8)))
    }
  }

  /// The link that a key of `sync_links` names.
  static func linkKey(from data: Data) throws -> LinkKey {
    guard data.count > 33 else { throw ByteReader.damaged }
    let nameEnd = data.endIndex - 33
    guard data[nameEnd] == 0,
      let name = String(validating: data[data.startIndex..<nameEnd], as: UTF8.self)
    else { throw ByteReader.damaged }
    var reader = ByteReader(data[(nameEnd + 1)...])
    let owner = try reader.identity(RecordID.self)
    return LinkKey(
      relationship: name, owner: owner, member: try reader.identity(RecordID.self))
  }

  /// The first key after all that begin with `prefix`.
  static func end(of prefix: Data) -> Data? {
    var bytes = [UInt8](prefix)
    while let last = bytes.popLast() {
      if last < 255 { return Data(bytes + [last + 1]) }
    }
    return nil
  }
}
