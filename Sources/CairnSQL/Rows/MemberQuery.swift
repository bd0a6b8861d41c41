/// The SELECTs that find the members of a to-many relationship, in the relationship's order.
package struct MemberQuery: Sendable {
  /// Owner key, member entity number, member key; the parameter is one owner's key.
  package let single: String
  /// The same; the parameter is a JSON list of keys.
  package let many: String
  /// Owner key, then the columns of the members' shape; for one owner and for many.
  package let singleRows: String
  package let manyRows: String
  /// Whether the statements for many owners say nothing about the order, so that the reader of the
  /// rows has to see that each owner's come in the order of their keys.
  package let leavesOrderToIndex: Bool
  /// Finds keys and versions of members by their owners; nil where the members' table does not have
  /// the owner's key.
  package let versions: VersionQuery?
  /// The same without the version, which an index can answer alone where only one entity has the
  /// table.
  package let keys: VersionQuery?
  /// Whether there can be no members, as those of a transient relationship.
  package var isEmpty: Bool { single.isEmpty }

  /// - Parameter shape: That of the destination with its subentities.
  init(link: SQLLink, destination: SQLEntity?, shape: SQLRowShape?) {
    leavesOrderToIndex = link.isUnorderedForeignKey
    if case .foreignKey(let table, let column, _, _, _) = link, !link.isTransient {
      let only = destination.flatMap { $0.sharesTable ? nil : $0 }
      let number = only == nil ? "m.Z_ENT, " : ""
      versions = VersionQuery(
        select: "SELECT \(number)m.Z_PK, m.Z_OPT FROM \(table) m", owner: "m.\(column)",
        only: only)
      keys = VersionQuery(
        select: "SELECT \(number)m.Z_PK FROM \(table) m", owner: "m.\(column)", only: only)
    } else {
      (versions, keys) = (nil, nil)
    }
    guard let destination, let shape, !link.isTransient else {
      (single, many, singleRows, manyRows) = ("", "", "", "")
      return
    }
    func sql(_ columns: [String], _ isSingle: Bool) -> String {
      Self.sql(link: link, destination: destination, columns: columns, isSingle: isSingle)
    }
    single = sql(["Z_ENT", "Z_PK"], true)
    many = sql(["Z_ENT", "Z_PK"], false)
    singleRows = sql(shape.columns, true)
    manyRows = sql(shape.columns, false)
  }

  /// - Parameters:
  ///   - columns: Those of the members' table that are selected after the owner's key.
  ///   - isSingle: Whether the parameter is one owner's key rather than a JSON list.
  private static func sql(
    link: SQLLink, destination: SQLEntity, columns: [String], isSingle: Bool
  ) -> String {
    let owners = isSingle ? "= ?1" : "IN (SELECT value FROM json_each(?1))"
    let list = columns.map { "m.\($0)" }.joined(separator: ", ")
    switch link {
    case .foreignKey(let table, let column, _, let order, _):
      let select =
        "SELECT m.\(column), \(list) FROM \(table) m WHERE m.\(column) \(owners)"
      // The index of the column has the members of an owner in the order of their keys, and so has
      // the table; sorting those of all owners once more would cost as much as finding them.
      if order == nil, !isSingle { return select }
      return select + " ORDER BY \(ordering(order.map { "m.\($0)" }))"
    case .join(let table, let owner, let member, _, true):
      // A relationship that is its own inverse may have a link's row in either direction.
      return "SELECT j.o, \(list) FROM ("
        + "SELECT \(owner) AS o, \(member) AS k FROM \(table) WHERE \(owner) \(owners) "
        + "UNION SELECT \(member), \(owner) FROM \(table) WHERE \(member) \(owners)) j "
        + "JOIN \(destination.table) m ON m.Z_PK = j.k ORDER BY m.Z_PK"
    case .join(let table, let owner, let member, let order, false):
      return "SELECT j.\(owner), \(list) FROM \(table) j "
        + "JOIN \(destination.table) m ON m.Z_PK = j.\(member) "
        + "WHERE j.\(owner) \(owners) ORDER BY \(ordering(order.map { "j.\($0)" }))"
    }
  }

  /// Members without a position come last; ties by key.
  private static func ordering(_ order: String?) -> String {
    order.map { "\($0) IS NULL, \($0), m.Z_PK" } ?? "m.Z_PK"
  }
}

/// A SELECT without its condition, which is one on a column of keys.
package struct VersionQuery: Sendable {
  package let select: String
  /// The column of the owners' keys.
  package let owner: String
  /// The entity of all members; nil where the first column is the number of each one's entity.
  package let only: SQLEntity?
}

extension SQLLink {
  /// Whether no column stands behind the relationship.
  fileprivate var isTransient: Bool {
    if case .foreignKey(_, "NULL", _, _, _) = self { return true }
    return false
  }

  fileprivate var isUnorderedForeignKey: Bool {
    if case .foreignKey(_, _, _, nil, _) = self { return true }
    return false
  }
}
