/// Inheritance ends at a root, and all of it is in the model.
enum InheritanceRule: ModelRule {
  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    let members = Set(model.entities.map(ObjectIdentifier.init))
    var result: [ModelProblem] = []
    for entity in model.entities {
      let place = entity.name ?? ""
      if isCyclic(entity) {
        result.append(
          ModelProblem(
            code: "inheritanceCycle", place: place,
            message: "The entity inherits from itself; take it out of its own subentities."))
      }
      for subentity in entity.subentities where !members.contains(ObjectIdentifier(subentity)) {
        result.append(
          ModelProblem(
            code: "subentityNotInModel", place: place,
            message: "The subentity \(subentity.name ?? "") is not in the model; add it to the "
              + "model's entities."))
      }
      if let parent = entity.superentity, !members.contains(ObjectIdentifier(parent)) {
        result.append(
          ModelProblem(
            code: "superentityNotInModel", place: place,
            message: "The superentity \(parent.name ?? "") is not in the model; add it to the "
              + "model's entities."))
      }
    }
    return result
  }

  /// Whether going up from an entity never ends.
  static func isCyclic(_ entity: EntityDescription) -> Bool {
    var seen: Set<ObjectIdentifier> = []
    var next: EntityDescription? = entity
    while let current = next {
      if !seen.insert(ObjectIdentifier(current)).inserted { return true }
      next = current.superentity
    }
    return false
  }
}
