import CairnModel
import CairnSQL
import CairnStore

/// Finds out which constraints a refused save violates, and with whom.
struct UniquenessSearch {
  let content: StoreContent
  let connection: PostgreSQLConnection
  let request: SaveChangesRequest

  private struct Place: Hashable {
    let table: String
    let columns: [String]
    let values: [AttributeValue]
  }
  private struct Claim {
    let constraint: SQLConstraint
    let entity: SQLEntity
    var objectIDs: [ManagedObjectID]
  }

  func violations() throws -> [ConstraintViolation] {
    var claims: [Place: Claim] = [:]
    var order: [Place] = []
    for snapshot in request.updates.map(\.snapshot) + request.insertions.map(\.snapshot) {
      let entity = content.schema.sql.entity(snapshot.objectID.entity)
      for constraint in entity.constraints {
        let values = constraint.slots.map { snapshot[$0] }
        // NULLs never collide.
        if values.contains(where: \.isNull) { continue }
        let place = Place(table: entity.table, columns: constraint.columns, values: values)
        if claims[place] == nil { order.append(place) }
        claims[place, default: Claim(constraint: constraint, entity: entity, objectIDs: [])]
          .objectIDs.append(snapshot.objectID)
      }
    }
    let listed = order.compactMap { place in claims[place].map { (place, $0) } }
    let owners = try owners(of: listed)
    // Rows that the save itself writes or deletes have other values afterwards, or none.
    let own = Set(
      request.updates.map(\.snapshot.objectID) + request.deletions.map(\.objectID))
    return zip(listed, owners).compactMap { listed, owner in
      let claim = listed.1
      let persisted = owner.flatMap { own.contains($0.objectID) ? nil : $0 }
      if claim.objectIDs.count < 2, persisted == nil { return nil }
      return ConstraintViolation(
        entity: claim.constraint.entity, constraint: claim.constraint.names,
        objectIDs: claim.objectIDs, persisted: persisted)
    }
  }

  /// The stored row that has the values of each place.
  private func owners(of places: [(Place, Claim)]) throws -> [RowSnapshot?] {
    let schema = content.schema
    let statements = try places.map { place, _ -> Statement in
      let table = schema.table(sqlName: place.table)
      var parameters = ParameterList()
      var conditions: [String] = []
      for (column, value) in zip(place.columns, place.values) {
        guard let table, let column = table.column(sqlName: column), let form = column.form else {
          continue
        }
        let first = Int(parameters.count) + 1
        try form.append(value, to: &parameters)
        conditions.append("\(SQLText.name(column.name)) = $\(first)")
        if let exact = table.exactColumn(of: column) {
          conditions.append("\(SQLText.name(exact.name)) IS NOT DISTINCT FROM $\(first + 1)")
        }
      }
      let key = SQLText.name(PostgreSQLSchemaBuilder.identifier)
      return Statement(
        "SELECT \(key) FROM \(schema.place(ofTable: place.table)) "
          + "WHERE \(conditions.joined(separator: " AND ")) LIMIT 1", parameters)
    }
    let results = try connection.run(statements)
    return try zip(places, results).map { place, rows in
      guard rows.count == 1, let key = rows.integer(0, 0) else { return nil }
      return try PostgreSQLRowReading(content: content, connection: connection).rows(
        [key], inHierarchyOf: place.1.entity
      ).first
    }
  }
}
