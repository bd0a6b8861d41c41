import CairnStore
import Foundation

/// Reads the conflict journals of several stores as one, in the order of their keys, a page at a time.
struct JournalReading {
  private struct Source {
    let member: GroupStores.Member
    let sidecar: any SidecarKeeping
    var buffer: ArraySlice<(key: Data, value: Data)> = []
    var next: Data?
    var isRead = false

    mutating func first() throws -> Data? {
      if buffer.isEmpty, !isRead {
        let page = 500
        buffer = try sidecar.sidecarEntries(
          of: SyncMap.journal.rawValue, from: next, to: nil, limit: page)[...]
        isRead = buffer.count < page
        if let last = buffer.last { next = last.key + Data([0]) }
      }
      return buffer.first?.key
    }
  }

  /// What several journals have under one key.
  struct Item {
    let key: Data
    /// Nil when it cannot be read.
    let entry: JournalEntry?
    let journals: [StoreReference]
  }

  private var sources: [Source]
  /// Whose entries are wanted; nil for all.
  private var records: Set<RecordID>?

  /// - Parameter after: Only what comes after this key.
  init(_ members: [GroupStores.Member], after: Data? = nil) {
    sources = members.compactMap { member in
      member.access.store.capabilities.sidecar.map {
        Source(member: member, sidecar: $0, next: after.map { $0 + Data([0]) })
      }
    }
  }

  /// The entries about some records, looked up where a journal is indexed.
  init(_ members: [GroupStores.Member], of records: Set<RecordID>) throws {
    self.init(members)
    self.records = records
    for index in sources.indices {
      let journal = JournalIndex(access: sources[index].member.access)
      guard let found = try journal.entries(of: records) else { continue }
      sources[index].buffer = found[...]
      sources[index].isRead = true
    }
  }

  /// The next entry; nil at the end.
  mutating func next() throws -> Item? {
    while let item = try nextOfAll() {
      guard let records else { return item }
      if let record = item.entry?.conflict.record, records.contains(record) { return item }
    }
    return nil
  }

  private mutating func nextOfAll() throws -> Item? {
    var keys: [Data] = []
    for index in sources.indices {
      if let key = try sources[index].first() { keys.append(key) }
    }
    guard let key = keys.min(by: { $0.lexicographicallyPrecedes($1) }) else { return nil }
    var entry: JournalEntry?
    var journals: [StoreReference] = []
    for index in sources.indices where try sources[index].first() == key {
      guard let value = sources[index].buffer.popFirst()?.value else { continue }
      let member = sources[index].member
      journals.append(member.reference)
      guard let found = try? JournalEntry(decoding: value) else { continue }
      let translated = member.translation.map(found.translated) ?? found
      if entry.map({ translated.isBetter(than: $0) }) ?? true { entry = translated }
    }
    return Item(key: key, entry: entry, journals: journals)
  }

  /// The entry with an ID: at once where the ID tells its place, otherwise by looking at all.
  static func find(_ id: RecordID, in members: [GroupStores.Member]) throws -> Item? {
    let key = JournalEntry.key(of: id)
    for member in members {
      guard let sidecar = member.access.store.capabilities.sidecar,
        try sidecar.sidecarValues(for: [key]).first ?? nil != nil
      else { continue }
      var reading = JournalReading(members)
      for index in reading.sources.indices { reading.sources[index].next = key.key }
      return try reading.next()
    }
    var reading = JournalReading(members)
    while let item = try reading.next() {
      if item.entry?.id == id { return item }
    }
    return nil
  }
}

extension JournalEntry {
  /// Which of two stores' entries about the same conflict is shown: the one that says more, else the earlier.
  fileprivate func isBetter(than other: JournalEntry) -> Bool {
    saysMore(than: other) || !other.saysMore(than: self) && time < other.time
  }
}

extension GroupStores {
  func conflict(_ item: JournalReading.Item) -> JournaledConflict? {
    guard let entry = item.entry else { return nil }
    return JournaledConflict(
      entry: entry, journals: item.journals,
      losingStore: reference(entry.conflict.losingStamp.store),
      winningStore: reference(entry.conflict.winningStamp.store))
  }
}
