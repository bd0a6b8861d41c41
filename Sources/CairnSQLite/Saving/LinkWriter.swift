import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Writes links that no slot carries: rows of join tables, keys of relationships without inverse,
/// and the positions of ordered members.
struct LinkWriter {
  let lookup: RowLookup
  private var connection: SQLiteConnection { lookup.connection }

  init(lookup: RowLookup) {
    self.lookup = lookup
  }

  func apply(_ changes: [SaveChangesRequest.LinkChange]) throws {
    for change in changes {
      guard let (link, owner) = place(of: change) else { continue }
      switch link {
      case .join(let table, let ownerColumn, let memberColumn, _, let isReflexive):
        try applyJoin(
          change, table, ownerColumn, memberColumn, owner: owner, isReflexive: isReflexive)
      case .foreignKey(let table, let column, let companion, _, let isHidden):
        guard isHidden, column != "NULL" else { break }
        try applyKey(change, table, column, companion, owner: owner)
      }
    }
    // A position belongs to a link, which may have been reported from the other side.
    for change in changes {
      guard let order = change.order, let (link, owner) = place(of: change),
        link.orderColumn != nil
      else { continue }
      try applyOrder(order.compactMap(\.rowKey), link, owner: owner)
    }
  }

  private func place(of change: SaveChangesRequest.LinkChange) -> (link: SQLLink, owner: Int64)? {
    guard let entity = change.relationship.entity,
      let index = entity.layout.toManyByName[change.relationship.name],
      let owner = change.owner.rowKey
    else { return nil }
    return (lookup.schema.entity(entity).links[index], owner)
  }

  private func run(_ sql: String, _ first: Int64?, _ second: Int64) throws {
    let statement = try connection.statement(sql)
    defer { statement.reset() }
    if let first {
      statement.bind(first, at: 1)
    } else {
      statement.bindNull(at: 1)
    }
    statement.bind(second, at: 2)
    try statement.run()
  }

  private func applyJoin(
    _ change: SaveChangesRequest.LinkChange, _ table: String, _ ownerColumn: String,
    _ memberColumn: String, owner: Int64, isReflexive: Bool
  ) throws {
    let delete = "DELETE FROM \(table) WHERE \(ownerColumn) = ? AND \(memberColumn) = ?"
    let insert = "INSERT OR IGNORE INTO \(table) (\(ownerColumn), \(memberColumn)) VALUES (?, ?)"
    for (members, sql) in [(change.removed, delete), (change.added, insert)] {
      for member in members.compactMap(\.rowKey) {
        try run(sql, owner, member)
        if isReflexive { try run(sql, member, owner) }
      }
    }
  }

  private func applyKey(
    _ change: SaveChangesRequest.LinkChange, _ table: String, _ column: String,
    _ companion: String?, owner: Int64
  ) throws {
    for member in change.removed.compactMap(\.rowKey) {
      try run(
        "UPDATE \(table) SET \(column) = NULL WHERE \(column) = ? AND Z_PK = ?", owner, member)
    }
    for member in change.added.compactMap(\.rowKey) {
      try run("UPDATE \(table) SET \(column) = ? WHERE Z_PK = ?", owner, member)
    }
  }

  private func applyOrder(_ members: [Int64], _ link: SQLLink, owner: Int64) throws {
    let (table, ownerColumn, memberColumn, position) = orderPlace(link)
    let select = try connection.statement(
      "SELECT \(memberColumn), \(position) FROM \(table) WHERE \(ownerColumn) = ?")
    defer { select.reset() }
    select.bind(owner, at: 1)
    var existing: [Int64: Int64] = [:]
    while try select.step() {
      if !select.isNull(1) { existing[select.integer(0)] = select.integer(1) }
    }
    let old = members.map { existing[$0] }
    let new = OrderKeys.assign(existing: old)
    let update = try connection.statement(
      "UPDATE \(table) SET \(position) = ? WHERE \(memberColumn) = ? AND \(ownerColumn) = ?")
    defer { update.reset() }
    for (index, member) in members.enumerated() where old[index] != new[index] {
      update.bind(new[index], at: 1)
      update.bind(member, at: 2)
      update.bind(owner, at: 3)
      try update.run()
    }
  }

  private func orderPlace(
    _ link: SQLLink
  ) -> (table: String, owner: String, member: String, position: String) {
    switch link {
    case .foreignKey(let table, let column, _, let order, _):
      return (table, column, "Z_PK", order ?? "")
    case .join(let table, let owner, let member, let order, _):
      return (table, owner, member, order ?? "")
    }
  }
}
