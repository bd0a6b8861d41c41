// A model as boxes and lines.

import CairnControl

/// The entities of a model and what runs between them, without places.
///
/// ``DiagramLayout`` places the boxes; ``EntityDiagram/svg(style:link:)``, ``dot()`` and ``mermaid()`` write
/// the diagram down.
public struct EntityDiagram: Sendable, Hashable {
  /// An entity.
  public struct Box: Sendable, Hashable {
    public let entity: String
    public let isAbstract: Bool
    public let superentity: String?
    /// The properties that the entity does not inherit, attributes first.
    public let rows: [Row]
  }

  /// A property.
  public struct Row: Sendable, Hashable {
    public let name: String
    /// An attribute's type, or the name of a relationship's destination.
    public let type: String
    /// Whether a relationship leads to any number of objects; nil for attributes.
    public let isToMany: Bool?
    public let isOptional: Bool
  }

  /// A line from one entity to another.
  public struct Line: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
      /// From an entity to its superentity.
      case inheritance
      /// A relationship and, where there is one, its inverse.
      case relationship(name: String, isToMany: Bool, inverse: String?, inverseIsToMany: Bool)
    }
    public let from: String
    public let to: String
    public let kind: Kind
  }

  public let title: String
  /// In the order of the entities' names.
  public let boxes: [Box]
  public let lines: [Line]

  /// The diagram of a model.
  ///
  /// What an entity inherits stands in its superentity's box only. A relationship and its inverse are
  /// one line; a relationship to an entity that the model lacks is a row without a line.
  public init(_ model: ModelSummary) {
    title = model.name
    let entities = model.entities.sorted { $0.name < $1.name }
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var boxes: [Box] = []
    var lines: [Line] = []
    for entity in entities {
      let parent = entity.superentity.flatMap { byName[$0] }
      let inherited = Set(
        (parent?.attributes.map(\.name) ?? []) + (parent?.relationships.map(\.name) ?? []))
      let attributes = entity.attributes.filter { !inherited.contains($0.name) }
      let relationships = entity.relationships.filter { !inherited.contains($0.name) }
      boxes.append(
        Box(
          entity: entity.name, isAbstract: entity.isAbstract, superentity: parent?.name,
          rows: attributes.map {
            Row(name: $0.name, type: $0.type, isToMany: nil, isOptional: $0.isOptional)
          }
            + relationships.map {
              Row(
                name: $0.name, type: $0.destination, isToMany: $0.isToMany,
                isOptional: $0.isOptional)
            }))
      if let parent {
        lines.append(Line(from: entity.name, to: parent.name, kind: .inheritance))
      }
      for relationship in relationships {
        guard let destination = byName[relationship.destination] else { continue }
        let inverse = relationship.inverse.flatMap { name in
          destination.relationships.first { $0.name == name }
        }
        // The line of a pair belongs to the end whose name comes first.
        if let inverse, let owner = Self.owner(of: inverse.name, destination, byName),
          (owner, inverse.name) < (entity.name, relationship.name)
        {
          continue
        }
        lines.append(
          Line(
            from: entity.name, to: destination.name,
            kind: .relationship(
              name: relationship.name, isToMany: relationship.isToMany, inverse: inverse?.name,
              inverseIsToMany: inverse?.isToMany ?? false)))
      }
    }
    self.boxes = boxes
    self.lines = lines
  }

  /// The entity whose box has the row of that relationship: the highest that has it.
  private static func owner(
    of relationship: String, _ entity: EntitySummary, _ byName: [String: EntitySummary]
  ) -> String? {
    var owner = entity
    var seen: Set<String> = [entity.name]
    while let parent = owner.superentity.flatMap({ byName[$0] }), seen.insert(parent.name).inserted,
      parent.relationships.contains(where: { $0.name == relationship })
    {
      owner = parent
    }
    return owner.relationships.contains { $0.name == relationship } ? owner.name : nil
  }
}
