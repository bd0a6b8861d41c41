import CairnModel
import CairnSQL

/// Checks what is made of other values: derived attributes and location indexes.
///
/// A wrong value is damage when the file has the triggers that should have kept it right; a file
/// without them, or text that another framework folds, is only remarked on.
struct DerivedCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    guard let schema = store.schema else { return [] }
    let triggers = try triggers()
    var findings: [StoreFinding] = []
    for entity in store.entities {
      for slot in entity.derivedSlots where entity.ownSlots.contains(slot) {
        guard
          let attribute = entity.layout.slots[slot].attribute as? DerivedAttributeDescription,
          let column = entity.slots[slot].column, store.has(column, in: entity.table),
          let derivation = SQLDerivation(attribute, of: entity, schema: schema),
          isWhole(derivation)
        else { continue }
        let isKept = triggers.contains { $0.contains("_\(entity.name)_\(attribute.name)_") }
        findings += try values(
          entity, attribute.name, column, derivation, isKept ? .damage : .remark)
      }
    }
    for index in schema.locationIndexes where store.hasTable(index.name) {
      findings += try locations(
        index, triggers.contains { $0.hasPrefix("\(index.name)_") } ? .damage : .remark)
    }
    return findings
  }

  /// The names of the triggers that Core Data makes.
  private func triggers() throws -> Set<String> {
    let statement = try store.connection.statement(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' "
        + "AND (name GLOB 'Z_DA_*' OR name GLOB 'Z_RT_*')")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.string(0)) }
    return names
  }

  /// Whether the file has everything that the value is made of.
  private func isWhole(_ derivation: SQLDerivation) -> Bool {
    switch derivation {
    case .count(let link): return has(link)
    case .aggregate(_, let link, let members, let column):
      return has(link) && store.has(column, in: members)
    case .toOne(let hops, let column):
      return zip(hops, hops.dropFirst().map(\.key) + [column]).allSatisfy { hop, column in
        store.has(column, in: hop.table)
      }
    case .copy, .folded, .now: return true
    }
  }

  private func has(_ link: SQLLink) -> Bool {
    switch link {
    case .foreignKey(let table, let column, _, _, _): return store.has(column, in: table)
    case .join(let table, let owner, let member, _, _):
      return store.has(owner, member, in: table)
    }
  }

  private func values(
    _ entity: SQLEntity, _ attribute: String, _ column: String, _ derivation: SQLDerivation,
    _ severity: StoreFinding.Severity
  ) throws -> [StoreFinding] {
    guard let value = derivation.value(table: "t") else { return [] }
    let differs: String
    switch derivation {
    case .count: differs = "IFNULL(t.\(column), 0) IS NOT \(value)"
    case .aggregate:
      // Sums of reals depend on the order in which they are made.
      differs =
        "t.\(column) IS NOT \(value) AND NOT IFNULL(abs(t.\(column) - \(value)) "
        + "<= 1e-9 * abs(\(value)), 0)"
    case .toOne(let hops, _):
      // What a key that leads nowhere once led to is not known any more.
      differs = (["t.\(column) IS NOT \(value)"] + SQLDerivation.leadsSomewhere(hops, from: "t."))
        .joined(separator: " AND ")
    case .copy, .folded: differs = "t.\(column) IS NOT \(value)"
    case .now: return []
    }
    return try store.rows(
      "SELECT t.Z_PK, t.Z_ENT, t.\(column), \(value) FROM \(entity.table) t WHERE "
        + "\(StoreCheck.isOf(entity, "t")) AND (\(differs))",
      .derived, severity, entity: entity, column: column
    ) {
      "\(attribute) is \($0.isNull(2) ? "nothing" : $0.string(2)); what it is derived from gives "
        + "\($0.isNull(3) ? "nothing" : $0.string(3))."
    }
  }

  private func locations(
    _ index: SQLLocationIndex, _ severity: StoreFinding.Severity
  ) throws -> [StoreFinding] {
    guard index.columns.allSatisfy({ store.has($0, in: index.entity.table) }) else { return [] }
    // Coordinates are rounded outwards to 32 bits; those that are too large are infinite there.
    let outside = index.columns.map {
      "(abs(t.\($0)) < 3.4e38 AND t.\($0) NOT BETWEEN r.\($0)_MIN AND r.\($0)_MAX)"
    }
    let missing = try store.rows(
      "SELECT t.Z_PK, t.Z_ENT FROM \(index.entity.table) t LEFT JOIN \(index.quotedName) r "
        + "ON r.Z_PK = t.Z_PK WHERE \(index.condition("t")) AND (r.Z_PK IS NULL OR "
        + "\(outside.joined(separator: " OR ")))",
      .derived, severity, entity: index.entity, column: index.name
    ) { _ in "The row is not in the index where its values are." }
    let surplus = try store.rows(
      "SELECT r.Z_PK, NULL FROM \(index.quotedName) r LEFT JOIN \(index.entity.table) t "
        + "ON t.Z_PK = r.Z_PK AND \(StoreCheck.isOf(index.entity, "t")) WHERE t.Z_PK IS NULL",
      .derived, .remark, entity: index.entity, column: index.name
    ) { _ in "The index has a row that does not exist." }
    return missing + surplus
  }
}
