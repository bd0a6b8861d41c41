import CairnModel
import CairnSQL

/// Gives the tables that a migration makes anew the privileges that others have on those that they replace.
struct PrivilegeKeeping {
  let plan: SQLMigrationPlan
  /// The tables that are replaced.
  let moved: [PostgreSQLTable]
  let new: PostgreSQLSchema

  /// What replaces what: a table, its sequence, or a column where the last two say so.
  private typealias Pair = (old: String, new: String, oldColumn: String?, newColumn: String?)

  /// Grants what was granted; nil where no table is made anew.
  ///
  /// What the server grants on each new table is taken back: an administrator may have taken it from the old one.
  var statement: String? {
    let pairs = new.tables.flatMap(self.pairs)
    if pairs.isEmpty { return nil }
    func literal(_ text: String?) -> String { text.map(SQLText.literal) ?? "NULL" }
    let rows = pairs.map { pair in
      "(\(pair.old)::regclass, \(literal(pair.oldColumn)), \(pair.new)::regclass, \(literal(pair.newColumn)))"
    }
    let body = """
      DECLARE statement text; BEGIN
        FOR statement IN
          SELECT CASE a.step WHEN 0 THEN format('REVOKE ALL ON %s FROM %s', w.target, g.role)
            ELSE format('GRANT %s%s ON %s TO %s%s', a.type, w.columns, w.target, g.role, g.option) END
          FROM (VALUES \(rows.joined(separator: ", "))) AS p(old, old_column, new, new_column)
          JOIN pg_class o ON o.oid = p.old JOIN pg_class n ON n.oid = p.new,
          LATERAL (SELECT CASE n.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END
              || format('%I.%I', \(SQLText.literal(new.name.text)), n.relname) AS target,
            CASE WHEN p.new_column IS NULL THEN '' ELSE format(' (%I)', p.new_column) END AS columns) w,
          LATERAL (
            SELECT 0, grantee, privilege_type, is_grantable FROM aclexplode(n.relacl) WHERE p.new_column IS NULL
            UNION ALL
            SELECT 1, grantee, privilege_type, is_grantable FROM aclexplode(CASE WHEN p.old_column IS NULL
              THEN coalesce(o.relacl, acldefault(CASE o.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", o.relowner))
              ELSE (SELECT attacl FROM pg_attribute WHERE attrelid = o.oid AND attname = p.old_column) END)
          ) a(step, grantee, type, is_grantable),
          LATERAL (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE format('%I', pg_get_userbyid(a.grantee)) END AS role,
            CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS option) g
          WHERE a.grantee <> n.relowner ORDER BY a.step
        LOOP EXECUTE statement; END LOOP;
      END
      """
    return "DO \(SQLText.literal(body))"
  }

  private func pairs(of table: PostgreSQLTable) -> [Pair] {
    if plan.stayingTables.contains(table.sqlName) || plan.stayingJoinTables.contains(table.sqlName)
    {
      return []
    }
    guard let former = former(of: table.origin, among: moved, \.origin) else { return [] }
    let places = [SchemaMigration.away(former), table.name].map {
      SQLText.literal(SQLText.name(new.name.text, $0))
    }
    var pairs: [Pair] = [(places[0], places[1], nil, nil)]
    if table.primaryKey.isEmpty {
      let key = SQLText.literal(PostgreSQLSchemaBuilder.identifier)
      let sequences = places.map { "pg_get_serial_sequence(\($0), \(key))" }
      pairs.append((sequences[0], sequences[1], nil, nil))
    }
    for column in table.columns {
      guard let source = self.former(of: column.origin, among: former.columns, \.origin) else {
        continue
      }
      pairs.append((places[0], places[1], source.name, column.name))
    }
    return pairs
  }

  // MARK: What there was

  /// The table or column that another one continues; nil where it continues several, on which others may have different
  /// rights.
  private func former<Element>(
    of origin: NameOrigin, among elements: [Element], _ path: KeyPath<Element, NameOrigin>
  ) -> Element? {
    for side in [origin, inverse(of: origin)].compactMap({ $0 }) {
      let origins = formers(of: side)
      let found = elements.filter { origins.contains($0[keyPath: path]) }
      if !found.isEmpty { return found.count == 1 ? found[0] : nil }
    }
    return nil
  }

  /// What the old version may call what a name is for: entities that continue others can be new ones' subentities.
  private func formers(of origin: NameOrigin) -> Set<NameOrigin> {
    var formers: Set<NameOrigin> = []
    for change in plan.difference.entities {
      guard ancestry(of: change.destination).contains(origin.entity), let source = change.source,
        let property = change.sourcePath(of: origin.property)
      else { continue }
      for name in ancestry(of: source) {
        formers.insert(NameOrigin(entity: name, property: property, role: origin.role))
      }
    }
    return formers
  }

  private func ancestry(of entity: EntityDescription) -> [String] {
    sequence(first: entity) { $0.superentity }.map { $0.name ?? "" }
  }

  /// The table of a many-to-many relationship is called by either side.
  private func inverse(of origin: NameOrigin) -> NameOrigin? {
    let role: ColumnRole?
    switch origin.role {
    case nil: role = nil
    case .linkOwner: role = .linkMember
    case .linkMember: role = .linkOwner
    default: return nil
    }
    let entity = new.sql.entities.first { $0.name == origin.entity }?.entity
    guard let inverse = entity?.relationshipsByName[origin.property]?.inverseRelationship else {
      return nil
    }
    return NameOrigin(entity: inverse.entity?.name ?? "", property: inverse.name, role: role)
  }
}
