import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Checks a store's file against the format: what SQLite asks of a database, and what Core Data
/// asks of its tables.
///
/// Reads everything, so it takes its time, and changes nothing. Without a model only what needs
/// none is checked. One check gives at most ``limit`` findings of a kind.
struct StoreCheck {
  let connection: SQLiteConnection
  /// What is really there.
  let catalog: SQLCatalog
  /// What the model asks for, named after what is there; nil when no model is known.
  let schema: SQLSchema?
  let files: ExternalDataFiles
  /// The metadata, nil when they cannot be read.
  let metadata: [String: Any]?
  var limit = 100
  /// How bad it is what Apple's frameworks leave behind and read over: keys and links that lead to no
  /// row, an inverse on one side only, a folder of external data that is elsewhere, former names.
  ///
  /// A store that Cairn writes has none of it.
  var leftovers = StoreFinding.Severity.damage

  /// Everything that is wrong or worth knowing, in the order of the rules.
  func findings() throws -> [StoreFinding] {
    let database = try databaseFindings()
    let checks: [(StoreFinding.Rule, () throws -> [StoreFinding])] = [
      (.metadata, MetadataCheck(store: self).findings),
      (.entityNumber, BookkeepingCheck(store: self).findings),
      (.rowEntity, RowCheck(store: self).findings),
      (.reference, ReferenceCheck(store: self).findings),
      (.link, LinkCheck(store: self).findings),
      (.order, OrderCheck(store: self).findings),
      (.externalData, ExternalDataCheck(store: self).findings),
      (.uniqueness, UniquenessCheck(store: self).findings),
      (.derived, DerivedCheck(store: self).findings),
      (.checksum, checksumFindings),
      (.history, HistoryCheck(store: self).findings),
    ]
    return try checks.reduce(into: database) { result, check in
      do {
        result += try check.1()
      } catch {
        let failure = try Self.damage(in: error)
        // Pages that cannot be read end this check only; the others may still say something.
        result.append(
          StoreFinding(check.0, "The check could not be finished: \(failure.message)."))
      }
    }
  }

  /// Without a model the check does not know the order of the columns that a sum is made of.
  private func checksumFindings() throws -> [StoreFinding] {
    guard let schema else { return [] }
    let identity = StoreIdentity(identifier: metadata?[StoreMetadataKey.uuid] as? String ?? "")
    let reader = RowReader(schema: schema, identity: identity, files: files)
    return try ChecksumCheck(lookup: RowLookup(connection: connection, reader: reader)).findings()
  }

  private func databaseFindings() throws -> [StoreFinding] {
    do {
      let check = try connection.statement("PRAGMA integrity_check(\(limit))")
      defer { check.reset() }
      var result: [StoreFinding] = []
      while try check.step() {
        let line = check.string(0)
        if line != "ok" { result.append(StoreFinding(.database, line)) }
      }
      return result
    } catch {
      return [StoreFinding(.database, try Self.damage(in: error).message)]
    }
  }

  /// What SQLite says of pages that it cannot read; any other error is thrown on.
  private static func damage(in error: any Error) throws -> SQLiteFailure {
    guard let failure = SQLiteResultCode.failure(in: error), SQLiteResultCode.isFatal(failure)
    else { throw error }
    return failure
  }

  // MARK: What the checks share

  func hasTable(_ name: String) -> Bool { catalog.tables[name] != nil }

  /// Whether the file has the columns; findings about those it lacks come from
  /// ``BookkeepingCheck``.
  func has(_ columns: String?..., in table: String) -> Bool {
    guard let existing = catalog.tables[table] else { return false }
    return columns.allSatisfy { column in column.map(existing.contains) ?? true }
  }

  /// The entities of the schema whose tables are there.
  var entities: [SQLEntity] { schema?.entities.filter { hasTable($0.table) } ?? [] }

  /// Runs a query whose rows break a rule; its first two columns are `Z_PK` and `Z_ENT`.
  func rows(
    _ sql: String, _ rule: StoreFinding.Rule, _ severity: StoreFinding.Severity = .damage,
    entity: SQLEntity? = nil, table: String? = nil, column: String? = nil,
    _ message: (SQLiteStatement) -> String
  ) throws -> [StoreFinding] {
    let statement = try connection.statement("\(sql) LIMIT \(limit)")
    defer { statement.reset() }
    var result: [StoreFinding] = []
    while try statement.step() {
      let number = Int(truncatingIfNeeded: statement.integer(1))
      result.append(
        StoreFinding(
          rule, as: severity, entity: schema?.entity(number: number)?.name ?? entity?.name,
          key: statement.isNull(0) ? nil : statement.integer(0), table: table ?? entity?.table,
          column: column, message(statement)))
    }
    return result
  }

  /// The same for rows that lead to others, with two conditions: that the other row is gone, which
  /// Apple's frameworks leave behind, and that it is a wrong one.
  func leads(
    _ sql: String, gone: String, wrong: String, _ rule: StoreFinding.Rule, entity: SQLEntity?,
    table: String? = nil, column: String, _ message: (SQLiteStatement) -> String
  ) throws -> [StoreFinding] {
    try [(gone, leftovers), (wrong, .damage)].flatMap { condition, severity in
      try rows(
        "\(sql) AND \(condition)", rule, severity, entity: entity, table: table, column: column,
        message)
    }
  }

  /// The condition that a row of the table is of the entity or one below it.
  static func isOf(_ entity: SQLEntity, _ alias: String) -> String {
    "\(alias).Z_ENT BETWEEN \(entity.subtree.lowerBound) AND \(entity.subtree.upperBound)"
  }

  /// The name of an entity for messages.
  func name(ofEntity number: Int64) -> String {
    schema?.entity(number: Int(truncatingIfNeeded: number))?.name ?? "entity number \(number)"
  }
}
