import CairnModel
import CairnSQL
import CairnStore

/// Checks where relationships lead: to rows that are there, and of the right entities.
struct PostgreSQLReferenceCheck {
  let content: StoreContent

  private var schema: PostgreSQLSchema { content.schema }
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)

  var queries: [IntegrityQuery] {
    var joins: Set<String> = []
    return schema.sql.entities.flatMap { entity -> [IntegrityQuery] in
      let toOnes = entity.ownSlots.flatMap { toOne($0, of: entity) }
      let toManys = entity.ownLinks.flatMap { index -> [IntegrityQuery] in
        let relationship = entity.layout.toManys[index]
        guard let destination = relationship.destinationEntity.map({ schema.sql.entity($0) })
        else { return [] }
        switch entity.links[index] {
        case .foreignKey(_, "NULL", _, _, _), .foreignKey(_, _, _, _, false): return []
        case .foreignKey(let table, let column, _, _, true):
          let name = schema.column(column, ofTable: table)
          return [leads(from: table, name, to: entity, "an owner of \(relationship.name)")]
        case .join(let table, let owner, let member, _, _):
          guard joins.insert(table).inserted else { return [] }
          return [(owner, entity), (member, destination)].map { column, end in
            leads(
              from: table, schema.column(column, ofTable: table), to: end,
              "a link of \(entity.name).\(relationship.name)")
          }
        }
      }
      return toOnes + toManys
    }
  }

  private func toOne(_ slot: Int, of entity: SQLEntity) -> [IntegrityQuery] {
    guard case .toOne(let sqlName, let companion, let number) = entity.slots[slot],
      let relationship = entity.layout.slots[slot].relationship,
      let destination = schema.sql.entity(number: number)
    else { return [] }
    let column = schema.column(sqlName, ofTable: entity.table)
    let exact = companion.map { schema.column($0, ofTable: entity.table) }
    // Without an inverse, or with one that takes no action, Core Data leaves keys that lead nowhere.
    let inverse = relationship.inverseRelationship
    let isKept = inverse.map { $0.deleteRule != .noAction && !$0.isTransient } ?? false
    func place(_ rows: PostgreSQLRows, _ row: Int) -> String {
      "\(entity.name)/p\(rows.integer(row, 0) ?? 0).\(relationship.name) leads to "
        + "\(destination.name)/p\(rows.integer(row, 1) ?? 0)"
    }
    let from =
      "FROM \(schema.place(ofTable: entity.table)) t LEFT JOIN \(schema.place(ofTable: destination.table)) d "
      + "ON d.\(Self.key) = t.\(column) WHERE t.\(column) IS NOT NULL AND \(Self.isOf(entity, "t"))"
    var queries = [
      IntegrityQuery(
        "SELECT t.\(Self.key), t.\(column) \(from) AND d.\(Self.key) IS NOT NULL AND NOT \(Self.isOf(destination, "d"))"
      ) { "\(place($0, $1)), which is of another entity." }
    ]
    if isKept {
      queries.append(
        IntegrityQuery("SELECT t.\(Self.key), t.\(column) \(from) AND d.\(Self.key) IS NULL") {
          "\(place($0, $1)), which does not exist."
        })
    }
    if let exact {
      queries.append(
        IntegrityQuery(
          "SELECT t.\(Self.key), t.\(column), t.\(exact), d.\(Self.entity) \(from) "
            + "AND d.\(Self.key) IS NOT NULL AND t.\(exact) IS DISTINCT FROM d.\(Self.entity)"
        ) { rows, row in
          "\(place(rows, row)), whose entity is number \(rows.integer(row, 3) ?? 0) and not "
            + "\(rows.integer(row, 2).map(String.init) ?? "NULL"), as \(exact) says."
        })
    }
    if let inverse, !inverse.isToMany, let back = destination.layout.slotByName[inverse.name],
      case .toOne(let backName, _, _) = destination.slots[back]
    {
      let other = schema.column(backName, ofTable: destination.table)
      queries.append(
        IntegrityQuery(
          "SELECT t.\(Self.key), t.\(column), d.\(other) \(from) AND d.\(Self.key) IS NOT NULL "
            + "AND d.\(other) IS DISTINCT FROM t.\(Self.key)"
        ) { rows, row in
          "\(place(rows, row)), whose \(inverse.name) leads to "
            + (rows.integer(row, 2).map { "p\($0)." } ?? "nothing.")
        })
    }
    return queries
  }

  /// Keys of the owners of links, which lead to rows of an entity.
  private func leads(
    from table: String, _ column: String, to end: SQLEntity, _ what: String
  ) -> IntegrityQuery {
    IntegrityQuery(
      "SELECT t.\(column), d.\(Self.key) FROM \(schema.place(ofTable: table)) t "
        + "LEFT JOIN \(schema.place(ofTable: end.table)) d ON d.\(Self.key) = t.\(column) "
        + "WHERE t.\(column) IS NOT NULL AND (\(Self.isOf(end, "d"))) IS NOT TRUE"
    ) { rows, row in
      "\(end.name)/p\(rows.integer(row, 0) ?? 0), \(what), "
        + (rows.integer(row, 1) == nil ? "does not exist." : "is of another entity.")
    }
  }

  private static func isOf(_ entity: SQLEntity, _ alias: String) -> String {
    "\(alias).\(Self.entity) BETWEEN \(entity.subtree.lowerBound) AND \(entity.subtree.upperBound)"
  }
}
