import CairnModel
import CairnStore

/// The frame of a transaction that writes rows of a store: it keeps migrations out, knows the store's state, and draws what
/// history needs.
struct RowTransaction {
  let schema: SchemaName
  /// The state that the writer counts on.
  let state: StoreState

  /// The first statements of the transaction.
  var beginning: [Statement] {
    [
      PostgreSQLTransaction.beginning(),
      TransactionLock.schema.statement(of: schema, isShared: true), StoreState.query(in: schema),
    ] + (state.keepsHistory ? [PostgreSQLHistoryTables.beginning(in: schema)] : [])
  }

  /// Looks at the results of ``beginning``, and takes them away.
  ///
  /// - Returns: The key under which changes stand; nil where history is not kept.
  /// - Throws: ``StoreChange`` when the store is in another state.
  func check(_ results: inout ArraySlice<PostgreSQLRows>) throws -> Int64? {
    let found = results.dropFirst(2).first.flatMap { StoreState($0) }
    guard found == state else { throw StoreChange(found: found) }
    let count = beginning.count
    defer { results = results.dropFirst(count) }
    return state.keepsHistory ? results.prefix(count).last?.integer(0, 0) : nil
  }

  /// The number that a transaction was given.
  ///
  /// - Parameters:
  ///   - answers: The results of its last statements; nil where they did not arrive.
  ///   - key: Of its changes.
  func number(
    _ answers: [PostgreSQLRows]?, _ key: Int64, _ reconnect: () throws -> PostgreSQLConnection
  ) throws -> Int64? {
    if let answers { return answers.dropFirst(2).first?.integer(0, 0) }
    var parameters = ParameterList()
    parameters.append(key)
    return try reconnect().run(
      "SELECT number FROM \(PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.transactions, in: schema)) "
        + "WHERE key = $1", parameters, isKept: false
    ).integer(0, 0)
  }
}

/// The store is not in the state in which the writer knew it; nothing was written.
struct StoreChange: Error {
  /// Nil for a store that is gone.
  let found: StoreState?
}
