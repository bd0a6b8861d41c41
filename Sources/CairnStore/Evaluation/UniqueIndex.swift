import CairnModel
import Foundation

/// The values that uniqueness constraints compare, with the objects that have each, for stores in memory.
///
/// Several objects have the same values only where a program that keeps no constraints has written a file. They stay
/// as they are; nothing more comes to them.
package struct UniqueIndex: Sendable {
  /// One constraint of one entity, which also holds for the entity's subentities.
  struct Constraint: Sendable {
    let entity: EntityDescription
    let names: [String]

    /// The constraints that apply to objects of an entity, inherited ones first.
    static func all(of entity: EntityDescription) -> [Constraint] {
      var found: [Constraint] = []
      var next: EntityDescription? = entity
      while let current = next {
        let own = current.constraintNames.map { Constraint(entity: current, names: $0) }
        found.insert(contentsOf: own, at: 0)
        next = current.superentity
      }
      return found
    }

    /// What tells the constraint from others.
    var key: String { (entity.name ?? "") + "\u{0}" + names.joined(separator: "\u{0}") }

    /// The row's values, nil when one is null: nulls never collide, as in SQL.
    func values(of row: RowSnapshot) -> [AttributeValue]? {
      guard let layout = row.objectID.entity.layout else { return nil }
      var values: [AttributeValue] = []
      for name in names {
        guard let slot = layout.slotByName[name] else { return nil }
        if row[slot].isNull { return nil }
        values.append(row[slot].comparedByBytes)
      }
      return values
    }
  }

  private var owners: [String: [[AttributeValue]: [ManagedObjectID]]] = [:]

  package init() {}

  /// Whether a constraint applies to objects of an entity.
  package static func constrains(_ entity: EntityDescription) -> Bool {
    !Constraint.all(of: entity).isEmpty
  }

  package mutating func remove(_ row: RowSnapshot) {
    for constraint in Constraint.all(of: row.objectID.entity) {
      guard let values = constraint.values(of: row) else { continue }
      let left = owners[constraint.key]?[values]?.filter { $0 != row.objectID } ?? []
      owners[constraint.key]?[values] = left.isEmpty ? nil : left
    }
  }

  package mutating func insert(_ row: RowSnapshot) {
    for constraint in Constraint.all(of: row.objectID.entity) {
      guard let values = constraint.values(of: row) else { continue }
      owners[constraint.key, default: [:]][values, default: []].append(row.objectID)
    }
  }

  /// What writing `rows`, while the rows in `replaced` go or change, would violate.
  ///
  /// A row that keeps its values violates nothing, even if another has had the same before.
  package func violations(
    writing rows: [RowSnapshot], replaced: Set<ManagedObjectID>,
    stored: (ManagedObjectID) -> RowSnapshot?
  ) -> [ConstraintViolation] {
    struct Claim {
      let constraint: Constraint
      let holder: ManagedObjectID?
      var ids: [ManagedObjectID] = []
      var isNew = false
    }
    var claims: [String: [[AttributeValue]: Claim]] = [:]
    var order: [(String, [AttributeValue])] = []
    for row in rows {
      for constraint in Constraint.all(of: row.objectID.entity) {
        guard let values = constraint.values(of: row) else { continue }
        let key = constraint.key
        let have = owners[key]?[values] ?? []
        if claims[key]?[values] == nil {
          claims[key, default: [:]][values] = Claim(
            constraint: constraint, holder: have.first { !replaced.contains($0) })
          order.append((key, values))
        }
        claims[key]?[values]?.ids.append(row.objectID)
        if !have.contains(row.objectID) { claims[key]?[values]?.isNew = true }
      }
    }
    return order.compactMap { key, values in
      guard let claim = claims[key]?[values], claim.isNew,
        claim.ids.count > 1 || claim.holder != nil
      else { return nil }
      return ConstraintViolation(
        entity: claim.constraint.entity, constraint: claim.constraint.names,
        objectIDs: claim.ids, persisted: claim.holder.flatMap(stored))
    }
  }
}

extension AttributeValue {
  /// The value as a key that tells two spellings of a text apart, as SQLite does, where `==` takes canonically equal
  /// ones for the same.
  package var comparedByBytes: AttributeValue {
    if case .string(let text) = self { return .data(Data(text.utf8)) }
    return self
  }
}
