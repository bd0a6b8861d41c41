// Relationships of the models that tests make.

import CairnModel

/// A relationship in one line.
package func relationship(
  _ name: String, to destination: EntityDescription?, isToMany: Bool = false,
  isOrdered: Bool = false, deleteRule: DeleteRule = .nullify
) -> RelationshipDescription {
  let relationship = RelationshipDescription()
  relationship.name = name
  relationship.destinationEntity = destination
  relationship.maxCount = isToMany ? 0 : 1
  relationship.isOrdered = isOrdered
  relationship.deleteRule = deleteRule
  return relationship
}

/// Makes each of two relationships the inverse of the other.
package func connect(_ a: RelationshipDescription, _ b: RelationshipDescription) {
  a.inverseRelationship = b
  b.inverseRelationship = a
}
