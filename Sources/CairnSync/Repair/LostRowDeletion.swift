import CairnCoordinator
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Deletes rows that a program took away past history as a save would have deleted them: what goes along with them
/// goes, what refers to them leads nowhere any more, and their links are gone.
///
/// Rows, stamps and deletes are one commit.
struct LostRowDeletion {
  let access: StoreAccess
  let coordinator: PersistentStoreCoordinator
  /// Whether sync keeps books of the store; otherwise nothing has to be written there.
  let isKnown: Bool

  /// What becomes of the rows around those that are gone.
  struct Effects {
    /// Those that go along.
    var along: [ManagedObjectID: RowSnapshot] = [:]
    /// The slots of others that lead to what is gone.
    var nullified: [ManagedObjectID: (row: RowSnapshot, slots: Set<Int>)] = [:]
    var links: [SaveChangesRequest.LinkChange] = []
    /// Of the rows that are gone, those whose delete the model denies: something still belongs to them.
    var denied: Set<ManagedObjectID> = []
  }

  /// Follows the delete rules of the model from rows that are gone.
  func effects(of lost: [ManagedObjectID]) throws -> Effects {
    var effects = Effects()
    for object in lost {
      var found = Effects()
      if try follow(object, into: &found) {
        effects.along.merge(found.along) { first, _ in first }
        effects.nullified.merge(found.nullified) { ($0.row, $0.slots.union($1.slots)) }
        effects.links += found.links
      } else {
        effects.denied.insert(object)
      }
    }
    for object in effects.along.keys { effects.nullified[object] = nil }
    return effects
  }

  /// - Returns: False where the model denies the delete.
  private func follow(_ lost: ManagedObjectID, into effects: inout Effects) throws -> Bool {
    var next = [lost]
    var denying: Set<ManagedObjectID> = []
    while let object = next.popLast() {
      for reference in references(to: object.entity) {
        for row in try rows(leadingTo: object, by: reference) where row.objectID != object {
          switch reference.rule {
          case .deny: denying.insert(row.objectID)
          case .cascade:
            if effects.along.updateValue(row, forKey: row.objectID) == nil {
              next.append(row.objectID)
            }
          case .nullify:
            effects.nullified[row.objectID, default: (row, [])].slots.insert(reference.slot)
          case .noAction: break
          }
        }
      }
      // What a row that is gone took along by its own references is not known any more.
      guard let row = effects.along[object] else {
        try addLinks(of: object, to: &effects)
        continue
      }
      for slot in object.entity.layout.toOneSlots {
        guard object.entity.layout.slots[slot].relationship?.deleteRule == .cascade,
          case .object(let target) = row[slot], target != lost,
          let found = try access.store.snapshots(for: [target]).first ?? nil
        else { continue }
        if effects.along.updateValue(found, forKey: target) == nil { next.append(target) }
      }
      try addLinks(of: object, to: &effects)
    }
    return denying.allSatisfy { effects.along[$0] != nil }
  }

  /// A to-one relationship by which rows of an entity can lead to what is gone, and what becomes of them then.
  private struct Reference {
    let entity: EntityDescription
    let slot: Int
    let relationship: RelationshipDescription
    let rule: DeleteRule
  }

  private func references(to target: EntityDescription) -> [Reference] {
    access.schema.entities.values.filter { access.store.holds($0.entity) }
      .sorted { ($0.entity.name ?? "") < ($1.entity.name ?? "") }.flatMap { plan in
        let layout: EntityLayout = plan.entity.layout
        return layout.toOneSlots.compactMap { slot -> Reference? in
          // Where sync does not know the row, the store names its table alone, not the entity: the roots are compared.
          guard let relationship = layout.slots[slot].relationship,
            relationship.destinationEntity?.rootEntity === target.rootEntity,
            let rule = relationship.inverseRelationship?.deleteRule
          else { return nil }
          return Reference(
            entity: plan.entity, slot: slot, relationship: relationship, rule: rule)
        }
      }
  }

  private func rows(
    leadingTo object: ManagedObjectID, by reference: Reference
  ) throws -> [RowSnapshot] {
    let predicate = ComparisonPredicate(
      leftExpression: ObjectExpression(forKeyPath: reference.relationship.name),
      rightExpression: ObjectExpression(forConstantValue: object),
      modifier: .direct, type: .equalTo)
    let request = StoreFetchRequest(
      entity: reference.entity, includesSubentities: false, predicate: predicate,
      result: .objectIDs)
    guard case .objectIDs(let objects) = try access.store.fetch(request) else { return [] }
    return try access.store.snapshots(for: objects).compactMap { $0 }
  }

  private func addLinks(of object: ManagedObjectID, to effects: inout Effects) throws {
    for relationship in object.entity.layout.toManys
    where SyncSchema.travelsAsLinks(relationship) {
      let members = try access.store.members(of: relationship, owners: [object]).first ?? []
      if members.isEmpty { continue }
      effects.links.append(
        .init(relationship: relationship, owner: object, removed: members))
    }
  }

  // MARK: Commit

  /// Deletes some rows with all that comes of it.
  func perform(_ lost: [ManagedObjectID]) throws {
    for _ in 0..<StoreAccess.attempts {
      let ledger = try access.ledger()
      // One may have come back.
      let rows = try access.store.snapshots(for: lost)
      let gone = zip(lost, rows).filter { $0.1 == nil }.map(\.0)
      let effects = try effects(of: gone)
      if isKnown {
        try stamp(effects, gone.filter { !effects.denied.contains($0) }, in: ledger)
      }
      if try save(effects, ledger) { return }
    }
    throw StoreAccess.contention(access.store)
  }

  private func stamp(
    _ effects: Effects, _ gone: [ManagedObjectID], in ledger: Ledger
  ) throws {
    var work = CaptureWork(access: access, ledger: ledger)
    let stamp = ledger.tick(
      milliseconds: access.environment.now(), limit: access.latestCredibleTime)
    ledger.head.sequence += 1
    for (object, change) in effects.nullified.sorted(by: Self.isBefore) {
      let names = Set(change.slots.map { object.entity.layout.slots[$0].name })
      try work.update(object, names, stamp, byRule: names)
    }
    for object in gone + effects.along.keys.sorted(by: Self.isBefore) {
      try work.delete(object, stamp)
    }
    try work.finish()
  }

  private func save(_ effects: Effects, _ ledger: Ledger) throws -> Bool {
    var request = SaveChangesRequest()
    request.author = SyncConfiguration.author
    request.date = Date(timeIntervalSince1970: Double(access.environment.now()) / 1000)
    request.deletions = effects.along.sorted(by: Self.isBefore).map { .init(snapshot: $0.value) }
    request.links = effects.links
    for (_, change) in effects.nullified.sorted(by: Self.isBefore) {
      var values = change.row.values
      for slot in change.slots { values[slot] = .null }
      request.updates.append(
        .init(
          snapshot: RowSnapshot.make(
            objectID: change.row.objectID, version: change.row.version, values: values),
          changedSlots: change.slots.sorted()))
    }
    if isKnown { request.sidecar = try ledger.operations() }
    if request.isEmpty { return true }
    if case .saved = try coordinator.save(request, in: access.store) { return true }
    return false
  }

  private static func isBefore(_ a: ManagedObjectID, _ b: ManagedObjectID) -> Bool {
    (a.entity.name ?? "", a.rowKey ?? 0) < (b.entity.name ?? "", b.rowKey ?? 0)
  }

  private static func isBefore<Value>(
    _ a: (key: ManagedObjectID, value: Value), _ b: (key: ManagedObjectID, value: Value)
  ) -> Bool { isBefore(a.key, b.key) }
}
