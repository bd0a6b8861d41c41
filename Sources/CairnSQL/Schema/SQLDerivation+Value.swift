// The value of a derived attribute as one expression: for new columns and for checks.

extension SQLDerivation {
  /// The attribute's value for every row of its table, nil for what only a save can tell.
  package func value(table: String) -> String? {
    switch self {
    case .count(.foreignKey(let members, let key, _, _, _)),
      .count(.join(let members, let key, _, _, _)):
      return "(SELECT COUNT(*) FROM \(members) d WHERE d.\(key) = \(table).Z_PK)"
    case .aggregate(let function, .foreignKey(_, let key, _, _, _), let members, let column):
      return "(SELECT \(function)(d.\(column)) FROM \(members) d WHERE d.\(key) = \(table).Z_PK)"
    case .aggregate(
      let function, .join(let links, let owner, let member, _, _), let members, let column):
      return "(SELECT \(function)(d.\(column)) FROM \(links) j JOIN \(members) d "
        + "ON d.Z_PK = j.\(member) WHERE j.\(owner) = \(table).Z_PK)"
    case .now: return nil
    case .toOne(let hops, let column):
      return Self.value(of: column, through: hops[...], from: "\(table).", alias: "d")
    case .copy(let column): return "\(table).\(column)"
    case .folded(let function, let column): return "\(function)(\(table).\(column))"
    }
  }

  /// A column at the end of to-ones, the first of which is a column of a row.
  ///
  /// - Parameters:
  ///   - row: What comes before the name of the first key's column.
  ///   - alias: What tables are called on the way, where the row's table may be one of them.
  static func value(
    of column: String, through hops: ArraySlice<Hop>, from row: String, alias: String? = nil
  ) -> String {
    let columns = hops.dropFirst().map(\.key) + [column]
    guard let first = hops.first else { return row + column }
    let (table, of) = (alias.map { " \($0)" } ?? "", alias.map { "\($0)." } ?? "")
    return zip(hops, columns).reduce(row + first.key) { key, step in
      "(SELECT \(of)\(step.1) FROM \(step.0.table)\(table) WHERE \(of)Z_PK = \(key))"
    }
  }

  /// The rows that a row is reached from, as a condition on the first key; for the hop that leads to
  /// that row's table.
  static func owners(through hops: ArraySlice<Hop>, to row: String) -> String {
    guard let first = hops.first else { return "Z_PK = \(row)" }
    var rows = "= \(row)"
    for (hop, next) in zip(hops, hops.dropFirst()).reversed() {
      rows = "IN (SELECT Z_PK FROM \(hop.table) WHERE \(next.key) \(rows))"
    }
    return "\(first.key) \(rows)"
  }

  /// Conditions that hold where each key on the way is empty or leads to a row.
  package static func leadsSomewhere(_ hops: [Hop], from row: String) -> [String] {
    hops.indices.map { index in
      let key = value(of: hops[index].key, through: hops[..<index], from: row)
      return "(\(key) IS NULL OR EXISTS "
        + "(SELECT 1 FROM \(hops[index].table) e WHERE e.Z_PK = \(key)))"
    }
  }
}
