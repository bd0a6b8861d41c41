/// Uniqueness constraints name properties that a row holds.
enum ConstraintRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    model.entities.flatMap { entity -> [ModelProblem] in
      let known = entity.propertiesByName
      return entity.constraintNames.flatMap { names -> [ModelProblem] in
        if names.isEmpty {
          return [
            ModelProblem(
              code: "emptyConstraint", place: entity.name ?? "",
              message: "A uniqueness constraint names no attribute; remove it.")
          ]
        }
        return names.compactMap { name in problem(of: known[name], name, entity) }
      }
    }
  }

  private static func problem(
    of property: PropertyDescription?, _ name: String, _ entity: EntityDescription
  ) -> ModelProblem? {
    let reason: String
    switch property {
    case let attribute as AttributeDescription:
      if !attribute.isTransient { return nil }
      reason = "is transient, so that no store can enforce it"
    case let relationship as RelationshipDescription:
      if !relationship.isToMany { return nil }
      reason = "is a relationship to many objects"
    case nil: reason = "is not a property of the entity"
    default: reason = "is not an attribute"
    }
    return ModelProblem(
      code: "invalidConstraint", place: entity.name ?? "",
      message: "A uniqueness constraint names \(name), which \(reason).")
  }
}
