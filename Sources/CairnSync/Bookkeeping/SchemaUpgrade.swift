import CairnStore
import Foundation

/// Brings a store's bookkeeping to the names of the model, once the store itself has been migrated.
///
/// One commit: a reader finds the old names or the new ones.
struct SchemaUpgrade {
  let access: StoreAccess

  func run() throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.rawLedger()
      let names = access.schema.names
      guard ledger.head.names != access.schema.namesDigest || ledger.dropped != nil else { return }
      if let stored = try ledger.value(SyncKey.names) {
        let old = try SchemaNames(decoding: stored)
        let translation = SchemaTranslation(from: old, to: access.schema)
        if translation.renames { try rename(translation, ledger) }
        let dropped = translation.removed.union(ledger.dropped?.names ?? [])
        let losses = SchemaLosses(dropped, old, translation, access, ledger)
        try add(translation.added.merging(losses.restored) { $0.union($1) }, ledger)
        try losses.forget()
        ledger.put(SyncKey.reconsider, Data())
      }
      ledger.put(MigrationTrace.key, nil)
      ledger.put(SyncKey.names, names.encoded)
      ledger.head.names = access.schema.namesDigest
      if try access.commit(ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }

  /// Has the ledger complete records with these properties as a migration fills them in.
  private func add(_ properties: [String: Set<String>], _ ledger: Ledger) throws {
    if properties.values.allSatisfy(\.isEmpty) { return }
    var additions = ledger.additions
    for (entity, names) in properties {
      var others = additions.byEntity[entity, default: []].filter { !names.contains($0.property) }
      others += names.sorted().map { .init(property: $0, sequence: ledger.head.sequence) }
      additions.byEntity[entity] = others
    }
    ledger.put(SyncKey.additions, additions.encoded)
  }

  private func rename(_ translation: SchemaTranslation, _ ledger: Ledger) throws {
    guard let sidecar = access.store.capabilities.sidecar else { return }
    /// Entries under other keys: the old ones go first, as a new one may be called like an old one.
    var moved: [(old: SidecarKey, new: SidecarKey, value: Data)] = []
    func move(_ old: SidecarKey, to new: SidecarKey, _ value: Data) {
      if old == new { ledger.put(new, value) } else { moved.append((old, new, value)) }
    }
    var entities: [RecordID: String] = [:]
    try sidecar.visitEntries(of: .records) { key, value in
      let entry = try RecordEntry(decoding: value)
      entities[try SyncKey.identity(RecordID.self, in: key)] = entry.entity
      let encoded = translation.entry(entry).encoded
      if encoded != value { ledger.put(SyncMap.records.key(key), encoded) }
    }
    /// By the keys of rows, the entities of those that are taken up.
    var rows: [Data: String] = [:]
    for map in [SyncMap.ids, .births] {
      try sidecar.visitEntries(of: map) { key, value in
        guard let end = key.firstIndex(of: 0) else { throw ByteReader.damaged }
        if map == .ids { rows[key] = entities[try SyncKey.identity(RecordID.self, in: value)] }
        let old = String(decoding: key[..<end], as: UTF8.self)
        // A birth that no tree can be told of is not needed: the record gets an identity without it.
        guard let root = translation.root(old, of: rows[key]) else {
          return ledger.put(map.key(key), nil)
        }
        let new = map.key(Data(root.utf8) + key[end...])
        if new.key != key { move(map.key(key), to: new, value) }
      }
    }
    try sidecar.visitEntries(of: .links) { key, value in
      let old = try SyncKey.linkKey(from: key)
      var entry = try LinkEntry(decoding: value)
      let (new, state) = translation.link(old, entry.state)
      if new == old { return }
      entry.state = state
      move(SyncKey.link(old), to: SyncKey.link(new), entry.encoded)
      move(SyncKey.backlink(old), to: SyncKey.backlink(new), Data())
    }
    try sidecar.visitEntries(of: .changes) { key, value in
      let (sequence, what) = try SyncKey.change(from: key)
      guard case .link(let old) = what else { return }
      let new = translation.link(old)
      if new == old { return }
      move(
        SyncKey.change(sequence, link: old), to: SyncKey.change(sequence, link: new), value)
    }
    try sidecar.visitEntries(of: .parked) { key, value in
      let (target, reference) = try SyncKey.parked(from: key)
      guard let entity = entities[reference.owner] else { return }
      let name = translation.property(reference.property, of: entity)
      if name == reference.property { return }
      let new = SyncKey.parked(target, owner: reference.owner, property: name)
      move(SyncMap.parked.key(key), to: new, value)
    }
    try sidecar.visitEntries(of: .quarantine) { key, value in
      let entry = try QuarantineEntry(decoding: value)
      let content = translation.content(entry.content)
      if content == entry.content { return }
      let new = QuarantineEntry(
        reason: entry.reason, message: entry.message, source: entry.source, since: entry.since,
        content: content, insteadOf: entry)
      let newKey = new.link.map { SyncKey.quarantine($0.key) } ?? SyncMap.quarantine.key(key)
      move(SyncMap.quarantine.key(key), to: newKey, new.encoded)
    }
    try sidecar.visitEntries(of: .journal) { key, value in
      let encoded = try JournalEntry(decoding: value).translated(by: translation).encoded
      if encoded != value { ledger.put(SyncMap.journal.key(key), encoded) }
    }
    if ledger.additions != SchemaAdditions() {
      ledger.additions = translation.additions(ledger.additions)
      ledger.put(SyncKey.additions, ledger.additions.encoded)
    }
    try ledger.renameLost(by: translation)
    for entry in moved { ledger.put(entry.old, nil) }
    for entry in moved { ledger.put(entry.new, entry.value) }
  }
}
