import CairnModel
import CairnSQL
import CairnStore

/// The functions and triggers that record in history what other programs write with plain SQL.
///
/// They work by the statement, not by the row, and leave what Cairn's own sessions do alone, which record that themselves; but
/// not what triggers of other programs do meanwhile.
/// The number of such a transaction is drawn by a trigger that the server runs at the commit. The functions have their
/// owner's rights, so that a role that may write a table needs none on history.
struct SQLCapture {
  /// The setting of a session that says that it records its changes itself.
  static let ownSessions = "cairn.records"

  let schema: PostgreSQLSchema
  /// Functions by the trigger they serve; their names are short enough to be kept whole.
  private var names = NameAllocator()
  private var functions: [String] = []

  private init(schema: PostgreSQLSchema) { self.schema = schema }

  static let prefix = "cairn_capture_"
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)
  private static let version = SQLText.name(PostgreSQLSchemaBuilder.version)
  private static let isForeign =
    "(pg_catalog.current_setting('\(ownSessions)', true) IS DISTINCT FROM 'on' "
    + "OR pg_catalog.pg_trigger_depth() > 0)"

  private func place(_ name: String) -> String { SQLText.name(schema.name.text, name) }

  /// - Parameter body: As any text, since names of a model are in it.
  private mutating func function(
    _ name: String, returns type: String = "trigger", _ body: String
  ) -> String {
    functions.append("\(name)()")
    return "CREATE FUNCTION \(name)() RETURNS \(type) \(StoreFunctions.declaration) "
      + "AS \(SQLText.literal(body))"
  }

  /// Everything, into a store that has none of it.
  static func statements(for schema: PostgreSQLSchema) -> [String] {
    var capture = SQLCapture(schema: schema)
    return capture.numbering() + schema.tables.flatMap { capture.statements(for: $0) }
  }

  /// The functions among them, as SQL names them.
  ///
  /// - Parameter isWanted: Says of which tables; the functions that number transactions are of none.
  static func functions(
    for schema: PostgreSQLSchema, of isWanted: (PostgreSQLTable) -> Bool = { _ in true }
  ) -> [String] {
    var capture = SQLCapture(schema: schema)
    _ = capture.numbering()
    for table in schema.tables {
      let count = capture.functions.count
      _ = capture.statements(for: table)
      if !isWanted(table) { capture.functions.removeSubrange(count...) }
    }
    return capture.functions
  }

  private mutating func statements(for table: PostgreSQLTable) -> [String] {
    table.primaryKey.isEmpty ? rows(of: table) : links(of: table)
  }

  /// Takes it away again.
  static func removal(from schema: SchemaName) -> String {
    StoreFunctions.removal(of: prefix, from: schema)
  }

  // MARK: Transactions

  private mutating func numbering() -> [String] {
    let transactions = place(PostgreSQLHistoryTables.transactions)
    // Two stores may be written in one transaction.
    let digits = schema.name.text.utf8.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
    let setting = "'cairn.key_\(digits)'"
    let now = "date_part('epoch', clock_timestamp()) - 978307200"
    let (begin, number) = (place(Self.prefix + "key"), place(Self.prefix + "number"))
    // A session of Cairn may be under way, for which the last key that it drew is the one of its own changes.
    let keys = PostgreSQLHistoryTables.sequence(
      PostgreSQLHistoryTables.changeNumbers, in: schema.name)
    return [
      function(
        begin, returns: "bigint",
        """
        DECLARE known text := current_setting(\(setting), true); fresh bigint;
        BEGIN
          IF known <> '' THEN RETURN known::bigint; END IF;
          fresh := -nextval(\(keys));
          IF EXISTS (SELECT 1 FROM \(transactions) WHERE key = fresh) THEN
            PERFORM nextval(\(keys)) FROM generate_series(1, fresh - (SELECT min(key) FROM \(transactions)));
            fresh := -nextval(\(keys));
          END IF;
          PERFORM set_config(\(setting), fresh::text, true);
          INSERT INTO \(transactions) (key, committed, seconds, author, process)
            VALUES (fresh, clock_timestamp(), \(now), nullif(current_setting('cairn.author', true), ''),
              current_setting('application_name'));
          RETURN fresh;
        END
        """),
      "REVOKE EXECUTE ON FUNCTION \(begin)() FROM PUBLIC",
      function(
        number,
        """
        BEGIN
          \(StoreFunctions.guarding(schema.name))
          IF current_setting('synchronous_commit') = 'off' THEN
            PERFORM set_config('synchronous_commit', 'local', true);
          END IF;
          PERFORM pg_advisory_xact_lock(hashtextextended(\(SQLText.literal("cairn history \(schema.name.text)")), 0));
          UPDATE \(transactions) SET committed = clock_timestamp(), seconds = \(now),
            number = \(PostgreSQLHistoryTables.nextNumber(in: schema.name))
            WHERE key = NEW.key AND number IS NULL;
          -- Also where no session listens: PostgreSQL prepares no transaction that notifies (PREPARE TRANSACTION),
          -- and a prepared one would keep the lock above from all writers.
          PERFORM pg_notify(\(SQLText.literal(CommitListening.channel(of: schema.name))), '');
          RETURN NULL;
        END
        """),
      "CREATE CONSTRAINT TRIGGER cairn_number AFTER INSERT ON \(transactions) "
        + "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.number IS NULL) "
        + "EXECUTE FUNCTION \(number)()",
    ]
  }

  private func insertion(_ select: String) -> String {
    "INSERT INTO \(place(PostgreSQLHistoryTables.changes)) "
      + "(transaction_key, kind, entity, row_key, properties, tombstone) \(select)"
  }

  private var begin: String { "\(place(Self.prefix + "key"))()" }

  /// A function and its trigger.
  private mutating func trigger(
    _ event: String, on table: PostgreSQLTable, tables: String?, whole: String, _ body: [String]
  ) -> [String] {
    let name = place(names.unique("\(Self.prefix)\(table.name)_\(event.lowercased())"))
    return [
      function(
        name,
        """
        <<cairn>> DECLARE tx bigint;
        BEGIN
          \(StoreFunctions.guarding(schema.name))
          IF NOT EXISTS (\(whole)) THEN RETURN NULL; END IF;
          tx := \(begin);
          \(body.joined(separator: ";\n  "));
          RETURN NULL;
        END
        """),
      "CREATE TRIGGER cairn_\(event.lowercased()) \(tables == nil ? "BEFORE" : "AFTER") \(event) "
        + "ON \(place(table.name)) \(tables.map { "REFERENCING \($0) " } ?? "")"
        + "FOR EACH STATEMENT WHEN (\(Self.isForeign)) "
        + "EXECUTE FUNCTION \(name)()",
    ]
  }

  // MARK: Rows

  private mutating func rows(of table: PostgreSQLTable) -> [String] {
    let (key, entity) = (Self.key, Self.entity)
    let members = schema.sql.entities.filter { $0.table == table.sqlName }
    let tombstones = members.compactMap { member in
      Tombstone.expression(of: member, row: "o", in: schema).map {
        "WHEN \(member.number) THEN \($0)"
      }
    }
    let tombstone =
      tombstones.isEmpty
      ? "NULL::jsonb" : "CASE o.\(entity) \(tombstones.joined(separator: " ")) END"
    let (old, new) = ("SELECT 1 FROM o", "SELECT 1 FROM n")
    let insert = insertion(
      "SELECT cairn.tx, 0, n.\(entity), n.\(key), NULL, NULL FROM n ORDER BY n.\(key)")
    func delete(from rows: String) -> String {
      insertion(
        "SELECT cairn.tx, 2, o.\(entity), o.\(key), NULL, \(tombstone) FROM \(rows) ORDER BY o.\(key)"
      )
    }
    let all = "\(place(table.name)) o"
    let numbers = members.map { String($0.number) }.joined(separator: ", ")
    // Another entity is another object, and nothing tells of what led to the one that it was.
    let refusal = """
      IF EXISTS (SELECT 1 FROM o JOIN n ON n.\(key) = o.\(key)
          WHERE n.\(entity) <> o.\(entity) AND o.\(entity) IN (\(numbers))) THEN
          RAISE EXCEPTION 'A row of % cannot become one of another entity.', TG_TABLE_NAME
            USING ERRCODE = 'check_violation', HINT = 'Delete the row, and insert another one with another key.';
        END IF
      """
    // A key that was changed is another object's.
    let update = insertion(
      """
      SELECT cairn.tx, u.kind, u.entity, u.key, u.properties, u.tombstone FROM (
          SELECT CASE WHEN o.\(key) IS NULL THEN 0 WHEN n.\(key) IS NULL THEN 2 ELSE 1 END AS kind,
            coalesce(n.\(entity), o.\(entity)) AS entity, coalesce(n.\(key), o.\(key)) AS key,
            CASE WHEN o.\(key) IS NOT NULL AND n.\(key) IS NOT NULL THEN \(properties(of: table)) END AS properties,
            CASE WHEN n.\(key) IS NULL THEN \(tombstone) END AS tombstone
          FROM o FULL JOIN n ON n.\(key) = o.\(key) AND n.\(entity) = o.\(entity)) u
        WHERE u.kind <> 1 OR cardinality(u.properties) > 0 ORDER BY u.key, u.kind DESC
      """)
    return trigger(
      "INSERT", on: table, tables: "NEW TABLE AS n", whole: new,
      [insert] + owners(of: table, "n") + placedOwners(of: table))
      + trigger(
        "DELETE", on: table, tables: "OLD TABLE AS o", whole: old,
        [delete(from: "o")] + owners(of: table, "o"))
      + trigger(
        "TRUNCATE", on: table, tables: nil, whole: "SELECT 1 FROM \(all)", [delete(from: all)])
      + trigger(
        "UPDATE", on: table, tables: "OLD TABLE AS o NEW TABLE AS n",
        whole:
          "SELECT 1 FROM o FULL JOIN n ON n.\(key) = o.\(key) WHERE \(differs(in: table, "o", "n"))",
        [refusal, update] + movedOwners(of: table) + reorderedOwners(of: table))
      + versions(of: table)
  }

  /// The names of the properties in which two rows differ.
  private func properties(of table: PostgreSQLTable) -> String {
    var columns: [(property: String, differences: [String])] = []
    for column in table.columns {
      guard let role = column.origin.role,
        [.value, .exact, .reference, .referenceEntity].contains(role), !schema.isDerived(column)
      else { continue }
      // History tells of composites as a whole.
      let property = column.origin.property.split(separator: ".").first.map(String.init) ?? ""
      let name = SQLText.name(column.name)
      let difference = "n.\(name) IS DISTINCT FROM o.\(name)"
      if let place = columns.firstIndex(where: { $0.property == property }) {
        columns[place].differences.append(difference)
      } else {
        columns.append((property, [difference]))
      }
    }
    let list = columns.map { column in
      "CASE WHEN \(column.differences.joined(separator: " OR ")) THEN \(SQLText.literal(column.property)) END"
    }
    return "array_remove(ARRAY[\(list.joined(separator: ", "))]::text[], NULL)"
  }

  /// The condition that two rows differ in what is the store's, and not computed: a column that an administrator has
  /// added may be of a type without equality.
  private func differs(in table: PostgreSQLTable, _ old: String, _ new: String) -> String {
    let columns = table.columns.filter { $0.origin.role != .version && !schema.isDerived($0) }
    func list(_ row: String) -> String {
      columns.map { "\(row).\(SQLText.name($0.name))" }.joined(separator: ", ")
    }
    return "ROW(\(list(old))) IS DISTINCT FROM ROW(\(list(new)))"
  }

  /// A change counts for optimistic locking, as a save does.
  private mutating func versions(of table: PostgreSQLTable) -> [String] {
    let name = place(names.unique("\(Self.prefix)\(table.name)_version"))
    let version = Self.version
    return [
      function(
        name,
        """
        BEGIN
          \(StoreFunctions.guarding(schema.name))
          NEW.\(version) := OLD.\(version) + 1;
          RETURN NEW;
        END
        """),
      "CREATE TRIGGER cairn_version BEFORE UPDATE ON \(place(table.name)) FOR EACH ROW "
        + "WHEN (OLD.\(version) = NEW.\(version) AND \(differs(in: table, "OLD", "NEW")) "
        + "AND \(Self.isForeign)) "
        + "EXECUTE FUNCTION \(name)()",
    ]
  }

  // MARK: Links

  /// A to-many relationship whose links stand in a table, as an update of the object that has it.
  private struct Link {
    let property: String
    let ownerTable: String
    /// The column of the owner's key.
    let owner: String
  }

  /// Relationships without inverse, which stand in the rows of their members.
  private func hiddenLinks(in table: PostgreSQLTable) -> [Link] {
    table.columns.compactMap { column in
      guard column.origin.role == .owner else { return nil }
      return link(column.origin.property, of: column.origin.entity, owner: column.name)
    }
  }

  private func link(_ property: String, of entity: String, owner: String) -> Link? {
    guard let owning = schema.sql.entities.first(where: { $0.name == entity }),
      let table = schema.table(sqlName: owning.table)
    else { return nil }
    return Link(property: property, ownerTable: table.name, owner: owner)
  }

  private func owners(of table: PostgreSQLTable, _ rows: String) -> [String] {
    hiddenLinks(in: table).flatMap {
      touch($0, keys: "SELECT \(SQLText.name($0.owner)) FROM \(rows)")
    }
  }

  private func movedOwners(of table: PostgreSQLTable) -> [String] {
    hiddenLinks(in: table).flatMap { link -> [String] in
      let owner = SQLText.name(link.owner)
      return touch(
        link,
        keys:
          "SELECT unnest(ARRAY[o.\(owner), n.\(owner)]) FROM o JOIN n ON n.\(Self.key) = o.\(Self.key) "
          + "WHERE n.\(owner) IS DISTINCT FROM o.\(owner)")
    }
  }

  /// Ordered relationships whose positions stand in the rows of their members.
  private func orderedLinks(
    in table: PostgreSQLTable
  ) -> [(link: Link, position: String, isHidden: Bool)] {
    table.columns.compactMap { column in
      guard column.origin.role == .position,
        let owning = schema.sql.entities.first(where: { $0.name == column.origin.entity }),
        let index = owning.layout.toManyByName[column.origin.property],
        case .foreignKey(_, let key, _, _, let isHidden) = owning.links[index],
        let owner = table.column(sqlName: key),
        let link = link(column.origin.property, of: owning.name, owner: owner.name)
      else { return nil }
      return (link, SQLText.name(column.name), isHidden)
    }
  }

  /// The owners of new rows that have a position among their members.
  private func placedOwners(of table: PostgreSQLTable) -> [String] {
    orderedLinks(in: table).filter { !$0.isHidden }.flatMap { link, position, _ in
      touch(
        link,
        keys: "SELECT n.\(SQLText.name(link.owner)) FROM n WHERE n.\(position) IS NOT NULL")
    }
  }

  private func reorderedOwners(of table: PostgreSQLTable) -> [String] {
    orderedLinks(in: table).flatMap { link, position, isHidden -> [String] in
      let owner = SQLText.name(link.owner)
      // Another owner has been recorded already where no row but the member's tells of it.
      let condition = isHidden ? " AND n.\(owner) IS NOT DISTINCT FROM o.\(owner)" : ""
      return touch(
        link,
        keys:
          "SELECT unnest(ARRAY[o.\(owner), n.\(owner)]) FROM o JOIN n ON n.\(Self.key) = o.\(Self.key) "
          + "WHERE n.\(position) IS DISTINCT FROM o.\(position)\(condition)")
    }
  }

  /// Records the change of a relationship, and counts it for optimistic locking.
  private func touch(_ link: Link, keys: String) -> [String] {
    let table = place(link.ownerTable)
    return [
      insertion(
        "SELECT cairn.tx, 1, x.\(Self.entity), x.\(Self.key), ARRAY[\(SQLText.literal(link.property))]::text[], NULL "
          + "FROM \(table) x WHERE x.\(Self.key) IN (\(keys)) ORDER BY x.\(Self.key)"),
      "UPDATE \(table) SET \(Self.version) = \(Self.version) + 1 WHERE \(Self.key) IN (\(keys))",
    ]
  }

  private mutating func links(of table: PostgreSQLTable) -> [String] {
    guard let owner = table.columns.first(where: { $0.origin.role == .linkOwner }),
      let member = table.columns.first(where: { $0.origin.role == .linkMember }),
      let entity = schema.sql.entities.first(where: { $0.name == owner.origin.entity }),
      let relationship = entity.entity.relationshipsByName[owner.origin.property]
    else { return [] }
    var links = [link(relationship.name, of: entity.name, owner: owner.name)]
    if let inverse = relationship.inverseRelationship, let other = inverse.entity?.name {
      links.append(link(inverse.name, of: other, owner: member.name))
    }
    let known = links.compactMap { $0 }
    func touches(_ rows: [String]) -> [String] {
      known.flatMap { link in
        touch(
          link,
          keys: rows.map { "SELECT \(SQLText.name(link.owner)) FROM \($0)" }.joined(
            separator: " UNION "))
      }
    }
    return trigger(
      "INSERT", on: table, tables: "NEW TABLE AS n", whole: "SELECT 1 FROM n", touches(["n"]))
      + trigger(
        "DELETE", on: table, tables: "OLD TABLE AS o", whole: "SELECT 1 FROM o", touches(["o"]))
      + trigger(
        "TRUNCATE", on: table, tables: nil, whole: "SELECT 1 FROM \(place(table.name))",
        touches([place(table.name)]))
      + trigger(
        "UPDATE", on: table, tables: "OLD TABLE AS o NEW TABLE AS n", whole: "SELECT 1 FROM n",
        touches(["o", "n"]))
  }
}
