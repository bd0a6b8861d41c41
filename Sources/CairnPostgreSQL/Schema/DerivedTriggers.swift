import CairnModel
import CairnSQL
import CairnStore

/// The functions and triggers that keep derived attributes, whichever program writes.
///
/// They work by the statement: the owners of what changed are locked first and computed then, in a statement of its own,
/// so that of two transactions that change members of one owner the second sees what the first did. Foldings of text have no
/// trigger, since the server folds in another way than Core Data; a save computes them.
struct DerivedTriggers {
  let schema: PostgreSQLSchema
  private var names = NameAllocator()
  private var functions: [String] = []

  private init(schema: PostgreSQLSchema) { self.schema = schema }

  static let prefix = "cairn_derive_"
  private static let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
  private static let entity = SQLText.name(PostgreSQLSchemaBuilder.entity)
  private static let version = SQLText.name(PostgreSQLSchemaBuilder.version)

  static func statements(for schema: PostgreSQLSchema) -> [String] {
    var triggers = DerivedTriggers(schema: schema)
    return triggers.all()
  }

  /// The functions among them, as SQL names them.
  static func functions(for schema: PostgreSQLSchema) -> [String] {
    var triggers = DerivedTriggers(schema: schema)
    _ = triggers.all()
    return triggers.functions
  }

  private mutating func all() -> [String] {
    let attributes = DerivedColumn.all(in: schema)
    return attributes.flatMap { statements(for: $0) } + rowStatements(for: attributes)
  }

  /// The statements that compute what new columns hold for rows that are there.
  static func computations(for schema: PostgreSQLSchema) -> [String] {
    DerivedColumn.all(in: schema).compactMap { column in
      DerivedValue(column, in: schema).map { value in
        update(column, value, where: "true", in: schema)
      }
    }
  }

  /// Takes them away again.
  static func removal(from schema: SchemaName) -> String {
    StoreFunctions.removal(of: prefix, from: schema)
  }

  private func place(_ name: String) -> String { SQLText.name(schema.name.text, name) }

  private mutating func function(_ name: String, _ body: String) -> String {
    functions.append("\(name)()")
    return "CREATE FUNCTION \(name)() RETURNS trigger \(StoreFunctions.declaration) "
      + "AS \(SQLText.literal(body))"
  }

  // MARK: By the statement

  private static func update(
    _ column: DerivedColumn, _ value: DerivedValue, where condition: String,
    in schema: PostgreSQLSchema
  ) -> String {
    let settings = zip(column.columns, value.expressions).map { "\($0) = \($1)" }
    return "UPDATE \(SQLText.name(schema.name.text, column.table.name)) r "
      + "SET \(settings.joined(separator: ", ")) WHERE \(condition) "
      + "AND r.\(entity) IN (\(column.numbers)) AND \(value.differs(from: column))"
  }

  private mutating func statements(for column: DerivedColumn) -> [String] {
    guard let value = DerivedValue(column, in: schema) else { return [] }
    let table = place(column.table.name)
    return value.sources.flatMap { source -> [String] in
      let short = "\(column.table.name)_\(column.name)_of_\(source.table)"
      let name = place(names.unique(Self.prefix + short))
      let trigger = names.unique("cairn_\(column.table.name)_\(column.name)")
      func differs(_ rows: String) -> String {
        "(" + source.columns.map { "\(rows).\($0)" }.joined(separator: ", ") + ")"
      }
      // Rows of a join table have no key of their own.
      let check =
        source.columns.isEmpty
        ? ""
        : "IF NOT EXISTS (SELECT 1 FROM o FULL JOIN n ON n.\(Self.key) = o.\(Self.key) "
          + "WHERE ROW\(differs("o")) IS DISTINCT FROM ROW\(differs("n"))) THEN RETURN NULL; END IF;"
      let body = """
        <<cairn>> DECLARE keys bigint[];
        BEGIN
          \(StoreFunctions.guarding(schema.name))
          IF TG_OP = 'INSERT' THEN cairn.keys := ARRAY(\(source.keys("n")));
          ELSIF TG_OP = 'DELETE' THEN cairn.keys := ARRAY(\(source.keys("o")));
          ELSE
            \(check)
            cairn.keys := ARRAY(\(source.keys("n")) UNION \(source.keys("o")));
          END IF;
          PERFORM 1 FROM \(table) r WHERE r.\(Self.key) = ANY (cairn.keys) ORDER BY r.\(Self.key) FOR NO KEY UPDATE;
          \(Self.update(column, value, where: "r.\(Self.key) = ANY (cairn.keys)", in: schema));
          RETURN NULL;
        END
        """
      let events = [
        ("INSERT", "NEW TABLE AS n"), ("UPDATE", "OLD TABLE AS o NEW TABLE AS n"),
        ("DELETE", "OLD TABLE AS o"),
      ]
      return [function(name, body)]
        + events.map { event, tables in
          "CREATE TRIGGER \(SQLText.name("\(trigger)_\(event.lowercased())".suffixed)) AFTER \(event) "
            + "ON \(place(source.table)) REFERENCING \(tables) FOR EACH STATEMENT "
            + "EXECUTE FUNCTION \(name)()"
        }
    }
  }

  // MARK: By the row

  /// Copies of other columns, and the times of saves, one trigger a table.
  private mutating func rowStatements(for columns: [DerivedColumn]) -> [String] {
    var bodies: [(table: String, lines: [String])] = []
    for column in columns {
      let settings: String
      switch column.derivation {
      case .copy(let source):
        let values = DerivedValue.columns(
          source, of: column.table, isDate: column.columns.count > 1)
        settings = zip(column.columns, values).map { "NEW.\($0) := NEW.\($1);" }.joined(
          separator: " ")
      case .now:
        let rest = column.columns.dropFirst().map { " NEW.\($0) := NULL;" }.joined()
        settings =
          "IF TG_OP = 'INSERT' OR NEW.\(Self.version) IS DISTINCT FROM OLD.\(Self.version) THEN "
          + "NEW.\(column.columns[0]) := clock_timestamp();\(rest) END IF;"
      case .count, .aggregate, .toOne, .folded: continue
      }
      let line = "IF NEW.\(Self.entity) IN (\(column.numbers)) THEN \(settings) END IF;"
      if let known = bodies.firstIndex(where: { $0.table == column.table.name }) {
        bodies[known].lines.append(line)
      } else {
        bodies.append((column.table.name, [line]))
      }
    }
    return bodies.flatMap { table, lines in
      let name = place(names.unique("\(Self.prefix)\(table)"))
      return [
        function(
          name,
          "BEGIN\n\(StoreFunctions.guarding(schema.name))\n\(lines.joined(separator: "\n"))\n"
            + "RETURN NEW;\nEND"),
        // After the trigger that raises the version, by its name.
        "CREATE TRIGGER cairn_written BEFORE INSERT OR UPDATE ON \(place(table)) FOR EACH ROW "
          + "EXECUTE FUNCTION \(name)()",
      ]
    }
  }
}

extension String {
  /// The name of a trigger, no longer than the server keeps.
  fileprivate var suffixed: String {
    var allocator = NameAllocator()
    return allocator.unique(self)
  }
}
