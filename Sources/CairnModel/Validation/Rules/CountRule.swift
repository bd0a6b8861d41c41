/// The bounds of a relationship leave room for a member.
enum CountRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    declaredProperties(of: model).compactMap { _, property, place in
      guard let relationship = property as? RelationshipDescription else { return nil }
      if relationship.minCount < 0 {
        return ModelProblem(
          code: "negativeCount", place: place,
          message: "The smallest count is \(relationship.minCount); it cannot be negative.")
      }
      // Zero and, in models made by code, negative numbers mean unlimited.
      if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
        return ModelProblem(
          code: "countsCrossed", place: place,
          message: "The smallest count \(relationship.minCount) is above the largest "
            + "\(relationship.maxCount).")
      }
      return nil
    }
  }
}
