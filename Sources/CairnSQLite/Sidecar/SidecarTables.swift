import CairnStore
import Foundation

/// The tables of the sidecar: `CAIRN_<map>`, each an ordered map of bytes to bytes.
struct SidecarTables {
  let connection: SQLiteConnection

  static func table(_ map: String) throws -> String {
    let isValid =
      !map.isEmpty
      && map.utf8.allSatisfy { byte in
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5f
      }
    guard isValid else {
      throw CoreDataError(
        .persistentStoreOperation,
        "\"\(map)\" is no name of a sidecar map; use lower-case letters, digits and underscores.")
    }
    return "CAIRN_\(map)"
  }

  func value(for key: SidecarKey) throws -> Data? {
    let table = try Self.table(key.map)
    guard try connection.hasTable(table) else { return nil }
    let statement = try connection.statement("SELECT V FROM \(table) WHERE K = ?")
    return try value(for: key, with: statement)
  }

  private func value(for key: SidecarKey, with statement: SQLiteStatement) throws -> Data? {
    try key.withUnsafeBytes { bytes in
      statement.bindInPlace(bytes, at: 1)
      defer { statement.reset() }
      return try statement.step() ? statement.data(0) : nil
    }
  }

  /// The values of many keys, in their order; keys of one map come in runs.
  func values(for keys: [SidecarKey]) throws -> [Data?] {
    var values: [Data?] = []
    values.reserveCapacity(keys.count)
    var rest = keys[...]
    while let map = rest.first?.map {
      let run = rest.prefix { $0.map == map }
      rest = rest[run.endIndex...]
      let table = try Self.table(map)
      guard try connection.hasTable(table) else {
        values += [Data?](repeating: nil, count: run.count)
        continue
      }
      if run.count >= 8 {
        var lookup = SortedLookup(try connection.statement(SortedLookup.text(table)))
        defer { lookup.finish() }
        for key in run { values.append(try lookup.value(for: key)) }
        continue
      }
      let statement = try connection.statement("SELECT V FROM \(table) WHERE K = ?")
      for key in run { values.append(try value(for: key, with: statement)) }
    }
    return values
  }

  func entries(
    of map: String, from lower: Data?, to upper: Data?, limit: Int, except value: Data?
  ) throws -> [(key: Data, value: Data)] {
    let table = try Self.table(map)
    guard try connection.hasTable(table) else { return [] }
    var conditions: [String] = []
    if lower != nil { conditions.append("K >= ?1") }
    if upper != nil { conditions.append("K < ?2") }
    if value != nil { conditions.append("V <> ?4") }
    let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let statement = try connection.statement(
      "SELECT K, V FROM \(table)\(filter) ORDER BY K\(limit > 0 ? " LIMIT ?3" : "")")
    defer { statement.reset() }
    if let lower { statement.bind(lower, at: 1) }
    if let upper { statement.bind(upper, at: 2) }
    if limit > 0 { statement.bind(Int64(limit), at: 3) }
    if let value { statement.bind(value, at: 4) }
    var result: [(key: Data, value: Data)] = []
    while try statement.step() { result.append((statement.data(0), statement.data(1))) }
    return result
  }

  /// Executes all operations but those that ``SidecarOperation/require(_:_:)`` or need the number of the
  /// transaction.
  func execute(_ operations: [SidecarOperation], known: inout Set<String>) throws {
    // Puts into one map come in runs.
    var recent: (map: String, statement: SQLiteStatement)?
    for operation in operations {
      switch operation {
      case .put(let key, let value):
        let statement: SQLiteStatement
        if let recent, recent.map == key.map {
          statement = recent.statement
        } else {
          statement = try putting(key.map, known: &known)
          recent = (key.map, statement)
        }
        try put(key, value, with: statement)
      case .putAll(let run): try put(run, known: &known)
      case .remove, .add: _ = try execute(operation, known: &known)
      case .require, .putAtTransaction: break
      }
    }
  }

  /// How many entries of a run one statement takes: with more of them the rest costs more than is won.
  private static let block = 16

  private func put(_ run: SidecarRun, known: inout Set<String>) throws {
    if run.count >= Self.block {
      try put(run, by: Self.block, from: 0, with: try putting(run.map, Self.block, known: &known))
    }
    let rest = run.count - run.count % Self.block
    try put(run, by: 1, from: rest, with: try putting(run.map, known: &known))
  }

  private func put(
    _ run: SidecarRun, by size: Int, from first: Int, with statement: SQLiteStatement
  ) throws {
    defer { statement.reset() }
    try run.withEntries(of: size, from: first) { block in
      for place in 0..<size {
        statement.bindInPlace(block.key(place), at: Int32(2 * place + 1))
        statement.bindInPlace(block.value(place), at: Int32(2 * place + 2))
      }
      try statement.run()
    }
  }

  /// - Parameter count: How many entries the statement takes.
  private func putting(
    _ map: String, _ count: Int = 1, known: inout Set<String>
  ) throws -> SQLiteStatement {
    let table = try Self.table(map)
    if known.insert(table).inserted {
      try connection.execute(
        "CREATE TABLE IF NOT EXISTS \(table) (K BLOB PRIMARY KEY, V BLOB NOT NULL) "
          + "WITHOUT ROWID")
    }
    let rows = (0..<count).map { "(?\(2 * $0 + 1), ?\(2 * $0 + 2))" }
    return try connection.statement(
      "INSERT INTO \(table) (K, V) VALUES \(rows.joined(separator: ", ")) "
        + "ON CONFLICT (K) DO UPDATE SET V = excluded.V")
  }

  private func put(_ key: SidecarKey, _ value: Data, with statement: SQLiteStatement) throws {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { value in
        statement.bindInPlace(key, at: 1)
        statement.bindInPlace(value, at: 2)
        defer { statement.reset() }
        try statement.run()
      }
    }
  }

  /// Executes one operation; false when a requirement does not hold.
  func execute(_ operation: SidecarOperation, known: inout Set<String>) throws -> Bool {
    switch operation {
    case .put(let key, let value):
      try put(key, value, with: try putting(key.map, known: &known))
    case .putAll(let run): try put(run, known: &known)
    case .remove(let key):
      let table = try Self.table(key.map)
      guard try known.contains(table) || connection.hasTable(table) else { return true }
      let statement = try connection.statement("DELETE FROM \(table) WHERE K = ?")
      try key.withUnsafeBytes { bytes in
        statement.bindInPlace(bytes, at: 1)
        defer { statement.reset() }
        try statement.run()
      }
    case .require(let key, let expected):
      return try value(for: key) == expected
    case .add(let key, let numbers):
      let sum = SidecarOperation.sum(numbers, try value(for: key))
      return try execute(sum.map { .put(key, $0) } ?? .remove(key), known: &known)
    case .putAtTransaction:
      // The save puts it once it knows the number.
      return true
    }
    return true
  }
}

extension SQLiteStore: SidecarKeeping {
  public func sidecarValues(for keys: [SidecarKey]) throws -> [Data?] {
    try readConsistently(count: keys.count) { lookup in
      try SidecarTables(connection: lookup.connection).values(for: keys)
    }
  }

  public func sidecarEntries(
    of map: String, from lower: Data?, to upper: Data?, limit: Int, except value: Data?
  ) throws -> [(key: Data, value: Data)] {
    func read(_ lookup: RowLookup, _ limit: Int) throws -> [(key: Data, value: Data)] {
      try SidecarTables(connection: lookup.connection)
        .entries(of: map, from: lower, to: upper, limit: limit, except: value)
    }
    // What is left out is read, too.
    let count = limit == 0 || value != nil ? .max : limit
    // Most often there are few, however many are wanted; who goes on behind a page has seen that there are more.
    if count > Self.briefCount, value == nil, limit == 0 || lower == nil,
      let few = try readHeld({ try read($0, Self.briefCount + 1) }), few.count <= Self.briefCount
    {
      return few
    }
    return try readConsistently(count: count) { try read($0, limit) }
  }
}
