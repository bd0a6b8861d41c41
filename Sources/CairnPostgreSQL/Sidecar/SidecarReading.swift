import CairnStore
import Foundation

/// Reads the sidecar: one table of maps, keys and values, ordered by their bytes.
struct SidecarReading {
  let schema: SchemaName
  let connection: PostgreSQLConnection

  static func table(in schema: SchemaName) -> String {
    SQLText.name(schema.text, BookkeepingTables.sidecar)
  }

  /// The values of keys, in their order; nil where there is none.
  func values(for keys: [SidecarKey]) throws -> [Data?] {
    if keys.isEmpty { return [] }
    if keys.count <= Self.few, keys.allSatisfy({ $0.map == keys[0].map }) {
      return try values(forFew: keys)
    }
    var parameters = ParameterList()
    SidecarArrays(keys: keys).append(to: &parameters)
    // A search for each key: the server would read a whole table that was small when it made its plan.
    let rows = try connection.run(
      "SELECT k.n, s.value FROM unnest($1, $2) WITH ORDINALITY AS k(map, key, n), "
        + "LATERAL (SELECT value FROM \(Self.table(in: schema)) t "
        + "WHERE t.map = k.map AND t.key = k.key LIMIT 1) s", parameters)
    var values = [Data?](repeating: nil, count: keys.count)
    for row in 0..<rows.count {
      guard let place = rows.integer(row, 0), place >= 1, place <= values.count else { continue }
      values[Int(place) - 1] = rows.data(row, 1)
    }
    return values
  }

  private static let few = 8

  /// A few of one map, which is what most passes of sync ask for, again and again: the server makes less of that.
  private func values(forFew keys: [SidecarKey]) throws -> [Data?] {
    var array = ArrayValue(of: .bytea)
    for key in keys { key.withUnsafeBytes { array.append(data: $0) } }
    var parameters = ParameterList()
    parameters.append(keys[0].map)
    parameters.append(array)
    let rows = try connection.run(
      "SELECT key, value FROM \(Self.table(in: schema)) WHERE map = $1 AND key = ANY ($2)",
      parameters)
    return keys.map { key in
      key.withUnsafeBytes { wanted in
        let row = (0..<rows.count).first { row in
          rows.bytes(row, 0)?.elementsEqual(wanted) == true
        }
        return row.flatMap { rows.data($0, 1) }
      }
    }
  }

  func entries(
    of map: String, from lower: Data?, to upper: Data?, limit: Int, except value: Data?
  ) throws -> [(key: Data, value: Data)] {
    var parameters = ParameterList()
    parameters.append(map)
    var text = "SELECT key, value FROM \(Self.table(in: schema)) WHERE map = $1"
    for (condition, bound) in [("key >=", lower), ("key <", upper), ("value <>", value)] {
      guard let bound else { continue }
      parameters.append(data: bound)
      text += " AND \(condition) $\(parameters.count)"
    }
    text += " ORDER BY key"
    if limit > 0 {
      parameters.append(Int64(limit))
      text += " LIMIT $\(parameters.count)"
    }
    let rows = try connection.run(text, parameters)
    return (0..<rows.count).map { (rows.data($0, 0) ?? Data(), rows.data($0, 1) ?? Data()) }
  }
}

/// Maps, keys and values on their way into a statement.
struct SidecarArrays {
  private var maps = ArrayValue(of: .text)
  private var keys = ArrayValue(of: .bytea)
  private var values = ArrayValue(of: .bytea)
  private(set) var count = 0

  init() {}

  init(keys: [SidecarKey]) {
    for key in keys { append(key) }
  }

  mutating func append(_ key: SidecarKey) {
    key.withUnsafeBytes { append(key.map, $0) }
  }

  mutating func append(_ key: SidecarKey, value: Data) {
    append(key)
    values.append(data: value)
  }

  mutating func append(
    _ map: String, _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer? = nil
  ) {
    maps.append(map)
    keys.append(data: key)
    if let value { values.append(data: value) }
    count += 1
  }

  func append(to parameters: inout ParameterList, withValues: Bool = false) {
    parameters.append(maps)
    parameters.append(keys)
    if withValues { parameters.append(values) }
  }
}
