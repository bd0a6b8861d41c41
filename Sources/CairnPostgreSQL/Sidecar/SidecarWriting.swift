import CairnStore
import Foundation

/// What a save does to the sidecar: what must hold, looked at before anything is written, and what is written.
struct SidecarWriting {
  private let schema: SchemaName
  private let requirements: [(key: SidecarKey, value: Data?)]
  private let operations: [SidecarOperation]

  /// So many entries go into one statement.
  private static let portion = 1000

  init(_ operations: [SidecarOperation], in schema: SchemaName) {
    self.schema = schema
    self.operations = operations
    requirements = operations.compactMap { operation in
      if case .require(let key, let value) = operation { return (key, value) }
      return nil
    }
  }

  private var table: String { SidecarReading.table(in: schema) }

  // MARK: What must hold

  /// The statements that look at what must hold, and keep it so until the transaction ends.
  var checks: [Statement] {
    // No row can be locked that is not there, so that others' entries have to wait.
    let lock =
      requirements.contains { $0.value == nil }
      ? [Statement("LOCK TABLE \(table) IN SHARE ROW EXCLUSIVE MODE")] : []
    return lock
      + requirements.map { key, _ in
        var parameters = ParameterList()
        parameters.append(key.map)
        parameters.append(data: key.key)
        return Statement(
          "SELECT value FROM \(table) WHERE map = $1 AND key = $2 FOR UPDATE", parameters)
      }
  }

  /// The first key that has not the value that it must have.
  ///
  /// - Parameter results: Those of ``checks``.
  func firstUnmet(_ results: ArraySlice<PostgreSQLRows>) -> SidecarKey? {
    for (requirement, rows) in zip(requirements, results.suffix(requirements.count)) {
      let stored = rows.count == 1 ? rows.data(0, 0) : nil
      if stored != requirement.value { return requirement.key }
    }
    return nil
  }

  /// The same after a save that was rolled back.
  func firstUnmet(on connection: PostgreSQLConnection) throws -> SidecarKey? {
    let reading = SidecarReading(schema: schema, connection: connection)
    let stored = try reading.values(for: requirements.map(\.key))
    return zip(requirements, stored).first { $0.value != $1 }?.0.key
  }

  /// The statements that put entries under the number of the transaction, which the session has just drawn.
  var writesAtTransaction: [Statement] {
    let number = PostgreSQLHistoryTables.sequence(PostgreSQLHistoryTables.numbers, in: schema)
    return operations.compactMap { operation in
      guard case .putAtTransaction(let map, let value) = operation else { return nil }
      var parameters = ParameterList()
      parameters.append(map)
      parameters.append(data: value)
      return Statement(
        "INSERT INTO \(table) (map, key, value) VALUES ($1, int8send(currval(\(number))), $2) "
          + "ON CONFLICT (map, key) DO UPDATE SET value = excluded.value", parameters)
    }
  }

  // MARK: What is written

  /// The operations before the first addition.
  private var leading: ArraySlice<SidecarOperation> {
    operations.prefix { if case .add = $0 { false } else { true } }
  }

  /// The additions behind them, each of another key; what comes later waits for their sums.
  private var additions: [(key: SidecarKey, numbers: [UInt64])] {
    var keys: Set<SidecarKey> = []
    var result: [(SidecarKey, [UInt64])] = []
    for operation in operations.dropFirst(leading.count) {
      guard case .add(let key, let numbers) = operation, keys.insert(key).inserted else { break }
      result.append((key, numbers))
    }
    return result
  }

  /// How many of the last statements of ``send(_:)`` take entries that are added to.
  var additionCount: Int { additions.count }

  /// Sends what is written, in the order of the operations, as far as the additions: of these what takes the entry and
  /// gives what is there, so that an addition of another program waits, or has been done.
  func send(_ send: (Statement) throws -> Void) throws {
    try Self.write(leading, into: table, send)
    for (key, _) in additions { try send(taking(key)) }
  }

  /// The statements that write the sums of the additions; what is to be written behind them is written at once.
  ///
  /// - Parameter taken: The results of the statements that took the entries.
  func sums(
    _ taken: ArraySlice<PostgreSQLRows>, on connection: PostgreSQLConnection
  ) throws -> [Statement] {
    let additions = additions
    let sums = zip(additions, taken).map { addition, rows in
      writing(addition.numbers, to: addition.key, rows)
    }
    let rest = operations.dropFirst(leading.count + additions.count)
    if rest.isEmpty { return sums }
    try connection.run(sums)
    var written = rest.startIndex
    for (index, operation) in zip(rest.indices, rest) {
      guard case .add(let key, let numbers) = operation else { continue }
      try connection.run { try Self.write(rest[written..<index], into: table, $0.send) }
      let rows = try connection.run([taking(key)])
      try connection.run(rows.map { writing(numbers, to: key, $0) })
      written = index + 1
    }
    try connection.run { try Self.write(rest[written...], into: table, $0.send) }
    return []
  }

  private static func write(
    _ operations: ArraySlice<SidecarOperation>, into table: String,
    _ send: (Statement) throws -> Void
  ) throws {
    var batch = SidecarBatch(table: table)
    for operation in operations {
      switch operation {
      case .require, .putAtTransaction, .add: continue
      case .put(let key, let value): try batch.put(key, value, send)
      case .putAll(let run):
        try batch.finish(send)
        try putAll(run, into: table, send)
      case .remove(let key): try batch.remove(key, send)
      }
    }
    try batch.finish(send)
  }

  private static func putAll(
    _ run: SidecarRun, into table: String, _ send: (Statement) throws -> Void
  ) throws {
    var arrays = SidecarArrays()
    var failure: (any Error)?
    func end() {
      guard arrays.count > 0, failure == nil else { return }
      do { try send(SidecarBatch.putting(arrays, into: table)) } catch { failure = error }
      arrays = SidecarArrays()
    }
    run.forEach { key, value in
      arrays.append(run.map, key, value: value)
      if arrays.count == portion { end() }
    }
    end()
    if let failure { throw failure }
  }

  private func taking(_ key: SidecarKey) -> Statement {
    Statement(
      "INSERT INTO \(table) AS s (map, key, value) VALUES ($1, $2, '') "
        + "ON CONFLICT (map, key) DO UPDATE SET value = s.value RETURNING value", parameters(key))
  }

  private func writing(
    _ numbers: [UInt64], to key: SidecarKey, _ taken: PostgreSQLRows
  ) -> Statement {
    var parameters = parameters(key)
    guard let sum = SidecarOperation.sum(numbers, taken.data(0, 0)) else {
      return Statement("DELETE FROM \(table) WHERE map = $1 AND key = $2", parameters)
    }
    parameters.append(data: sum)
    return Statement("UPDATE \(table) SET value = $3 WHERE map = $1 AND key = $2", parameters)
  }

  private func parameters(_ key: SidecarKey) -> ParameterList {
    var parameters = ParameterList()
    parameters.append(key.map)
    parameters.append(data: key.key)
    return parameters
  }
}

/// Entries that are put or removed together: those of one statement, each key once.
private struct SidecarBatch {
  private static let portion = 1000

  let table: String
  private var puts = SidecarArrays()
  private var removals = SidecarArrays()
  private var keys: Set<SidecarKey> = []

  init(table: String) { self.table = table }

  mutating func put(_ key: SidecarKey, _ value: Data, _ send: (Statement) throws -> Void) throws {
    try take(key, send)
    puts.append(key, value: value)
  }

  mutating func remove(_ key: SidecarKey, _ send: (Statement) throws -> Void) throws {
    try take(key, send)
    removals.append(key)
  }

  private mutating func take(_ key: SidecarKey, _ send: (Statement) throws -> Void) throws {
    if keys.count >= Self.portion || keys.contains(key) { try finish(send) }
    keys.insert(key)
  }

  mutating func finish(_ send: (Statement) throws -> Void) throws {
    if puts.count > 0 { try send(Self.putting(puts, into: table)) }
    if removals.count > 0 {
      var parameters = ParameterList()
      removals.append(to: &parameters)
      try send(
        Statement(
          "DELETE FROM \(table) s USING unnest($1, $2) AS k(map, key) "
            + "WHERE s.map = k.map AND s.key = k.key", parameters))
    }
    self = SidecarBatch(table: table)
  }

  static func putting(_ arrays: SidecarArrays, into table: String) -> Statement {
    var parameters = ParameterList()
    arrays.append(to: &parameters, withValues: true)
    return Statement(
      "INSERT INTO \(table) (map, key, value) SELECT * FROM unnest($1, $2, $3) "
        + "ON CONFLICT (map, key) DO UPDATE SET value = excluded.value", parameters)
  }
}
