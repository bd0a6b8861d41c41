/// Every entity has a name of its own.
enum EntityNameRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    var seen: Set<String> = []
    var result: [ModelProblem] = []
    for (index, entity) in model.entities.enumerated() {
      let name = entity.name ?? ""
      if name.isEmpty {
        result.append(
          ModelProblem(
            code: "missingEntityName", place: "entity \(index + 1)",
            message: "The entity has no name; give it one."))
      } else if !seen.insert(name).inserted {
        result.append(
          ModelProblem(
            code: "duplicateEntityName", place: name,
            message: "Two entities have this name; rename one."))
      }
    }
    return result
  }
}
