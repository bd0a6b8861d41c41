import CairnModel
import CairnStore
import Foundation

/// A store's bookkeeping during one commit of sync: reads what is stored, remembers what is to
/// change, and shows its own changes to later reads.
///
/// Not Sendable: made, used and dropped inside one step.
final class Ledger {
  let store: PersistentStore
  /// Who writes here: the store in its present incarnation.
  let storeID: StoreID
  let schema: SyncSchema
  private let sidecar: any SidecarKeeping
  /// What migrations added to records that were there.
  let additions: SchemaAdditions
  private let storedHead: Data?
  private let storedDigests: Data?
  private let storedSequence: UInt64
  private let random: () -> UInt64
  var head: SyncHead

  private var known: [SidecarKey: Data?] = [:]
  private var changed: [SidecarKey: Data?] = [:]
  /// Changed keys of the maps that are read by prefix, by prefix.
  private var changedByPrefix: [SidecarKey: Set<Data>] = [:]

  /// - Parameter random: Gives the marks.
  init(
    store: PersistentStore, schema: SyncSchema, random: @escaping () -> UInt64
  ) throws {
    guard let sidecar = store as? any SidecarKeeping else {
      throw SyncError(
        .unsupportedStore,
        "a store of type \(store.type) keeps no sidecar, so it cannot be synchronised",
        recovery: .person)
    }
    self.store = store
    self.schema = schema
    self.sidecar = sidecar
    self.random = random
    let values = try sidecar.sidecarValues(
      for: [SyncKey.head, SyncKey.additions, SyncKey.digests])
    storedHead = values[0]
    storedDigests = values[2]
    additions = try values[1].map(SchemaAdditions.init(decoding:)) ?? SchemaAdditions()
    head = try storedHead.map(SyncHead.init(decoding:)) ?? SyncHead()
    storedSequence = head.sequence
    storeID = try head.incarnation ?? Self.identity(of: store)
  }

  private static func identity(of store: PersistentStore) throws -> StoreID {
    guard let text = store.identifier, let id = StoreID(text) else {
      throw SyncError(
        .unsupportedStore, "the store's identifier is not a UUID", recovery: .person)
    }
    return id
  }

  // MARK: Entries

  func value(_ key: SidecarKey) throws -> Data? {
    if let value = changed[key] { return value }
    if let value = known[key] { return value }
    let value = try sidecar.sidecarValues(for: [key]).first ?? nil
    known[key] = .some(value)
    return value
  }

  /// Reads many entries at once, so that ``value(_:)`` finds them.
  func prefetch(_ keys: [SidecarKey]) throws {
    let missing = SyncKey.sorted(Set(keys.filter { known[$0] == nil && changed[$0] == nil }))
    guard !missing.isEmpty else { return }
    let values = try sidecar.sidecarValues(for: missing)
    for (key, value) in zip(missing, values) { known[key] = .some(value) }
  }

  /// Notes that there is no entry, so that it is not looked up.
  func noteAbsent(_ key: SidecarKey) {
    if known[key] == nil { known[key] = .some(nil) }
  }

  func put(_ key: SidecarKey, _ value: Data?) {
    changed[key] = .some(value)
    if let prefix = Self.scanPrefix(of: key) {
      changedByPrefix[prefix, default: []].insert(key.key)
    }
  }

  /// The keys of a map that begin with `prefix`, which is one that ``scanPrefix(of:)`` names.
  func keys(in map: SyncMap, prefix: Data) throws -> [Data] {
    let stored = try sidecar.sidecarEntries(
      of: map.rawValue, from: prefix, to: SyncKey.end(of: prefix), limit: 0)
    var keys = Set(stored.map(\.key))
    for (key, value) in stored where known[map.key(key)] == nil {
      known[map.key(key)] = .some(value)
    }
    for key in changedByPrefix[map.key(prefix)] ?? [] {
      if changed[map.key(key)] ?? nil == nil { keys.remove(key) } else { keys.insert(key) }
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether a map had no entry at the last commit.
  func isEmpty(_ map: SyncMap) throws -> Bool {
    try sidecar.sidecarEntries(of: map.rawValue, from: nil, to: nil, limit: 1).isEmpty
  }

  private static func scanPrefix(of key: SidecarKey) -> SidecarKey? {
    guard let map = SyncMap(rawValue: key.map) else { return nil }
    return SyncKey.prefix(of: key.key, in: map).map(map.key)
  }

  // MARK: Commit

  /// Everything to write, guarded by the head as it was read.
  func operations() -> [SidecarOperation] {
    if head.sequence > storedSequence {
      put(SyncKey.mark(head.sequence), SyncKey.number(random()))
    }
    var operations: [SidecarOperation] = [
      .require(SyncKey.head, storedHead), .putAtTransaction(map: SyncMap.own.rawValue, Data()),
    ]
    let newHead = head.encoded
    if newHead != storedHead { operations.append(.put(SyncKey.head, newHead)) }
    for key in SyncKey.sorted(changed.keys) {
      if let value = changed[key] ?? nil {
        operations.append(.put(key, value))
      } else {
        operations.append(.remove(key))
      }
    }
    if changed[SyncKey.digests] == nil {
      operations += digestOperations(counted(), stored: storedDigests)
    }
    return operations
  }

  /// The entries of records that were written, so that they are not decoded again.
  var written: [RecordID: RecordEntry] = [:]

  /// Digests that were counted anew, to be committed instead of a change of those that are there.
  var rebuiltDigests: RebuiltDigests?

  /// Whether the store was never written by sync.
  var isNew: Bool { storedHead == nil }

  /// The changed entries that digests count.
  private func counted() -> [(key: SidecarKey, old: Data?, new: Data?)] {
    let maps: Set<String> = [SyncMap.records.rawValue, SyncMap.links.rawValue]
    let keys = changed.keys.filter { maps.contains($0.map) }
    // What cannot be read now cannot be committed either.
    let missing = keys.filter { known[$0] == nil }
    if let values = missing.isEmpty ? [] : try? sidecar.sidecarValues(for: missing) {
      for (key, value) in zip(missing, values) { known[key] = .some(value) }
    }
    return keys.map { ($0, known[$0] ?? nil, changed[$0] ?? nil) }
  }

  var isUnchanged: Bool {
    changed.isEmpty && storedHead == head.encoded && rebuiltDigests == nil
  }
}
