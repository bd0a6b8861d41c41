// The model in the words of the control protocol.

import Cairn
import CairnControl

extension ModelSummary {
  /// Describes a model that is in use.
  public init(_ model: ManagedObjectModel, name: String) {
    self.init(
      name: name,
      versions: model.versionIdentifiers.map { "\($0.base)" }.filter { !$0.isEmpty }.sorted(),
      entities: model.entities.map(EntitySummary.init).sorted { $0.name < $1.name })
  }
}

extension EntitySummary {
  init(_ entity: EntityDescription) {
    self.init(
      name: entity.name ?? "", isAbstract: entity.isAbstract,
      superentity: entity.superentity?.name,
      attributes: entity.attributesByName.values.flatMap(AttributeSummary.all)
        .sorted { $0.name < $1.name },
      relationships: entity.relationshipsByName.values.sorted { $0.name < $1.name }
        .map(RelationshipSummary.init),
      uniqueness: entity.constraintNames.map { ConstraintSummary(properties: $0) },
      versionHash: entity.versionHash.base64EncodedString())
  }
}

extension AttributeSummary {
  /// An attribute; a composite one is followed by its leaves, by their paths.
  fileprivate static func all(_ attribute: AttributeDescription) -> [AttributeSummary] {
    let own = AttributeSummary(attribute)
    guard let composite = attribute as? CompositeAttributeDescription else { return [own] }
    let paths = composite.flattenedPaths(below: composite.name)
    return [own]
      + zip(paths, composite.flattenedElements).map { path, element in
        var leaf = AttributeSummary(element)
        leaf.name = path
        leaf.isTransient = composite.isTransient
        return leaf
      }
  }

  public init(_ attribute: AttributeDescription) {
    let standard = try? AttributeCoding.encode(attribute.defaultValue, for: attribute)
    self.init(
      name: attribute.name, type: attribute.attributeType.editorName,
      isOptional: attribute.isOptional, isTransient: attribute.isTransient,
      defaultValue: standard.flatMap { $0.isNull ? nil : RecordCoding.json($0) },
      isDerived: attribute is DerivedAttributeDescription ? true : nil)
  }
}

extension RelationshipSummary {
  init(_ relationship: RelationshipDescription) {
    self.init(
      name: relationship.name, destination: relationship.destinationEntity?.name ?? "",
      inverse: relationship.inverseRelationship?.name, isToMany: relationship.isToMany,
      isOrdered: relationship.isOrdered, isOptional: relationship.isOptional,
      deleteRule: "\(relationship.deleteRule)")
  }
}
