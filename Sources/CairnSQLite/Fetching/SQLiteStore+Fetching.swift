import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation

// Fetches: what SQL can do in SQL, the rest in memory on the rows SQL found.

extension SQLiteStore {
  func executeFetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try Self.fetch(request, schema: try schema, store: identity) { isOneStatement, body in
      guard isOneStatement else { return try readConsistently(body) }
      // A monitor stops the connection; it must be one that the fetch has to itself.
      return request.monitor == nil ? try readBriefly(body) : try read(body)
    }
  }

  /// Gives what a fetch finds in portions; false, and nothing was done, when the result has to be
  /// there as a whole before it is used.
  func fetchPortions(
    _ request: StoreFetchRequest, portion: Int, _ take: (StoreFetchResult) -> Void
  ) throws -> Bool {
    let schema = try schema
    // A subclass may have its own ``fetch(_:)``, a monitor stops a connection that must be the
    // fetch's own, and a file of external data that cannot be read fails the fetch at its end.
    guard Swift.type(of: self) == SQLiteStore.self, request.monitor == nil,
      !schema.hasExternalData
    else { return false }
    let plan = try SQLQueryPlan(request, schema: schema, store: identity)
    if plan.limitsInMemory { return false }
    // Only on this connection: whatever reads the store meanwhile finds another one.
    return try readHeld {
      try SQLiteFetch(lookup: $0, request: request, plan: plan)
        .run(portion: portion, take)
    } ?? false
  }

  /// Plans a fetch and runs it in a read of the caller's making.
  ///
  /// - Parameter read: Runs a body; told whether that is a single statement.
  static func fetch(
    _ request: StoreFetchRequest, schema: SQLSchema, store: StoreIdentity,
    read: (_ isOneStatement: Bool, (RowLookup) throws -> StoreFetchResult) throws
      -> StoreFetchResult
  ) throws -> StoreFetchResult {
    do {
      let plan = try SQLQueryPlan(request, schema: schema, store: store)
      return try read(!plan.limitsInMemory) { try run(request, plan, $0) }
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The fetch cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
  }

  private static func run(
    _ request: StoreFetchRequest, _ plan: SQLQueryPlan, _ lookup: RowLookup
  ) throws -> StoreFetchResult {
    let execution = SQLiteFetch(lookup: lookup, request: request, plan: plan)
    guard let monitor = request.monitor else { return try execution.run() }
    return try lookup.connection.interruptible(by: monitor) { try execution.run() }
  }
}

extension SQLiteStore: FetchExplaining {
  public func explain(_ request: StoreFetchRequest) throws -> StoreFetchExplanation {
    let plan = try SQLQueryPlan(request, schema: try schema, store: identity)
    var result = StoreFetchExplanation(storeType: type, storeIdentifier: identity.identifier)
    let statements = try readConsistently { lookup in
      try SQLiteFetch(lookup: lookup, request: request, plan: plan).statements.map {
        try Self.explain($0, lookup)
      }
    }
    plan.explain(request, in: &result, statements: statements)
    return result
  }

  private static func explain(
    _ fragment: SQLFragment, _ lookup: RowLookup
  ) throws -> StoreFetchExplanation.Statement {
    let statement = try lookup.connection.statement("EXPLAIN QUERY PLAN " + fragment.sql)
    defer { statement.reset() }
    for (index, value) in fragment.bindings.enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
    // Columns: the step's number, the step it belongs to, nothing, and what it does.
    var lines: [String] = []
    var depths: [Int64: Int] = [:]
    var indexes: [String] = []
    while try statement.step() {
      let depth = depths[statement.integer(1)].map { $0 + 1 } ?? 0
      depths[statement.integer(0)] = depth
      let text = statement.string(3)
      lines.append(String(repeating: "  ", count: depth) + text)
      if let index = index(in: text), !indexes.contains(index) { indexes.append(index) }
    }
    return .init(
      sql: fragment.sql, parameters: fragment.bindings, queryPlan: lines, indexes: indexes)
  }

  /// The index that a line of a plan names: `SEARCH t0 USING INDEX name (column=?)`.
  private static func index(in line: String) -> String? {
    let words = line.split(separator: " ").map(String.init)
    guard let place = words.firstIndex(of: "INDEX"), place + 1 < words.count else { return nil }
    return words[place + 1]
  }
}
