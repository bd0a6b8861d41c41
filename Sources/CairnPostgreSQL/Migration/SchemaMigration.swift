import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Brings the tables of a store to another version of its model, inside the caller's transaction.
///
/// Which rows, values and links go where is decided by ``SQLMigrationPlan``, as for SQLite stores. A table that holds no more
/// and no less than before stays, or gets columns more; the others are made anew beside the old ones, filled, and granted to
/// the same roles.
struct SchemaMigration {
  let plan: SQLMigrationPlan
  let old: PostgreSQLSchema
  let new: PostgreSQLSchema
  let connection: PostgreSQLConnection
  let capturesSQL: Bool
  private var words = MigrationWords()

  init(
    _ plan: SQLMigrationPlan, record: StoreRecord, in schema: SchemaName,
    on connection: PostgreSQLConnection
  ) {
    self.plan = plan
    self.connection = connection
    capturesSQL = record.capturesSQL
    old = PostgreSQLSchema(plan.source, in: schema, kept: record.names)
    new = PostgreSQLSchema(plan.destination, in: schema, kept: record.names)
  }

  private var schema: SchemaName { new.name }
  private func place(_ table: String) -> String { SQLText.name(schema.text, table) }
  private func name(_ text: String) -> String { SQLText.name(text) }
  private func run(_ statements: [String]) throws {
    try connection.run(statements.map { Statement($0, isKept: false) })
  }

  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)

  mutating func run() throws {
    try checkMandatoryAttributes()
    try run([
      SQLCapture.removal(from: schema), DerivedTriggers.removal(from: schema),
      droppingOfConstraints,
    ])
    try run(old.indexes.map { "DROP INDEX IF EXISTS \(place($0.name))" })
    let keys = try lastKeys()
    let moved = plan.movedTables.compactMap { old.table(sqlName: $0) }
    try moveAway(moved)
    try change()
    try fill(moved)
    try run([PrivilegeKeeping(plan: plan, moved: moved, new: new).statement].compactMap { $0 })
    try run(moved.map { "DROP TABLE \(place(Self.away($0)))" })
    try continueKeys(keys)
    try run(
      new.indexStatements + new.entityCheckStatements(isValidated: false)
        + new.referenceStatements(isValidated: false) + new.commentStatements
        + DerivedTriggers.statements(for: new) + DerivedTriggers.computations(for: new))
    try FoldedColumns(schema: new, connection: connection).compute()
    if capturesSQL { try run(SQLCapture.statements(for: new)) }
    try HistoryRenaming(plan: plan, schema: schema).statements.forEach { statement in
      try connection.run(statement.text, statement.parameters, isKept: false)
    }
    try MigrationTrace(MigrationLoss(plan.difference).names).keep(in: schema, on: connection)
    try run(TablePlaces.notes(in: schema))
  }

  // MARK: Before

  /// A mandatory attribute without default must already have a value in every row.
  private func checkMandatoryAttributes() throws {
    for change in plan.difference.entities {
      guard let former = change.source else { continue }
      let entity = plan.source.entity(former)
      func columns(_ paths: [String]) -> [String] {
        paths.compactMap { former.layout.slotByName[$0] }.compactMap { entity.slots[$0].column }
          .map { old.column($0, ofTable: entity.table) }
      }
      for demand in change.demands {
        var conditions =
          ["\(Self.entity) = \(entity.number)"]
          + columns(demand.origins).map { "\($0) IS NULL" }
        if let surroundings = demand.surroundings.map(columns) {
          if surroundings.isEmpty { continue }
          let present = surroundings.map { "\($0) IS NOT NULL" }
          conditions.append("(\(present.joined(separator: " OR ")))")
        }
        let rows = try connection.run(
          "SELECT 1 FROM \(old.place(ofTable: entity.table)) WHERE "
            + conditions.joined(separator: " AND ") + " LIMIT 1", isKept: false)
        if rows.count == 0 { continue }
        throw CoreDataError(
          .migration,
          "Objects of \(change.destination.name ?? "") in the schema \(schema) have no value for the mandatory "
            + "attribute \(demand.path). Give it a default value in the model, or make it optional.",
          userInfo: [
            "reason": "Cannot migrate store in-place: Validation error missing attribute values on "
              + "mandatory destination attribute",
            "entity": change.destination.name ?? "", "attribute": demand.path,
          ])
      }
    }
  }

  /// Drops the constraints of the store's tables that the migration makes anew.
  private var droppingOfConstraints: String {
    let tables = old.tables.map { SQLText.literal($0.name) }.joined(separator: ", ")
    let body = """
      DECLARE c record; BEGIN
        FOR c IN SELECT k.conname, r.relname FROM pg_catalog.pg_constraint k
          JOIN pg_catalog.pg_class r ON r.oid = k.conrelid
          JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
          WHERE n.nspname = \(SQLText.literal(schema.text)) AND r.relname IN (\(tables))
            AND (k.contype = 'f' AND k.conparentid = 0 OR k.conname = \(SQLText.literal(PostgreSQLSchema.entityCheck)))
        LOOP
          EXECUTE pg_catalog.format('ALTER TABLE %I.%I DROP CONSTRAINT %I', \(SQLText.literal(schema.text)), c.relname, c.conname);
        END LOOP;
      END
      """
    return "DO \(SQLText.literal(body))"
  }

  /// The last key that each hierarchy has given, by the table of its root.
  private func lastKeys() throws -> [String: Int64] {
    var keys: [String: Int64] = [:]
    for table in old.tables where table.primaryKey.isEmpty {
      var parameters = ParameterList()
      parameters.append(place(table.name))
      parameters.append(PostgreSQLSchemaBuilder.identifier)
      let rows = try connection.run(
        "SELECT coalesce(pg_catalog.pg_sequence_last_value("
          + "pg_catalog.pg_get_serial_sequence($1, $2)::regclass), 0)", parameters, isKept: false)
      keys[table.sqlName] = rows.integer(0, 0) ?? 0
    }
    return keys
  }

  // MARK: Tables

  /// What a table of the old version is called until its rows are copied.
  static func away(_ table: PostgreSQLTable) -> String {
    var allocator = NameAllocator()
    return allocator.unique("cairn_old_\(table.name)")
  }

  private func moveAway(_ tables: [PostgreSQLTable]) throws {
    for table in tables {
      let away = Self.away(table)
      var allocator = NameAllocator()
      let key = allocator.unique("\(away)_pkey")
      try run([
        "ALTER TABLE \(place(table.name)) RENAME TO \(name(away))",
        "ALTER INDEX \(place("\(table.name)_pkey")) RENAME TO \(name(key))",
      ])
    }
  }

  private func change() throws {
    var statements: [String] = []
    for table in new.tables {
      let isStaying =
        plan.stayingTables.contains(table.sqlName) || plan.stayingJoinTables.contains(table.sqlName)
      guard isStaying, let former = old.table(sqlName: table.sqlName) else {
        statements.append(new.creation(of: table))
        continue
      }
      let place = place(table.name)
      if former.name != table.name {
        statements.append("ALTER TABLE \(self.place(former.name)) RENAME TO \(name(table.name))")
      }
      for column in table.columns {
        let known = self.former(of: column, of: table, in: former)
        if let known, known.name != column.name {
          statements.append(
            "ALTER TABLE \(place) RENAME COLUMN \(name(known.name)) TO \(name(column.name))")
        } else if known == nil {
          statements.append("ALTER TABLE \(place) ADD COLUMN \(column.declaration)")
        }
      }
      if table.primaryKey.isEmpty {
        let members = plan.destination.entities.filter { $0.table == table.sqlName }
        let standard =
          members.count == 1 ? "SET DEFAULT \(members[0].number)" : "DROP DEFAULT"
        statements.append("ALTER TABLE \(place) ALTER COLUMN \(Self.entity) \(standard)")
      }
    }
    try run(statements)
  }

  /// The column that a table which stays has already; what makes a value exact stays with the value.
  private func former(
    of column: PostgreSQLColumn, of table: PostgreSQLTable, in former: PostgreSQLTable
  ) -> PostgreSQLColumn? {
    if let sqlName = column.sqlName { return former.column(sqlName: sqlName) }
    let value = table.columns.first {
      $0.sqlName != nil && table.exactColumn(of: $0)?.name == column.name
    }
    return value?.sqlName.flatMap { former.column(sqlName: $0) }.flatMap {
      former.exactColumn(of: $0)
    }
  }

  private mutating func fill(_ moved: [PostgreSQLTable]) throws {
    var views: [String] = []
    for table in new.tables {
      views.append(words.creation(of: table.sqlName, over: place(table.name), table))
    }
    for table in moved {
      views.append(
        words.creation(
          of: SQLMigrationPlan.oldName(of: table.sqlName), over: place(Self.away(table)), table))
    }
    try run(views)
    var statements = try plan.numberStatements().map { try words.statement(SQLFragment($0)) }
    statements += try plan.rowStatements().map { try words.statement($0) }
    statements += exactStatements(moved)
    statements += try plan.linkStatements().map { try words.statement(SQLFragment($0)) }
    for statement in statements {
      try connection.run(statement.text, statement.parameters, isKept: false)
    }
    let names =
      new.tables.map(\.sqlName) + moved.map { SQLMigrationPlan.oldName(of: $0.sqlName) }
    try run(words.views(of: names).map { "DROP VIEW \($0)" })
  }

  /// What makes dates exact, which SQLite's columns do not have.
  private func exactStatements(_ moved: [PostgreSQLTable]) -> [Statement] {
    plan.difference.entities.flatMap { change -> [Statement] in
      guard let source = change.source else { return [] }
      let (former, next) = (plan.source.entity(source), plan.destination.entity(change.destination))
      guard let from = moved.first(where: { $0.sqlName == former.table }),
        let to = new.table(sqlName: next.table)
      else { return [] }
      return next.slots.indices.compactMap { index -> Statement? in
        guard let column = next.slots[index].column.flatMap({ to.column(sqlName: $0) }),
          let exact = to.exactColumn(of: column),
          let slot = change.sourcePath(of: next.layout.slots[index].name).flatMap({
            former.layout.slotByName[$0]
          }),
          let formerColumn = former.slots[slot].column.flatMap({ from.column(sqlName: $0) }),
          let formerExact = from.exactColumn(of: formerColumn)
        else { return nil }
        return Statement(
          "UPDATE \(place(to.name)) n SET \(name(exact.name)) = o.\(name(formerExact.name)) "
            + "FROM \(place(Self.away(from))) o WHERE n.\(Self.key) = o.\(Self.key) "
            + "AND o.\(Self.entity) = \(former.number) AND o.\(name(formerExact.name)) IS NOT NULL",
          isKept: false)
      }
    }
  }

  /// Goes on with keys behind those that were given, be their objects deleted.
  private func continueKeys(_ keys: [String: Int64]) throws {
    // A root may be new above entities that there were.
    var lasts: [String: Int64] = [:]
    for change in plan.difference.entities {
      guard let source = change.source else { continue }
      let table = plan.destination.entity(change.destination).table
      let last = keys[plan.source.entity(source.rootEntity).table] ?? 0
      if !plan.stayingTables.contains(table) { lasts[table] = max(lasts[table] ?? 0, last) }
    }
    for (table, last) in lasts.sorted(by: { $0.key < $1.key }) where last > 0 {
      var parameters = ParameterList()
      parameters.append(new.place(ofTable: table))
      parameters.append(PostgreSQLSchemaBuilder.identifier)
      parameters.append(last)
      try connection.run(
        "SELECT pg_catalog.setval(pg_catalog.pg_get_serial_sequence($1, $2)::regclass, $3)",
        parameters, isKept: false)
    }
  }
}
