/// Every property has a name that neither its entity, nor an ancestor, nor every object uses.
enum PropertyNameRule: ModelRule {
  /// Members that every managed object has.
  static let reservedNames: Set<String> = [
    "description", "debugDescription", "hash", "hashValue", "self", "superclass", "class", "zone",
    "entity", "objectID", "managedObjectContext", "hasChanges", "hasPersistentChangedValues",
    "isInserted", "isUpdated", "isDeleted", "isFault", "faultingState", "observationInfo",
  ]

  static func problems(of model: ManagedObjectModel) -> [ModelProblem] {
    var result: [ModelProblem] = []
    for entity in model.entities {
      let inherited = Set((entity.superentity?.properties ?? []).map(\.name))
      var seen: Set<String> = []
      for (index, property) in entity.declaredProperties.enumerated() {
        let place = "\(entity.name ?? "").\(property.name)"
        if property.name.isEmpty {
          result.append(
            ModelProblem(
              code: "missingPropertyName", place: "\(entity.name ?? ""), property \(index + 1)",
              message: "The property has no name; give it one."))
          continue
        }
        if !seen.insert(property.name).inserted {
          result.append(
            ModelProblem(
              code: "duplicatePropertyName", place: place,
              message: "The entity has two properties of this name; rename one."))
        } else if inherited.contains(property.name) {
          result.append(
            ModelProblem(
              code: "inheritedPropertyName", place: place,
              message: "An ancestor declares a property of this name; remove or rename one."))
        }
        if reservedNames.contains(property.name) {
          result.append(
            ModelProblem(
              code: "reservedPropertyName", place: place,
              message: "Every managed object has a member of this name; choose another."))
        }
        if property.name.contains(".") {
          result.append(
            ModelProblem(
              code: "invalidPropertyName", place: place,
              message: "Property names cannot hold a dot, which separates the steps of key paths."))
        }
      }
    }
    return result
  }
}
