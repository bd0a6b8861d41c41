import CairnModel

// Where the values of one entity's objects are.

/// The columns of one slot.
package enum SQLSlot: Sendable {
  /// Kept in memory only.
  case transient
  case attribute(column: String, type: AttributeType, isExternal: Bool)
  /// `companion` holds the destination's entity number when it may be a subentity.
  case toOne(column: String, companion: String?, destination: Int)

  package var column: String? {
    switch self {
    case .transient: return nil
    case .attribute(let column, _, _), .toOne(let column, _, _): return column
    }
  }
}

/// Where the members of a to-many relationship are found.
package enum SQLLink: Sendable {
  /// The members' rows point at the owner. For a to-many with a to-one inverse, and for one
  /// without inverse, which has a column of its own in the members' table.
  case foreignKey(
    table: String, column: String, companion: String?, orderColumn: String?, isHidden: Bool)
  /// Rows of a join table, seen from this side.
  case join(
    table: String, owner: String, member: String, orderColumn: String?, isReflexive: Bool)

  package var orderColumn: String? {
    switch self {
    case .foreignKey(_, _, _, let column, _), .join(_, _, _, let column, _): return column
    }
  }
}

/// An entity as a SQL store sees it.
package final class SQLEntity: Sendable {
  package let entity: EntityDescription
  /// `Z_ENT`.
  package let number: Int
  package let rootNumber: Int
  /// The number of the superentity, 0 for roots.
  package let superNumber: Int
  package let name: String
  package let table: String
  /// By slot of the layout.
  package let slots: [SQLSlot]
  /// By index in the layout's `toManys`.
  package let links: [SQLLink]
  /// The numbers of the entity and all its descendants.
  package let subtree: ClosedRange<Int>
  /// Whether the table may hold other entities than this one.
  package let sharesTable: Bool
  /// Uniqueness constraints that hold for the entity, inherited ones included.
  package let constraints: [SQLConstraint]
  package let derivedSlots: [Int]
  package let transientSlots: [Int]
  package let history: SQLHistoryColumns
  /// Slots whose data may be in files.
  package let externalSlots: [Int]

  init(
    entity: EntityDescription, number: Int, rootNumber: Int, superNumber: Int, table: String,
    slots: [SQLSlot], links: [SQLLink], subtree: ClosedRange<Int>, sharesTable: Bool,
    constraints: [SQLConstraint]
  ) {
    self.entity = entity
    self.number = number
    self.rootNumber = rootNumber
    self.superNumber = superNumber
    name = entity.name ?? ""
    self.table = table
    self.slots = slots
    self.links = links
    self.subtree = subtree
    self.sharesTable = sharesTable
    self.constraints = constraints
    history = SQLHistoryColumns(entity: entity)
    externalSlots = slots.indices.filter {
      if case .attribute(_, _, true) = slots[$0] { return true }
      return false
    }
    transientSlots = slots.indices.filter {
      if case .transient = slots[$0] { return true }
      return false
    }
    derivedSlots = entity.layout.persistentSlots.filter {
      entity.layout.slots[$0].attribute is DerivedAttributeDescription
    }
  }

  package var layout: EntityLayout { entity.layout }

  /// The slots that the entity itself declares.
  package var ownSlots: [Int] {
    let inherited = entity.superentity?.layout.slots.count ?? 0
    return Array(slots.indices.dropFirst(inherited))
  }

  /// The indexes of the to-many relationships that the entity itself declares.
  package var ownLinks: [Int] {
    layout.toManys.indices.filter { layout.toManys[$0].entity === entity }
  }

  /// The name that a new table of the entity's hierarchy has; a file's may have a former one.
  package var plainTable: String { SQLNaming.table(entity.rootEntity) }

  /// Whether the entity's descendants and itself are all that the table holds.
  package func coversTable(includingSubentities: Bool) -> Bool {
    !sharesTable || (includingSubentities && superNumber == 0)
  }

  /// The condition on `Z_ENT` for rows of the entity, nil when all rows of the table are meant.
  package func numberCondition(alias: String, includingSubentities: Bool) -> String? {
    numberCondition("\(alias).Z_ENT", includingSubentities: includingSubentities)
  }

  /// The condition on the number of the entity for its rows, nil when all rows of the table are meant.
  ///
  /// - Parameter column: The column, as the statement names it.
  package func numberCondition(_ column: String, includingSubentities: Bool) -> String? {
    if coversTable(includingSubentities: includingSubentities) { return nil }
    if !includingSubentities || subtree.count == 1 { return "\(column) = \(number)" }
    let list = subtree.map(String.init).joined(separator: ", ")
    return "\(column) IN (\(list))"
  }
}

/// A uniqueness constraint with its columns.
package struct SQLConstraint: Sendable {
  package let entity: EntityDescription
  package let names: [String]
  package let columns: [String]
  package let slots: [Int]
}
