import CairnModel
import CairnStore
import Foundation

/// Finds live records that share the values of a uniqueness constraint once a plan is carried out,
/// and unites them, until none do.
struct UniquenessSettling {
  let plan: ImportPlan
  /// The places that were looked up in the store.
  private var known: Set<Slot> = []
  /// How many places one fetch looks up.
  static let lookupsPerFetch = 200

  init(plan: ImportPlan) { self.plan = plan }

  /// The place of a record under one constraint.
  private struct Slot: Hashable {
    let entity: String
    let constraint: [String]
    let values: [Data]
  }

  mutating func run() throws {
    // A union can bring about another; each one lessens the number of live records.
    while try settleOnce() {}
  }

  private mutating func settleOnce() throws -> Bool {
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
        if !known.contains(slot), isMoved(item, constraint) { lookups[slot] = values }
      }
    }
    if !lookups.isEmpty {
      known.formUnion(lookups.keys)
      // Who holds the places now becomes part of the plan; whether it still does when the plan is
      // carried out is seen in the next round.
      if try loadHolders(of: lookups) { return true }
    }
    var united: Set<RecordID> = []
    for ids in holders.values.map({ $0.sorted() }).sorted(by: { $0[0] < $1[0] })
    where ids.count > 1 && united.isDisjoint(with: ids) {
      try plan.unite(ids[0], ids[1])
      united.formUnion(ids)
    }
    return !united.isEmpty
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
      before.registers[name]?.value.canonicalBytes
        != item.after.registers[name]?.value.canonicalBytes
    }
  }

  /// - Returns: Whether any were found that were not in the plan.
  private func loadHolders(of lookups: [Slot: [WireValue]]) throws -> Bool {
    var isNew = false
    let groups = Dictionary(grouping: lookups) {
      Slot(entity: $0.key.entity, constraint: $0.key.constraint, values: [])
    }
    for (group, slots) in groups {
      guard let entity = plan.access.schema.entities[group.entity] else { continue }
      let rows = try slots.compactMap { try constants($0.value) }
      for start in stride(from: 0, to: rows.count, by: Self.lookupsPerFetch) {
        let chunk = Array(rows[start..<min(start + Self.lookupsPerFetch, rows.count)])
        let request = StoreFetchRequest(
          entity: entity.entity, predicate: Self.condition(group.constraint, chunk),
          result: .objectIDs)
        guard case .objectIDs(let objects) = try plan.access.store.fetch(request) else { continue }
        try plan.ledger.prefetch(objects.compactMap(SyncKey.object))
        let ids = try objects.compactMap { try plan.ledger.recordID(for: $0) }
        for id in ids where plan.items[id] == nil {
          try plan.load(id)
          isNew = true
        }
      }
    }
    return isNew
  }

  /// The values as predicates take them; nil when one refers to something that is not here.
  private func constants(_ values: [WireValue]) throws -> [Any]? {
    var constants: [Any] = []
    for value in values {
      if let target = value.reference {
        guard let entry = try plan.ledger.record(try plan.resolve(target)),
          let object = plan.ledger.objectID(for: entry)
        else { return nil }
        constants.append(object)
      } else if let plain = RowReading.attributeValue(value).flatMap({
        AttributeCoding.decode($0)
      }) {
        constants.append(plain)
      } else {
        return nil
      }
    }
    return constants
  }

  private static func condition(_ names: [String], _ rows: [[Any]]) -> ObjectPredicate {
    func comparison(
      _ name: String, _ type: ComparisonPredicate.Operator, _ value: Any
    ) -> ObjectPredicate {
      ComparisonPredicate(
        leftExpression: ObjectExpression(forKeyPath: name),
        rightExpression: ObjectExpression(forConstantValue: value),
        modifier: .direct, type: type)
    }
    if names.count == 1 { return comparison(names[0], .in, rows.map { $0[0] }) }
    return CompoundPredicate(
      orPredicateWithSubpredicates: rows.map { row in
        CompoundPredicate(
          andPredicateWithSubpredicates: zip(names, row).map { comparison($0, .equalTo, $1) })
      })
  }
}
