import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore

/// Runs a fetch: SQL finds what it can find, the one evaluator does the rest.
///
/// One statement where SQL says it all. Where the server does not take an expression, as when a number leaves its type, the
/// evaluator does all of it, which knows what the value is. Otherwise rows come from the server in portions, and those that the predicate
/// reaches through relationships belong to the same snapshot.
struct PostgreSQLFetch {
  let content: StoreContent
  let connection: PostgreSQLConnection
  let request: StoreFetchRequest
  let plan: SQLQueryPlan

  /// How many rows are on their way at once where memory chooses among them.
  static let portion = 1000

  private var reading: PostgreSQLRowReading {
    PostgreSQLRowReading(content: content, connection: connection)
  }

  init(
    _ request: StoreFetchRequest, content: StoreContent, store: StoreIdentity,
    connection: PostgreSQLConnection
  ) throws {
    self.content = content
    self.connection = connection
    self.request = request
    plan = try content.plan(request, store: store)
  }

  func run() throws -> StoreFetchResult {
    do {
      return try runPlan()
    } catch let failure as PostgreSQLFailure where failure.isForMemory {
      try HeldSnapshot.goOn(on: connection)
      return try RowScan(content: content, connection: connection, request: request).run()
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The fetch cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
  }

  private func runPlan() throws -> StoreFetchResult {
    if plan.isDictionaryInMemory { return try dictionariesInMemory() }
    if case .dictionaries = request.result { return .dictionaries(try dictionaries()) }
    if plan.limitsInMemory { return try inMemory() }
    switch request.result {
    case .snapshots: return .snapshots(try snapshots(run(plan.rows())))
    case .objectIDs: return .objectIDs(try objectIDs(run(plan.keys())))
    case .count: return .count(Int(clamping: try run(plan.count()).integer(0, 0) ?? 0))
    case .dictionaries: return .dictionaries([])
    }
  }

  /// Gives rows or object IDs while the server finds them.
  ///
  /// - Returns: false for other results, or where the result has to be there as a whole.
  func run(portion: Int, _ take: (StoreFetchResult) -> Void) throws -> Bool {
    if plan.limitsInMemory { return false }
    switch request.result {
    case .count, .dictionaries: return false
    case .snapshots:
      try run(plan.rows(), portion, snapshots, { .snapshots($0) }, take) {
        if case .snapshots(let rows) = $0 { return rows }
        return []
      }
    case .objectIDs:
      try run(plan.keys(), portion, objectIDs, { .objectIDs($0) }, take) {
        if case .objectIDs(let ids) = $0 { return ids }
        return []
      }
    }
    return true
  }

  private func run<Item>(
    _ select: SQLFragment, _ portion: Int, _ items: (PostgreSQLRows, Range<Int>) throws -> [Item],
    _ result: ([Item]) -> StoreFetchResult, _ take: (StoreFetchResult) -> Void,
    _ all: (StoreFetchResult) -> [Item]
  ) throws {
    let cursor = RowCursor(connection: connection)
    let scan = RowScan(content: content, connection: connection, request: request)
    var count = 0
    try cursor.consistently {
      do {
        try cursor.read(select, portion: portion, readsAhead: true) { rows in
          for start in stride(from: 0, to: rows.count, by: portion) {
            let found = try items(rows, start..<min(start + portion, rows.count))
            count += found.count
            take(result(found))
          }
        }
      } catch let failure as PostgreSQLFailure where failure.isForMemory {
        // The order is the same, and so are the rows that were given already.
        let rest = all(try scan.run(resuming: cursor)).dropFirst(count)
        if !rest.isEmpty { take(result(Array(rest))) }
      }
    }
  }

  // MARK: Statements

  /// What ``run()`` sends to the server, in order.
  var statements: [SQLFragment] {
    if plan.isDictionaryInMemory { return [plan.candidates()] }
    if case .dictionaries = request.result {
      guard let dictionary = plan.dictionary else { return [] }
      let select = select(dictionary, keys: plan.remainder == nil ? nil : [])
      return plan.remainder == nil ? [select] : [plan.candidates(), select]
    }
    if plan.limitsInMemory { return [plan.rows()] }
    switch request.result {
    case .snapshots: return [plan.rows()]
    case .objectIDs: return [plan.keys()]
    case .count: return [plan.count()]
    case .dictionaries: return []
    }
  }

  private func run(_ fragment: SQLFragment) throws -> PostgreSQLRows {
    let statement = try NumberedStatement(fragment)
    return try connection.run(statement.text, statement.parameters)
  }

  private func snapshots(_ rows: PostgreSQLRows) throws -> [RowSnapshot] {
    try snapshots(rows, 0..<rows.count)
  }

  private func snapshots(_ rows: PostgreSQLRows, _ range: Range<Int>) throws -> [RowSnapshot] {
    let (shape, reading) = (content.shape(of: request), reading)
    var found: [RowSnapshot] = []
    found.reserveCapacity(range.count)
    for row in range {
      try request.monitor?.noteRow()
      if let row = try reading.snapshot(rows, row, shape) { found.append(row) }
    }
    return found
  }

  private func objectIDs(_ rows: PostgreSQLRows) throws -> [ManagedObjectID] {
    try objectIDs(rows, 0..<rows.count)
  }

  private func objectIDs(_ rows: PostgreSQLRows, _ range: Range<Int>) throws -> [ManagedObjectID] {
    try range.compactMap { row in
      try request.monitor?.noteRow()
      guard let number = rows.integer(row, 0), let key = rows.integer(row, 1) else { return nil }
      return content.objectID(entity: Int(truncatingIfNeeded: number), key: key)
    }
  }

  // MARK: Memory

  private func consistently<Result>(_ body: (RowCursor) throws -> Result) throws -> Result {
    let cursor = RowCursor(connection: connection)
    return try cursor.consistently { try body(cursor) }
  }

  private func inMemory() throws -> StoreFetchResult {
    let matches = plan.slice(
      try consistently { try matching($0, plan.rows(), isSorted: true) })
    switch request.result {
    case .snapshots: return .snapshots(matches)
    case .objectIDs: return .objectIDs(matches.map(\.objectID))
    case .count: return .count(matches.count)
    case .dictionaries: return .dictionaries([])
    }
  }

  /// The rows SQL found that pass the rest of the predicate; the others go as they come.
  private func matching(
    _ cursor: RowCursor, _ candidates: SQLFragment, isSorted: Bool
  ) throws -> [RowSnapshot] {
    let paths = plan.remainder?.node.contents.keyPaths ?? []
    var found: [RowSnapshot] = []
    try cursor.read(candidates, portion: Self.portion) { rows in
      let rows = try snapshots(rows)
      let graph = RowGraph(reading)
      graph.prepare(rows, for: paths)
      for row in rows {
        let matches = try plan.remainder?.test(graph.view(row)) ?? true
        try graph.checkReading()
        if matches { found.append(row) }
      }
    }
    if !isSorted || plan.memorySort.isEmpty { return found }
    let graph = RowGraph(reading)
    graph.prepare(found, for: plan.memorySort.compactMap(\.key))
    let result = try ObjectSorting.ordered(found, by: plan.memorySort, reading: graph.view)
    try graph.checkReading()
    return result
  }

  // MARK: Dictionaries

  private func dictionaries() throws -> [[String: AttributeValue]] {
    guard let dictionary = plan.dictionary else { return [] }
    if plan.remainder == nil { return try dictionaries(dictionary, keys: nil) }
    return try consistently { cursor in
      let keys = try matching(cursor, plan.candidates(), isSorted: false)
        .compactMap(\.objectID.rowKey)
      return try dictionaries(dictionary, keys: keys)
    }
  }

  private func dictionaries(
    _ dictionary: SQLDictionaryPlan, keys: [Int64]?
  ) throws -> [[String: AttributeValue]] {
    let statement = try NumberedStatement(
      select(dictionary, keys: keys), sharesParameters: !dictionary.groupBy.isEmpty)
    let rows = try connection.run(statement.text, statement.parameters)
    let reading = DictionaryReading(content: content, plan: dictionary)
    return try (0..<rows.count).map { row in
      try request.monitor?.noteRow()
      return try reading.dictionary(rows, row)
    }
  }

  /// The SELECT of a dictionary fetch.
  ///
  /// - Parameter keys: The rows there are, where memory decided that; the rest is SQL again.
  private func select(_ dictionary: SQLDictionaryPlan, keys: [Int64]?) -> SQLFragment {
    var query = dictionary.select + plan.body
    if let keys {
      let list = "{" + keys.map(String.init).joined(separator: ",") + "}"
      query =
        query + (plan.hasConditions ? " AND " : " WHERE ")
        + SQLFragment("\(plan.key) = ANY (?::bigint[])", [.string(list)])
    }
    if !dictionary.groupBy.isEmpty {
      query = query + " GROUP BY " + .joined(dictionary.groupBy, by: ", ")
    }
    if let having = dictionary.having { query = query + " HAVING " + having }
    return plan.withLimit(plan.ordered(query))
  }

  /// For columns or a HAVING clause that SQL cannot say: on all rows that may match.
  private func dictionariesInMemory() throws -> StoreFetchResult {
    var rest = request
    rest.predicate = plan.remainder
    let scan = RowScan(content: content, connection: connection, request: rest)
    return try consistently { try scan.run(over: plan.candidates(), $0) }
  }
}

extension PostgreSQLFailure {
  /// Whether the server did not take an expression that the evaluator has a value for: numbers that left their type,
  /// columns that are neither grouped nor among those that DISTINCT leaves, and what is too long or too deep for it.
  var isForMemory: Bool {
    guard origin == .server, let code = state?.code else { return false }
    return ["22003", "22012", "2201B", "2201F", "42803", "42P10", "54000", "54001", "54011"]
      .contains(code)
  }
}
