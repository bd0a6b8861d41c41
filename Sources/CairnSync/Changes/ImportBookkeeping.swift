@_spi(Generated) import CairnContext
import CairnModel
import CairnStore
import Foundation

/// Writes the bookkeeping of an applied plan: the merged stamps, what the rows cannot show, and
/// what the destination's own delete rules brought about.
extension ImportApplication {
  /// Call after ``changeObjects()``.
  func keepBooks(plan: ImportPlan, context: ManagedObjectContext) throws {
    let ledger = plan.ledger
    let inserted = plan.items.values.filter { $0.object == nil }.compactMap { objects[$0.id] }
    if !inserted.isEmpty { try context.obtainPermanentIDs(for: inserted) }
    let planned = plan.items.keys.sorted()
    let follows = try consequences(plan, context)
    let hasNews = plan.hasNews || !follows.deleted.isEmpty
    if hasNews { ledger.head.sequence += 1 }
    let limit = plan.access.latestCredibleTime
    for item in plan.items.values {
      ledger.head.clock.receive(item.after.latestReading, limit: limit)
    }
    for link in plan.links.values {
      ledger.head.clock.receive(link.state.latestReading, limit: limit)
    }

    for id in planned {
      guard let item = plan.items[id], follows.deleted[id] == nil else { continue }
      try write(item, plan)
    }
    for id in follows.changed.keys.sorted() where follows.deleted[id] == nil {
      guard let change = follows.changed[id] else { continue }
      try writeNullified(id, change.object, change.state, plan)
    }
    for id in follows.deleted.keys.sorted() {
      guard let state = follows.deleted[id] else { continue }
      try writeCascaded(id, state, plan)
    }
    for key in plan.links.keys.sorted() {
      guard let link = plan.links[key], link.isNews else { continue }
      try ledger.setLink(key, link.state, origin: link.equalsIncoming ? plan.source : nil)
    }
  }

  // MARK: What delete rules did

  private struct Consequences {
    /// Objects outside the plan that lost a reference, with the states that they show no longer.
    var changed: [RecordID: (object: ManagedObject, state: RecordState)] = [:]
    /// Records deleted along with others.
    var deleted: [RecordID: RecordState] = [:]
  }

  private func consequences(
    _ plan: ImportPlan, _ context: ManagedObjectContext
  ) throws -> Consequences {
    var result = Consequences()
    let planned = Set(plan.items.keys)
    // The states are read now, while all objects they refer to still have their record IDs.
    for object in context.updatedObjects {
      guard let id = record(of: object), !planned.contains(id) else { continue }
      if let state = try plan.load(id) { result.changed[id] = (object, state) }
    }
    for object in context.deletedObjects {
      guard let id = record(of: object) else { continue }
      if let item = plan.items[id] {
        if try !plan.isPresent(id) { continue }
        result.deleted[id] = item.after
      } else if let state = try plan.load(id) {
        result.deleted[id] = state
      }
    }
    return result
  }

  private func writeCascaded(_ id: RecordID, _ state: RecordState, _ plan: ImportPlan) throws {
    let ledger = plan.ledger
    let now = plan.access.environment.now()
    let reading = ledger.head.clock.tick(
      milliseconds: now, limit: plan.access.latestCredibleTime)
    var seen = SeenWrites()
    for register in state.registers.values {
      seen.insert(register.write.stamp)
      seen.formUnion(register.write.seen)
    }
    seen.remove(ledger.storeID)
    let stamp = state.registers.values.map(\.write.stamp)
      .reduce(Stamp(clock: reading, store: ledger.storeID)) { $0.after($1) }
    let deletion = Deletion(stamp: stamp, seen: seen)
    var after = state
    after.deletion = after.deletion?.joined(with: deletion) ?? deletion
    guard var item = plan.items[id] else { return }
    item.after = after
    item.equalsIncoming = false
    try write(item, plan, isGone: true)
  }

  /// A reference that a delete rule took out of the row stays known, so that all stores that hold
  /// the same writes show the same.
  private func writeNullified(
    _ id: RecordID, _ object: ManagedObject, _ state: RecordState, _ plan: ImportPlan
  ) throws {
    guard var entry = try plan.ledger.record(id) else { return }
    if try setOverlay(of: &entry, id, object, state, plan) {
      plan.ledger.setRecordQuietly(id, entry)
    }
  }

  // MARK: Entries

  private func write(
    _ item: ImportPlan.Item, _ plan: ImportPlan, isGone: Bool = false
  ) throws {
    let ledger = plan.ledger
    let id = item.id
    var entry = item.entry ?? RecordEntry(entity: item.after.entity, key: nil)
    let old = entry
    entry.takeWrites(from: item.after)
    if !isGone, let object = objects[id], try plan.isPresent(id) {
      if item.object == nil { ledger.setRecordID(id, for: object.objectID) }
      entry.key = object.objectID.key
      _ = try setOverlay(of: &entry, id, object, item.after, plan)
    } else {
      if let object = item.object { ledger.setRecordID(nil, for: object) }
      entry.key = nil
      setWholeOverlay(of: &entry, id, item.after, plan)
    }
    if item.isNews || isGone {
      ledger.setRecord(id, entry, origin: item.equalsIncoming ? plan.source : nil)
    } else if entry != old {
      ledger.setRecordQuietly(id, entry)
    }
  }

  /// Without an object, all values are kept here; the references still wait for nobody.
  private func setWholeOverlay(
    of entry: inout RecordEntry, _ id: RecordID, _ state: RecordState, _ plan: ImportPlan
  ) {
    for (name, value) in entry.overlay {
      if let target = value.reference { plan.ledger.unpark(target, owner: id, property: name) }
    }
    entry.overlay = state.registers.mapValues(\.value)
  }

  /// Compares what the row shows with what the registers say.
  ///
  /// - Returns: Whether the overlay changed.
  private func setOverlay(
    of entry: inout RecordEntry, _ id: RecordID, _ object: ManagedObject, _ state: RecordState,
    _ plan: ImportPlan
  ) throws -> Bool {
    guard let entity = plan.access.schema.entities[entry.entity] else { return false }
    try checkEntity(of: object, is: entry.entity, id)
    var overlay: [String: WireValue] = [:]
    for (name, register) in state.registers {
      guard let index = entity.columnByName[name] else {
        overlay[name] = register.value
        continue
      }
      let column = entity.columns[index]
      guard column.relationship != nil, let wanted = register.value.reference else { continue }
      let resolved = try plan.resolve(wanted)
      var shown: RecordID?
      if case .object(let target) = object.storedValue(at: column.slot) {
        shown = try shownRecord(target, plan)
      }
      if shown != resolved { overlay[name] = .reference(resolved) }
    }
    if overlay == entry.overlay { return false }
    for (name, value) in entry.overlay where overlay[name] != value {
      if let target = value.reference { plan.ledger.unpark(target, owner: id, property: name) }
    }
    for (name, value) in overlay {
      if let target = value.reference { plan.ledger.park(target, owner: id, property: name) }
    }
    entry.overlay = overlay
    return true
  }

  private func shownRecord(_ target: ManagedObjectID, _ plan: ImportPlan) throws -> RecordID? {
    if let id = recordByObjectID[target] { return id }
    return try plan.ledger.recordID(for: target)
  }
}
