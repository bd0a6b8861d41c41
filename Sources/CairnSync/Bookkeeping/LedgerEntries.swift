import CairnStore
import Foundation

/// What a ledger has read of a store's entries, and what it is to change in them: one place for each key,
/// since most keys are asked for as often as they are changed.
///
/// The entries lie in the order in which they came, and a table of small numbers leads to them: a `Dictionary`
/// of them would move them each time it grows, and mixes keys that are random already.
struct LedgerEntries {
  struct Entry {
    let key: SidecarKey
    /// What is stored, once ``isRead``.
    fileprivate(set) var stored: Data?
    /// What is to be, once ``isChanged``; nil where the entry is to go.
    fileprivate(set) var new: Data?
    fileprivate(set) var isRead = false
    fileprivate(set) var isChanged = false
    /// The place in `records` of what `new` says; -1 where the caller did not have it decoded.
    fileprivate var decoded: Int32 = -1

    fileprivate init(_ key: SidecarKey) { self.key = key }
  }
  private var entries: [Entry] = []
  private var places = KeyPlaces()
  private var records: [RecordEntry] = []
  /// How many are to change.
  private(set) var changes = 0

  mutating func reserve(_ count: Int) {
    entries.reserveCapacity(entries.count + count)
  }

  private func place(of key: SidecarKey) -> Int? { places.find(key, in: entries) }

  /// The place of a key, there if it was not.
  private mutating func placed(_ key: SidecarKey) -> Int {
    if let place = place(of: key) { return place }
    places.add(key, at: entries.count)
    entries.append(Entry(key))
    return entries.count - 1
  }

  // MARK: Reading

  /// The value with the changes; nil when it has not been read.
  func value(_ key: SidecarKey) -> Data?? {
    guard let place = place(of: key) else { return nil }
    if entries[place].isChanged { return .some(entries[place].new) }
    return entries[place].isRead ? .some(entries[place].stored) : nil
  }

  /// Whether ``value(_:)`` knows the key.
  func isKnown(_ key: SidecarKey) -> Bool {
    place(of: key).map { entries[$0].isChanged || entries[$0].isRead } ?? false
  }

  /// Whether nothing is stored under a key, as far as that has been read.
  func isAbsent(_ key: SidecarKey) -> Bool {
    place(of: key).map { entries[$0].isRead && entries[$0].stored == nil } ?? false
  }

  /// The change to an entry: its value to be, or nil where it is to go; nil without one.
  func change(_ key: SidecarKey) -> Data?? {
    place(of: key).flatMap { entries[$0].isChanged ? .some(entries[$0].new) : nil }
  }

  subscript(place: Int) -> Entry { entries[place] }

  /// The decoded form of what a record's entry is to be, where the caller of
  /// ``put(_:_:decoded:isAbsent:)`` had it.
  func record(at place: Int) -> RecordEntry? {
    entries[place].decoded < 0 ? nil : records[Int(entries[place].decoded)]
  }

  /// The places of what is to change, in the order of the maps.
  func sortedChanges() -> [Int] {
    var changed: [Int] = []
    changed.reserveCapacity(changes)
    for place in entries.indices where entries[place].isChanged { changed.append(place) }
    return SyncKey.sorted(changed) { entries[$0].key }
  }

  var changed: [SidecarKey: Data?] {
    var found: [SidecarKey: Data?] = [:]
    found.reserveCapacity(changes)
    for entry in entries where entry.isChanged { found[entry.key] = .some(entry.new) }
    return found
  }

  /// What was read.
  var read: [(key: SidecarKey, value: Data?)] {
    entries.compactMap { $0.isRead ? ($0.key, $0.stored) : nil }
  }

  // MARK: Writing

  /// Notes what is stored; what was read first stays.
  mutating func note(_ key: SidecarKey, stored value: Data?) {
    let place = placed(key)
    if entries[place].isRead { return }
    entries[place].stored = value
    entries[place].isRead = true
  }

  /// - Parameters:
  ///   - decoded: What the value says, for an entry of a record.
  ///   - isAbsent: Whether nothing is stored there, where that has not been read.
  mutating func put(
    _ key: SidecarKey, _ value: Data?, decoded: RecordEntry? = nil, isAbsent: Bool = false
  ) {
    let place = placed(key)
    if !entries[place].isChanged { changes += 1 }
    entries[place].isChanged = true
    entries[place].new = value
    if isAbsent { entries[place].isRead = true }
    entries[place].decoded = -1
    guard let decoded else { return }
    entries[place].decoded = Int32(records.count)
    records.append(decoded)
  }

  /// Changes something else instead.
  mutating func replaceChanges(_ changed: [SidecarKey: Data?]) {
    for place in entries.indices {
      entries[place].isChanged = false
      entries[place].new = nil
      entries[place].decoded = -1
    }
    records = []
    changes = 0
    for (key, value) in changed { put(key, value) }
  }
}

/// An open-addressing table from keys to the places of their entries.
struct KeyPlaces {
  private struct Slot {
    var hash: UInt32
    /// Negative in an empty slot.
    var place: Int32
  }
  private var slots: [Slot] = []

  /// Different in each process, as Swift's own hashes are, so that no file can have keys that are made to get
  /// into each other's way.
  private static let seed: UInt64 = {
    var hasher = Hasher()
    hasher.combine(0)
    return UInt64(bitPattern: Int64(hasher.finalize())) | 1
  }()

  static func hash(_ key: SidecarKey) -> UInt32 {
    var hash = mix(key.words, into: seed)
    // Without the end of a long key, all links of one commit would have one hash.
    if let last = key.lastWords { hash = mix(last, into: hash) }
    return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
  }

  private static func mix(_ words: SidecarKey.Words, into hash: UInt64) -> UInt64 {
    var hash = (words.first ^ hash) &* 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ hash >> 32 ^ words.second) &* 0xD6E8_FEB8_6659_FD93
    hash = (hash ^ hash >> 32 ^ words.third) &* 0x9E37_79B9_7F4A_7C15
    return (hash ^ hash >> 32 ^ words.fourth) &* 0xD6E8_FEB8_6659_FD93
  }

  func find(_ key: SidecarKey, in entries: [LedgerEntries.Entry]) -> Int? {
    if slots.isEmpty { return nil }
    let hash = Self.hash(key)
    let mask = slots.count - 1
    var index = Int(hash) & mask
    while slots[index].place >= 0 {
      let place = Int(slots[index].place)
      if slots[index].hash == hash, entries[place].key == key { return place }
      index = (index + 1) & mask
    }
    return nil
  }

  /// Adds a key that is not there.
  mutating func add(_ key: SidecarKey, at place: Int) {
    if (place + 1) * 2 > slots.count { grow(to: max(64, slots.count * 4)) }
    insert(Slot(hash: Self.hash(key), place: Int32(place)))
  }

  private mutating func insert(_ slot: Slot) {
    let mask = slots.count - 1
    var index = Int(slot.hash) & mask
    while slots[index].place >= 0 { index = (index + 1) & mask }
    slots[index] = slot
  }

  private mutating func grow(to count: Int) {
    let old = slots
    slots = [Slot](repeating: Slot(hash: 0, place: -1), count: count)
    for slot in old where slot.place >= 0 { insert(slot) }
  }
}
