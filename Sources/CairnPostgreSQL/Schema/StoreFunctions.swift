import CairnStore

/// The functions that a store has in its schema, by the beginnings of their names.
enum StoreFunctions {
  /// Counts the changes of what the functions do, so that opening a store makes older ones anew.
  private static let version = 4

  /// How the functions of triggers are declared: nothing that the session of another program is set to changes what
  /// they mean.
  static let declaration =
    "LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp "
    + "SET standard_conforming_strings = on"

  private static func condition(_ schema: SchemaName) -> String {
    "TG_TABLE_SCHEMA <> \(SQLText.literal(schema.text)) THEN -- "
  }

  /// The first statement of a trigger's function, which names the schema everywhere.
  ///
  /// A schema that was renamed still calls functions that name the one it was, where by now another store may lie, such as
  /// a restored one: nothing is written there. Opening the store makes the functions anew.
  static func guarding(_ schema: SchemaName) -> String {
    """
    IF \(condition(schema))\(version)
        RAISE EXCEPTION 'The schema % of a store was renamed; open the store once, which renews its triggers.',
          TG_TABLE_SCHEMA USING ERRCODE = 'invalid_schema_name';
      END IF;
    """
  }

  /// Names the functions of triggers that are older, or of a schema that was renamed.
  static func old(in schema: SchemaName) -> String {
    "SELECT p.proname \(ofTriggers(in: schema)) "
      + "AND (strpos(p.prosrc, \(SQLText.literal(condition(schema)))) = 0 "
      + "OR substring(p.prosrc, 'THEN -- ([0-9]+)')::integer < \(version))"
  }

  /// Names the functions that no trigger calls, because another program has dropped or disabled it, and those that are not
  /// there.
  ///
  /// - Parameter captures: Whether the store has those that record what other programs write.
  static func missing(from schema: PostgreSQLSchema, captures: Bool) -> Statement {
    var wanted = ArrayValue(of: .text)
    let functions =
      DerivedTriggers.functions(for: schema) + (captures ? SQLCapture.functions(for: schema) : [])
    for function in functions { wanted.append(function) }
    var parameters = ParameterList()
    parameters.append(wanted)
    return Statement(
      "SELECT p.proname::text COLLATE \"C\" \(ofTriggers(in: schema.name)) AND \(isIdle) UNION "
        + "SELECT (pg_catalog.parse_ident(f, false))[2] COLLATE \"C\" FROM unnest($1) f "
        + "WHERE pg_catalog.to_regprocedure(f) IS NULL ORDER BY 1", parameters, isKept: false)
  }

  private static func ofTriggers(in schema: SchemaName) -> String {
    "FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
      + "WHERE n.nspname = \(SQLText.literal(schema.text)) "
      + "AND (starts_with(p.proname, \(SQLText.literal(SQLCapture.prefix))) "
      + "OR starts_with(p.proname, \(SQLText.literal(DerivedTriggers.prefix)))) "
      + "AND p.prorettype = 'pg_catalog.trigger'::regtype"
  }

  private static let isIdle =
    "(SELECT bool_and(t.tgenabled IN ('O', 'A')) FROM pg_catalog.pg_trigger t "
    + "WHERE t.tgfoid = p.oid) IS NOT TRUE"

  /// Drops functions, and the triggers that call them.
  static func removal(of prefix: String, from schema: SchemaName) -> String {
    let body = """
      DECLARE f regprocedure; BEGIN
        FOR f IN SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
          JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
          WHERE n.nspname = \(SQLText.literal(schema.text))
            AND pg_catalog.starts_with(p.proname, \(SQLText.literal(prefix)))
        LOOP EXECUTE 'DROP FUNCTION ' || f::text || ' CASCADE'; END LOOP;
      END
      """
    return "DO \(SQLText.literal(body))"
  }
}
