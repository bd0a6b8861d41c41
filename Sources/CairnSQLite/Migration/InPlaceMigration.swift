import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

/// Rebuilds the tables of a model for its next version, inside the caller's transaction: until it
/// commits, and after any error, the file is as it was.
struct InPlaceMigration {
  let url: URL
  let plan: SQLMigrationPlan
  let metadata: [String: Any]
  let files: ExternalDataFiles
  let progress: (@Sendable (Double) -> Void)?

  func run(_ connection: SQLiteConnection) throws {
    let pulse = MigrationPulse(report: progress ?? { _ in })
    guard let handle = connection.database.sqliteConnection else {
      return try migrate(connection, pulse)
    }
    try pulse.beat(on: handle) { try migrate(connection, pulse) }
  }

  private func migrate(_ connection: SQLiteConnection, _ pulse: MigrationPulse) throws {
    pulse.advance(to: 0)
    try plan.destination.checkNames()
    // The triggers of those that only another framework knows would be lost with the old tables.
    try plan.destination.checkDerivations(in: "SQLite")
    try checkMandatoryAttributes(connection)
    registerFunctions(connection)
    let maxima = try keyMaxima(connection)
    try changeTables(connection, pulse)
    try renumber(maxima, connection)
    try HistoryMigration.apply(plan, connection)
    try noteLosses(connection)
    try writeFacts(connection)
    pulse.advance(to: 1)
  }

  /// Writes down for sync the names that this migration drops.
  private func noteLosses(_ connection: SQLiteConnection) throws {
    let names = MigrationLoss(plan.difference).names
    let sidecar = SidecarTables(connection: connection)
    guard !names.isEmpty, try sidecar.value(for: MigrationTrace.witness) != nil else { return }
    let earlier = try sidecar.value(for: MigrationTrace.key) ?? Data()
    var known: Set<String> = []
    try sidecar.execute(
      [.put(MigrationTrace.key, earlier + MigrationTrace(names).encoded)], known: &known)
  }

  /// Makes the tables of the new version and copies the rows of those that do not stay.
  private func changeTables(_ connection: SQLiteConnection, _ pulse: MigrationPulse) throws {
    let moved = plan.movedTables
    let numbers = plan.numberStatements()
    // No trigger of others may see what is written here, nor an index or a view be lost with a table.
    let foreign =
      moved.isEmpty && numbers.isEmpty
      ? nil : try ForeignObjects.take(from: connection, inTables: Set(moved))
    try dropTriggers(connection)
    for table in moved where try connection.hasTable(table) {
      try connection.execute(
        "ALTER TABLE \"\(table)\" RENAME TO \(SQLMigrationPlan.oldName(of: table))")
    }
    for statement in plan.additionStatements() + plan.creationStatements() {
      try connection.execute(statement)
    }
    // Who has the store open looks for the schema's number, which is to change in any case.
    try connection.execute("CREATE TABLE CAIRN_MIGRATED (x); DROP TABLE CAIRN_MIGRATED")
    pulse.advance(to: 0.2)
    for statement in numbers { try connection.execute(statement) }
    for statement in plan.rowStatements() { try run(statement, connection) }
    for statement in plan.linkStatements() { try connection.execute(statement) }
    pulse.advance(to: 0.7)
    for table in moved {
      try connection.execute("DROP TABLE IF EXISTS \(SQLMigrationPlan.oldName(of: table))")
    }
    for statement in plan.derivationStatements() { try connection.execute(statement) }
    try IndexRenewal(schema: plan.destination, statements: plan.indexStatements()).run(connection)
    for statement in plan.indexFillStatements() { try connection.execute(statement) }
    try foreign?.putBack(into: connection)
  }

  private func run(_ fragment: SQLFragment, _ connection: SQLiteConnection) throws {
    let statement = try connection.statement(fragment.sql)
    defer { statement.reset() }
    for (index, value) in fragment.bindings.enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
    try statement.run()
  }

  /// A mandatory attribute without default must already have a value in every row.
  private func checkMandatoryAttributes(_ connection: SQLiteConnection) throws {
    for change in plan.difference.entities {
      guard let old = change.source else { continue }
      let entity = plan.source.entity(old)
      func columns(_ paths: [String]) -> [String] {
        paths.compactMap { old.layout.slotByName[$0] }.compactMap { entity.slots[$0].column }
      }
      for demand in change.demands {
        var conditions = ["Z_ENT = ?"] + columns(demand.origins).map { "\($0) IS NULL" }
        if let surroundings = demand.surroundings.map(columns) {
          if surroundings.isEmpty { continue }
          let present = surroundings.map { "\($0) IS NOT NULL" }
          conditions.append("(\(present.joined(separator: " OR ")))")
        }
        let missing = try connection.integer(
          "SELECT 1 FROM \(entity.table) WHERE \(conditions.joined(separator: " AND ")) LIMIT 1",
          Int64(entity.number))
        guard missing != nil else { continue }
        throw CoreDataError(
          .migration,
          "Objects of \(change.destination.name ?? "") in the store at \(url.path) have no value "
            + "for the mandatory attribute \(demand.path). Give it a default value in "
            + "the model, or make it optional.",
          userInfo: [
            "reason": "Cannot migrate store in-place: Validation error missing attribute values on "
              + "mandatory destination attribute",
            "entity": change.destination.name ?? "", "attribute": demand.path,
            "sourceURL": url, "destinationURL": url, NSFilePathErrorKey: url.path,
          ])
      }
    }
  }

  private func registerFunctions(_ connection: SQLiteConnection) {
    let files = files
    connection.database.add(
      function: DatabaseFunction(SQLFunctionName.tag, argumentCount: 1) { values in
        Data.fromDatabaseValue(values[0]).map { Data([1]) + $0 }
      })
    connection.database.add(
      function: DatabaseFunction(SQLFunctionName.untag, argumentCount: 1) { values in
        guard let column = Data.fromDatabaseValue(values[0]) else { return nil }
        guard let data = files.data(ofColumn: column) else {
          throw DatabaseError(message: "a file of external data cannot be read")
        }
        return data
      })
  }

  /// Counters of keys by old root number.
  private func keyMaxima(_ connection: SQLiteConnection) throws -> [Int: Int64] {
    var result: [Int: Int64] = [:]
    for entity in plan.source.entities where entity.superNumber == 0 {
      result[entity.number] = try connection.lastKey(
        ofEntity: entity.number, table: entity.table)
    }
    return result
  }

  /// Drops what keeps derived values and location indexes, also of tables that stay.
  ///
  /// A trigger names tables and numbers that may be others now. Location indexes that stay are kept.
  private func dropTriggers(_ connection: SQLiteConnection) throws {
    let tables = Set(plan.sourceTables)
    let staying = plan.stayingLocationIndexes
    let select = try connection.statement(
      "SELECT type, name, tbl_name FROM sqlite_master WHERE (type = 'trigger' "
        + "AND (name GLOB 'Z_DA_*' OR name GLOB 'Z_RT_*')) "
        + "OR (type = 'table' AND name LIKE 'Z\\_RT\\_%' ESCAPE '\\' AND sql LIKE 'CREATE VIRTUAL%')"
    )
    var drops: [String] = []
    while try select.step() {
      let name = select.string(1).quotedAsName
      if select.string(0) == "table" {
        if !staying.contains(select.string(1)) { drops.append("DROP TABLE \(name)") }
      } else if tables.contains(select.string(2)) {
        drops.insert("DROP TRIGGER \(name)", at: 0)
      }
    }
    select.reset()
    for drop in drops { try connection.execute(drop) }
  }

  /// Rows of `Z_PRIMARYKEY` for the new entities; those of other owners stay.
  private func renumber(_ maxima: [Int: Int64], _ connection: SQLiteConnection) throws {
    try connection.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
    try StoreCreation.writeEntityRows(of: plan.destination, connection)
    for change in plan.difference.entities {
      guard let old = change.source else { continue }
      let maximum = maxima[plan.source.entity(old).rootNumber] ?? 0
      let statement = try connection.statement(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(Z_MAX, ?) WHERE Z_ENT = ?")
      defer { statement.reset() }
      statement.bind(maximum, at: 1)
      statement.bind(Int64(plan.destination.entity(change.destination).rootNumber), at: 2)
      try statement.run()
    }
  }

  private func writeFacts(_ connection: SQLiteConnection) throws {
    var metadata = LeftVersions.noted(in: metadata, migratedTo: plan.destination.model)
    let entries = MetadataTable.modelEntries(of: plan.destination.model)
    for (key, value) in entries where key != StoreMetadataKey.autoVacuumLevel {
      metadata[key] = value
    }
    try MetadataTable.write(metadata, connection)
    try ModelCacheTable.write(plan.destination.model, connection)
    guard try ChecksumTable.exists(connection) else { return }
    try ChecksumTable(
      ChecksumTable.tables(of: plan.destination, connection), connection,
      files: files
    ).rebuild()
  }
}
