import CairnSQL
import CairnStore

// Whether a store is whole: its tables are those of the model, and its rows keep the model's rules.

extension PostgreSQLStore: IntegrityChecking {
  /// What is wrong, as of one moment; empty when all is well.
  ///
  /// The server keeps most of the rules itself. A superuser can switch them off, and a program can change tables and write
  /// what only the model forbids. Reads everything, so it takes its time.
  package func verifyIntegrity() throws -> [String] {
    try work("verify") { state, connection in
      let transaction = try PostgreSQLTransaction(on: connection, .repeatableRead, readOnly: true)
      do {
        let findings = try PostgreSQLInspection(content: state.content, connection: connection)
          .findings()
        transaction.rollBack()
        return findings
      } catch {
        transaction.rollBack()
        throw error
      }
    }
  }
}

/// A query whose rows break a rule.
struct IntegrityQuery {
  let statement: Statement
  let message: (PostgreSQLRows, Int) -> String

  /// So many findings of a kind are named.
  static let limit = 100

  init(_ text: String, _ message: @escaping (PostgreSQLRows, Int) -> String) {
    statement = Statement("\(text) LIMIT \(Self.limit)", isKept: false)
    self.message = message
  }
}

/// Looks at a store in the transaction of a connection.
struct PostgreSQLInspection {
  let content: StoreContent
  let connection: PostgreSQLConnection

  func findings() throws -> [String] {
    let structure = try StructureCheck(content: content, connection: connection).run()
    guard structure.isComplete else { return structure.findings }
    let queries =
      ContentCheck(content: content).queries + PostgreSQLReferenceCheck(content: content).queries
    do {
      let results = try connection.run(queries.map(\.statement))
      return structure.findings
        + zip(queries, results).flatMap { query, rows in
          (0..<rows.count).map { query.message(rows, $0) }
        }
    } catch let failure as PostgreSQLFailure
      where failure.state == .damagedData || failure.state == .damagedIndex
    {
      return structure.findings + ["The server cannot read what it stored: \(failure)."]
    }
  }
}
