import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Carries out a plan by writing rows, where no object is needed: nothing is deleted, no class of the
/// program has a say, and the model's rules can be checked on values.
///
/// What is written is what the same changes made with objects write: rows with the versions they were
/// read at, links, orders, and for history the to-many relationships whose members changed.
struct RowApplying {
  /// The objects of the plan's records, the new ones included.
  private(set) var objects: [RecordID: ManagedObjectID]
  /// What is added to the bookkeeping for the plan's new rows.
  private(set) var newRecords: [NewRecords] = []
  private let access: StoreAccess
  private let ledger: Ledger
  private let coordinator: PersistentStoreCoordinator
  private let contextName: String?
  private var request = SaveChangesRequest()
  private var snapshots: [ManagedObjectID: RowSnapshot] = [:]
  /// By object that was there before, the to-many relationships whose members change.
  private var changedToManys: [ManagedObjectID: Set<Int>] = [:]
  private var inserted: Set<ManagedObjectID> = []
  /// Whether new rows are so few that their keys are taken with the commit, which saves one.
  private let claimsKeys: Bool

  /// - Returns: Nil when the plan needs objects.
  init?(
    _ plan: ImportPlan, loading: KnownLoading, context: ManagedObjectContext,
    formerKeys: [RecordID: Int64]
  ) throws {
    guard let coordinator = context.persistentStoreCoordinator,
      !plan.rows.contains(where: { $0.kind == .delete })
    else { return nil }
    access = loading.access
    ledger = loading.ledger
    objects = loading.objects
    self.coordinator = coordinator
    contextName = context.name
    let plain = RowRules.plainEntities(of: access.schema)
    guard
      plan.rows.allSatisfy({
        plain.contains($0.entity) || Self.onlyMendsAttributes($0, loading.access.schema)
      }),
      plan.newRows.allSatisfy({ plain.contains($0.entity) })
    else { return nil }
    for (id, row) in loading.snapshots { if let object = objects[id] { snapshots[object] = row } }
    let newRows = plan.newRows.reduce(plan.rows.count { $0.kind == .insert }) { $0 + $1.rows.count }
    claimsKeys = newRows <= Self.claimedRows
    let insertions = plan.rows.filter { $0.kind == .insert }
    giveBack(formerKeys, to: insertions)
    try reserve(insertions.filter { formerKeys[$0.id] == nil })
    try reserve(plan.newRows, origin: plan.newRowsOrigin)
    for (rows, records) in zip(plan.newRows, newRecords) {
      guard try add(rows, as: records) else { return nil }
    }
    for action in plan.rows {
      guard try add(action) else { return nil }
    }
    for action in plan.links { try add(action) }
    for action in plan.orders { try add(action) }
    let touched = Set(changedToManys.keys)
    guard touched.allSatisfy({ $0.entity.name.map(plain.contains) ?? false }) else { return nil }
    try addOwners()
  }

  static func wrongEntity(_ action: ImportPlan.RowAction, found: String?) -> SyncError {
    SyncError(
      .damagedBookkeeping,
      "The record \(action.id) is of \(action.entity), but its object is of \(found ?? "?"). "
        + "Verify the stores; a replica can be removed and added anew.",
      recovery: .person)
  }

  // MARK: Rows

  /// Whether an action replaces no more than what are no values of a row's attributes, which an object does not
  /// show: setting the value that it reads changes nothing.
  private static func onlyMendsAttributes(
    _ action: ImportPlan.RowAction, _ schema: SyncSchema
  ) -> Bool {
    guard action.kind == .update, !action.values.isEmpty,
      let plan = schema.entities[action.entity]
    else { return false }
    return action.values.allSatisfy {
      $0.replacesStray && plan.columns[$0.column].relationship == nil
    }
  }

  /// Gives rows that come back the keys they had.
  private mutating func giveBack(
    _ keys: [RecordID: Int64], to actions: [ImportPlan.RowAction]
  ) {
    for action in actions {
      guard let key = keys[action.id], let plan = access.schema.entities[action.entity] else {
        continue
      }
      let object = access.store.objectID(for: plan.entity, rowKey: key)
      objects[action.id] = object
      inserted.insert(object)
    }
  }

  /// Gives new rows their keys.
  private mutating func reserve(_ actions: [ImportPlan.RowAction]) throws {
    let sorted = actions.sorted { ($0.entity, $0.id) < ($1.entity, $1.id) }
    let entities = sorted.compactMap { access.schema.entities[$0.entity]?.entity }
    guard entities.count == sorted.count, !sorted.isEmpty else { return }
    var ids: [ManagedObjectID] = []
    let runs = RowKeyRun.runs(of: entities)
    if let firsts = try firstKeys(of: runs) {
      for (run, first) in zip(runs, firsts) {
        for offset in 0..<Int64(run.count) {
          ids.append(access.store.objectID(for: run.entity, rowKey: first + offset))
        }
      }
    } else {
      ids = try access.store.obtainPermanentIDs(for: entities)
    }
    for (action, id) in zip(sorted, ids) { objects[action.id] = id }
    inserted.formUnion(ids)
  }

  /// - Returns: False when the row breaks a rule, which an object can tell more about.
  private mutating func add(_ action: ImportPlan.RowAction) throws -> Bool {
    guard let plan = access.schema.entities[action.entity], let object = objects[action.id] else {
      return false
    }
    guard object.entity === plan.entity else {
      throw Self.wrongEntity(action, found: object.entity.name)
    }
    let layout: EntityLayout = plan.entity.layout
    let old = snapshots[object]
    var values: [AttributeValue]
    switch action.kind {
    case .insert: values = layout.defaultValues
    case .update:
      guard let old, old.count == layout.slots.count else { return false }
      values = old.values
    case .delete: return false
    }
    var changed: [Int] = []
    for item in action.values {
      let column = plan.columns[item.column]
      guard let value = try stored(item.value) else { continue }
      if !item.replacesStray, values[column.slot].isSameStoredValue(as: value) { continue }
      if column.relationship != nil { note(column, from: values[column.slot], to: value) }
      values[column.slot] = value
      changed.append(column.slot)
    }
    for slot in values.indices where layout.slots[slot].isTransient { values[slot] = .null }
    guard RowRules.hold(for: values, layout) else { return false }
    let version = old?.version ?? 1
    let row = RowSnapshot.make(objectID: object, version: version, values: values)
    if action.kind == .insert {
      request.insertions.append(.init(snapshot: row))
    } else if !changed.isEmpty {
      snapshots[object] = row
      pendingUpdates[object] = changed.sorted()
    }
    return true
  }

  /// The changed slots of rows that were there.
  private var pendingUpdates: [ManagedObjectID: [Int]] = [:]

  // MARK: New rows

  /// Gives the new rows their keys, in the order of their records.
  private mutating func reserve(_ groups: [ImportPlan.NewRows], origin: StoreID?) throws {
    for group in groups {
      guard let plan = access.schema.entities[group.entity] else { continue }
      var records = NewRecords(
        entity: group.entity, write: group.write, origin: origin, sequence: 0)
      let keys = try keys(for: plan.entity, count: group.rows.count)
      records.members = zip(group.rows, keys).map { .init(id: $0.id, key: $1) }
      newRecords.append(records)
      // Only what is referred to is asked for by its record.
      if !plan.isReferredTo { continue }
      for member in records.members {
        let object = access.store.objectID(for: plan.entity, rowKey: member.key)
        objects[member.id] = object
        inserted.insert(object)
      }
    }
  }

  private mutating func keys(for entity: EntityDescription, count: Int) throws -> [Int64] {
    let runs = [RowKeyRun(entity: entity, count: count)]
    if let first = try firstKeys(of: runs)?.first {
      return (0..<Int64(count)).map { first + $0 }
    }
    let entities = [EntityDescription](repeating: entity, count: count)
    return try access.store.obtainPermanentIDs(for: entities).compactMap(\.rowKey)
  }

  /// So few new rows are soon written: another program hardly takes their keys before.
  private static let claimedRows = 32

  /// The first key of each run; nil where the store is asked for IDs.
  private mutating func firstKeys(of runs: [RowKeyRun]) throws -> [Int64]? {
    guard let numbering = access.store.capabilities.rowKeys else { return nil }
    if claimsKeys,
      let firsts = try numbering.nextRowKeys(for: runs, after: request.rowKeyClaims)
    {
      request.rowKeyClaims += zip(runs, firsts).map { RowKeyClaim($0, first: $1) }
      return firsts
    }
    return try numbering.reserveRowKeys(for: runs)
  }

  /// - Returns: False when a row breaks a rule, which an object can tell more about.
  private mutating func add(_ group: ImportPlan.NewRows, as records: NewRecords) throws -> Bool {
    guard let plan = access.schema.entities[group.entity],
      records.members.count == group.rows.count
    else { return false }
    let layout: EntityLayout = plan.entity.layout
    var defaults: [AttributeValue] = layout.defaultValues
    for slot in defaults.indices where layout.slots[slot].isTransient { defaults[slot] = .null }
    request.insertions.reserveCapacity(request.insertions.count + group.rows.count)
    for (row, member) in zip(group.rows, records.members) {
      var values = defaults
      for (place, value) in row.values.enumerated() {
        guard let value, let stored = try stored(value) else { continue }
        values[plan.slots[place]] = stored
      }
      guard RowRules.hold(for: values, layout) else { return false }
      let object = objects[member.id] ?? access.store.objectID(for: plan.entity, rowKey: member.key)
      for index in plan.referenceColumns {
        note(plan.columns[index], from: .null, to: values[plan.slots[index]])
      }
      request.insertions.append(
        .init(snapshot: RowSnapshot.make(objectID: object, version: 1, values: values)))
    }
    return true
  }

  /// The value as the store has it; nil for a reference to what is not there.
  private func stored(_ value: WireValue) throws -> AttributeValue? {
    if let target = value.reference { return try object(target).map { .object($0) } }
    return RowReading.attributeValue(value)
  }

  /// Both the former and the new owner of a record that refers to one of them have other members.
  private mutating func note(
    _ column: SyncSchema.Column, from old: AttributeValue, to new: AttributeValue
  ) {
    guard let inverse = column.relationship?.inverseRelationship, inverse.isToMany,
      !inverse.isTransient
    else { return }
    for value in [old, new] {
      if case .object(let owner) = value { noteMembers(of: owner, inverse) }
    }
  }

  private mutating func noteMembers(
    of owner: ManagedObjectID, _ relationship: RelationshipDescription
  ) {
    guard !inserted.contains(owner),
      let index = owner.entity.layout.toManyByName[relationship.name]
    else { return }
    changedToManys[owner, default: []].insert(index)
  }

  private func object(_ id: RecordID) throws -> ManagedObjectID? {
    if let object = objects[id] { return object }
    return try ledger.record(id).flatMap { ledger.objectID(for: $0) }
  }

  // MARK: Links

  private mutating func add(_ action: ImportPlan.LinkAction) throws {
    guard let relation = access.schema.links[action.relationship],
      let owner = try object(action.owner)
    else { return }
    let relationship = relation.relationship
    let current = try members(of: relationship, owner)
    let present = Set(current)
    let added = try action.added.compactMap(object).filter { !present.contains($0) }
    let removed = try action.removed.compactMap(object).filter { present.contains($0) }
    if added.isEmpty, removed.isEmpty { return }
    request.links.append(
      .init(relationship: relationship, owner: owner, added: added, removed: removed))
    noteMembers(of: owner, relationship)
    guard let inverse = relation.inverse else { return }
    for member in added + removed { noteMembers(of: member, inverse) }
  }

  private func members(
    of relationship: RelationshipDescription, _ owner: ManagedObjectID
  ) throws -> [ManagedObjectID] {
    if inserted.contains(owner) { return [] }
    return try access.store.members(of: relationship, owners: [owner]).first ?? []
  }

  private mutating func add(_ action: ImportPlan.OrderAction) throws {
    guard let owner = try object(action.owner),
      let relationship = owner.entity.relationshipsByName[action.relationship]
    else { return }
    let current = try members(of: relationship, owner)
    let known = try action.members.compactMap(object)
    let isKnown = Set(known)
    // What the bookkeeping does not know yet comes last.
    let order = known + current.filter { !isKnown.contains($0) }
    if order == current || order.count < 2 && current.isEmpty && inserted.contains(owner) { return }
    request.links.append(.init(relationship: relationship, owner: owner, order: order))
    noteMembers(of: owner, relationship)
  }

  /// Owners whose members change are written, too: with their versions, and for history.
  private mutating func addOwners() throws {
    let owners = Set(changedToManys.keys).union(pendingUpdates.keys)
    let unread = owners.filter { snapshots[$0] == nil }
    for (object, row) in zip(unread, try access.store.snapshots(for: Array(unread))) {
      if let row { snapshots[object] = row }
    }
    for owner in owners.sorted(by: { ($0.rowKey ?? 0) < ($1.rowKey ?? 0) }) {
      guard let row = snapshots[owner] else { continue }
      request.updates.append(
        .init(
          snapshot: row, changedSlots: pendingUpdates[owner] ?? [],
          changedToManys: (changedToManys[owner] ?? []).sorted()))
    }
  }

  // MARK: Commit

  /// The rows that the commit changes.
  var touched: Set<ManagedObjectID> { Set(request.updates.map(\.snapshot.objectID)) }

  /// Commits rows and bookkeeping in one transaction.
  ///
  /// - Returns: Why the store did not take them; nil when it did.
  func save(_ ledger: Ledger) throws -> ImportAttempt.Failure? {
    if request.insertions.isEmpty, request.updates.isEmpty, request.links.isEmpty {
      return try access.commit(ledger, isRebased: true) ? nil : .overtaken
    }
    var request = request
    request.author = SyncConfiguration.author
    request.contextName = contextName
    request.date = Date(timeIntervalSince1970: Double(access.environment.now()) / 1000)
    var failure: ImportAttempt.Failure?
    let isCurrent = try access.commit(ledger) { operations in
      request.sidecar = operations
      switch try coordinator.save(request, in: access.store, cachesNewRows: false) {
      case .saved: return true
      case .sidecarChanged: return false
      case .conflicts, .rowKeysTaken:
        failure = .overtaken
        return true
      case .constraintViolations(let violations):
        let names = violations.map { $0.constraint.joined(separator: ", ") }
        failure = .collision(
          "rows share the values of \(Set(names).sorted().joined(separator: "; "))")
        return true
      }
    }
    return isCurrent ? failure : .overtaken
  }
}
