import CairnModel
import CairnSQL
import CairnStore
import Foundation

// Batch requests: one transaction inside the store, without objects.

extension PostgreSQLStore: BatchExecuting {
  package func executeBatch(
    _ request: StoreBatchRequest, author: String?, contextName: String?
  ) throws -> BatchOutcome {
    try write("execute a batch request on") { state, connection in
      try repeating(
        "batch request to", state, isRepeatable: request.isRepeatable,
        where: { request.deletes && state.content.schema.hasReference(violatedBy: $0) }
      ) { known in
        try BatchAttempt(
          content: state.content, store: identity, connection: connection,
          commit: commit(to: state, in: known), signature: (author, contextName, Date())
        ).run(request)
      }
    }
  }
}

extension StoreBatchRequest {
  /// Whether it can be run again from its beginning: rows to insert are handed over only once.
  fileprivate var isRepeatable: Bool {
    switch self {
    case .insert: false
    case .update, .delete: true
    }
  }
}

/// One attempt to execute a batch request.
///
/// What is found is written at the versions that it was found with. Where another program has changed one of the rows since, all is
/// rolled back and done anew.
struct BatchAttempt {
  let content: StoreContent
  let store: StoreIdentity
  let connection: PostgreSQLConnection
  let commit: RowCommit
  /// What history tells of the commit.
  let signature: (author: String?, contextName: String?, date: Date)

  /// - Returns: nil when others changed rows in between.
  /// - Throws: ``StoreChange`` when the store is not in the state that was counted on.
  func run(_ request: StoreBatchRequest) throws -> BatchOutcome? {
    let transaction = PostgreSQLTransaction(begunOn: connection)
    do {
      var results = try connection.run(commit.recording.beginning)[...]
      let key = try commit.recording.check(&results)
      let writer = BatchWriter(
        content: content, store: store, connection: connection, recordsHistory: key != nil)
      let outcome = try writer.run(request)
      try commit.commit(transaction, under: writer.hasRecorded ? key : nil, of: signature)
      return outcome
    } catch is RowsChanged {
      transaction.rollBack()
      return nil
    } catch let failure as PostgreSQLFailure where PostgreSQLHistoryTables.isOfKeys(failure) {
      rollBack()
      try connection.run(PostgreSQLHistoryTables.keysGoingOn(in: content.schema.name).text)
      if request.isRepeatable { return nil }
      throw failure
    } catch {
      rollBack()
      throw error
    }
  }

  private func rollBack() {
    guard connection.end == nil, connection.transactionStatus != .idle else { return }
    _ = try? connection.run("ROLLBACK")
  }
}

extension PostgreSQLSchema {
  /// Whether a row of the store's own tables leads to one that goes: another program has just made it.
  ///
  /// Rows of other tables stay, however often the request is repeated.
  fileprivate func hasReference(violatedBy failure: PostgreSQLFailure) -> Bool {
    failure.state == .foreignKeyViolation && failure.schema == name.text
      && references.contains { $0.table == failure.table }
  }
}

extension StoreBatchRequest {
  fileprivate var deletes: Bool {
    switch self {
    case .delete: true
    case .insert, .update: false
    }
  }
}

/// Rows are not as they were found.
struct RowsChanged: Error {}

/// A row as a batch request finds it.
struct FoundRow {
  let id: ManagedObjectID
  let version: Int64
}

/// The work of a batch request inside its transaction.
final class BatchWriter {
  let content: StoreContent
  let connection: PostgreSQLConnection
  private let store: StoreIdentity
  private let recordsHistory: Bool
  /// Whether history has something of the transaction.
  private(set) var hasRecorded = false

  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let version = SQLText.name(PostgreSQLSchemaBuilder.version)

  init(
    content: StoreContent, store: StoreIdentity, connection: PostgreSQLConnection,
    recordsHistory: Bool
  ) {
    self.content = content
    self.store = store
    self.connection = connection
    self.recordsHistory = recordsHistory
  }

  var schema: SQLSchema { content.schema.sql }
  var reading: PostgreSQLRowReading {
    PostgreSQLRowReading(content: content, connection: connection)
  }

  func run(_ request: StoreBatchRequest) throws -> BatchOutcome {
    switch request {
    case .insert(let entity, let rows, let duplicates):
      return try PostgreSQLBatchInsertion(
        writer: self, entity: schema.entity(entity), duplicates: duplicates
      ).insert(rows)
    case .update(let entity, let includesSubentities, let predicate, let values):
      return try PostgreSQLBatchUpdate(writer: self).update(
        StoreFetchRequest(
          entity: entity, includesSubentities: includesSubentities, predicate: predicate), values)
    case .delete(let request): return try PostgreSQLBatchDeletion(writer: self).delete(request)
    }
  }

  // MARK: Reading

  func execution(_ request: StoreFetchRequest) throws -> PostgreSQLFetch {
    try PostgreSQLFetch(request, content: content, store: store, connection: connection)
  }

  /// The rows that a request finds, in its order; their values are read only where memory must decide.
  func matches(_ request: StoreFetchRequest) throws -> [FoundRow] {
    var request = request
    request.result = .objectIDs
    let execution = try execution(request)
    if !execution.plan.limitsInMemory {
      let table = content.schema.place(ofTable: schema.entity(request.entity).table)
      let select =
        "SELECT f.e, f.k, t.\(Self.version) FROM (SELECT s.e, s.k, row_number() OVER () AS n FROM ("
        + execution.plan.keys()
        + SQLFragment(") s(e, k)) f JOIN \(table) t ON t.\(Self.key) = f.k ORDER BY f.n")
      do {
        return try HeldSnapshot.reading(on: connection) {
          let statement = try NumberedStatement(select)
          let rows = try connection.run(statement.text, statement.parameters)
          return found(rows)
        }
      } catch let failure as PostgreSQLFailure where failure.isForMemory {
        try HeldSnapshot.goOn(on: connection)
      }
    }
    request.result = .snapshots
    let snapshots = try HeldSnapshot.reading(on: connection) { try self.execution(request).run() }
    guard case .snapshots(let rows) = snapshots else { return [] }
    return rows.map { FoundRow(id: $0.objectID, version: $0.version) }
  }

  /// - Parameter rows: Of entity numbers, keys and versions.
  func found(_ rows: PostgreSQLRows) -> [FoundRow] {
    (0..<rows.count).compactMap { row in
      guard let number = rows.integer(row, 0), let key = rows.integer(row, 1),
        let version = rows.integer(row, 2),
        let id = content.objectID(entity: Int(truncatingIfNeeded: number), key: key)
      else { return nil }
      return FoundRow(id: id, version: version)
    }
  }

  // MARK: Writing

  /// The update of a row that gives it values by slot.
  func update(
    _ row: FoundRow, to values: [Int: AttributeValue]
  ) -> SaveChangesRequest.Update {
    let entity = schema.entity(row.id.entity)
    var all = [AttributeValue](repeating: .null, count: entity.slots.count)
    for (slot, value) in values { all[slot] = value }
    return .init(
      snapshot: .make(objectID: row.id, version: row.version, values: all),
      basedOn: row.version, changedSlots: values.keys.sorted())
  }

  /// Writes rows as a save does.
  ///
  /// - Throws: ``RowsChanged`` where one is not at the version that it was found with.
  func write(_ request: SaveChangesRequest) throws {
    var (wanted, recorders): ([Int?], [Int]) = ([], [])
    let touched = try connection.run { pipeline in
      let plan = try SaveStatements(
        request, content: content, recordsHistory: recordsHistory, send: pipeline.send)
      (wanted, recorders) = (plan.wanted, plan.recording)
    }.map { max($0.affectedRows, $0.count) }
    let isComplete = zip(touched, wanted).allSatisfy { touched, wanted in
      wanted.map { $0 == touched } ?? true
    }
    guard isComplete else { throw RowsChanged() }
    if recorders.contains(where: { touched[$0] > 0 }) { hasRecorded = true }
  }
}
