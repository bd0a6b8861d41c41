/// Every attribute that a store keeps has a type that stores can keep.
enum AttributeTypeRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    declaredProperties(of: model).flatMap { _, property, place -> [ModelProblem] in
      guard let attribute = property as? AttributeDescription else { return [] }
      return problems(of: attribute, place: place, isTransient: attribute.isTransient)
    }
  }

  private static func problems(
    of attribute: AttributeDescription, place: String, isTransient: Bool
  ) -> [ModelProblem] {
    if let composite = attribute as? CompositeAttributeDescription {
      return problems(ofElementsOf: composite, place: place, isTransient: isTransient)
    }
    if let derived = attribute as? DerivedAttributeDescription,
      derived.derivationExpression == nil
    {
      return [
        ModelProblem(
          code: "missingDerivation", place: place,
          message: "The derived attribute has no derivation expression; set one.")
      ]
    }
    switch attribute.attributeType {
    case .undefined where !isTransient:
      return [
        ModelProblem(
          code: "undefinedType", place: place,
          message: "The attribute has no type; only transient attributes may go without.")
      ]
    case .objectID where !isTransient:
      return [
        ModelProblem(
          code: "objectIDType", place: place,
          message: "Object IDs cannot be stored in attributes; use a relationship.")
      ]
    case .composite:
      return [
        ModelProblem(
          code: "compositeWithoutElements", place: place,
          message: "Attributes of type composite must be CompositeAttributeDescription.")
      ]
    case .undefined, .objectID, .integer16, .integer32, .integer64, .decimal, .double, .float,
      .string, .boolean, .date, .binaryData, .uuid, .uri, .transformable:
      return []
    }
  }

  private static func problems(
    ofElementsOf composite: CompositeAttributeDescription, place: String, isTransient: Bool
  ) -> [ModelProblem] {
    var seen: Set<String> = []
    return composite.elements.flatMap { element -> [ModelProblem] in
      let elementPlace = "\(place).\(element.name)"
      var result = problems(of: element, place: elementPlace, isTransient: isTransient)
      if element.name.isEmpty || !seen.insert(element.name).inserted {
        result.append(
          ModelProblem(
            code: "duplicateElementName", place: elementPlace,
            message: "The elements of a composite need a name each, and different ones."))
      }
      return result
    }
  }
}
