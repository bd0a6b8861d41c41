import CairnSQL

/// Checks uniqueness constraints by the rows themselves; an index may be missing.
struct UniquenessCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for entity in store.entities {
      for constraint in entity.constraints where constraint.entity === entity.entity {
        guard constraint.columns.allSatisfy({ store.has($0, in: entity.table) }) else { continue }
        let columns = constraint.columns.joined(separator: ", ")
        let present = constraint.columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        findings += try store.rows(
          "SELECT MAX(Z_PK), Z_ENT, COUNT(*) FROM \(entity.table) t WHERE \(present) "
            + "AND \(StoreCheck.isOf(entity, "t")) GROUP BY \(columns) HAVING COUNT(*) > 1",
          .uniqueness, entity: entity, column: columns
        ) {
          "\($0.string(2)) rows have the same \(constraint.names.joined(separator: ", "))."
        }
      }
    }
    return findings
  }
}
