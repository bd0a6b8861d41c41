import CairnModel
import CairnSQL

/// Checks the keys of to-one relationships, of one-to-one pairs, and of to-many relationships
/// without an inverse.
struct ReferenceCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for entity in store.entities {
      for slot in entity.ownSlots {
        guard case .toOne(let column, let companion, let number) = entity.slots[slot],
          let relationship = entity.layout.slots[slot].relationship,
          let destination = store.schema?.entity(number: number),
          store.has(column, companion, in: entity.table), store.has("Z_PK", in: destination.table)
        else { continue }
        let key = Key(
          entity: entity, relationship: relationship, column: column, destination: destination)
        findings += try references(key)
        if let companion { findings += try companions(key, companion) }
        findings += try inverses(key)
      }
      for index in entity.ownLinks {
        guard case .foreignKey(let table, let column, _, _, true) = entity.links[index],
          column != "NULL", store.has(column, in: table),
          let members = entity.layout.toManys[index].destinationEntity
        else { continue }
        findings += try hiddenKeys(
          of: entity, relationship: entity.layout.toManys[index].name, table, column,
          store.schema?.entity(members))
      }
    }
    return findings
  }

  /// A to-one relationship and where it is kept.
  private struct Key {
    let entity: SQLEntity
    let relationship: RelationshipDescription
    let column: String
    let destination: SQLEntity
    var join: String {
      "FROM \(entity.table) t LEFT JOIN \(destination.table) d ON d.Z_PK = t.\(column) "
        + "WHERE t.\(column) IS NOT NULL AND \(StoreCheck.isOf(entity, "t"))"
    }
    /// Whether deleting the destination is known to take the key away.
    var isKept: Bool {
      guard let inverse = relationship.inverseRelationship else { return false }
      return inverse.deleteRule != .noAction && !inverse.isTransient
    }
  }

  private func references(_ key: Key) throws -> [StoreFinding] {
    let missing = try store.rows(
      "SELECT t.Z_PK, t.Z_ENT, t.\(key.column) \(key.join) AND d.Z_PK IS NULL",
      .reference, key.isKept ? store.leftovers : .remark, entity: key.entity, column: key.column
    ) {
      "\(key.relationship.name) leads to \(key.destination.name)/p\($0.string(2)), which does not "
        + "exist."
    }
    let strangers = try store.rows(
      "SELECT t.Z_PK, t.Z_ENT, t.\(key.column), d.Z_ENT \(key.join) AND d.Z_PK IS NOT NULL "
        + "AND NOT IFNULL(\(StoreCheck.isOf(key.destination, "d")), 0)",
      .reference, entity: key.entity, column: key.column
    ) {
      "\(key.relationship.name) leads to p\($0.string(2)), which is of "
        + "\(store.name(ofEntity: $0.integer(3))) and not of \(key.destination.name)."
    }
    return missing + strangers
  }

  private func companions(_ key: Key, _ companion: String) throws -> [StoreFinding] {
    try store.rows(
      "SELECT t.Z_PK, t.Z_ENT, t.\(companion), d.Z_ENT \(key.join) AND d.Z_PK IS NOT NULL "
        + "AND t.\(companion) IS NOT d.Z_ENT",
      .companion, entity: key.entity, column: companion
    ) {
      "\(key.relationship.name) leads to a row of \(store.name(ofEntity: $0.integer(3))), and the "
        + "column says \($0.isNull(2) ? "nothing" : $0.string(2))."
    }
  }

  private func inverses(_ key: Key) throws -> [StoreFinding] {
    guard let inverse = key.relationship.inverseRelationship, !inverse.isToMany,
      let slot = key.destination.layout.slotByName[inverse.name],
      case .toOne(let column, _, _) = key.destination.slots[slot],
      store.has(column, in: key.destination.table)
    else { return [] }
    return try store.leads(
      "SELECT t.Z_PK, t.Z_ENT, t.\(key.column), d.\(column) \(key.join) AND d.Z_PK IS NOT NULL",
      gone: "d.\(column) IS NULL", wrong: "d.\(column) <> t.Z_PK", .inverse, entity: key.entity,
      column: key.column
    ) {
      "\(key.relationship.name) leads to \(key.destination.name)/p\($0.string(2)), whose "
        + "\(inverse.name) leads to \($0.isNull(3) ? "nothing" : "p" + $0.string(3))."
    }
  }

  private func hiddenKeys(
    of owner: SQLEntity, relationship: String, _ table: String, _ column: String,
    _ members: SQLEntity?
  ) throws -> [StoreFinding] {
    try store.leads(
      "SELECT t.Z_PK, t.Z_ENT, t.\(column), d.Z_ENT FROM \(table) t "
        + "LEFT JOIN \(owner.table) d ON d.Z_PK = t.\(column) WHERE t.\(column) IS NOT NULL",
      gone: "d.Z_PK IS NULL",
      wrong: "d.Z_PK IS NOT NULL AND NOT IFNULL(\(StoreCheck.isOf(owner, "d")), 0)", .reference,
      entity: members, table: table, column: column
    ) {
      "The row is a member of \(relationship) of \(owner.name)/p\($0.string(2)), which "
        + ($0.isNull(3) ? "does not exist." : "is of \(store.name(ofEntity: $0.integer(3))).")
    }
  }
}
