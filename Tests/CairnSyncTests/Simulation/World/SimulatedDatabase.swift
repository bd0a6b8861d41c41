import CairnModel
import CairnStore
import Foundation
import GRDB
import TestServers

@testable import CairnPostgreSQL
@testable import CairnSQL

/// A store in a database of its own at a real PostgreSQL server, which refuses, fails, goes away and is put back from
/// a copy, as databases are by their administrators.
final class SimulatedDatabase: SimulatedStore {
  private let server: PostgreSQLServer
  private let database: String
  /// The session of an administrator.
  private let administration: PostgreSQLConnection
  private var session: PostgreSQLConnection?
  private var locking: PostgreSQLConnection?

  override init(_ name: String, in parent: URL, denies: Bool) throws {
    server = try PostgreSQLServer.shared
    database = server.newName("simulated")
    administration = try Self.connect(server, "postgres")
    try super.init(name, in: parent, denies: denies)
  }

  deinit {
    close()
    locking = nil
    for name in [database] + [Shelf.aside, .backup].map(shelved) { try? drop(name) }
  }

  private static func connect(
    _ server: PostgreSQLServer, _ database: String
  ) throws -> PostgreSQLConnection {
    try PostgreSQLConnection(
      ConnectionParameters(
        "host='\(server.folder)' port=\(server.port) dbname=\(database) user=owner",
        environment: [:]
      ))
  }

  override var kind: any StoreKind { PostgreSQLStoreKind() }

  override var url: URL {
    let connection =
      "host=\(server.folder) port=\(server.port) dbname=\(database) user=owner application_name=\(name)"
    return (try? PostgreSQLURL.make(connection)) ?? URL(fileURLWithPath: "/")
  }

  override func create(
    _ generator: inout SeededGenerator, _ version: SampleModel.Version
  ) throws {
    try administer("CREATE DATABASE \(database)")
    try super.create(&generator, version)
  }

  // MARK: The server

  private func administer(_ text: String) throws {
    try administration.run(text, isKept: false)
  }

  /// Ends all sessions in a database; those of pools connect again.
  private func endSessions(in database: String) throws {
    try administer(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(database)'")
  }

  private func drop(_ database: String) throws {
    try administer("DROP DATABASE IF EXISTS \(database) WITH (FORCE)")
  }

  private func shelved(_ shelf: Shelf) -> String { "\(database)_\(shelf.rawValue)" }

  override var exists: Bool {
    let found = try? administration.run(
      "SELECT 1 FROM pg_database WHERE datname = '\(database)'", isKept: false)
    return found?.count == 1
  }

  override func shelve(_ shelf: Shelf, copying: Bool) throws {
    try put(database, to: shelved(shelf), copying)
  }

  override func unshelve(_ shelf: Shelf, copying: Bool) throws {
    try put(shelved(shelf), to: database, copying)
  }

  private func put(_ source: String, to destination: String, _ isCopied: Bool) throws {
    closeProbe()
    // Sessions that listen come back by themselves, and would be in the way.
    try administer("ALTER DATABASE \(source) WITH ALLOW_CONNECTIONS false")
    try endSessions(in: source)
    try drop(destination)
    try administer(
      isCopied
        ? "CREATE DATABASE \(destination) TEMPLATE \(source)"
        : "ALTER DATABASE \(source) RENAME TO \(destination)")
    guard isCopied || destination == database else { return }
    try administer("ALTER DATABASE \(database) WITH ALLOW_CONNECTIONS true")
  }

  /// Its faults are in the database, and would come back with it after all was mended.
  override func takeAway() throws {
    if exists { try heal() }
    try super.takeAway()
  }

  override func withoutPlace(_ text: String) -> String { text.replacing(database, with: name) }

  override func isInPlace(_ store: PersistentStore) -> Bool {
    (try? store.capabilities.place?.isExchanged()) == false
  }

  // MARK: Faults

  override func begin(_ trouble: Trouble, salt: Int) throws {
    try heal()
    isFaulty = true
    switch trouble {
    case .full: try fail("53100", "disk full", when: "nextval('public.fault') > \(salt % 6)")
    case .failing:
      try fail("58030", "I/O error", when: "nextval('public.fault') % \(salt % 4 + 2) = 0")
    case .unsynced: try fail("58030", "I/O error", when: "true", atCommit: true)
    case .broken:
      try administer("ALTER DATABASE \(database) WITH ALLOW_CONNECTIONS false")
      closeProbe()
      try endSessions(in: database)
    case .readOnly:
      try administer("ALTER DATABASE \(database) SET default_transaction_read_only = on")
      closeProbe()
      try endSessions(in: database)
    case .locked:
      let session = try Self.connect(server, database)
      try session.run("BEGIN", isKept: false)
      try session.run("LOCK TABLE cairn.cairn_sidecar IN EXCLUSIVE MODE", isKept: false)
      locking = session
    }
  }

  /// Has commits fail, by triggers on what each of them writes to.
  private func fail(
    _ code: String, _ words: String, when condition: String, atCommit: Bool = false
  ) throws {
    let session = try probe()
    for text in [
      "CREATE SEQUENCE public.fault",
      "CREATE FUNCTION public.fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF \(condition) "
        + "THEN RAISE EXCEPTION '\(words)' USING ERRCODE = '\(code)'; END IF; RETURN NULL; END $$",
    ] { try session.run(text, isKept: false) }
    for table in ["cairn_sidecar", "cairn_transaction"] {
      try session.run(
        atCommit
          ? "CREATE CONSTRAINT TRIGGER fault AFTER INSERT OR UPDATE ON cairn.\(table) "
            + "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.fault()"
          : "CREATE TRIGGER fault BEFORE INSERT OR UPDATE OR DELETE ON cairn.\(table) "
            + "FOR EACH STATEMENT EXECUTE FUNCTION public.fault()",
        isKept: false)
    }
  }

  override func heal() throws {
    locking = nil
    if isFaulty, exists {
      try administer("ALTER DATABASE \(database) WITH ALLOW_CONNECTIONS true")
      try administer("ALTER DATABASE \(database) RESET default_transaction_read_only")
      closeProbe()
      try endSessions(in: database)
      let session = try probe()
      try session.run("DROP FUNCTION IF EXISTS public.fault() CASCADE", isKept: false)
      try session.run("DROP SEQUENCE IF EXISTS public.fault", isKept: false)
    }
    isFaulty = false
  }

  // MARK: From outside

  override func closeProbe() {
    super.closeProbe()
    session = nil
  }

  private func probe() throws -> PostgreSQLConnection {
    if let session, session.isAlive { return session }
    let made = try Self.connect(server, database)
    session = made
    return made
  }

  override func setDate(
    _ milliseconds: UInt64, and microseconds: Int, ofTransactionsAfter number: Int64
  ) throws {
    let seconds =
      Double(milliseconds) / 1000 + Double(microseconds) / 1_000_000
      - Date.timeIntervalBetween1970AndReferenceDate
    var parameters = ParameterList()
    parameters.append(double: seconds)
    parameters.append(number)
    try probe().run(
      "UPDATE cairn.cairn_transaction SET seconds = $1 WHERE number > $2", parameters)
  }

  override func setValue(_ value: String, ofItem key: String) throws {
    let schema = try schema()
    let table = schema.tables.first { $0.sqlName == "ZITEM" }
    guard let column = table?.column(sqlName: "ZTEXT") ?? table?.column(sqlName: "ZVALUE") else {
      return
    }
    var parameters = ParameterList()
    parameters.append(value)
    parameters.append(key)
    try probe().run(
      "UPDATE cairn.item SET \(SQLText.name(column.name)) = $1 WHERE key = $2", parameters)
  }

  override func lastTransaction() throws -> Int64 {
    try probe().run("SELECT max(number) FROM cairn.cairn_transaction").integer(0, 0) ?? 0
  }

  private func schema() throws -> PostgreSQLSchema {
    let name = try SchemaName(PostgreSQLURL.defaultSchema)
    let record = try StoreSchema(name: name, connection: probe()).record()
    let model = SampleModel.make(version, denies: denies)
    try model.prepareForUse()
    return PostgreSQLSchema(
      SQLSchema(model: model), in: name, kept: record?.names ?? KeptNames())
  }

  /// The tables under the names that they have in a file.
  override func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let schema = try schema()
    let copy = try DatabaseQueue()
    try copy.write { database in
      for table in schema.tables { try fill(table, into: database) }
      try database.execute(sql: "CREATE TABLE Z_PRIMARYKEY (Z_ENT, Z_NAME)")
      for entity in schema.sql.entities {
        try database.execute(
          sql: "INSERT INTO Z_PRIMARYKEY VALUES (?, ?)", arguments: [entity.number, entity.name])
      }
      let rows = try probe().run("SELECT map, key, value FROM cairn.cairn_sidecar")
      var maps: Set<String> = []
      for row in 0..<rows.count {
        guard let map = rows.text(row, 0) else { continue }
        if maps.insert(map).inserted {
          try database.execute(sql: "CREATE TABLE \"CAIRN_\(map)\" (K, V)")
        }
        try database.execute(
          sql: "INSERT INTO \"CAIRN_\(map)\" VALUES (?, ?)",
          arguments: [rows.data(row, 1), rows.data(row, 2)])
      }
    }
    return try copy.read(body)
  }

  private func fill(_ table: PostgreSQLTable, into database: Database) throws {
    let columns = table.columns.filter { $0.sqlName != nil }
    let names = columns.map { SQLText.name($0.sqlName ?? "") }.joined(separator: ", ")
    try database.execute(sql: "CREATE TABLE \(SQLText.name(table.sqlName)) (\(names))")
    let values = columns.map { Self.text(of: $0, in: table) }.joined(separator: ", ")
    let rows = try probe().run(
      "SELECT \(values) FROM cairn.\(SQLText.name(table.name)) ORDER BY 1", isKept: false)
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    for row in 0..<rows.count {
      let values = columns.enumerated().map { index, column in
        Self.value(rows.text(row, index), of: column)
      }
      try database.execute(
        sql: "INSERT INTO \(SQLText.name(table.sqlName)) VALUES (\(places))",
        arguments: StatementArguments(values))
    }
  }

  /// The column's value as text, exactly.
  private static func text(of column: PostgreSQLColumn, in table: PostgreSQLTable) -> String {
    let name = SQLText.name(column.name)
    switch column.form {
    case .bytes: return "encode(\(name), 'hex')"
    case .uuid: return "encode(uuid_send(\(name)), 'hex')"
    case .boolean: return "\(name)::int::text"
    case .date:
      let seconds = "extract(epoch FROM \(name))::float8 - 978307200"
      let exact = table.exactColumn(of: column).map { SQLText.name($0.name) }
      return "(\(exact.map { "coalesce(\($0), \(seconds))" } ?? seconds))::text"
    default: return "\(name)::text"
    }
  }

  private static func value(
    _ text: String?, of column: PostgreSQLColumn
  ) -> (any DatabaseValueConvertible)? {
    guard let text else { return nil }
    switch column.form {
    case nil, .key, .integer, .boolean: return Int64(text)
    case .double, .real, .date, .numeric: return Double(text)
    case .bytes, .uuid:
      let digits = Array(text.utf8)
      return Data(
        stride(from: 0, to: digits.count, by: 2).compactMap {
          UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        })
    case .text, .url: return text
    }
  }
}
