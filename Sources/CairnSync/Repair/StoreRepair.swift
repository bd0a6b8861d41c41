import CairnModel
import CairnStore
import Foundation

/// Brings two stores together that differ although each has what the other sent: rows and values that
/// programs changed past history, and bookkeeping that went astray.
struct StoreRepair {
  let pass: SyncPass
  let direction: SyncDirection
  /// Nil for what ``IntactSide`` finds.
  let preference: RepairPreference?

  private var local: StoreAccess { pass.local }
  private var replica: StoreAccess { pass.replica }
  private static let page = 200

  /// What is to be done about differences.
  func plan(_ differences: [StoreDifference]) throws -> [RepairReport.Action] {
    let hasValues = differences.contains { $0.kind == .value }
    let intact =
      preference == nil && hasValues ? try IntactSide(local: local, replica: replica) : nil
    return try differences.map { difference in
      let side = preference ?? intact?.side(of: difference) ?? .local
      return try RepairRule.action(for: difference, preferring: side, isVanished: isVanished)
    }
  }

  /// Whether a store knows the record and has lost its row.
  private func isVanished(_ difference: StoreDifference) throws -> Bool {
    guard let id = difference.record else { return false }
    let other = difference.kind == .onlyLocal ? replica : local
    return try other.ledger().record(id)?.key != nil
  }

  /// Does it.
  ///
  /// Each step is a commit of its own, and doing all of it again changes nothing.
  func perform(_ actions: [RepairReport.Action]) throws {
    try RepairJournal(local: local).note(actions)
    try EntityRepair(local: local, replica: replica, preference: preference ?? .local).run(
      actions.filter { $0.difference.kind == .entity }.compactMap(\.difference.record))
    var formerKeys: [RepairPreference: FormerKeys] = [:]
    for side in [RepairPreference.local, .replica] {
      try takeUp(actions.filter { $0.kind == .takenUp && $0.preferred == side }, access(side))
      let gone = actions.filter { $0.kind == .restored && $0.preferred != side }
      try forget(gone, access(side))
      formerKeys[side] = try FormerKeys(keptIn: access(side).store)
      let written = actions.filter { $0.kind == .written && $0.preferred == side }
      let members = actions.filter { $0.kind == .members }
      try write(written + members, access(side))
    }
    let ids = Set(actions.compactMap(\.difference.record)).sorted()
    for start in stride(from: 0, to: ids.count, by: Self.page) {
      try exchange(Array(ids[start..<min(start + Self.page, ids.count)]), formerKeys)
    }
    for (side, keys) in formerKeys { try keys.remove(from: access(side)) }
    // Both have the links that both know now.
    if actions.contains(where: { $0.kind == .members || $0.kind == .takenUp }) {
      for side in RepairPreference.allCases {
        try access(side).store.capabilities.integrity?.acceptChangedLinks()
      }
    }
  }

  private func access(_ side: RepairPreference) -> StoreAccess {
    side == .local ? local : replica
  }

  // MARK: What was changed past history

  private func takeUp(_ actions: [RepairReport.Action], _ access: StoreAccess) throws {
    var byRow: [String: [String]] = [:]
    for action in actions {
      guard let row = action.difference.row else { continue }
      byRow[action.difference.entity, default: []].append(row)
    }
    for (entity, rows) in byRow.sorted(by: { $0.key < $1.key }) {
      guard let plan = access.schema.entities[entity] else { continue }
      let wanted = Set(rows)
      let request = StoreFetchRequest(
        entity: plan.entity, includesSubentities: false, result: .objectIDs)
      guard case .objectIDs(let objects) = try access.store.fetch(request) else { continue }
      let found = objects.filter { wanted.contains($0.uriRepresentation().absoluteString) }
      for start in stride(from: 0, to: found.count, by: Self.page) {
        try access.captureNow { work, stamp in
          for object in found[start..<min(start + Self.page, found.count)] {
            try work.insert(object, stamp)
          }
        }
      }
      try access.store.capabilities.integrity?.acceptChangedRows(of: found)
    }
  }

  /// Makes a store forget rows that are gone, so that the other's come.
  ///
  /// They get the keys back that they had: a reference of another row, a link or an ID that a program keeps leads to
  /// the same object as before.
  private func forget(_ actions: [RepairReport.Action], _ access: StoreAccess) throws {
    if actions.isEmpty { return }
    try access.holdingWrites {
      // A row that a program has deleted since the comparison is not lost, and history tells of it.
      try HistoryCapture(access: access).run()
      let ledger = try access.ledger()
      let gone = try actions.compactMap(\.difference.record).compactMap { id in
        try ledger.record(id).flatMap { ledger.objectID(for: $0) }
      }
      // The rows are new ones to the store.
      try access.store.capabilities.integrity?.acceptLostRows(of: gone)
      try access.captureNow { work, _ in
        for action in actions {
          guard let id = action.difference.record, let entry = try work.ledger.record(id),
            let object = work.ledger.objectID(for: entry),
            // It may have come back.
            try access.store.snapshots(for: [object]).first ?? nil == nil
          else { continue }
          work.ledger.setRecordID(nil, for: object)
          if let key = object.rowKey { FormerKeys.keep(key, of: id, in: work.ledger) }
          work.ledger.forget(id, sequence: entry.sequence)
        }
      }
    }
  }

  private func write(_ actions: [RepairReport.Action], _ access: StoreAccess) throws {
    var written: Set<ManagedObjectID> = []
    for start in stride(from: 0, to: actions.count, by: Self.page) {
      try access.captureNow { work, stamp in
        for action in actions[start..<min(start + Self.page, actions.count)] {
          guard let id = action.difference.record, let name = action.difference.property,
            let entry = try work.ledger.record(id),
            let object = work.ledger.objectID(for: entry)
          else { continue }
          try work.update(object, [self.name(name, of: entry.entity, access)], stamp)
          written.insert(object)
        }
      }
    }
    // What a program wrote past history is what counts now.
    try access.store.capabilities.integrity?.acceptChangedRows(of: Array(written))
  }

  /// The name that a store has for a property of the local store.
  private func name(_ property: String, of entity: String, _ access: StoreAccess) -> String {
    if access.schema === local.schema { return property }
    let plan = access.schema.entities[entity]
    let translation = SchemaTranslation(from: access.schema.names, to: local.schema)
    let names = (plan?.columns.map(\.name) ?? []) + (plan?.linkSides.map(\.relationship.name) ?? [])
    return names.first { translation.property($0, of: entity) == property } ?? property
  }

  // MARK: What the stores know

  private func exchange(
    _ ids: [RecordID], _ formerKeys: [RepairPreference: FormerKeys]
  ) throws {
    // Read before either is changed.
    let (mine, theirs) = (try states(of: ids, local), try states(of: ids, replica))
    if direction.pushes { try apply(mine, to: .replica, formerKeys) }
    if direction.pulls { try apply(theirs, to: .local, formerKeys) }
  }

  private func apply(
    _ set: ChangeSet, to side: RepairPreference,
    _ formerKeys: [RepairPreference: FormerKeys]
  ) throws {
    let destination = access(side)
    let source = access(side == .local ? .replica : .local)
    let wanted = try pass.wanted(set, from: source, to: destination)
    if wanted.isEmpty { return }
    let known = try destination.ledger()
    let ids = try set.records.map(\.id).filter { try known.record($0)?.key != nil }
    _ = try pass.importing(to: destination, partOf: source) {
      var importer = $0
      importer.formerKeys = formerKeys[side]?.byRecord ?? [:]
      return try importer.apply(wanted, cursor: nil, reconsidering: Set(ids))
    }
  }

  private func states(of ids: [RecordID], _ access: StoreAccess) throws -> ChangeSet {
    let ledger = try access.ledger()
    try ledger.prefetch(records: ids)
    let entries = try ids.compactMap { id in try ledger.record(id).map { (id: id, entry: $0) } }
    let live = entries.compactMap { item in
      ledger.objectID(for: item.entry).map { (id: item.id, entry: item.entry, object: $0) }
    }
    let rows = try access.store.snapshots(for: live.map(\.object))
    var reading = RowReading(ledger: ledger)
    try reading.prepare(rows.compactMap { $0 })
    var set = ChangeSet(source: ledger.storeID, after: 0, upTo: 0)
    for (item, row) in zip(live, rows) {
      guard let row else { continue }
      set.records.append(item.entry.state(id: item.id, row: try reading.values(of: row)))
    }
    for item in entries where item.entry.key == nil {
      set.records.append(item.entry.state(id: item.id, row: nil))
    }
    let keys = try entries.flatMap { item in
      try (access.schema.entities[item.entry.entity]?.linkSides ?? []).flatMap {
        try ledger.links(of: item.id, $0)
      }
    }
    for key in Set(keys).sorted() {
      if let state = try ledger.link(key)?.state {
        set.links.append(LinkChange(key: key, state: state))
      }
    }
    return set
  }
}

extension StoreAccess {
  /// Captures what history does not tell of as written now.
  func captureNow(_ body: (inout CaptureWork, Stamp) throws -> Void) throws {
    for _ in 0..<Self.attempts {
      let ledger = try ledger()
      var work = CaptureWork(access: self, ledger: ledger)
      let stamp = ledger.tick(milliseconds: environment.now(), limit: latestCredibleTime)
      ledger.head.sequence += 1
      try body(&work, stamp)
      try work.finish()
      if try commit(ledger) { return }
    }
    throw Self.contention(store)
  }
}
