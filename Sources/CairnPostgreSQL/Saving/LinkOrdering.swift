import CairnModel
import CairnSQL
import CairnStore

/// Writes the positions of ordered members, moving as few as possible.
struct LinkOrdering {
  let content: StoreContent
  let connection: PostgreSQLConnection

  func apply(_ changes: [SaveChangesRequest.LinkChange]) throws {
    for change in changes {
      guard let order = change.order, let owner = change.owner.rowKey,
        let place = content.link(of: change.relationship)?.ordering
      else { continue }
      var parameters = ParameterList()
      parameters.append(owner)
      let rows = try connection.run(
        "SELECT \(place.member), \(place.position) FROM \(place.table) WHERE \(place.owner) = $1",
        parameters)
      var existing: [Int64: Int64] = [:]
      for row in 0..<rows.count {
        if let member = rows.integer(row, 0), let position = rows.integer(row, 1) {
          existing[member] = position
        }
      }
      let members = order.compactMap(\.rowKey)
      let old = members.map { existing[$0] }
      let new = OrderKeys.assign(existing: old)
      let moved = members.indices.filter { old[$0] != new[$0] }
      if moved.isEmpty { continue }
      parameters.append(keys: moved.map { members[$0] })
      parameters.append(keys: moved.map { new[$0] })
      try connection.run(
        "UPDATE \(place.table) t SET \(place.position) = o.position "
          + "FROM unnest($2, $3) AS o(member, position) "
          + "WHERE t.\(place.member) = o.member AND t.\(place.owner) = $1", parameters)
    }
  }
}
