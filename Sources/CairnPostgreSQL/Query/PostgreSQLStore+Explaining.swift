import CairnModel
import CairnSQL
import CairnStore

// How a fetch would run: what the server does, and what is left for memory.

extension PostgreSQLStore: FetchExplaining {
  package func explain(_ request: StoreFetchRequest) throws -> StoreFetchExplanation {
    var result = StoreFetchExplanation(storeType: type, storeIdentifier: identity.identifier)
    try read("explain a fetch from") { state, connection in
      let execution = try PostgreSQLFetch(
        request, content: state.content, store: identity, connection: connection)
      execution.plan.explain(
        request, in: &result,
        statements: try execution.statements.map { try Self.explain($0, connection) })
    }
    return result
  }

  private static func explain(
    _ fragment: SQLFragment, _ connection: PostgreSQLConnection
  ) throws -> StoreFetchExplanation.Statement {
    let statement = try NumberedStatement(fragment)
    let rows = try connection.run("EXPLAIN " + statement.text, statement.parameters, isKept: false)
    let lines = (0..<rows.count).compactMap { rows.text($0, 0) }
    var indexes: [String] = []
    for index in lines.compactMap(index) where !indexes.contains(index) { indexes.append(index) }
    return .init(
      sql: statement.text, parameters: statement.values, queryPlan: lines, indexes: indexes)
  }

  /// The index that a line of a plan names: `Index Scan using name on table`, `Bitmap Index Scan on name`.
  private static func index(in line: String) -> String? {
    let words = line.split(separator: " ").map(String.init)
    guard let place = words.firstIndex(of: "Index") else { return nil }
    let isBitmap = place > 0 && words[place - 1].hasSuffix("Bitmap")
    guard let mark = words[place...].firstIndex(of: isBitmap ? "on" : "using"),
      mark + 1 < words.count
    else { return nil }
    return words[mark + 1]
  }
}
