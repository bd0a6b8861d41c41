/// Fetch indexes name properties of their entity.
enum IndexRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    model.entities.flatMap { entity -> [ModelProblem] in
      let known = entity.propertiesByName
      return entity.indexes.flatMap { index -> [ModelProblem] in
        index.elements.compactMap { element in
          if element.property is ExpressionDescription { return nil }
          let name = element.propertyName ?? ""
          if known[name] != nil || name == "self" || name == "entity" { return nil }
          return ModelProblem(
            code: "unknownIndexProperty", place: entity.name ?? "",
            message: "The index \(index.name) names \(name), which is not a property of the entity."
          )
        }
      }
    }
  }
}
