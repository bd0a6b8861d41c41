/// A default value is of the attribute's class.
enum DefaultValueRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    declaredProperties(of: model).flatMap { _, property, place -> [ModelProblem] in
      guard let attribute = property as? AttributeDescription else { return [] }
      let leaves = (attribute as? CompositeAttributeDescription)?.flattenedElements ?? [attribute]
      return leaves.compactMap { leaf in
        problem(of: leaf, place: leaf === attribute ? place : "\(place).\(leaf.name)")
      }
    }
  }

  private static func problem(of attribute: AttributeDescription, place: String) -> ModelProblem? {
    // Transient attributes without a type and transformable ones take anything.
    guard attribute.defaultValue != nil, attribute.attributeType != .undefined,
      attribute.attributeType != .transformable
    else { return nil }
    do {
      _ = try AttributeCoding.encode(attribute.defaultValue, for: attribute)
      return nil
    } catch {
      return ModelProblem(
        code: "defaultOfWrongClass", place: place,
        message: "The default value does not fit: \(error)")
    }
  }
}
