/// The inverse of a relationship starts at its destination and leads back.
enum InverseRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    declaredProperties(of: model).compactMap { entity, property, place in
      guard let relationship = property as? RelationshipDescription,
        let inverse = relationship.inverseRelationship
      else { return nil }
      if inverse.inverseRelationship !== relationship {
        return ModelProblem(
          code: "inverseNotMutual", place: place,
          message:
            "The inverse \(inverse.name) does not name this relationship as its own inverse; "
            + "set both sides.")
      }
      if let owner = inverse.entity, let destination = relationship.destinationEntity,
        !destination.isKindOf(entity: owner), !owner.isKindOf(entity: destination)
      {
        return ModelProblem(
          code: "inverseOfWrongEntity", place: place,
          message:
            "The inverse \(inverse.name) belongs to \(owner.name ?? ""), but the relationship "
            + "leads to \(destination.name ?? "").")
      }
      if let back = inverse.destinationEntity, !entity.isKindOf(entity: back),
        !back.isKindOf(entity: entity)
      {
        return ModelProblem(
          code: "inverseLeadsElsewhere", place: place,
          message: "The inverse \(inverse.name) leads to \(back.name ?? ""), not back to "
            + "\(entity.name ?? "").")
      }
      return nil
    }
  }
}
