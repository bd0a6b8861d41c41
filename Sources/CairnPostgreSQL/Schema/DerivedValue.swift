import CairnModel
import CairnSQL
import CairnStore

/// A derived attribute with its columns.
struct DerivedColumn {
  let entity: SQLEntity
  let name: String
  let table: PostgreSQLTable
  /// As statements name them: one, or two for a date.
  let columns: [String]
  let type: PostgreSQLType
  let derivation: SQLDerivation

  /// The numbers of the entities that have the attribute.
  var numbers: String { entity.subtree.map(String.init).joined(separator: ", ") }

  /// All of a model, each at the entity that declares it.
  static func all(in schema: PostgreSQLSchema) -> [DerivedColumn] {
    schema.sql.entities.flatMap { entity -> [DerivedColumn] in
      guard let table = schema.table(sqlName: entity.table) else { return [] }
      return entity.derivedSlots.compactMap { slot in
        guard
          let attribute = entity.layout.slots[slot].attribute as? DerivedAttributeDescription,
          attribute.entity === entity.entity, let sqlName = entity.slots[slot].column,
          let column = table.column(sqlName: sqlName),
          let derivation = SQLDerivation(attribute, of: entity, schema: schema.sql)
        else { return nil }
        return DerivedColumn(
          entity: entity, name: column.name, table: table,
          columns: [column.name, table.exactColumn(of: column)?.name].compactMap { $0 }.map(
            SQLText.name),
          type: column.type, derivation: derivation)
      }
    }
  }
}

/// How a derived attribute is computed for a row `r`, and which rows of other tables it depends on.
struct DerivedValue {
  /// A table whose rows it depends on.
  struct Source {
    let table: String
    /// The columns that count; none for a table of links.
    let columns: [String]
    /// The keys of the rows that depend on some rows.
    let keys: (_ rows: String) -> String
  }

  /// One for each column.
  let expressions: [String]
  let sources: [Source]

  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)

  /// The condition that the row has another value.
  func differs(from column: DerivedColumn) -> String {
    let old = column.columns.map { "r.\($0)" }
    if old.count == 1 { return "\(old[0]) IS DISTINCT FROM \(expressions[0])" }
    return
      "(\(old.joined(separator: ", "))) IS DISTINCT FROM (\(expressions.joined(separator: ", ")))"
  }

  /// A column, with the one that makes it exact where that is wanted.
  static func columns(_ sqlName: String, of table: PostgreSQLTable, isDate: Bool) -> [String] {
    guard let column = table.column(sqlName: sqlName) else { return [] }
    let exact = table.exactColumn(of: column).map { SQLText.name($0.name) }
    return [SQLText.name(column.name)] + (isDate ? [exact ?? "NULL"] : [])
  }

  /// - Returns: nil for what is computed by the row, or by the save.
  init?(_ column: DerivedColumn, in schema: PostgreSQLSchema) {
    let key = Self.key
    func place(_ table: PostgreSQLTable) -> String { SQLText.name(schema.name.text, table.name) }
    let isDate = column.columns.count > 1
    let own = Source(table: column.table.name, columns: [key]) { "SELECT \($0).\(key) FROM \($0)" }
    switch column.derivation {
    case .copy, .now, .folded: return nil
    case .count(let link):
      guard let members = Members(link, in: schema) else { return nil }
      expressions = ["(SELECT count(*) FROM \(members.links))"]
      sources = [members.source, own]
    case .aggregate(let function, let link, let membersName, let sqlColumn):
      guard let members = Members(link, in: schema),
        let table = schema.table(sqlName: membersName)
      else { return nil }
      let names = Self.columns(sqlColumn, of: table, isDate: isDate)
      if names.isEmpty { return nil }
      expressions = Self.aggregate(
        function, names, from: members.rows(of: place(table)), type: column.type)
      sources =
        [members.source(ofValues: names.filter { $0 != "NULL" }, in: table.name), own]
        + (members.member == nil ? [] : [members.source])
    case .toOne(let hops, let sqlColumn):
      guard let last = hops.last, let end = schema.table(sqlName: last.table) else { return nil }
      let names = Self.columns(sqlColumn, of: end, isDate: isDate)
      guard !names.isEmpty else { return nil }
      let tables = hops.compactMap { schema.table(sqlName: $0.table) }
      guard tables.count == hops.count else { return nil }
      // The key of each hop stands in the row before.
      let keys = hops.enumerated().map { index, hop in
        schema.column(
          hop.key, ofTable: index == 0 ? column.entity.table : hops[index - 1].table)
      }
      expressions = names.map { name in
        if name == "NULL" { return name }
        return tables.indices.reduce("r.\(keys[0])") { inner, index in
          let next = index + 1 < keys.count ? keys[index + 1] : name
          return "(SELECT h\(index).\(next) FROM \(place(tables[index])) h\(index) "
            + "WHERE h\(index).\(key) = \(inner))"
        }
      }
      let ownKey = Source(table: column.table.name, columns: [keys[0]], keys: own.keys)
      let root = place(column.table)
      sources =
        [ownKey]
        + tables.indices.map { index in
          let next = index + 1 < keys.count ? [keys[index + 1]] : names.filter { $0 != "NULL" }
          return Source(table: tables[index].name, columns: [key] + next) { rows in
            var found = "SELECT \(rows).\(key) FROM \(rows)"
            for place in stride(from: index, to: 0, by: -1) {
              let table = SQLText.name(schema.name.text, tables[place - 1].name)
              found =
                "SELECT y\(place).\(key) FROM \(table) y\(place) WHERE y\(place).\(keys[place]) IN (\(found))"
            }
            return "SELECT y.\(key) FROM \(root) y WHERE y.\(keys[0]) IN (\(found))"
          }
        }
    }
  }

  private static func aggregate(
    _ function: String, _ names: [String], from: String, type: PostgreSQLType
  ) -> [String] {
    let value = "d.\(names[0])"
    switch function {
    case "TOTAL": return ["(SELECT coalesce(sum(\(value)), 0) FROM \(from))::\(type.name)"]
    case "AVG": return ["(SELECT avg(\(value)) FROM \(from))::\(type.name)"]
    default:
      if names.count == 1 { return ["(SELECT \(function.lowercased())(\(value)) FROM \(from))"] }
      let order = function == "MIN" ? "ASC" : "DESC"
      return names.map { name in
        let column = name == "NULL" ? name : "d.\(name)"
        let exact = names[1] == "NULL" ? "" : ", d.\(names[1]) \(order)"
        return "(SELECT \(column) FROM \(from) AND \(value) IS NOT NULL "
          + "ORDER BY \(value) \(order)\(exact) LIMIT 1)"
      }
    }
  }
}

/// The members of a to-many relationship of a row `r`, as parts of statements.
private struct Members {
  /// The table with the owners' keys, as statements name it, and by itself.
  let table: String
  let name: String
  let owner: String
  /// The column of the members' keys in a table of links; nil where the members themselves have the owner's key.
  let member: String?

  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)

  init?(_ link: SQLLink, in schema: PostgreSQLSchema) {
    let sqlName: String
    switch link {
    case .foreignKey(_, "NULL", _, _, _): return nil
    case .foreignKey(let table, let column, _, _, _):
      (sqlName, owner, member) = (table, schema.column(column, ofTable: table), nil)
    case .join(let table, let column, let other, _, _):
      sqlName = table
      owner = schema.column(column, ofTable: table)
      member = schema.column(other, ofTable: table)
    }
    guard let found = schema.table(sqlName: sqlName) else { return nil }
    name = found.name
    table = schema.place(ofTable: sqlName)
  }

  /// The links, for counting.
  var links: String { "\(table) l WHERE l.\(owner) = r.\(Self.key)" }

  /// The members as `d`.
  func rows(of members: String) -> String {
    guard let member else { return "\(table) d WHERE d.\(owner) = r.\(Self.key)" }
    return
      "\(table) l JOIN \(members) d ON d.\(Self.key) = l.\(member) WHERE l.\(owner) = r.\(Self.key)"
  }

  /// Who has which members.
  var source: DerivedValue.Source {
    let owner = owner
    return DerivedValue.Source(table: name, columns: member == nil ? [owner] : []) {
      "SELECT \($0).\(owner) FROM \($0) WHERE \($0).\(owner) IS NOT NULL"
    }
  }

  /// What the members hold.
  func source(ofValues columns: [String], in members: String) -> DerivedValue.Source {
    guard let member else {
      return DerivedValue.Source(table: name, columns: [owner] + columns, keys: source.keys)
    }
    let (table, owner) = (table, owner)
    return DerivedValue.Source(table: members, columns: columns) { rows in
      "SELECT l.\(owner) FROM \(table) l WHERE l.\(member) IN (SELECT \(rows).\(Self.key) FROM \(rows))"
    }
  }
}
