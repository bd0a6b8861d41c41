import CairnModel
import CairnSQL
import CairnStore

/// Brings history to new numbers of entities and new names of properties.
struct HistoryRenaming {
  let plan: SQLMigrationPlan
  let schema: SchemaName

  private var changes: String {
    PostgreSQLHistoryTables.place(PostgreSQLHistoryTables.changes, in: schema)
  }

  var statements: [Statement] {
    let kept = plan.numbers.keys.sorted().map(String.init).joined(separator: ", ")
    var list = [
      Statement(
        "DELETE FROM \(changes)\(kept.isEmpty ? "" : " WHERE entity NOT IN (\(kept))")",
        isKept: false)
    ]
    // While the old numbers still stand in the rows.
    for change in plan.difference.entities {
      guard let source = change.source else { continue }
      list += renaming(change, from: source)
    }
    if plan.numbers.contains(where: { $0.key != $0.value }) {
      list.append(
        Statement("UPDATE \(changes) SET entity = \(plan.mapping(of: "entity"))", isKept: false))
    }
    return list
  }

  /// Old names by new ones, at once: two properties may exchange theirs.
  ///
  /// History names a changed composite as a whole; what it keeps of deleted objects names the elements, too.
  private func renaming(
    _ change: ModelDifference.EntityChange, from source: EntityDescription
  ) -> [Statement] {
    let pairs = change.properties.compactMap { property in
      property.source.map { ($0.name, property.destination.name) }
    }
    let paths = change.destination.layout.slots.compactMap { slot in
      change.sourcePath(of: slot.name).map { ($0, slot.name) }
    }
    let staying = Set(paths.filter { $0.0 == $0.1 }.map(\.0))
    if pairs.allSatisfy({ $0.0 == $0.1 }), change.removedProperties.isEmpty,
      source.layout.slots.allSatisfy({ staying.contains($0.name) })
    {
      return []
    }
    let names = "unnest($1, $2) AS m(old, new)"
    let number = plan.source.entity(source).number
    return [
      Statement(
        "UPDATE \(changes) c SET properties = ARRAY(SELECT m.new FROM \(names) "
          + "WHERE m.old = ANY (c.properties) ORDER BY 1) WHERE c.entity = \(number) "
          + "AND c.properties IS NOT NULL", parameters(pairs), isKept: false),
      Statement(
        "UPDATE \(changes) c SET tombstone = (SELECT jsonb_object_agg(m.new, c.tombstone -> m.old) "
          + "FROM \(names) WHERE c.tombstone ? m.old) WHERE c.entity = \(number) "
          + "AND c.tombstone IS NOT NULL", parameters(paths), isKept: false),
    ]
  }

  private func parameters(_ pairs: [(String, String)]) -> ParameterList {
    var (old, new) = (ArrayValue(of: .text), ArrayValue(of: .text))
    for pair in pairs {
      old.append(pair.0)
      new.append(pair.1)
    }
    var parameters = ParameterList()
    parameters.append(old)
    parameters.append(new)
    return parameters
  }
}
