import Foundation

/// What changed between two versions of a model, and whether a store can follow without being told
/// how (lightweight migration).
///
/// Entities and properties are matched by renaming identifier: what has the same identifier in both
/// versions is the same thing, whatever its name. The destination may be the older version: then the
/// identifiers of the source lead back. A pure value computed once; the models must stay
/// alive while it is used.
// Unchecked: immutable after initialisation; it references model elements, which migrating code
// freezes first.
public struct ModelDifference: @unchecked Sendable {
  /// What became of one property of a destination entity.
  public struct PropertyChange {
    /// The property of the destination, inherited ones included.
    public let destination: PropertyDescription
    /// Where its values come from; nil when it is new.
    public let source: PropertyDescription?
    /// What became of each element, where it was and is a composite attribute.
    public let elements: [PropertyChange]

    init(
      destination: PropertyDescription, source: PropertyDescription?,
      elements: [PropertyChange] = []
    ) {
      self.destination = destination
      self.source = source
      self.elements = elements
    }

    /// Whether the property is new.
    public var isAdded: Bool { source == nil }
    /// Whether it had another name.
    public var isRenamed: Bool { source.map { $0.name != destination.name } ?? false }
    /// Whether it was optional and is mandatory now.
    public var becomesMandatory: Bool {
      !destination.isOptional && (source.map { $0.isOptional || $0.isTransient } ?? true)
    }
    /// Whether existing objects get no value for an attribute that must have one; then migrating
    /// a store that holds objects fails (134110).
    public var lacksDefault: Bool {
      guard becomesMandatory, !destination.isTransient,
        let attribute = destination as? AttributeDescription,
        !(attribute is DerivedAttributeDescription)
      else { return false }
      return attribute.defaultValue == nil
    }
    /// Whether the property's stored form is the same.
    public var isUnchanged: Bool {
      source.map { $0.versionHash == destination.versionHash } ?? false
    }
  }

  /// What became of one entity.
  public struct EntityChange {
    public let destination: EntityDescription
    /// Where its objects come from; nil when it is new.
    public let source: EntityDescription?
    /// Every property the entity has now, inherited ones included, by name.
    public let properties: [PropertyChange]
    /// Properties of the source that no property of the destination continues.
    public let removedProperties: [PropertyDescription]
    /// Names of properties that may continue either the property of the same name or one whose
    /// renaming identifier is that name; the first was taken.
    package let uncertainProperties: [String]

    public var isAdded: Bool { source == nil }
    public var isRenamed: Bool { source.map { $0.name != destination.name } ?? false }
    /// Whether the version hash differs.
    public var isChanged: Bool { source.map { $0.versionHash != destination.versionHash } ?? true }
    /// Whether the entity has another superentity than before.
    public let isMoved: Bool

    /// Where the values of a property come from, nil when it is new.
    public func source(ofProperty name: String) -> PropertyDescription? {
      properties.first { $0.destination.name == name }?.source
    }

    /// What the source calls a property or, by its path such as `address.city`, an element of a
    /// composite attribute; nil when it is new.
    package func sourcePath(of path: String) -> String? {
      var changes = properties
      var names: [String] = []
      for part in path.split(separator: ".") {
        guard let change = changes.first(where: { $0.destination.name == part }),
          let source = change.source
        else { return nil }
        names.append(source.name)
        changes = change.elements
      }
      return names.joined(separator: ".")
    }
  }

  /// A value that the destination demands and the model has no default for.
  ///
  /// Where a row has no value in any of ``origins``, migrating the store fails (134110).
  package struct Demand {
    /// The property, or the path of an element, in the destination.
    package let path: String
    /// The attributes of the source that it continues, composites by their leaves.
    package let origins: [String]
    /// What an optional composite around it continues; nil where there is none.
    ///
    /// Rows without a value there need none.
    package let surroundings: [String]?
  }

  public let source: ManagedObjectModel
  public let destination: ManagedObjectModel
  /// The destination's entities in its order.
  public let entities: [EntityChange]
  /// Entities of the source that none of the destination continues; their objects are dropped.
  public let removedEntities: [EntityDescription]
  /// Names of entities that may continue either the entity of the same name or one whose renaming
  /// identifier is that name; the first was taken.
  package let uncertainEntities: [String]
  /// Why no mapping can be inferred; empty when one can.
  public let refusals: [InferenceRefusal]

  /// Whether a store can be brought from one version to the other without being told how.
  public var isInferable: Bool { refusals.isEmpty }

  /// Whether both versions have the same stored form.
  public var isEmpty: Bool {
    removedEntities.isEmpty && entities.allSatisfy { !$0.isChanged && !$0.isRenamed }
  }

  /// Whether things were only added: entities, and properties that existing objects can lack.
  ///
  /// Nothing stored has to be touched then.
  public var isAdditive: Bool {
    isInferable && removedEntities.isEmpty
      && entities.allSatisfy { change in
        change.isAdded
          || !change.isRenamed && !change.isMoved && change.removedProperties.isEmpty
            && change.destination.isAbstract == change.source?.isAbstract
            && change.properties.allSatisfy { $0.isAdded ? !$0.becomesMandatory : $0.isUnchanged }
      }
  }

  /// What became of an entity of the destination.
  public func change(ofEntity name: String) -> EntityChange? {
    entities.first { $0.destination.name == name }
  }

  /// The entity of the source that an entity of the destination continues.
  public func source(ofEntity name: String) -> EntityDescription? {
    change(ofEntity: name)?.source
  }

  /// Compares two versions of a model.
  public init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
    self.source = source
    self.destination = destination
    let matching = ElementMatching(source: source, destination: destination)
    let changes = destination.entities.map { matching.change(of: $0) }
    entities = changes
    let continued = Set(changes.compactMap { $0.source.map(ObjectIdentifier.init) })
    removedEntities = source.entities.filter { !continued.contains(ObjectIdentifier($0)) }
    uncertainEntities = matching.uncertainEntities
    refusals =
      changes.flatMap { InferenceRules.refusals(of: $0) } + matching.ambiguities
      + InferenceRules.mergedHierarchies(changes)
  }
}

extension ModelDifference.EntityChange {
  /// What every object must get a value for from its row.
  package var demands: [ModelDifference.Demand] { properties.flatMap { Self.demands(of: $0) } }

  private static func demands(of change: ModelDifference.PropertyChange) -> [ModelDifference.Demand]
  {
    let name = change.destination.name
    let origins = change.source.map { $0.isTransient ? [] : leaves(of: $0, $0.name) } ?? []
    let own =
      change.lacksDefault
      ? [ModelDifference.Demand(path: name, origins: origins, surroundings: nil)] : []
    if change.destination.isTransient { return own }
    let surroundings = change.destination.isOptional ? origins : nil
    return own
      + demands(
        ofElements: change, name, origins.isEmpty ? nil : change.source?.name, surroundings)
  }

  /// - Parameters:
  ///   - path: Of the composite in the destination.
  ///   - origin: Its path in the source; nil where no row has a value.
  ///   - surroundings: As in ``ModelDifference/Demand/surroundings``.
  private static func demands(
    ofElements change: ModelDifference.PropertyChange, _ path: String, _ origin: String?,
    _ surroundings: [String]?
  ) -> [ModelDifference.Demand] {
    change.elements.flatMap { element -> [ModelDifference.Demand] in
      let path = "\(path).\(element.destination.name)"
      let source = origin.flatMap { origin in element.source.map { "\(origin).\($0.name)" } }
      let origins = element.source.flatMap { former in source.map { leaves(of: former, $0) } } ?? []
      if element.destination is CompositeAttributeDescription {
        return demands(
          ofElements: element, path, source,
          element.destination.isOptional ? origins : surroundings)
      }
      if !element.lacksDefault { return [] }
      return [ModelDifference.Demand(path: path, origins: origins, surroundings: surroundings)]
    }
  }

  private static func leaves(of property: PropertyDescription, _ path: String) -> [String] {
    (property as? CompositeAttributeDescription)?.flattenedPaths(below: path) ?? [path]
  }
}
