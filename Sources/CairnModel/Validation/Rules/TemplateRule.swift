/// Fetch requests of the model and of fetched properties fetch entities of the model.
enum TemplateRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    let known = model.entitiesByName
    var result: [ModelProblem] = []
    for (name, template) in model.templatesByName.sorted(by: { $0.key < $1.key })
    where known[template.entityName] == nil {
      result.append(
        ModelProblem(
          code: "unknownTemplateEntity", place: "fetch request \(name)",
          message: "The request fetches \(template.entityName), which the model lacks."))
    }
    for (_, property, place) in declaredProperties(of: model) {
      guard let fetched = property as? FetchedPropertyDescription, let template = fetched.template,
        known[template.entityName] == nil
      else { continue }
      result.append(
        ModelProblem(
          code: "unknownTemplateEntity", place: place,
          message: "The property fetches \(template.entityName), which the model lacks."))
    }
    return result
  }
}
