import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Bringing a store to another version of its model.

extension StoreSchema {
  /// Brings the store to another version of its model, all of it or not at all; does nothing where another program has
  /// done so meanwhile.
  ///
  /// - Parameter isInTransaction: Whether the connection is in one, which this commits.
  /// - Throws: 134130 for a store that is of neither version.
  func migrate(
    to destination: ManagedObjectModel, isOf: (ManagedObjectModel, [String: Any]) -> Bool,
    from source: ManagedObjectModel, _ difference: ModelDifference, isInTransaction: Bool,
    reconnect: () throws -> PostgreSQLConnection
  ) throws {
    try failures(in: "migrate") {
      func attempt() throws {
        try migrateOnce(
          to: destination, isOf: isOf, from: source, difference, isInTransaction: isInTransaction,
          reconnect: reconnect)
      }
      // A hold of all writers lasts as long as its transaction, which no attempt may end.
      if isInTransaction {
        // Copying and indexing take their time.
        try connection.run("SET LOCAL statement_timeout = 0", isKept: false)
        return try attempt()
      }
      try MigrationPatience(schema: name, connection: connection).run(attempt)
    }
  }

  private func migrateOnce(
    to destination: ManagedObjectModel, isOf: (ManagedObjectModel, [String: Any]) -> Bool,
    from source: ManagedObjectModel, _ difference: ModelDifference, isInTransaction: Bool,
    reconnect: () throws -> PostgreSQLConnection
  ) throws {
    let transaction =
      try isInTransaction
      ? PostgreSQLTransaction(begunOn: connection) : PostgreSQLTransaction(on: connection)
    do {
      let patience = MigrationPatience(schema: name, connection: connection)
      if !isInTransaction { try patience.begin() }
      try lock()
      let record = try readRecord()
      if isOf(destination, record.metadata), !isOf(source, record.metadata) {
        return transaction.rollBack()
      }
      guard isOf(source, record.metadata) else {
        throw CoreDataError(
          .migrationMissingSourceModel,
          "The store in \(place) was not written with the model it is to be migrated from.")
      }
      let plan = SQLMigrationPlan(
        source: SQLSchema(model: source), destination: SQLSchema(model: destination),
        difference: difference, recomputesStaying: true)
      var migration = SchemaMigration(plan, record: record, in: name, on: connection)
      if isInTransaction {
        try patience.takeInHold(migration.old)
      } else {
        try patience.take(migration.old)
      }
      try migration.run()
      let metadata = LeftVersions.noted(in: record.metadata, migratedTo: destination)
        .merging(PostgreSQLStore.modelEntries(of: destination)) { _, new in new }
      try connection.run(
        BookkeepingTables.renewal(of: migration.new, metadata: try Self.data(of: metadata)))
      try transaction.commit(reconnect: reconnect)
    } catch {
      if connection.transactionStatus != .idle { _ = try? connection.run("ROLLBACK") }
      throw error
    }
  }
}
