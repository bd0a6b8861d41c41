/// The SELECT that finds the members of a to-many relationship: owner key, member entity number,
/// member key, in the relationship's order.
package struct MemberQuery: Sendable {
  /// The parameter is one owner's key.
  package let single: String
  /// The parameter is a JSON list of keys.
  package let many: String
  /// Whether there can be no members, as those of a transient relationship.
  package var isEmpty: Bool { single.isEmpty }

  init(link: SQLLink, destination: SQLEntity?) {
    if case .foreignKey(_, "NULL", _, _, _) = link {
      (single, many) = ("", "")
    } else if let destination {
      single = Self.sql(link: link, destination: destination, isSingle: true)
      many = Self.sql(link: link, destination: destination, isSingle: false)
    } else {
      (single, many) = ("", "")
    }
  }

  /// - Parameter isSingle: whether the parameter is one owner's key rather than a JSON list.
  private static func sql(link: SQLLink, destination: SQLEntity, isSingle: Bool) -> String {
    let owners = isSingle ? "= ?1" : "IN (SELECT value FROM json_each(?1))"
    switch link {
    case .foreignKey(let table, let column, _, let order, _):
      return "SELECT m.\(column), m.Z_ENT, m.Z_PK FROM \(table) m WHERE m.\(column) \(owners) "
        + "ORDER BY \(ordering(order.map { "m.\($0)" }))"
    case .join(let table, let owner, let member, _, true):
      // A relationship that is its own inverse may have a link's row in either direction.
      return "SELECT j.o, m.Z_ENT, m.Z_PK FROM ("
        + "SELECT \(owner) AS o, \(member) AS k FROM \(table) WHERE \(owner) \(owners) "
        + "UNION SELECT \(member), \(owner) FROM \(table) WHERE \(member) \(owners)) j "
        + "JOIN \(destination.table) m ON m.Z_PK = j.k ORDER BY m.Z_PK"
    case .join(let table, let owner, let member, let order, false):
      return "SELECT j.\(owner), m.Z_ENT, m.Z_PK FROM \(table) j "
        + "JOIN \(destination.table) m ON m.Z_PK = j.\(member) "
        + "WHERE j.\(owner) \(owners) ORDER BY \(ordering(order.map { "j.\($0)" }))"
    }
  }

  /// Members without a position come last; ties by key.
  private static func ordering(_ order: String?) -> String {
    order.map { "\($0) IS NULL, \($0), m.Z_PK" } ?? "m.Z_PK"
  }
}
