import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore

/// What an open store knows of its schema: tables, shapes of rows, and the homes of object IDs.
final class StoreContent: Sendable {
  let schema: PostgreSQLSchema
  let shapes: RowShapes
  private let dialect: PostgreSQLDialect
  private let homes: [ObjectHome]
  /// By entity number minus one, and index among the entity's to-many relationships.
  private let links: [[LinkPlace?]]

  init(_ schema: PostgreSQLSchema, identity: StoreIdentity) {
    self.schema = schema
    shapes = RowShapes(schema)
    dialect = PostgreSQLDialect(schema: schema, shapes: shapes)
    homes = schema.sql.homes(in: identity)
    links = schema.sql.entities.map { entity in entity.links.map { LinkPlace($0, in: schema) } }
  }

  /// How a fetch is run.
  ///
  /// - Parameter store: The one asked, so that objects of others match nothing.
  func plan(_ request: StoreFetchRequest, store: StoreIdentity?) throws -> SQLQueryPlan {
    do {
      return try SQLQueryPlan(request, schema: schema.sql, dialect: dialect, store: store)
    } catch let error as PredicateEvaluationError {
      throw CoreDataError(
        .persistentStoreOperation, "The fetch cannot be evaluated: \(error.reason)",
        underlyingError: error)
    }
  }

  /// The shape of the rows that a request finds.
  func shape(of request: StoreFetchRequest) -> RowShape {
    shapes.shape(
      of: schema.sql.entity(request.entity), includesSubentities: request.includesSubentities)
  }

  /// The ID of a row; nil when the model has no entity with that number.
  func objectID(entity number: Int, key: Int64) -> ManagedObjectID? {
    guard number >= 1, number <= homes.count else { return nil }
    return ManagedObjectID(home: homes[number - 1], rowKey: key)
  }

  /// The ID of a to-one relationship's destination, which is of the declared entity or one of its subentities.
  func objectID(entity number: Int, key: Int64, within declared: Int) -> ManagedObjectID? {
    let isFitting = schema.sql.entity(number: declared)?.subtree.contains(number) == true
    return objectID(entity: isFitting ? number : declared, key: key)
  }

  /// Where the members of a relationship are; nil for a transient one.
  func link(of relationship: RelationshipDescription) -> LinkPlace? {
    guard let entity = relationship.entity,
      let index = entity.layout.toManyByName[relationship.name]
    else { return nil }
    return links[schema.sql.entity(entity).number - 1][index]
  }
}
