import CairnModel
import TestSupport

@testable import CairnSync

/// Nodes, some of which are leaves, or in a newer version twigs; no two of them have one key.
///
/// A mark leads to leaves only.
enum SubentityModel {
  static func make(isNewer: Bool = false) -> ManagedObjectModel {
    let node = EntityDescription(name: "Node")
    let leaf = EntityDescription(name: "Leaf")
    let twig = EntityDescription(name: "Twig")
    let mark = EntityDescription(name: "Mark")
    let target = relationship("leaf", to: leaf)
    let marks = relationship("marks", to: mark, isToMany: true)
    connect(target, marks)
    node.properties = [
      AttributeDescription(name: "key", type: .string),
      AttributeDescription(name: "note", type: .string),
    ]
    node.uniquenessConstraints = [["key"]]
    leaf.properties = [AttributeDescription(name: "shape", type: .string), marks]
    twig.properties = [AttributeDescription(name: "bark", type: .string)]
    mark.properties = [AttributeDescription(name: "key", type: .string), target]
    node.subentities = isNewer ? [leaf, twig] : [leaf]
    let model = ManagedObjectModel()
    model.entities = [node, leaf, mark] + (isNewer ? [twig] : [])
    return model
  }

  static func setting() throws -> ImportSetting {
    let model = make()
    try model.prepareForUse()
    let schema = try SyncSchema(model: model, defaultPolicy: .lastWriter, policies: [:])
    return ImportSetting(
      schema: schema, defaultPolicy: .lastWriter, holdable: Set(schema.entities.keys),
      time: CredibleTime(limit: .max), now: 0)
  }
}
