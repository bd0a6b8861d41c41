import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation

/// Runs one planned fetch on a connection.
struct SQLiteFetch {
  let lookup: RowLookup
  let request: StoreFetchRequest
  let plan: SQLQueryPlan

  func run() throws -> StoreFetchResult {
    if case .dictionaries = request.result { return .dictionaries(try dictionaries()) }
    if plan.limitsInMemory { return try inMemory() }
    switch request.result {
    case .snapshots: return .snapshots(try snapshots())
    case .objectIDs: return .objectIDs(try objectIDs())
    case .count: return .count(try count())
    case .dictionaries: return .dictionaries([])
    }
  }

  /// Gives rows or object IDs while they are read, so many at a time; false for other results.
  func run(portion: Int, _ take: (StoreFetchResult) -> Void) throws -> Bool {
    switch request.result {
    case .snapshots:
      let shape = plan.shape
      try forEachPortion(
        of: plan.rows(), portion, { lookup.reader.snapshot($0, shape: shape) }
      ) { take(.snapshots($0)) }
    case .objectIDs:
      try forEachPortion(of: plan.keys(), portion, objectID(of:)) {
        take(.objectIDs($0))
      }
    case .count, .dictionaries: return false
    }
    return true
  }

  @inline(__always)
  private func forEachPortion<Item>(
    of query: SQLFragment, _ portion: Int, _ item: (SQLiteStatement) -> Item?,
    _ take: ([Item]) -> Void
  ) throws {
    let statement = try prepare(query)
    defer { statement.reset() }
    var items: [Item] = []
    if portion < .max { items.reserveCapacity(portion) }
    while try statement.step() {
      try request.monitor?.noteRow()
      guard let item = item(statement) else { continue }
      items.append(consume item)
      if items.count == portion {
        take(items)
        items.removeAll(keepingCapacity: true)
      }
    }
    if !items.isEmpty { take(items) }
  }

  // MARK: Statements

  /// What ``run()`` sends to the database, in order.
  var statements: [SQLFragment] {
    if case .dictionaries = request.result {
      guard let dictionary = plan.dictionary else { return [plan.rows()] }
      if plan.remainder == nil { return [Self.select(dictionary, plan, keys: nil)] }
      return [plan.rows(), Self.select(dictionary, plan, keys: [])]
    }
    if plan.limitsInMemory { return [plan.rows()] }
    switch request.result {
    case .snapshots: return [plan.rows()]
    case .objectIDs: return [plan.keys()]
    case .count: return [plan.count()]
    case .dictionaries: return []
    }
  }

  /// A statement with the parameters of a fragment.
  func prepare(_ fragment: SQLFragment) throws -> SQLiteStatement {
    let statement = try lookup.connection.statement(fragment.sql)
    bind(fragment, to: statement)
    return statement
  }

  private func bind(_ fragment: SQLFragment, to statement: SQLiteStatement) {
    for (index, value) in fragment.bindings.enumerated() {
      statement.bind(value, at: Int32(index + 1))
    }
  }

  private func snapshots() throws -> [RowSnapshot] {
    let shape = plan.shape
    var result: [RowSnapshot] = []
    try forEachPortion(of: plan.rows(), .max, { lookup.reader.snapshot($0, shape: shape) }) {
      result = $0
    }
    return result
  }

  private func objectIDs() throws -> [ManagedObjectID] {
    var result: [ManagedObjectID] = []
    try forEachPortion(of: plan.keys(), .max, objectID(of:)) { result = $0 }
    return result
  }

  /// The keys of the rows, in runs of one entity.
  func rowKeys() throws -> [EntityRows] {
    var result: [EntityRows] = []
    if plan.limitsInMemory {
      for row in plan.slice(try matchingSnapshots()) {
        guard let key = row.objectID.rowKey else { continue }
        result.add(key, of: lookup.schema.entity(row.objectID.entity))
      }
      return result
    }
    let statement = try prepare(plan.keys())
    defer { statement.reset() }
    var recent: SQLEntity?
    while try statement.step() {
      try request.monitor?.noteRow()
      let number = Int(truncatingIfNeeded: statement.integer(0))
      if recent?.number != number { recent = lookup.reader.schema.entity(number: number) }
      if let recent { result.add(statement.integer(1), of: recent) }
    }
    return result
  }

  @inline(__always)
  private func objectID(of statement: SQLiteStatement) -> ManagedObjectID? {
    lookup.reader.objectID(
      entity: Int(truncatingIfNeeded: statement.integer(0)), key: statement.integer(1))
  }

  private func count() throws -> Int {
    let statement = try prepare(plan.count())
    defer { statement.reset() }
    return try statement.step() ? Int(statement.integer(0)) : 0
  }

  // MARK: Memory

  private func inMemory() throws -> StoreFetchResult {
    func matches<Item>(_ item: (RowSnapshot) -> Item) throws -> [Item] {
      plan.slice(
        plan.memorySort.isEmpty
          ? try self.matches(upTo: plan.wanted, item) : try matchingSnapshots().map(item))
    }
    switch request.result {
    case .snapshots: return .snapshots(try matches { $0 })
    case .objectIDs: return .objectIDs(try matches(\.objectID))
    case .count: return .count(try matches { _ in () }.count)
    case .dictionaries: return .dictionaries([])
    }
  }

  /// The rows SQL found that pass the rest of the predicate, sorted, without limit.
  private func matchingSnapshots() throws -> [RowSnapshot] {
    let rows = try matches(upTo: nil) { $0 }
    if plan.memorySort.isEmpty { return rows }
    let graph = StoredGraph(lookup: lookup)
    let sorted = try ObjectSorting.ordered(rows, by: plan.memorySort, reading: graph.view)
    try graph.checkReading()
    return sorted
  }

  /// What is wanted of each row that SQL found and that passes the rest of the predicate, in SQL's order.
  ///
  /// Of the others nothing is kept: a store may have more of them than memory holds.
  ///
  /// - Parameter limit: How many are wanted; rows behind them are not read.
  private func matches<Item>(
    upTo limit: Int?, _ item: (RowSnapshot) -> Item
  ) throws -> [Item] {
    let shape = plan.shape
    let query = plan.rows()
    // Testing a row may read others.
    return try lookup.connection.withOwnStatement(query.sql) { statement in
      bind(query, to: statement)
      var result: [Item] = []
      var graph = StoredGraph(lookup: lookup)
      var tested = 0
      while result.count < limit ?? .max, try statement.step() {
        try request.monitor?.noteRow()
        guard let snapshot = lookup.reader.snapshot(statement, shape: shape) else { continue }
        // It remembers what conditions have reached.
        if tested.isMultiple(of: Self.rememberedRows) { graph = StoredGraph(lookup: lookup) }
        tested += 1
        let isMatch = try plan.remainder?.test(graph.view(snapshot)) ?? true
        try graph.checkReading()
        if isMatch { result.append(item(snapshot)) }
      }
      return result
    }
  }

  private static let rememberedRows = 1000

  // MARK: Dictionaries

  private func dictionaries() throws -> [[String: AttributeValue]] {
    guard let dictionary = plan.dictionary else { return try dictionariesInMemory() }
    let keys =
      plan.remainder == nil ? nil : try matchingSnapshots().compactMap(\.objectID.rowKey)
    let query = Self.select(dictionary, plan, keys: keys)
    let statement = try prepare(query)
    defer { statement.reset() }
    var result: [[String: AttributeValue]] = []
    while try statement.step() {
      try request.monitor?.noteRow()
      var row: [String: AttributeValue] = [:]
      for column in dictionary.columns {
        let value = try value(of: column, statement)
        if !value.isNull { row[column.key] = value }
      }
      result.append(row)
    }
    return result
  }

  /// The SELECT of a dictionary fetch.
  ///
  /// - Parameter keys: The rows there are, where memory decided that; the rest is SQL again.
  private static func select(
    _ dictionary: SQLDictionaryPlan, _ plan: SQLQueryPlan, keys: [Int64]?
  ) -> SQLFragment {
    var query = dictionary.select + plan.body
    if let keys {
      query =
        query + (plan.body.sql.contains(" WHERE ") ? " AND " : " WHERE ")
        + SQLFragment(
          "\(plan.alias).Z_PK IN (SELECT value FROM json_each(?))", [.string(KeyList.json(keys))])
    }
    if !dictionary.groupBy.isEmpty {
      query = query + " GROUP BY " + .joined(dictionary.groupBy, by: ", ")
    }
    if let having = dictionary.having { query = query + " HAVING " + having }
    return plan.withLimit(plan.ordered(query))
  }

  /// For columns or a HAVING clause that SQL cannot say: on all rows that match.
  private func dictionariesInMemory() throws -> [[String: AttributeValue]] {
    let graph = StoredGraph(lookup: lookup)
    var rest = request
    rest.predicate = plan.remainder
    let result = try SnapshotQuery(rest, source: graph).run(over: try snapshots())
    try graph.checkReading()
    guard case .dictionaries(let rows) = result else { return [] }
    return rows
  }

  private func value(
    of column: SQLDictionaryPlan.Column, _ statement: SQLiteStatement
  ) throws -> AttributeValue {
    guard column.isObject else {
      try checkFit(column, statement)
      return statement.value(
        column.index, type: column.type, isExternal: false, files: lookup.reader.files)
    }
    if statement.isNull(column.index) { return .null }
    let number = Int(truncatingIfNeeded: statement.integer(column.entityIndex))
    let id = lookup.reader.objectID(entity: number, key: statement.integer(column.index))
    return id.map { .object($0) } ?? .null
  }

  /// A sum that no integer holds must not become one.
  private func checkFit(
    _ column: SQLDictionaryPlan.Column, _ statement: SQLiteStatement
  ) throws {
    guard column.type.isInteger, statement.isDouble(column.index) else { return }
    try DictionaryRows.checkFit(statement.double(column.index), column: column.key)
  }
}
