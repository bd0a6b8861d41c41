import CairnModel
import CairnStore
import Foundation

/// The values that uniqueness constraints compare, with the object that has each.
struct UniqueIndex {
  /// One constraint of one entity, which also holds for the entity's subentities.
  struct Constraint: Sendable {
    let entity: EntityDescription
    let names: [String]

    /// The constraints that apply to objects of an entity, inherited ones first.
    static func all(of entity: EntityDescription) -> [Constraint] {
      var chain: [EntityDescription] = []
      var next: EntityDescription? = entity
      while let current = next {
        chain.insert(current, at: 0)
        next = current.superentity
      }
      return chain.flatMap { ancestor in
        ancestor.constraintNames.map { Constraint(entity: ancestor, names: $0) }
      }
    }

    /// What tells the constraint from others.
    var key: String { (entity.name ?? "") + "\u{0}" + names.joined(separator: "\u{0}") }

    /// The row's values, nil when one is null: nulls never collide, as in SQL.
    func values(of row: RowSnapshot) -> [AttributeValue]? {
      guard let layout = row.objectID.entity.layout else { return nil }
      var values: [AttributeValue] = []
      for name in names {
        guard let slot = layout.slotByName[name] else { return nil }
        switch row[slot] {
        case .null: return nil
        // By bytes, not by canonical equivalence, as SQLite compares.
        case .string(let text): values.append(.data(Data(text.utf8)))
        case let other: values.append(other)
        }
      }
      return values
    }
  }

  private var owners: [String: [[AttributeValue]: ManagedObjectID]] = [:]

  mutating func remove(_ row: RowSnapshot) {
    for constraint in Constraint.all(of: row.objectID.entity) {
      guard let values = constraint.values(of: row),
        owners[constraint.key]?[values] == row.objectID
      else { continue }
      owners[constraint.key]?[values] = nil
    }
  }

  mutating func insert(_ row: RowSnapshot) {
    for constraint in Constraint.all(of: row.objectID.entity) {
      guard let values = constraint.values(of: row) else { continue }
      owners[constraint.key, default: [:]][values] = row.objectID
    }
  }

  /// What writing `rows`, while the rows in `replaced` go or change, would violate.
  func violations(
    writing rows: [RowSnapshot], replaced: Set<ManagedObjectID>,
    stored: (ManagedObjectID) -> RowSnapshot?
  ) -> [ConstraintViolation] {
    struct Claim {
      let constraint: Constraint
      var ids: [ManagedObjectID]
      let holder: ManagedObjectID?
    }
    var claims: [String: [[AttributeValue]: Claim]] = [:]
    var order: [(String, [AttributeValue])] = []
    for row in rows {
      for constraint in Constraint.all(of: row.objectID.entity) {
        guard let values = constraint.values(of: row) else { continue }
        let key = constraint.key
        if claims[key]?[values] == nil {
          var holder = owners[key]?[values]
          if let id = holder, replaced.contains(id) { holder = nil }
          claims[key, default: [:]][values] = Claim(constraint: constraint, ids: [], holder: holder)
          order.append((key, values))
        }
        claims[key]?[values]?.ids.append(row.objectID)
      }
    }
    return order.compactMap { key, values in
      guard let claim = claims[key]?[values], claim.ids.count > 1 || claim.holder != nil else {
        return nil
      }
      return ConstraintViolation(
        entity: claim.constraint.entity, constraint: claim.constraint.names,
        objectIDs: claim.ids, persisted: claim.holder.flatMap(stored))
    }
  }
}
