import CairnModel
import CairnPredicates
import CairnStore

/// Translates predicates and expressions to SQL, with constants as parameters.
///
/// What SQL cannot say throws ``SQLUnsupported``; what is wrong in any case throws a
/// ``CoreDataError``.
final class SQLCompiler {
  let schema: SQLSchema
  let dialect: any SQLDialect
  /// The store asked, nil when objects of other stores cannot come up.
  ///
  /// They are in none of its rows.
  let store: StoreIdentity?
  let names = SQLAliases()
  let root: SQLScope
  /// The rows that SUBQUERY variables stand for.
  var variables: [String: SQLScope] = [:]
  /// Expressions of dictionary columns by key; a HAVING clause and sort keys may name them.
  var columnsByKey: [String: ExpressionNode] = [:]
  /// Whether aggregate functions over the rows are allowed: in the columns of a dictionary fetch.
  var allowsAggregates = false
  /// Whether a column or a sort key is an aggregate over the rows.
  var hasAggregates = false

  init(
    schema: SQLSchema, entity: SQLEntity, dialect: any SQLDialect, store: StoreIdentity? = nil
  ) {
    self.schema = schema
    self.dialect = dialect
    self.store = store
    root = SQLScope(alias: names.next(), entity: entity)
  }

  /// A column of the table with an alias.
  func column(_ name: String, _ alias: String, ofTable table: String) -> String {
    "\(alias).\(dialect.column(name, ofTable: table))"
  }

  /// The key of a row, and the number of its entity.
  func key(_ alias: String, _ entity: SQLEntity) -> String {
    column("Z_PK", alias, ofTable: entity.table)
  }
  func number(_ alias: String, _ entity: SQLEntity) -> String {
    column("Z_ENT", alias, ofTable: entity.table)
  }

  // MARK: Key paths

  /// Where a key path leads from a row.
  func resolve(_ path: String, from scope: SQLScope) throws -> SQLPathTarget {
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var alias = scope.alias
    var entity = scope.entity
    var index = 0
    var prefix = ""
    while index < parts.count {
      let part = parts[index]
      let isLast = index == parts.count - 1
      let name = prefix.isEmpty ? part : "\(prefix).\(part)"
      index += 1
      if prefix.isEmpty, part == "self" || part == "SELF" || part == "objectID" {
        if isLast { return .term(object(alias, entity)) }
        continue
      }
      if prefix.isEmpty, part == "entity", isLast, entity.layout.slotByName["entity"] == nil {
        return .term(SQLTerm(SQLFragment(number(alias, entity)), .entity))
      }
      if prefix.isEmpty, part == "entity", parts[index...] == ["name"],
        entity.layout.slotByName["entity"] == nil
      {
        return .term(entityName(number(alias, entity)))
      }
      if let slot = entity.layout.slotByName[name] {
        switch entity.slots[slot] {
        case .transient: throw SQLQueryError.unknownKeyPath(path, scope.entity)
        case .attribute(let column, let type, let isExternal):
          guard isLast else {
            // `name.length`: the value knows, which is in memory.
            if type.hasKey(parts[index]) { throw SQLUnsupported() }
            throw SQLQueryError.unknownKeyPath(path, scope.entity)
          }
          return .term(
            dialect.value(
              of: SQLAttributePlace(
                alias: alias, table: entity.table, name: column, type: type,
                isExternal: isExternal)))
        case .toOne(let column, let companion, let number):
          guard let destination = schema.entity(number: number) else {
            throw SQLQueryError.unknownKeyPath(path, scope.entity)
          }
          if isLast || (index == parts.count - 1 && ["self", "objectID"].contains(parts[index])) {
            let exact = companion.map { self.column($0, alias, ofTable: entity.table) }
            return .term(
              SQLTerm(
                SQLFragment(self.column(column, alias, ofTable: entity.table)),
                .object(root: destination.rootNumber), entityNumber: exact ?? "\(number)"))
          }
          alias = scope.join(
            self.column(column, alias, ofTable: entity.table), to: destination.table,
            names: names, dialect: dialect)
          entity = destination
        }
        prefix = ""
        continue
      }
      if let toMany = entity.layout.toManyByName[name],
        let destination = entity.layout.toManys[toMany].destinationEntity
      {
        let members = SQLMembers(
          link: entity.links[toMany], owner: key(alias, entity),
          destination: schema.entity(destination))
        if case .foreignKey(_, "NULL", _, _, _) = members.link {
          throw SQLQueryError.unknownKeyPath(path, scope.entity)
        }
        return .members(members, rest: Array(parts[index...]))
      }
      let isComposite = entity.layout.slotByName.keys.contains { $0.hasPrefix(name + ".") }
      guard isComposite else { throw SQLQueryError.unknownKeyPath(path, scope.entity) }
      // The whole of a composite is in no column; memory puts it together.
      if isLast { throw SQLUnsupported() }
      prefix = name
    }
    throw SQLQueryError.unknownKeyPath(path, scope.entity)
  }

  /// The name of the entity with a number.
  private func entityName(_ number: String) -> SQLTerm {
    let cases = schema.model.entities.compactMap { entity -> SQLFragment? in
      guard schema.contains(entity), let name = entity.name else { return nil }
      return SQLFragment(" WHEN \(schema.entity(entity).number) THEN ?", [.string(name)])
    }
    let name: SQLFragment = "(CASE \(number)" + .joined(cases, by: "") + " END)"
    return SQLTerm(dialect.orderedByBytes(name), .string)
  }

  func object(_ alias: String, _ entity: SQLEntity) -> SQLTerm {
    SQLTerm(
      SQLFragment(key(alias, entity)), .object(root: entity.rootNumber),
      entityNumber: number(alias, entity))
  }

  // MARK: Members

  /// A SELECT over the members of a to-many relationship.
  ///
  /// - Parameter body: gives the condition on a member, and what to select.
  func select(
    _ members: SQLMembers, _ body: (SQLScope) throws -> (select: SQLFragment, where: SQLFragment?)
  ) throws -> SQLFragment {
    let inner = SQLScope(alias: names.next(), entity: members.destination)
    let (selected, condition) = try body(inner)
    let from: String
    let link: String
    switch members.link {
    case .foreignKey(let table, let column, _, _, _):
      from = "\(dialect.table(table)) \(inner.alias)"
      link = "\(self.column(column, inner.alias, ofTable: table)) = \(members.owner)"
    case .join(let table, let owner, let member, _, _):
      let join = names.next()
      from =
        "\(dialect.table(table)) \(join) JOIN \(dialect.table(members.destination.table)) "
        + "\(inner.alias) ON \(key(inner.alias, members.destination)) = "
        + column(member, join, ofTable: table)
      link = "\(column(owner, join, ofTable: table)) = \(members.owner)"
    }
    let head: SQLFragment =
      "SELECT " + selected + " FROM \(from)\(inner.joinClause) WHERE \(link)"
    guard let condition else { return head }
    return head + " AND (" + condition + ")"
  }
}
