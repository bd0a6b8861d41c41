import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Works out what one direction of a pass would do, on bookkeeping that is never committed.
struct PassPlanning {
  let source: GroupStores.Member
  let destination: GroupStores.Member
  /// Where the destination's objects live.
  let coordinator: PersistentStoreCoordinator
  let limit: Int
  let deletionLimit: DeletionLimit
  let replica: String
  /// What is exchanged, in the local store's names, and the model that has these; nil for all.
  var filter: EntityFilter?
  let localSchema: SyncSchema
  /// Whether the link also brings the source what the destination has.
  var isMutual = true
  /// How many transactions and records are looked at.
  private static let most = 100_000
  /// How many records are planned together.
  private static let part = 10_000

  func run() throws -> DirectionPlan {
    let here = try captured(source.access)
    let there = try captured(destination.access)
    let cursor = try there.ledger.cursor(for: here.ledger.storeID)
    let pending = try pending(here.ledger, there.ledger.storeID, after: cursor.position)
    let isComplete =
      here.isAll && there.isAll && pending.records.count + pending.links.count <= Self.most
    var tally = PlanTally(limit: limit, names: destination.translation)
    let records = pending.records.sorted().prefix(Self.most)
    for start in stride(from: 0, to: max(records.count, 1), by: Self.part) {
      let ids = Array(records.dropFirst(start).prefix(Self.part))
      let links = start == 0 ? Array(pending.links.sorted().prefix(Self.most)) : []
      if ids.isEmpty, links.isEmpty { break }
      let set = try changes(ids, links, here.ledger)
      try plan(set, there.ledger, &tally) { try changes($0.sorted(), [], here.ledger).records }
    }
    let theirFilter = filter?.translated(from: localSchema, to: destination.access.schema)
    let survey = DeletionSurvey(
      source: source.access, destination: destination.access, limit: deletionLimit,
      after: cursor.position, filter: theirFilter)
    var approval = try planReturn(survey, there.ledger, &tally)
    if approval == nil { approval = try survey.run(replica: replica, store: destination.name) }
    return DirectionPlan(
      source: source.reference, destination: destination.reference,
      entities: tally.counts.values.sorted { $0.entity < $1.entity },
      records: tally.records, links: tally.links, conflicts: tally.conflicts,
      conflictCount: tally.conflictCount, quarantined: tally.quarantined,
      quarantinedCount: tally.quarantinedCount,
      awaitingApproval: approval,
      rowsNotTakenUp: try rowsNotTakenUp(here.ledger), isComplete: isComplete)
  }

  /// Plans what a destination that was away for longer than the retention deletes before anything moves,
  /// because the source has deleted and forgotten it.
  ///
  /// - Returns: What would stop the pass there until it is approved.
  private func planReturn(
    _ survey: DeletionSurvey, _ ledger: Ledger, _ tally: inout PlanTally
  ) throws -> DeletionPlan? {
    let reader = ReturningReader(
      access: destination.access, source: source.access, filter: filter, names: localSchema,
      isRead: isMutual)
    guard try reader.isExpired() else { return nil }
    try reader.findForgotten { try plan($0, ledger, &tally, journalsDeletes: true) }
    return try survey.run(reader, replica: replica, store: destination.name)
  }

  // MARK: The source

  /// The bookkeeping as it would be once all history is captured.
  private func captured(_ access: StoreAccess) throws -> (ledger: Ledger, isAll: Bool) {
    let ledger = try access.ledger()
    // Before the first capture all there is counts as not taken up.
    guard ledger.head.bootstrap != .history else { return (ledger, true) }
    let most = 10_000
    let later = try access.uncaptured(
      after: ledger.head.captured, limit: most, includesChanges: true)
    var work = CaptureWork(access: access, ledger: ledger)
    try work.prefetch(later.transactions)
    for transaction in later.transactions { try work.take(transaction) }
    try work.finish()
    return (ledger, later.isAll)
  }

  /// What changed after a place of the change order, and did not come from the destination.
  private func pending(
    _ ledger: Ledger, _ destination: StoreID, after position: UInt64
  ) throws -> (records: Set<RecordID>, links: Set<LinkKey>) {
    var records: Set<RecordID> = []
    var links: Set<LinkKey> = []
    guard let sidecar = source.access.store.capabilities.sidecar else { return ([], []) }
    func take(_ key: Data, _ value: Data) throws {
      let (sequence, what) = try SyncKey.change(from: key)
      guard sequence > position else { return }
      if value.count == 16, try SyncKey.identity(StoreID.self, in: value) == destination { return }
      switch what {
      case .record(let id): records.insert(id)
      case .link(let link): links.insert(link)
      case .moved: break
      }
    }
    var next = SyncKey.number(position + 1)
    while records.count + links.count <= Self.most {
      let page = try sidecar.sidecarEntries(
        of: SyncMap.changes.rawValue, from: next, to: nil, limit: 1000)
      for (key, value) in page { try take(key, value) }
      guard page.count == 1000, let last = page.last else { break }
      next = last.key + Data([0])
    }
    // What the capture that is not committed would write.
    for operation in try ledger.operations() {
      switch operation {
      case .put(let key, let value) where key.map == SyncMap.changes.rawValue:
        try take(key.key, value)
      case .putAll(let run) where run.map == SyncMap.changes.rawValue:
        try run.forEach { try take(Data($0), Data($1)) }
      case .put, .putAll, .putAtTransaction, .remove, .require, .add: break
      }
    }
    return (records, links)
  }

  private func changes(
    _ ids: [RecordID], _ links: [LinkKey], _ ledger: Ledger
  ) throws -> ChangeSet {
    try ledger.prefetch(ids.map(SyncKey.record) + links.map(SyncKey.link))
    let entries = try ids.compactMap { id in try ledger.record(id).map { (id: id, entry: $0) } }
    let objects = entries.map { ledger.objectID(for: $0.entry) }
    let snapshots = try source.access.store.snapshots(for: objects.compactMap { $0 })
    var reading = RowReading(ledger: ledger)
    try reading.prepare(snapshots.compactMap { $0 })
    var rows = snapshots[...]
    var set = ChangeSet(source: ledger.storeID, after: 0, upTo: 0)
    for (item, object) in zip(entries, objects) {
      let row = object == nil ? nil : rows.popFirst() ?? nil
      set.records.append(
        item.entry.state(id: item.id, row: try row.map { try reading.values(of: $0) }))
    }
    for key in links {
      if let entry = try ledger.link(key) {
        set.links.append(LinkChange(key: key, state: entry.state))
      }
    }
    let (from, to) = (source.access.schema, destination.access.schema)
    if let filter = filter?.translated(from: localSchema, to: from) { set = filter.changes(set) }
    return from === to ? set : SchemaTranslation(from: from.names, to: to).changes(set)
  }

  private func rowsNotTakenUp(_ ledger: Ledger) throws -> Int {
    if case .done = ledger.head.bootstrap { return 0 }
    var count = 0
    let access = source.access
    for root in access.schema.roots where access.store.holds(root) {
      let request = StoreFetchRequest(entity: root, result: .count)
      if case .count(let rows) = try access.store.fetch(request) { count += rows }
    }
    var known = 0
    try access.store.capabilities.sidecar?.visitEntries(of: .ids) { _, _ in known += 1 }
    return max(0, count - known)
  }

  // MARK: The destination

  /// Plans a set as an import does, and looks at the values as a save would.
  ///
  /// - Parameter source: Reads what the source has of other records; nil where the set is all there is.
  private func plan(
    _ set: ChangeSet, _ ledger: Ledger, _ tally: inout PlanTally,
    journalsDeletes: Bool = false, source: KnownLoading.SourceReading? = nil
  ) throws {
    let access = destination.access
    var loading = try KnownLoading(access: access, ledger: ledger, source: source)
    let batch = IncomingBatch(
      source: set.source, records: set.records, links: set.links, isPart: source != nil,
      journalsDeletes: journalsDeletes)
    let plan = try loading.plan(batch, try access.importSetting(ledger)).expanded
    for held in plan.held { tally.hold(held.entry) }
    let refused = try PlanTrial(
      plan: plan, objects: loading.objects, access: access, coordinator: coordinator
    ).refused()
    let survivors = Dictionary(
      plan.records.map { ($0.id, $0.entry.survivor) }, uniquingKeysWith: { first, _ in first })
    let incoming = Set(set.records.map(\.id))
    for action in plan.rows.sorted(by: { $0.id < $1.id }) {
      if let message = refused[action.id] {
        tally.refuse(action, message)
        continue
      }
      tally.take(
        action, before: loading.known.rows[action.id] ?? nil,
        survivor: survivors[action.id] ?? nil, isIncoming: incoming.contains(action.id),
        columns: access.schema.entities[action.entity]?.columns.map(\.name) ?? [])
    }
    tally.links += plan.linkStates.count
    for conflict in plan.conflicts {
      let entry = JournalEntry(conflict: conflict, time: 0)
      if try ledger.value(SyncMap.journal.key(entry.key)) == nil { tally.note(conflict) }
    }
  }
}
