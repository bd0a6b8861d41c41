import CairnStore
import Foundation

/// Where a store is: a database, and the schema in it.
///
/// `postgresql://cairn@db1/inventory?sslmode=verify-full#warehouse` is the store in the schema `warehouse`; without a
/// fragment it is the schema `cairn`. See ``PostgreSQLURL`` for other ways to write it.
struct StorePlace: Sendable {
  let settings: ConnectionParameters
  let schema: SchemaName
  /// How many connections the store may have at the same time.
  let connections: Int

  /// - Throws: 134080 for what is no place of a store, or has a password in it.
  init(_ url: URL?, options: StoreOptions) throws {
    guard let url else {
      throw CoreDataError(
        .persistentStoreOpen,
        "A PostgreSQL store needs a URL such as postgresql://USER@HOST/DATABASE#SCHEMA.")
    }
    let (connection, name) = PostgreSQLURL.parts(of: url)
    let credential = options.dictionary[StoreOptionKey.postgreSQLPasswordCredential] as? String
    let usual = ConnectionParameters.passwordCredential
    var settings = try ConnectionParameters(connection, credential: credential)
    // URLs stand in messages, notifications and lists of stores.
    if settings.hasSecretInText {
      throw CoreDataError(
        .persistentStoreOpen,
        "The URL of a PostgreSQL store has a password in it, which would be shown with the URL. Put it into a "
          + "systemd credential (LoadCredential=\(credential ?? usual):/path), into .pgpass "
          + "or into PGPASSWORD.")
    }
    schema = try SchemaName(name ?? PostgreSQLURL.defaultSchema)
    settings.lockTimeout = .seconds(options.timeout)
    settings.abandonment = Abandonment()
    func number(_ key: String) -> Double? { (options.dictionary[key] as? NSNumber)?.doubleValue }
    if let seconds = number(StoreOptionKey.postgreSQLStatementTimeout) {
      settings.statementTimeout = seconds > 0 ? .seconds(seconds) : nil
    } else {
      // The server counts the wait for locks as part of the statement.
      settings.statementTimeout = settings.statementTimeout.map { $0 + settings.lockTimeout }
    }
    if let seconds = number(StoreOptionKey.postgreSQLIdleTransactionTimeout) {
      settings.idleTransactionTimeout = seconds > 0 ? .seconds(seconds) : nil
    }
    connections = number(StoreOptionKey.connectionPoolMaxSize).map { max(1, Int($0)) } ?? 4
    self.settings = settings
  }

  var description: String { "the schema \(schema) of \(settings)" }
}
