import CairnModel

/// One SELECT: its first table and the tables joined for to-one steps.
final class SQLScope {
  let alias: String
  let entity: SQLEntity
  private var aliases: [String: String] = [:]
  private(set) var joins: [String] = []

  init(alias: String, entity: SQLEntity) {
    self.alias = alias
    self.entity = entity
  }

  /// The alias of the destination of a to-one key.
  ///
  /// - Parameter key: The column with its key.
  func join(
    _ key: String, to table: String, names: SQLAliases, dialect: any SQLDialect
  ) -> String {
    if let known = aliases[key] { return known }
    let alias = names.next()
    aliases[key] = alias
    let found = "\(alias).\(dialect.column("Z_PK", ofTable: table))"
    joins.append("LEFT JOIN \(dialect.table(table)) \(alias) ON \(found) = \(key)")
    return alias
  }

  /// What follows the first table in the FROM clause.
  var joinClause: String { joins.map { " " + $0 }.joined() }
}

/// Hands out table aliases that are unique in one statement.
final class SQLAliases {
  private var count = 0
  func next() -> String {
    defer { count += 1 }
    return "t\(count)"
  }
}

/// Where a key path leads.
enum SQLPathTarget {
  case term(SQLTerm)
  /// A to-many relationship, and the rest of the path from its members.
  case members(SQLMembers, rest: [String])
}

/// The members of a to-many relationship of one row.
struct SQLMembers {
  let link: SQLLink
  /// The owner's key.
  let owner: String
  let destination: SQLEntity
}
