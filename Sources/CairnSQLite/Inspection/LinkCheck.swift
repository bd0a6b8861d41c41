import CairnModel
import CairnSQL

/// Checks join tables: both ends exist and are of the relationship's entities.
struct LinkCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    var seen: Set<String> = []
    var findings: [StoreFinding] = []
    for entity in store.entities {
      for index in entity.ownLinks {
        guard case .join(let table, let owner, let member, _, _) = entity.links[index],
          seen.insert(table).inserted, store.has(owner, member, in: table),
          let destination = entity.layout.toManys[index].destinationEntity,
          let members = store.schema?.entity(destination), store.hasTable(members.table)
        else { continue }
        let name = entity.layout.toManys[index].name
        findings += try ends(table, owner, of: entity, name)
        findings += try ends(table, member, of: members, name)
      }
    }
    return findings
  }

  private func ends(
    _ table: String, _ column: String, of entity: SQLEntity, _ relationship: String
  ) throws -> [StoreFinding] {
    // The first two columns name the row that should be there, by key and entity.
    try store.leads(
      "SELECT j.\(column), IFNULL(d.Z_ENT, \(entity.number)), d.Z_PK FROM \(table) j "
        + "LEFT JOIN \(entity.table) d ON d.Z_PK = j.\(column) "
        + "WHERE NOT IFNULL(\(StoreCheck.isOf(entity, "d")), 0)",
      gone: "j.\(column) IS NOT NULL AND d.Z_PK IS NULL",
      wrong: "(j.\(column) IS NULL OR d.Z_PK IS NOT NULL)", .link, entity: entity, table: table,
      column: column
    ) { row in
      if row.isNull(0) { return "A link of \(relationship) has no key." }
      return row.isNull(2)
        ? "A link of \(relationship) leads to \(entity.name)/p\(row.string(0)), which does not exist."
        : "A link of \(relationship) leads to a row of \(store.name(ofEntity: row.integer(1))), "
          + "which is no \(entity.name)."
    }
  }
}

/// Checks the positions of ordered relationships.
struct OrderCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for entity in store.entities {
      for index in entity.ownLinks {
        let name = entity.layout.toManys[index].name
        let members = entity.layout.toManys[index].destinationEntity.flatMap {
          store.schema?.entity($0)
        }
        switch entity.links[index] {
        case .foreignKey(let table, let column, _, let order?, _):
          guard column != "NULL", store.has(column, order, in: table) else { continue }
          findings += try positions(
            Place(
              table: table, key: "Z_PK", number: "Z_ENT", owner: column, order: order,
              members: members), of: entity, name)
        case .join(let table, let owner, let member, let order?, _):
          guard store.has(owner, member, order, in: table) else { continue }
          findings += try positions(
            Place(
              table: table, key: member, number: "\(members?.number ?? 0)", owner: owner,
              order: order, members: members), of: entity, name)
        case .foreignKey, .join: continue
        }
      }
    }
    return findings
  }

  /// Where the positions of one relationship are kept.
  private struct Place {
    let table: String
    let key: String
    let number: String
    let owner: String
    let order: String
    let members: SQLEntity?
  }

  private func positions(
    _ place: Place, of entity: SQLEntity, _ relationship: String
  ) throws -> [StoreFinding] {
    let missing = try store.rows(
      "SELECT \(place.key), \(place.number), \(place.owner) FROM \(place.table) "
        + "WHERE \(place.owner) IS NOT NULL AND (\(place.order) IS NULL "
        + "OR typeof(\(place.order)) <> 'integer')",
      // Readers put it after the others.
      .order, .remark, entity: place.members, table: place.table, column: place.order
    ) { "The member of \(relationship) of \(entity.name)/p\($0.string(2)) has no position." }
    let ties = try store.rows(
      "SELECT MAX(\(place.key)), \(place.number), \(place.owner), \(place.order), COUNT(*) "
        + "FROM \(place.table) WHERE \(place.owner) IS NOT NULL AND \(place.order) IS NOT NULL "
        + "GROUP BY \(place.owner), \(place.order) HAVING COUNT(*) > 1",
      .order, entity: place.members, table: place.table, column: place.order
    ) {
      "\($0.string(4)) members of \(relationship) of \(entity.name)/p\($0.string(2)) have the "
        + "position \($0.string(3))."
    }
    return missing + ties
  }
}
