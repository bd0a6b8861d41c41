import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// The tables of persistent history, and the statements that number a transaction when it commits.
///
/// Changes stand under a key that their transaction draws when it begins to write. Its number, by which readers go on, it
/// draws at the very end, under a lock that it keeps until it has committed: numbers are in the order of commits.
enum PostgreSQLHistoryTables {
  static let transactions = "cairn_transaction"
  static let changes = "cairn_change"
  static let keys = "cairn_transaction_key"
  static let numbers = "cairn_transaction_number"
  static let changeNumbers = "cairn_change_number"

  /// All of them, with the sequences.
  static let all = [transactions, changes, keys, numbers, changeNumbers]

  static func place(_ name: String, in schema: SchemaName) -> String {
    SQLText.name(schema.text, name)
  }

  /// A sequence as a value in statements.
  static func sequence(_ name: String, in schema: SchemaName) -> String {
    SQLText.literal(place(name, in: schema)) + "::regclass"
  }

  static func statements(in schema: SchemaName) -> [String] {
    let (transactions, changes) = (place(transactions, in: schema), place(changes, in: schema))
    return [keys, numbers, changeNumbers].map { "CREATE SEQUENCE \(place($0, in: schema))" } + [
      "CREATE TABLE \(transactions) (key bigint PRIMARY KEY, number bigint UNIQUE, "
        + "committed timestamp with time zone NOT NULL, seconds double precision NOT NULL, "
        + "author text, context text, bundle text, process text)",
      "CREATE INDEX ON \(transactions) (seconds)",
      "COMMENT ON TABLE \(transactions) IS 'Persistent history: the commits, numbered in their order'",
      "COMMENT ON COLUMN \(transactions).seconds IS 'committed, exactly, as seconds since 2001'",
      "CREATE TABLE \(changes) (transaction_key bigint NOT NULL, "
        + "number bigint NOT NULL DEFAULT nextval(\(sequence(changeNumbers, in: schema))), "
        + "kind smallint NOT NULL, entity integer NOT NULL, row_key bigint NOT NULL, "
        + "properties text[], tombstone jsonb, PRIMARY KEY (transaction_key, number))",
      "COMMENT ON TABLE \(changes) IS 'Persistent history: what each commit changed'",
      "COMMENT ON COLUMN \(changes).kind IS '0 is an insert, 1 an update, 2 a delete'",
    ]
  }

  /// Draws the key under which the changes of a transaction stand.
  static func beginning(in schema: SchemaName) -> Statement {
    Statement("SELECT nextval(\(sequence(keys, in: schema)))")
  }

  /// Has the commit of the transaction wait until it outlasts a crash of the server.
  static let lasting = Statement(
    "SELECT set_config('synchronous_commit', 'local', true) "
      + "WHERE current_setting('synchronous_commit') = 'off'")

  /// Numbers the transaction of the session; the last statements before its commit, in one round trip with it.
  ///
  /// The second takes the lock, which ends after other sessions see what was committed. The first has the commit wait
  /// until it lasts: readers note the number, which must not come back after a crash for another transaction. The last
  /// gives the number.
  static func numbering(
    of request: (author: String?, contextName: String?, date: Date), in schema: SchemaName
  ) -> [Statement] {
    var parameters = ParameterList()
    let seconds = request.date.timeIntervalSinceReferenceDate
    parameters.append(double: seconds)
    parameters.append(request.author)
    parameters.append(request.contextName)
    parameters.append(Bundle.main.bundleIdentifier)
    parameters.append(ProcessInfo.processInfo.processName)
    return [
      lasting, TransactionLock.history.statement(of: schema),
      Statement(
        "INSERT INTO \(place(transactions, in: schema)) "
          + "(key, number, committed, seconds, author, context, bundle, process) "
          + "SELECT currval(\(sequence(keys, in: schema))), \(nextNumber(in: schema)), "
          + "to_timestamp($1 + 978307200), $1, $2, $3, $4, $5 RETURNING number", parameters),
    ]
  }

  /// Draws the number of a commit: always a later one than any that readers may have noted, also where the sequence was
  /// left behind when the tables were copied, as logical replication does.
  static func nextNumber(in schema: SchemaName) -> String {
    let numbers = sequence(numbers, in: schema)
    let last =
      "(SELECT greatest(purged, (SELECT max(number) FROM \(place(transactions, in: schema))), 0) "
      + "FROM \(place(BookkeepingTables.store, in: schema)))"
    return "CASE WHEN nextval(\(numbers)) > \(last) THEN currval(\(numbers)) "
      + "ELSE setval(\(numbers), \(last) + 1) END"
  }

  /// Has the keys of transactions go on behind those that there are.
  static func keysGoingOn(in schema: SchemaName) -> Statement {
    let keys = sequence(keys, in: schema)
    return Statement(
      "SELECT max(nextval(\(keys))) FROM generate_series(1, "
        + "(SELECT max(key) FROM \(place(transactions, in: schema))) "
        + "- coalesce(pg_sequence_last_value(\(keys)), 0))")
  }

  /// The condition that a change is the delete or the insert of a row that its transaction deletes and inserts again.
  ///
  /// - Parameter change: The name of the change in the statement.
  static func isOfReplacement(_ change: String, in schema: SchemaName) -> String {
    "EXISTS (SELECT 1 FROM \(place(changes, in: schema)) r "
      + "WHERE r.transaction_key = \(change).transaction_key AND r.row_key = \(change).row_key "
      + "AND r.entity = \(change).entity AND CASE \(change).kind "
      + "WHEN 0 THEN r.kind = 2 AND r.number < \(change).number "
      + "WHEN 2 THEN r.kind = 0 AND r.number > \(change).number ELSE false END)"
  }

  /// Whether a transaction has drawn a key that another one has: the sequence did not come along when the tables were
  /// copied.
  static func isOfKeys(_ failure: PostgreSQLFailure) -> Bool {
    failure.constraint == "\(transactions)_pkey" || failure.constraint == "\(changes)_pkey"
  }
}

/// A lock of a store that has no row, kept until the transaction ends.
enum TransactionLock: String {
  /// Alone for those who change what the schema is, shared for those who write rows.
  case schema
  /// For those who have a sequence go on behind the rows.
  case sequences
  /// For those who commit with a number.
  case history

  func statement(of schema: SchemaName, isShared: Bool = false) -> Statement {
    var parameters = ParameterList()
    parameters.append("cairn \(rawValue) \(schema.text)")
    return Statement(
      "SELECT pg_catalog.pg_advisory_xact_lock\(isShared ? "_shared" : "")"
        + "(pg_catalog.hashtextextended($1, 0))", parameters)
  }

  /// The same without parameters.
  func text(of schema: SchemaName) -> String {
    let name = SQLText.literal("cairn \(rawValue) \(schema.text)")
    return "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended(\(name), 0))"
  }
}
