import CairnModel
import CairnSQL

/// Checks what every row has: its entity, its version, and values of the right storage class.
struct RowCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for root in store.entities where root.superNumber == 0 {
      findings += try entityFindings(root)
      if store.has("Z_OPT", in: root.table) {
        findings += try store.rows(
          "SELECT Z_PK, Z_ENT, Z_OPT FROM \(root.table) WHERE Z_OPT IS NULL OR Z_OPT < 1 "
            + "OR typeof(Z_OPT) <> 'integer'",
          .rowVersion, entity: root, column: "Z_OPT"
        ) { $0.isNull(2) ? "The row has no version." : "The version is \($0.string(2))." }
      }
    }
    for entity in store.entities { findings += try valueFindings(entity) }
    return findings
  }

  private func entityFindings(_ root: SQLEntity) throws -> [StoreFinding] {
    guard store.has("Z_ENT", in: root.table) else { return [] }
    let concrete = root.subtree.filter {
      store.schema?.entity(number: $0)?.entity.isAbstract != true
    }
    return try store.rows(
      "SELECT Z_PK, Z_ENT FROM \(root.table) WHERE Z_ENT IS NULL OR Z_ENT NOT IN "
        + "(\(concrete.map(String.init).joined(separator: ", ")))",
      .rowEntity, table: root.table, column: "Z_ENT"
    ) { row in
      if row.isNull(1) { return "The row is of no entity." }
      let number = row.integer(1)
      let isAbstract = root.subtree.contains(Int(truncatingIfNeeded: number))
      return isAbstract
        ? "The row is of \(store.name(ofEntity: number)), which is abstract."
        : "The row is of \(store.name(ofEntity: number)), whose rows are not in this table."
    }
  }

  private func valueFindings(_ entity: SQLEntity) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for slot in entity.ownSlots {
      let column: String
      let condition: String
      switch entity.slots[slot] {
      case .transient: continue
      case .toOne(let key, _, _):
        column = key
        condition = "typeof(t.\(key)) <> 'integer'"
      case .attribute(let name, let type, _):
        guard let wrong = Self.wrong(type, "t.\(name)") else { continue }
        column = name
        condition = wrong
      }
      guard store.has(column, in: entity.table) else { continue }
      findings += try store.rows(
        "SELECT t.Z_PK, t.Z_ENT, typeof(t.\(column)) FROM \(entity.table) t WHERE "
          + "t.\(column) IS NOT NULL AND \(StoreCheck.isOf(entity, "t")) AND \(condition)",
        .value, entity: entity, column: column
      ) { row in
        let type = entity.layout.slots[slot].attribute?.attributeType
        return "The value, stored as \(row.string(2)), is no \(type.map { "\($0)" } ?? "key")."
      }
    }
    return findings
  }

  /// The condition that a value is not what the type stores; nil when anything may be there.
  private static func wrong(_ type: AttributeType, _ column: String) -> String? {
    switch type {
    case .integer16, .integer32, .integer64: return "typeof(\(column)) <> 'integer'"
    case .boolean: return "(typeof(\(column)) <> 'integer' OR \(column) NOT IN (0, 1))"
    case .double, .float, .date: return "typeof(\(column)) NOT IN ('real', 'integer')"
    // Digits beyond those of a double are kept as text.
    case .decimal: return "typeof(\(column)) NOT IN ('real', 'integer', 'text')"
    case .string, .uri: return "typeof(\(column)) <> 'text'"
    case .uuid: return "(typeof(\(column)) <> 'blob' OR length(\(column)) <> 16)"
    case .binaryData, .transformable: return "typeof(\(column)) <> 'blob'"
    case .undefined, .objectID, .composite: return nil
    }
  }
}
