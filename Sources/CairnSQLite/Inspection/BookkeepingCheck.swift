import CairnModel
import CairnSQL

/// Checks `Z_PRIMARYKEY` and that the tables of the model are there.
struct BookkeepingCheck {
  let store: StoreCheck
  private static let table = "Z_PRIMARYKEY"
  /// Numbers from here on belong to history and to mirroring.
  static let firstReservedNumber: Int64 = 16000

  private struct Row {
    let name: String
    let superNumber: Int64
    let maximum: Int64
  }

  func findings() throws -> [StoreFinding] {
    guard store.has("Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX", in: Self.table) else {
      return [StoreFinding(.schema, table: Self.table, "The table is missing or lacks columns.")]
    }
    let rows = try self.rows()
    return numberFindings(rows) + schemaFindings() + (try counterFindings(rows))
  }

  private func rows() throws -> [Int64: Row] {
    let statement = try store.connection.statement(
      "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT < ?")
    defer { statement.reset() }
    statement.bind(Self.firstReservedNumber, at: 1)
    var rows: [Int64: Row] = [:]
    while try statement.step() {
      rows[statement.integer(0)] = Row(
        name: statement.string(1), superNumber: statement.integer(2),
        maximum: statement.integer(3))
    }
    return rows
  }

  // MARK: Numbers

  private func numberFindings(_ rows: [Int64: Row]) -> [StoreFinding] {
    let numbers = rows.keys.sorted()
    guard let schema = store.schema else {
      var findings: [StoreFinding] = []
      if numbers != (0..<numbers.count).map({ Int64($0 + 1) }) {
        findings.append(number("The numbers of the entities do not count from 1 without gaps."))
      }
      for number in numbers {
        guard let row = rows[number], row.superNumber != 0 else { continue }
        if rows[row.superNumber] == nil || row.superNumber >= number {
          findings.append(
            StoreFinding(
              .superNumber, entity: row.name, table: Self.table, column: "Z_SUPER",
              "The number \(row.superNumber) is of no superentity."))
        }
      }
      return findings
    }
    var findings: [StoreFinding] = []
    for entity in schema.entities {
      guard let row = rows[Int64(entity.number)] else {
        findings.append(number("\(entity.name) has no row with its number, \(entity.number)."))
        continue
      }
      if row.name != entity.name, !isFormerName(row.name, of: entity, schema) {
        // A name that no entity has is one from before a migration.
        let isFormer = !row.name.isEmpty && schema.model.entitiesByName[row.name] == nil
        findings.append(
          number(
            as: isFormer ? store.leftovers : .damage,
            "Number \(entity.number) is \(row.name.isEmpty ? "without a name" : row.name); it "
              + "belongs to \(entity.name)."))
      }
      if row.superNumber != Int64(entity.superNumber) {
        findings.append(
          StoreFinding(
            .superNumber, entity: entity.name, table: Self.table, column: "Z_SUPER",
            "The number of the superentity is \(row.superNumber) instead of "
              + "\(entity.superNumber)."))
      }
    }
    for surplus in numbers where schema.entity(number: Int(surplus)) == nil {
      findings.append(
        number("Number \(surplus), \(rows[surplus]?.name ?? ""), is of no entity of the model."))
    }
    return findings
  }

  /// Apple's migrations may leave the name that an entity had before it was renamed.
  private func isFormerName(_ name: String, of entity: SQLEntity, _ schema: SQLSchema) -> Bool {
    name == entity.entity.renamingIdentifier && schema.model.entitiesByName[name] == nil
  }

  private func number(
    as severity: StoreFinding.Severity = .damage, _ message: String
  ) -> StoreFinding {
    StoreFinding(.entityNumber, as: severity, table: Self.table, column: "Z_ENT", message)
  }

  // MARK: Tables

  private func schemaFindings() -> [StoreFinding] {
    guard let schema = store.schema else { return [] }
    let joins = schema.joinTables.values.flatMap { $0 }.map { ($0.name, $0.columns) }
    let tables = schema.tables.map { ($0.name, $0.columns.map(\.name)) }
    let former = schema.entities.filter { $0.superNumber == 0 && $0.table != $0.plainTable }
    let remarks = former.map { entity in
      StoreFinding(
        .schema, as: .remark, entity: entity.name, table: entity.table,
        "The table of \(entity.name) has a name from before a migration.")
    }
    return remarks
      + (tables + joins.sorted { $0.0 < $1.0 }).flatMap { table, columns -> [StoreFinding] in
        guard let existing = store.catalog.tables[table] else {
          return [StoreFinding(.schema, table: table, "The table is missing.")]
        }
        return columns.filter { !existing.contains($0) }.map {
          StoreFinding(.schema, table: table, column: $0, "The column is missing.")
        }
      }
  }

  // MARK: Counters

  private func counterFindings(_ rows: [Int64: Row]) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for (number, row) in rows.sorted(by: { $0.key < $1.key }) {
      let entity = store.schema?.entity(number: Int(number))
      let isRoot = (entity.map { Int64($0.superNumber) } ?? row.superNumber) == 0
      func finding(_ message: String) -> StoreFinding {
        StoreFinding(
          .keyCounter, entity: entity?.name ?? row.name, table: Self.table, column: "Z_MAX",
          message)
      }
      if !isRoot {
        if row.maximum != 0 {
          findings.append(finding("A subentity counts no keys, and this one has \(row.maximum)."))
        }
        continue
      }
      let table = entity?.table ?? "Z" + row.name.uppercased()
      guard store.has("Z_PK", in: table),
        let highest = try store.connection.integer("SELECT MAX(Z_PK) FROM \(table.quotedAsName)"),
        highest > row.maximum
      else { continue }
      findings.append(
        finding("The counter is \(row.maximum), and there is a row with the key \(highest)."))
    }
    return findings
  }
}
