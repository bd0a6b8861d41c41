import CairnModel
import CairnSQL
import CairnStore

/// What an open store knows of its schema: tables, shapes of rows, and the homes of object IDs.
final class StoreContent: Sendable {
  let schema: PostgreSQLSchema
  let shapes: RowShapes
  private let homes: [ObjectHome]
  /// By entity number minus one, and index among the entity's to-many relationships.
  private let links: [[LinkPlace?]]

  init(_ schema: PostgreSQLSchema, identity: StoreIdentity) {
    self.schema = schema
    shapes = RowShapes(schema)
    homes = schema.sql.homes(in: identity)
    links = schema.sql.entities.map { entity in entity.links.map { LinkPlace($0, in: schema) } }
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
