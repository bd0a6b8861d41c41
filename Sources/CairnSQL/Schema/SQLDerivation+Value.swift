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
    case .toOne(let key, let source, let column):
      return "(SELECT d.\(column) FROM \(source) d WHERE d.Z_PK = \(table).\(key))"
    case .copy(let column): return "\(table).\(column)"
    case .folded(let function, let column): return "\(function)(\(table).\(column))"
    }
  }
}
