import CairnModel

/// A location index: an R-tree with the rows that have a value in every one of its columns, and the
/// triggers that keep it.
package struct SQLLocationIndex: Sendable {
  package let entity: SQLEntity
  /// `Z_RT_<Entity>_<index>`.
  package let name: String
  package let columns: [String]

  /// Nil for an index of another kind, and for one with elements that no column holds.
  init?(_ index: FetchIndexDescription, of entity: SQLEntity) {
    guard index.elements.contains(where: { $0.collationType == .rTree }) else { return nil }
    let columns = index.elements.compactMap { element -> String? in
      element.property is ExpressionDescription
        ? nil : element.propertyName.flatMap { SQLIndexes.column($0, of: entity) }
    }
    guard columns.count == index.elements.count else { return nil }
    self.entity = entity
    name = "Z_RT_\(entity.name)_\(index.name)"
    self.columns = columns
  }

  var tableStatement: String {
    let ranges = columns.map { "\($0)_MIN FLOAT, \($0)_MAX FLOAT" }.joined(separator: ", ")
    return "CREATE VIRTUAL TABLE \(quotedName) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(ranges))"
  }

  /// ``name`` as SQL has it.
  package var quotedName: String { SQLNaming.quoted(name) }

  private func trigger(_ event: String) -> String {
    "CREATE TRIGGER \(SQLNaming.quoted("\(name)_\(event)")) AFTER \(event)"
  }

  /// The condition that a row is in the index; of the row that `prefix` names.
  package func condition(_ prefix: String) -> String {
    let numbers = entity.subtree.map(String.init).joined(separator: ", ")
    let present = columns.map { "\(prefix).\($0) NOT NULL" }.joined(separator: " AND ")
    return "\(prefix).Z_ENT IN (\(numbers)) AND \(present)"
  }

  private func values(_ prefix: String) -> String {
    columns.map { "\(prefix).\($0), \(prefix).\($0)" }.joined(separator: ", ")
  }

  var triggerStatements: [String] {
    let insert =
      "INSERT OR REPLACE INTO \(quotedName) SELECT NEW.Z_PK, \(values("NEW")) "
      + "WHERE \(condition("NEW"))"
    return [
      "\(trigger("INSERT")) ON \(entity.table) FOR EACH ROW BEGIN \(insert); END",
      "\(trigger("UPDATE")) OF \(columns.joined(separator: ", ")) ON "
        + "\(entity.table) FOR EACH ROW BEGIN DELETE FROM \(quotedName) WHERE Z_PK = NEW.Z_PK; "
        + "\(insert); END",
      "\(trigger("DELETE")) ON \(entity.table) FOR EACH ROW "
        + "BEGIN DELETE FROM \(quotedName) WHERE Z_PK = OLD.Z_PK; END",
    ]
  }

  /// Takes in the rows that are there already.
  var fillStatement: String {
    "INSERT INTO \(quotedName) SELECT t.Z_PK, \(values("t")) FROM \(entity.table) t "
      + "WHERE \(condition("t"))"
  }
}
