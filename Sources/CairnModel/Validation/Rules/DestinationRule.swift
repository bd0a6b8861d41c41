/// Every relationship leads to an entity of the model.
enum DestinationRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    let members = Set(model.entities.map(ObjectIdentifier.init))
    return declaredProperties(of: model).compactMap { _, property, place in
      guard let relationship = property as? RelationshipDescription else { return nil }
      guard let destination = relationship.destinationEntity else {
        return ModelProblem(
          code: "missingDestination", place: place,
          message: "The relationship has no destination entity; set one.")
      }
      if members.contains(ObjectIdentifier(destination)) { return nil }
      return ModelProblem(
        code: "destinationNotInModel", place: place,
        message: "The destination \(destination.name ?? "") is not in the model; add it to the "
          + "model's entities.")
    }
  }
}
