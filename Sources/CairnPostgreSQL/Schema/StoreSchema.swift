import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// What a schema says of the store in it.
struct StoreRecord {
  let identifier: String
  let metadata: [String: Any]
  /// The model that the store remembers, in an archive.
  let model: Data?
  let names: KeptNames
  let state: StoreState
  /// Whether triggers record what other programs write.
  let capturesSQL: Bool
}

/// What a store's triggers and checks lack.
private struct Staleness {
  /// Whether triggers call functions of an older version, or of the schema's former name.
  let hasOldFunctions: Bool
  /// The functions that are not there, or that no trigger calls.
  let missing: [String]
  /// The tables that take rows of any entity.
  let uncheckedTables: Set<String>
  let places: TablePlaces

  var isEmpty: Bool {
    !hasOldFunctions && missing.isEmpty && uncheckedTables.isEmpty && places.areNoted
  }
  /// Whether history lacks what other programs wrote.
  ///
  /// A table that was put back does not count: its rows are no writes, and those that it lacks were not deleted.
  var missesSQL: Bool {
    let schema = places.schema
    let followed = SQLCapture.functions(for: schema) { !places.isPutBack($0) }
    return missing.contains { followed.contains("\(SQLText.name(schema.name.text, $0))()") }
  }
}

/// What of a store its writers have to know, and other programs may change.
struct StoreState: Sendable, Equatable {
  /// Which store it is.
  var identifier: String
  /// Whether commits are recorded.
  let keepsHistory: Bool
  /// Counts the migrations.
  let version: Int64
  /// Whether each commit notifies the programs that listen.
  var announces = false

  /// - Parameter rows: Those of ``query(in:)``.
  init?(_ rows: PostgreSQLRows) {
    guard rows.count == 1, let keepsHistory = rows.flag(0, 0), let version = rows.integer(0, 1),
      let identifier = rows.text(0, 3)
    else { return nil }
    self.init(identifier: identifier, keepsHistory: keepsHistory, version: version)
    announces = rows.flag(0, 2) ?? false
  }

  init(identifier: String, keepsHistory: Bool, version: Int64) {
    self.identifier = identifier
    self.keepsHistory = keepsHistory
    self.version = version
  }

  static func query(in schema: SchemaName) -> Statement {
    Statement(
      "SELECT history, version, announces, identifier FROM "
        + SQLText.name(schema.text, BookkeepingTables.store)
    )
  }
}

/// Finds the store of a schema, or makes one there.
struct StoreSchema {
  let name: SchemaName
  let connection: PostgreSQLConnection

  var place: String { "the schema \(name) of \(connection.place)" }

  /// The store in the schema; nil where the schema is empty or not there.
  ///
  /// - Throws: 134000 for a schema with tables of another program, or a store of a later version of Cairn.
  func record() throws -> StoreRecord? {
    try failures(in: "open") {
      switch try content() {
      case .missing, .empty: return nil
      case .foreign: throw foreign
      case .store: return try readRecord()
      }
    }
  }

  /// Makes an empty store, all of it or nothing, unless another program has made one meanwhile.
  ///
  /// - Returns: The store that is there in the end, and whether this call made it.
  func create(
    _ schema: PostgreSQLSchema, identifier: String, metadata: [String: Any],
    reconnect: () throws -> PostgreSQLConnection
  ) throws -> (record: StoreRecord, isNew: Bool) {
    let list = try Self.data(of: metadata)
    return try failures(in: "make a store in") {
      let transaction = try PostgreSQLTransaction(on: connection)
      do {
        try lock()
        let found = try content()
        if found == .store {
          let record = try readRecord()
          transaction.rollBack()
          return (record, false)
        }
        if found == .foreign { throw foreign }
        // One that is there is its owner's, who may have let this role do no more than make tables.
        let container =
          found == .missing
          ? [
            "CREATE SCHEMA \(name.quoted)",
            "COMMENT ON SCHEMA \(name.quoted) IS 'A store of Cairn; its tables are those of its model'",
          ] : []
        let statements =
          container + BookkeepingTables.statements(in: name) + schema.creationStatements
          + TablePlaces.notes(in: name)
        try connection.run(
          statements.map { Statement($0, isKept: false) }
            + BookkeepingTables.contents(of: schema, identifier: identifier, metadata: list))
        let record = try readRecord()
        try transaction.commit(reconnect: reconnect)
        return (record, true)
      } catch {
        if connection.transactionStatus != .idle { _ = try? connection.run("ROLLBACK") }
        throw error
      }
    }
  }

  /// Removes the store in the schema, and the schema, which is the store; does nothing where there is none.
  ///
  /// - Throws: 134000 for a schema of another program.
  func destroy(reconnect: () throws -> PostgreSQLConnection) throws {
    try failures(in: "destroy the store in") {
      let transaction = try PostgreSQLTransaction(on: connection)
      do {
        try lock()
        switch try content() {
        case .missing, .empty: transaction.rollBack()
        case .foreign: throw foreign
        case .store:
          try connection.run("DROP SCHEMA \(name.quoted) CASCADE", isKept: false)
          try transaction.commit(reconnect: reconnect)
        }
      } catch {
        if connection.transactionStatus != .idle { _ = try? connection.run("ROLLBACK") }
        throw error
      }
    }
  }

  /// Lets one session at a time change what the schema is; the lock ends with the transaction.
  func lock() throws {
    let statement = TransactionLock.schema.statement(of: name)
    try connection.run(statement.text, statement.parameters)
  }

  /// Has all commits recorded from now on, as writers find out when they begin their next transaction.
  ///
  /// - Parameter captured: The tables, where triggers shall record what other programs write.
  func keepHistory(
    capturing captured: PostgreSQLSchema?, reconnect: () throws -> PostgreSQLConnection
  ) throws {
    try change("keep history of", reconnect) { found in
      let isNew = captured != nil && !found.capturesSQL
      return (isNew ? captured.map { SQLCapture.statements(for: $0) } ?? [] : [])
        + ["history = true, captures = \(captured != nil || found.capturesSQL)"]
    }
  }

  /// How long it waits for the tables, in milliseconds: who works on them behind a long statement would wait along.
  private static let patienceForTriggers = 500

  /// Makes the functions of triggers anew where they are stale, and checks where tables lack them.
  ///
  /// A role that does not own the functions leaves them as they are, and so does a session that another program keeps from
  /// the tables: the session that opens the store next tries again, and until then verification names the triggers.
  ///
  /// History lacks what other programs wrote while triggers were away. So this marks history as purged up to now, and
  /// each reader of it looks at all rows. A ``CairnStore/MigrationTrace`` names to sync the columns that an administrator
  /// dropped and put back, as it names what a migration drops: no program wrote their values.
  func renewFunctions(
    for schema: PostgreSQLSchema, of record: StoreRecord,
    reconnect: () throws -> PostgreSQLConnection
  ) throws {
    do {
      let isWhole = try failures(in: "open") {
        try staleness(of: schema, captures: record.capturesSQL).isEmpty
      }
      if isWhole { return }
      try change("renew the triggers of", reconnect) { found in
        let stale = try staleness(of: schema, captures: found.capturesSQL)
        // Another program may have been faster; the last words change nothing.
        if stale.isEmpty { return ["captures = captures"] }
        try MigrationTrace(stale.places.putBack).keep(in: name, on: connection)
        let renewal =
          [
            "SET LOCAL lock_timeout = \(Self.patienceForTriggers)", SQLCapture.removal(from: name),
            DerivedTriggers.removal(from: name),
          ] + DerivedTriggers.statements(for: schema)
          + (found.capturesSQL ? SQLCapture.statements(for: schema) : [])
          + schema.entityCheckStatements(of: stale.uncheckedTables, isValidated: false)
          + TablePlaces.notes(in: name)
        if !found.capturesSQL || !stale.missesSQL { return renewal + ["captures = captures"] }
        return renewal + [
          TransactionLock.history.text(of: name),
          "purged = \(PostgreSQLHistoryTables.nextNumber(in: name))",
        ]
      }
    } catch let error as CoreDataError {
      let state = error.userInfo[PostgreSQLFailure.sqlStateKey] as? String
      guard state == SQLState.noRight.code || state == SQLState.lockTimeout.code else {
        throw error
      }
    }
  }

  private func staleness(of schema: PostgreSQLSchema, captures: Bool) throws -> Staleness {
    let results = try connection.run([
      Statement(StoreFunctions.old(in: name), isKept: false),
      StoreFunctions.missing(from: schema, captures: captures),
      schema.uncheckedTables,
    ])
    func names(_ rows: PostgreSQLRows) -> [String] {
      (0..<rows.count).compactMap { rows.text($0, 0) }
    }
    return Staleness(
      hasOldFunctions: results[0].count > 0, missing: names(results[1]),
      uncheckedTables: Set(names(results[2])),
      places: try TablePlaces(of: schema, on: connection))
  }

  /// Has all commits told to those who listen.
  func announceCommits(reconnect: () throws -> PostgreSQLConnection) throws {
    try change("watch", reconnect) { _ in ["announces = true"] }
  }

  /// Changes what writers have to know; those who have begun without it end first.
  ///
  /// - Parameter body: Gives statements, and at the end settings of the store's row.
  private func change(
    _ work: String, _ reconnect: () throws -> PostgreSQLConnection,
    _ body: (StoreRecord) throws -> [String]
  ) throws {
    try failures(in: work) {
      let transaction = try PostgreSQLTransaction(on: connection)
      do {
        try lock()
        var statements = try body(readRecord())
        let settings = statements.popLast() ?? ""
        statements.append(
          "UPDATE \(SQLText.name(name.text, BookkeepingTables.store)) SET \(settings)")
        try connection.run(statements.map { Statement($0, isKept: false) })
        try transaction.commit(reconnect: reconnect)
      } catch {
        if connection.transactionStatus != .idle { _ = try? connection.run("ROLLBACK") }
        throw error
      }
    }
  }

  // MARK: Looking

  private enum Content {
    case missing, empty, foreign, store
  }

  private func content() throws -> Content {
    var parameters = ParameterList()
    parameters.append(name.text)
    parameters.append(BookkeepingTables.store)
    let rows = try connection.run(
      "SELECT count(c.oid), count(c.oid) FILTER (WHERE c.relname = $2 AND c.relkind = 'r') "
        + "FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid "
        + "WHERE n.nspname = $1 GROUP BY n.oid", parameters)
    guard rows.count == 1 else { return .missing }
    if rows.integer(0, 1) == 1 { return .store }
    return rows.integer(0, 0) == 0 ? .empty : .foreign
  }

  private var foreign: CoreDataError {
    CoreDataError(
      .persistentStoreInvalidType,
      "Cannot open a store in \(place): it has tables of another program. Name another schema; a store makes "
        + "its own.")
  }

  func readRecord() throws -> StoreRecord {
    let rows = try connection.run(
      "SELECT format, identifier, metadata, model, history, version, announces, captures FROM "
        + SQLText.name(name.text, BookkeepingTables.store))
    guard rows.count == 1, let format = rows.integer(0, 0), let identifier = rows.text(0, 1),
      let data = rows.data(0, 2)
    else {
      throw CoreDataError(
        .persistentStoreOpen,
        "The table \(BookkeepingTables.store) in \(place) has no row, so it is not known which store it is; restore "
          + "a backup.")
    }
    guard format <= BookkeepingTables.format else {
      throw CoreDataError(
        .persistentStoreInvalidType,
        "The store in \(place) has format \(format); this version of Cairn knows those up to "
          + "\(BookkeepingTables.format). Use a newer version.")
    }
    guard let metadata = (try? PropertyListReading.value(in: data)) as? [String: Any] else {
      throw CoreDataError(
        .persistentStoreOpen,
        "The metadata of the store in \(place) are damaged: they are no property list. Restore a backup."
      )
    }
    var state = StoreState(
      identifier: identifier, keepsHistory: rows.flag(0, 4) ?? false,
      version: rows.integer(0, 5) ?? 1)
    state.announces = rows.flag(0, 6) ?? false
    return StoreRecord(
      identifier: identifier, metadata: metadata, model: rows.data(0, 3),
      names: try BookkeepingTables.keptNames(in: name, on: connection),
      state: state, capturesSQL: rows.flag(0, 7) ?? false)
  }

  static func data(of metadata: [String: Any]) throws -> Data {
    if let data = try? PropertyListReading.data(of: metadata) { return data }
    throw CoreDataError(
      .persistentStoreSave,
      "The store's metadata holds a value that is no property list value; use strings, numbers, dates, data, "
        + "arrays and dictionaries only.")
  }

  /// Says of what the server refuses where it happened.
  func failures<Result>(in work: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as PostgreSQLFailure {
      throw failure.error(work, place)
    }
  }
}
