import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Reads from a store what a planner wants to know, in sets.
///
/// Keeps the objects and rows of the records beside the value that the planner gets.
struct KnownLoading {
  let access: StoreAccess
  let ledger: Ledger
  private(set) var known = Known()
  private(set) var objects: [RecordID: ManagedObjectID] = [:]
  private(set) var snapshots: [RecordID: RowSnapshot] = [:]
  /// How many plans were begun.
  private(set) var plans = 0
  /// Reads what the source of a batch that is a part has of records.
  private let source: SourceReading?

  typealias SourceReading = (Set<RecordID>) throws -> [RecordState]

  init(access: StoreAccess, ledger: Ledger, source: SourceReading? = nil) throws {
    self.access = access
    self.ledger = ledger
    self.source = source
    known.nothingWaits = try ledger.nothingIsParked()
    known.hasNoLinks = try ledger.isEmpty(.links)
    known.nothingIsHeld = try ledger.isEmpty(.quarantine)
  }

  /// Plans a batch, reading what the planner asks for until it asks for nothing more.
  mutating func plan(_ batch: IncomingBatch, _ setting: ImportSetting) throws -> ImportPlan {
    let ids = batch.records.map(\.id)
    try ledger.prefetch(records: ids)
    known.hasNoneOfBatch = ids.allSatisfy { ledger.isAbsent(SyncKey.record($0)) }
    if !known.hasNoneOfBatch { try load(Self.first(of: batch)) }
    while true {
      plans += 1
      switch ImportPlanner.plan(batch, known: known, setting: setting) {
      case .plan(let plan): return plan
      case .needs(let lookups): try load(lookups)
      }
    }
  }

  /// What every plan of a batch asks for first.
  private static func first(of batch: IncomingBatch) -> Set<Lookup> {
    var lookups: Set<Lookup> = []
    lookups.reserveCapacity(batch.records.count + batch.links.count)
    for record in batch.records { lookups.insert(.record(record.id)) }
    for link in batch.links { lookups.insert(.link(link.key)) }
    return lookups
  }

  // MARK: Lookups

  private mutating func load(_ lookups: Set<Lookup>) throws {
    var records: [RecordID] = []
    var entries: [RecordID] = []
    var links: [LinkKey] = []
    var ends: [LinkEnd] = []
    var places: [UniquePlace] = []
    var held: [HeldKey] = []
    var waiting: [RecordID] = []
    var referrers: [RecordID] = []
    var sources: Set<RecordID> = []
    for lookup in lookups {
      switch lookup {
      case .entry(let id): entries.append(id)
      case .record(let id): records.append(id)
      case .link(let key): links.append(key)
      case .links(let end): ends.append(end)
      case .waiting(let id): waiting.append(id)
      case .referrers(let id): referrers.append(id)
      case .holders(let place): places.append(place)
      case .held(let key): held.append(key)
      case .source(let id): sources.insert(id)
      }
    }
    try loadEntries(entries + records)
    try loadRows(records)
    if access.schema.hasCascades {
      try readAlong(records.filter(isHidden)) { try $0.owners(ofHidden: $1) }
    }
    try readAlong(waiting) { try $0.loadWaiting(for: $1) }
    for end in ends {
      let keys = try ledger.links(of: end)
      known.linksOfRecords[end] = keys
      links += keys
    }
    try loadLinks(links)
    try readAlong(referrers) { try $0.loadReferrers(to: $1) }
    try UniqueHolders(access: access, ledger: ledger).load(places, objects: objects, into: &known)
    try ledger.prefetch(held.map(SyncKey.quarantine))
    for key in held {
      known.quarantine[key] = .some(
        try ledger.value(SyncKey.quarantine(key)).map(QuarantineEntry.init(decoding:)))
    }
    try loadSources(sources)
  }

  private mutating func loadSources(_ ids: Set<RecordID>) throws {
    if ids.isEmpty { return }
    for id in ids { known.sources[id] = .some(nil) }
    for state in try source?(ids) ?? [] { known.sources[state.id] = .some(state) }
  }

  private mutating func loadEntries(_ ids: [RecordID]) throws {
    let missing = ids.filter { known.entries[$0] == nil }
    try ledger.prefetch(records: missing)
    for id in missing {
      let entry = try ledger.record(id)
      known.entries[id] = .some(entry)
      if let entry, let object = ledger.objectID(for: entry) { objects[id] = object }
    }
  }

  private mutating func loadRows(_ ids: [RecordID]) throws {
    let wanted = ids.compactMap { id in
      known.rows[id] == nil ? objects[id].map { (id: id, object: $0) } : nil
    }
    if wanted.isEmpty { return noteRowless(ids) }
    let rows = try access.store.snapshots(for: wanted.map(\.object))
    var reading = RowReading(ledger: ledger)
    try reading.prepare(rows.compactMap { $0 })
    for (item, row) in zip(wanted, rows) {
      guard let row else { continue }
      // With its own write it stays what an older one does not replace.
      known.rows[item.id] = .some(try reading.values(of: row, stray: .null))
      let strays = reading.strayNames(of: row.objectID)
      if !strays.isEmpty { known.strays[item.id] = strays }
      snapshots[item.id] = row
    }
    noteRowless(ids)
  }

  /// Records with a key that leads to no row.
  private mutating func noteRowless(_ ids: [RecordID]) {
    for id in ids where known.rows[id] == nil {
      if let entry = known.entries[id], entry?.key != nil { known.rows[id] = .some(nil) }
    }
  }

  private mutating func loadLinks(_ keys: [LinkKey]) throws {
    let missing = keys.filter { known.links[$0] == nil }
    try ledger.prefetch(missing.map(SyncKey.link))
    for key in missing { known.links[key] = .some(try ledger.link(key)?.state) }
  }

  // MARK: Reading ahead

  /// How many records are read before the planner asks for them: twice as many each time that was not enough, so
  /// that what hangs together takes few plans, however deep it is.
  private var lookahead = 1024

  /// Reads on, from record to record, along what goes with others, as the planner would ask for it: else a
  /// chain would take as many plans as it has records.
  ///
  /// - Parameter next: Called for each; gives where to read on.
  private mutating func readAlong(
    _ first: [RecordID], _ next: (inout KnownLoading, RecordID) throws -> [RecordID]
  ) throws {
    var (ids, seen, left) = (first, Set(first), lookahead)
    while !ids.isEmpty {
      var found: Set<RecordID> = []
      for id in ids { found.formUnion(try next(&self, id)) }
      found.subtract(seen)
      if found.count > left { lookahead *= 2 }
      ids = Array(found.sorted().prefix(left))
      seen.formUnion(ids)
      left -= ids.count
      try loadEntries(ids)
      try loadRows(ids)
    }
  }

  /// - Returns: Those of them that go along with the record.
  private mutating func loadReferrers(to id: RecordID) throws -> [RecordID] {
    let found = try referrers(to: id)
    known.referrers[id] = found
    return try goingAlong(found.map { ($0.record, $0.property) })
  }

  /// - Returns: Those of them that go along with the record.
  private mutating func loadWaiting(for id: RecordID) throws -> [RecordID] {
    let found = try ledger.waiting(for: id)
    known.waiting[id] = found
    return try goingAlong(found.map { ($0.owner, $0.property) })
  }

  /// Those of the records that go along with what they refer to by these properties.
  private func goingAlong(
    _ references: [(record: RecordID, property: String)]
  ) throws -> [RecordID] {
    // Thousands may refer to one record, most of them by properties that no delete rule follows.
    let likely = references.filter { access.schema.takingAlong.contains($0.property) }
      .prefix(lookahead)
    try ledger.prefetch(records: likely.map(\.record))
    return try likely.filter { reference in
      guard let name = try ledger.record(reference.record)?.entity,
        let plan = access.schema.entities[name]
      else { return false }
      return plan.takenAlongBy.contains { plan.columns[$0].name == reference.property }
    }.map(\.record)
  }

  /// Whether a record has no object, and no other stands for it.
  private func isHidden(_ id: RecordID) -> Bool {
    guard case .some(.some(let entry)) = known.entries[id] else { return false }
    return entry.key == nil && entry.survivor == nil
  }

  /// What a record without an object goes along with.
  private func owners(ofHidden id: RecordID) throws -> [RecordID] {
    guard isHidden(id), case .some(.some(let entry)) = known.entries[id],
      let plan = access.schema.entities[entry.entity]
    else { return [] }
    return try plan.takenAlongBy.compactMap { entry.overlay[plan.columns[$0].name]?.reference }
      .map(ledger.resolve)
  }

  private func referrers(to id: RecordID) throws -> [Referrer] {
    guard let object = objects[id] else { return [] }
    var found: Set<Referrer> = []
    for plan in access.schema.entities.values where access.store.holds(plan.entity) {
      for index in plan.referenceColumns {
        let column = plan.columns[index]
        guard let destination = column.relationship?.destinationEntity,
          object.entity.isKindOf(entity: destination)
        else { continue }
        let predicate = ComparisonPredicate(
          leftExpression: ObjectExpression(forKeyPath: column.name),
          rightExpression: ObjectExpression(forConstantValue: object),
          modifier: .direct, type: .equalTo)
        let request = StoreFetchRequest(
          entity: plan.entity, includesSubentities: false, predicate: predicate,
          result: .objectIDs)
        guard case .objectIDs(let objects) = try access.store.fetch(request) else { continue }
        try ledger.prefetch(objects.compactMap(SyncKey.object))
        for referrer in objects {
          guard let record = try ledger.recordID(for: referrer) else { continue }
          found.insert(Referrer(record: record, property: column.name))
        }
      }
    }
    return found.sorted { ($0.record, $0.property) < ($1.record, $1.property) }
  }
}
