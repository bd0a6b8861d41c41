import CairnModel
import CairnSQL

/// Where the members of a to-many relationship are found, under the names of statements.
enum LinkPlace: Sendable {
  /// In the members' rows. `isHidden` for a column that no slot of the members stands for.
  case key(table: String, owner: String, position: String?, isHidden: Bool)
  /// In a join table; a reflexive relationship has its links in either direction.
  case join(table: String, owner: String, member: String, position: String?, isReflexive: Bool)

  /// - Returns: nil for a transient relationship, which has no members in a store.
  init?(_ link: SQLLink, in schema: PostgreSQLSchema) {
    switch link {
    case .foreignKey(_, "NULL", _, _, _): return nil
    case .foreignKey(let table, let column, _, let order, let isHidden):
      self = .key(
        table: schema.place(ofTable: table), owner: schema.column(column, ofTable: table),
        position: order.map { schema.column($0, ofTable: table) }, isHidden: isHidden)
    case .join(let table, let owner, let member, let order, let isReflexive):
      self = .join(
        table: schema.place(ofTable: table), owner: schema.column(owner, ofTable: table),
        member: schema.column(member, ofTable: table),
        position: order.map { schema.column($0, ofTable: table) }, isReflexive: isReflexive)
    }
  }

  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)

  /// A SELECT of the owner's key, the member's entity and the member's key, in the relationship's order; its parameter
  /// is the owners' keys.
  ///
  /// - Parameter destination: The table of the members.
  func selection(from destination: String) -> String {
    // Members without a position come last; ties by key.
    switch self {
    case .key(let table, let owner, let position, _):
      let order = position.map { "m.\($0) NULLS LAST, " } ?? ""
      return "SELECT m.\(owner), m.\(Self.entity), m.\(Self.key) FROM \(table) m "
        + "WHERE m.\(owner) = ANY ($1) ORDER BY \(order)m.\(Self.key)"
    case .join(let table, let owner, let member, _, true):
      return "SELECT j.o, m.\(Self.entity), m.\(Self.key) FROM ("
        + "SELECT \(owner) AS o, \(member) AS k FROM \(table) WHERE \(owner) = ANY ($1) "
        + "UNION SELECT \(member), \(owner) FROM \(table) WHERE \(member) = ANY ($1)) j "
        + "JOIN \(destination) m ON m.\(Self.key) = j.k ORDER BY m.\(Self.key)"
    case .join(let table, let owner, let member, let position, false):
      let order = position.map { "j.\($0) NULLS LAST, " } ?? ""
      return "SELECT j.\(owner), m.\(Self.entity), m.\(Self.key) FROM \(table) j "
        + "JOIN \(destination) m ON m.\(Self.key) = j.\(member) WHERE j.\(owner) = ANY ($1) "
        + "ORDER BY \(order)m.\(Self.key)"
    }
  }

  /// The table with the positions, and its columns of the owner, the member and the position; nil without an order.
  var ordering: (table: String, owner: String, member: String, position: String)? {
    switch self {
    case .key(let table, let owner, let position, _):
      return position.map { (table, owner, Self.key, $0) }
    case .join(let table, let owner, let member, let position, _):
      return position.map { (table, owner, member, $0) }
    }
  }
}
