/// The functions that a store has in its schema, by the beginnings of their names.
enum StoreFunctions {
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
