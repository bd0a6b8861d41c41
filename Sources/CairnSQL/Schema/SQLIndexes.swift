import CairnModel

/// The indexes of a new store: keys, entity numbers, declared ones and uniqueness constraints.
enum SQLIndexes {
  static func statements(for schema: SQLSchema) -> [String] {
    schema.tables.flatMap { table in
      let members = schema.entities.filter { $0.table == table.name }
      var list = keyIndexes(of: table, members: members, schema: schema)
      if let root = members.first, root.sharesTable {
        list.append(index("\(table.name)_Z_ENT_INDEX", on: table.name, "Z_ENT"))
      }
      for entity in members {
        list += legacyIndexes(of: entity)
        list += entity.entity.indexesToMake.flatMap { declared($0, of: entity) }
        list += uniqueIndexes(of: entity)
      }
      return list + (schema.joinTables[table.name] ?? []).map(\.indexStatement)
    }
  }

  private static func index(_ name: String, on table: String, _ columns: String) -> String {
    "CREATE INDEX \(SQLNaming.quoted(name)) ON \(table) (\(columns))"
  }

  /// To-one keys and the keys of to-many relationships without inverse, in column order.
  private static func keyIndexes(
    of table: SQLTable, members: [SQLEntity], schema: SQLSchema
  ) -> [String] {
    var keys: Set<String> = []
    for entity in members {
      for case .toOne(let column, _, _) in entity.slots { keys.insert(column) }
    }
    for entity in schema.entities {
      for case .foreignKey(let owner, let column, _, _, true) in entity.links
      where owner == table.name {
        keys.insert(column)
      }
    }
    return table.columns.filter { keys.contains($0.name) }.map {
      index("\(table.name)_\($0.name)_INDEX", on: table.name, $0.name)
    }
  }

  private static func legacyIndexes(of entity: SQLEntity) -> [String] {
    let declared = Set(entity.entity.indexes.map { $0.name.lowercased() })
    return entity.entity.declaredProperties.compactMap { $0 as? AttributeDescription }
      .filter { $0.isIndexed && !declared.contains($0.name.lowercased()) }
      .sorted { $0.name < $1.name }
      .compactMap { attribute in
        column(attribute.name, of: entity).map {
          index(
            "Z_\(entity.name)_\(attribute.name)", on: entity.table, "\($0) COLLATE BINARY ASC")
        }
      }
  }

  private static func declared(
    _ fetchIndex: FetchIndexDescription, of entity: SQLEntity
  ) -> [String] {
    let words = SQLiteIndexWords()
    guard let elements = words.elements(of: fetchIndex, entity) else { return [] }
    let name = "\(entity.name)_\(fetchIndex.name)"
    if elements.contains(where: { $0.element.collationType == .rTree }) {
      return SQLLocationIndex(fetchIndex, of: entity).map { [$0.tableStatement] } ?? []
    }
    let list = elements.map { "\($1) COLLATE BINARY \($0.isAscending ? "ASC" : "DESC")" }
    var statement = index("Z_\(name)", on: entity.table, list.joined(separator: ", "))
    if let predicate = fetchIndex.partialIndexPredicate,
      let condition = words.condition(predicate, of: entity)
    {
      statement += " WHERE \(condition)"
    }
    return [statement]
  }

  private static func uniqueIndexes(of entity: SQLEntity) -> [String] {
    entity.constraints.filter { $0.entity === entity.entity }.map { constraint in
      let columns = constraint.columns.map { "\($0) COLLATE BINARY ASC" }
      let name = "Z_\(entity.name)_UNIQUE_" + constraint.names.joined(separator: "_")
      return
        "CREATE UNIQUE INDEX \(SQLNaming.quoted(name)) ON \(entity.table) (\(columns.joined(separator: ", ")))"
    }
  }

  /// The column of a property; the pseudo properties of index elements included.
  static func column(_ name: String, of entity: SQLEntity) -> String? {
    switch name {
    case "self", "objectID": return "Z_PK"
    case "entity": return "Z_ENT"
    default: return entity.layout.slotByName[name].flatMap { entity.slots[$0].column }
    }
  }
}
