import CairnModel

/// A part of the sample model that a version lacks: to bring a store there drops its values.
enum DroppedPart: String, CaseIterable, Sendable {
  case value, number, parent, tags, label, parts, leaves

  /// Takes it out of a model of any version.
  func drop(from model: ManagedObjectModel) {
    func remove(_ names: String..., of entity: String) {
      model.entitiesByName[entity]?.properties.removeAll { names.contains($0.name) }
    }
    switch self {
    case .value: remove("value", "text", of: "Item")
    case .number: remove("other", of: "Item")
    case .parent: remove("parent", "children", of: "Item")
    case .tags:
      remove("tags", of: "Item")
      remove("items", of: "Tag")
    case .label:
      remove("label", of: "Item")
      remove("labelled", of: "Tag")
    case .parts:
      remove("parts", of: "Item")
      model.entities.removeAll { $0.name == "Part" }
    case .leaves: model.entities.removeAll { ["Leaf", "Bloom"].contains($0.name) }
    }
  }
}
