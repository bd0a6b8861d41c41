import CairnStore

extension MigrationTrace {
  /// Keeps the trace for sync, in the transaction of a connection and behind what is there; does nothing in a store that
  /// sync has not written to.
  func keep(in schema: SchemaName, on connection: PostgreSQLConnection) throws {
    if names.isEmpty { return }
    var parameters = ParameterList()
    parameters.append(Self.key.map)
    parameters.append(data: Self.key.key)
    parameters.append(data: encoded)
    parameters.append(data: Self.witness.key)
    let table = SidecarReading.table(in: schema)
    try connection.run(
      "INSERT INTO \(table) AS s (map, key, value) SELECT $1, $2, $3 "
        + "WHERE EXISTS (SELECT FROM \(table) WHERE map = $1 AND key = $4) "
        + "ON CONFLICT (map, key) DO UPDATE SET value = s.value || excluded.value", parameters,
      isKept: false)
  }
}
