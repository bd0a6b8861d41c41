import CairnModel
import CairnStore
import Foundation

/// Finds live records that share the values of a uniqueness constraint once a plan is carried out,
/// and unites them, until none do.
struct UniquenessSettling {
  let plan: ImportPlan

  /// The place of a record under one constraint.
  private struct Slot: Hashable {
    let entity: String
    let constraint: [String]
    let values: [Data]
  }

  func run() throws {
    // A union can bring about another; each one lessens the number of live records.
    while try settleOnce() {}
  }

  private func settleOnce() throws -> Bool {
    var holders: [Slot: [RecordID]] = [:]
    var lookups: [Slot: [WireValue]] = [:]
    for (id, item) in plan.items {
      guard plan.isAlive(item.after), plan.canHold(item.after),
        let entity = plan.access.schema.entities[item.after.entity]
      else { continue }
      for constraint in entity.constraints {
        let values = constraint.map { item.after.registers[$0]?.value ?? .null }
        if values.contains(.null) { continue }
        guard let slot = slot(of: entity.entity, constraint, values) else { continue }
        holders[slot, default: []].append(id)
        if isMoved(item, constraint) { lookups[slot] = values }
      }
    }
    for (slot, values) in lookups {
      for id in try storedHolders(of: slot, values) where !(holders[slot] ?? []).contains(id) {
        // Whether it still holds the values when the plan is carried out.
        guard plan.items[id] == nil else { continue }
        try plan.load(id)
        holders[slot, default: []].append(id)
      }
    }
    for (_, ids) in holders.sorted(by: {
      ($0.value.min() ?? $0.value[0]) < ($1.value.min() ?? $1.value[0])
    })
    where ids.count > 1 {
      let ordered = ids.sorted()
      try plan.unite(ordered[0], ordered[1])
      return true
    }
    return false
  }

  /// The constraint belongs to the entity that declares it, and holds among all its subentities.
  private func slot(
    of entity: EntityDescription, _ constraint: [String], _ values: [WireValue]
  ) -> Slot? {
    var next: EntityDescription? = entity
    while let current = next {
      if current.constraintNames.contains(constraint) {
        return Slot(
          entity: current.name ?? "", constraint: constraint,
          values: values.map(\.canonicalBytes))
      }
      next = current.superentity
    }
    return nil
  }

  private func isMoved(_ item: ImportPlan.Item, _ constraint: [String]) -> Bool {
    guard item.object != nil, let before = item.before else { return true }
    return constraint.contains { name in
      before.registers[name]?.value != item.after.registers[name]?.value
    }
  }

  private func storedHolders(of slot: Slot, _ values: [WireValue]) throws -> [RecordID] {
    guard let entity = plan.access.schema.entities[slot.entity] else { return [] }
    var conditions: [ObjectPredicate] = []
    for (name, value) in zip(slot.constraint, values) {
      let constant: Any?
      if let target = value.reference {
        guard let entry = try plan.ledger.record(try plan.resolve(target)),
          let object = plan.ledger.objectID(for: entry)
        else { return [] }
        constant = object
      } else {
        constant = RowReading.attributeValue(value).flatMap { AttributeCoding.decode($0) }
      }
      conditions.append(
        ComparisonPredicate(
          leftExpression: ObjectExpression(forKeyPath: name),
          rightExpression: ObjectExpression(forConstantValue: constant),
          modifier: .direct, type: .equalTo))
    }
    let request = StoreFetchRequest(
      entity: entity.entity,
      predicate: CompoundPredicate(andPredicateWithSubpredicates: conditions),
      result: .objectIDs)
    guard case .objectIDs(let objects) = try plan.access.store.fetch(request) else { return [] }
    return try objects.compactMap { try plan.ledger.recordID(for: $0) }
  }
}
