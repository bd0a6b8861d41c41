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
    let number = HistoryTables.sequence(HistoryTables.numbers, in: schema)
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

  /// Writes everything, in the order of the operations.
  func write(on connection: PostgreSQLConnection) throws {
    var batch = SidecarBatch(table: table)
    for operation in operations {
      switch operation {
      case .require, .putAtTransaction: continue
      case .put(let key, let value): try batch.put(key, value, on: connection)
      case .putAll(let run):
        try batch.finish(on: connection)
        try putAll(run, on: connection)
      case .remove(let key): try batch.remove(key, on: connection)
      case .add(let key, let numbers):
        try batch.finish(on: connection)
        try add(numbers, to: key, on: connection)
      }
    }
    try batch.finish(on: connection)
  }

  private func putAll(_ run: SidecarRun, on connection: PostgreSQLConnection) throws {
    var batch: [Statement] = []
    var arrays = SidecarArrays()
    func end() {
      if arrays.count > 0 { batch.append(SidecarBatch.putting(arrays, into: table)) }
      arrays = SidecarArrays()
    }
    run.forEach { key, value in
      arrays.append(run.map, key, value: value)
      if arrays.count == Self.portion { end() }
    }
    end()
    try connection.run(batch)
  }

  /// Takes the entry before it reads it: an addition of another program waits, or has been done.
  private func add(
    _ numbers: [UInt64], to key: SidecarKey, on connection: PostgreSQLConnection
  ) throws {
    var parameters = ParameterList()
    parameters.append(key.map)
    parameters.append(data: key.key)
    let rows = try connection.run(
      "INSERT INTO \(table) AS s (map, key, value) VALUES ($1, $2, '') "
        + "ON CONFLICT (map, key) DO UPDATE SET value = s.value RETURNING value", parameters)
    guard let sum = SidecarOperation.sum(numbers, rows.data(0, 0)) else {
      try connection.run("DELETE FROM \(table) WHERE map = $1 AND key = $2", parameters)
      return
    }
    parameters.append(data: sum)
    try connection.run("UPDATE \(table) SET value = $3 WHERE map = $1 AND key = $2", parameters)
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

  mutating func put(_ key: SidecarKey, _ value: Data, on connection: PostgreSQLConnection) throws {
    try take(key, on: connection)
    puts.append(key, value: value)
  }

  mutating func remove(_ key: SidecarKey, on connection: PostgreSQLConnection) throws {
    try take(key, on: connection)
    removals.append(key)
  }

  private mutating func take(_ key: SidecarKey, on connection: PostgreSQLConnection) throws {
    if keys.count >= Self.portion || keys.contains(key) { try finish(on: connection) }
    keys.insert(key)
  }

  mutating func finish(on connection: PostgreSQLConnection) throws {
    var statements: [Statement] = []
    if puts.count > 0 { statements.append(Self.putting(puts, into: table)) }
    if removals.count > 0 {
      var parameters = ParameterList()
      removals.append(to: &parameters)
      statements.append(
        Statement(
          "DELETE FROM \(table) s USING unnest($1, $2) AS k(map, key) "
            + "WHERE s.map = k.map AND s.key = k.key", parameters))
    }
    self = SidecarBatch(table: table)
    try connection.run(statements)
  }

  static func putting(_ arrays: SidecarArrays, into table: String) -> Statement {
    var parameters = ParameterList()
    arrays.append(to: &parameters, withValues: true)
    return Statement(
      "INSERT INTO \(table) (map, key, value) SELECT * FROM unnest($1, $2, $3) "
        + "ON CONFLICT (map, key) DO UPDATE SET value = excluded.value", parameters)
  }
}
