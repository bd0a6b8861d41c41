// Two versions of a model, side by side.

import Cairn
import CairnModel
import Foundation

/// What changed between two versions of a model, and how stores get from one to the other.
public struct ModelComparison: Sendable, Hashable, Encodable {
  public struct Side: Sendable, Hashable, Encodable {
    public let file: String
    public let version: String
    public let checksum: String

    public init(file: String, version: String, checksum: String) {
      self.file = file
      self.version = version
      self.checksum = checksum
    }
  }

  public enum Change: String, Sendable, Encodable {
    case added, removed, renamed, changed
  }

  public struct Property: Sendable, Hashable, Encodable {
    public let name: String
    public let change: Change
    /// Its former name, where it has another one.
    public let was: String?
    /// Each thing that differs, such as `type Integer 16 -> String`.
    public let details: [String]
    /// Whether its version hash differs, so that stores have to follow.
    public let isStored: Bool
  }

  public struct Entity: Sendable, Hashable, Encodable {
    public let name: String
    public let change: Change
    public let was: String?
    public let details: [String]
    /// Base64; nil on the side that lacks the entity.
    public let oldHash: String?
    public let newHash: String?
    public let properties: [Property]
  }

  /// How a store is brought from the old version to the new one.
  public enum Way: String, Sendable, Encodable {
    /// It fits both.
    case none
    /// By itself.
    case lightweight
    /// By a mapping model, which was found.
    case mapping
    /// A mapping model is needed, and none was found.
    case missing
  }

  public struct Refusal: Sendable, Hashable, Encodable {
    public let code: String
    public let place: String
    public let reason: String
  }

  public let old: Side
  public let new: Side
  public let entities: [Entity]
  public let way: Way
  /// The mapping model's file.
  public let mapping: String?
  /// Why no lightweight migration can do it.
  public let refusals: [Refusal]
  /// Entities and properties of the old version whose values a lightweight migration drops.
  public let drops: [String]
  /// Entities and properties of which names and renaming identifiers say different things.
  public let uncertain: [String]
  /// Attributes that must have a value and get none: where there are rows, a lightweight migration fails.
  public let needsValues: [String]

  /// - Parameter mapping: The file of a mapping model that leads from one to the other.
  public init(
    _ old: Side, _ oldModel: ManagedObjectModel, _ new: Side, _ newModel: ManagedObjectModel,
    mapping: URL?
  ) {
    let difference = ModelDifference(from: oldModel, to: newModel)
    self.old = old
    self.new = new
    entities =
      (difference.entities.compactMap(Self.entity) + difference.removedEntities.map(Self.removed))
      .sorted { $0.name < $1.name }
    way =
      oldModel.entityVersionHashesByName == newModel.entityVersionHashesByName
      ? .none : mapping != nil ? .mapping : difference.isInferable ? .lightweight : .missing
    self.mapping = way == .mapping ? mapping?.path : nil
    refusals = difference.refusals.map {
      Refusal(
        code: $0.code.rawValue, place: $0.entity + ($0.property.map { ".\($0)" } ?? ""),
        reason: $0.reason)
    }
    let loss = MigrationLoss(difference)
    drops = Self.declared(loss.names, in: oldModel)
    uncertain = loss.uncertain
    needsValues = difference.entities.flatMap { change in
      change.isAdded
        ? []
        : change.demands.filter { Self.isDeclared($0.path, change.destination) }
          .map { "\(change.destination.name ?? "?").\($0.path)" }
    }
  }

  /// Those properties only once that are named at an entity and at what inherits them from it.
  private static func declared(_ names: [String], in model: ManagedObjectModel) -> [String] {
    let all = Set(names)
    return names.filter { name in
      let parts = name.split(separator: ".", maxSplits: 1)
      guard parts.count == 2 else { return true }
      var above = model.entitiesByName[String(parts[0])]?.superentity
      while let parent = above {
        if all.contains("\(parent.name ?? "").\(parts[1])") { return false }
        above = parent.superentity
      }
      return true
    }
  }

  /// Of an element of a composite attribute, by its path, whether the attribute is.
  private static func isDeclared(_ path: String, _ entity: EntityDescription) -> Bool {
    entity.declaredProperties.contains { path == $0.name || path.hasPrefix("\($0.name).") }
  }

  private static func isDeclared(
    _ property: PropertyDescription, _ entity: EntityDescription
  ) -> Bool { entity.declaredProperties.contains { $0 === property } }

  private static func entity(_ change: ModelDifference.EntityChange) -> Entity? {
    let entity = change.destination
    guard let source = change.source else {
      return Entity(
        name: entity.name ?? "?", change: .added, was: nil, details: [], oldHash: nil,
        newHash: entity.versionHash.base64EncodedString(),
        properties: entity.declaredProperties.map { property($0, .added) })
    }
    let kept = change.properties.filter { isDeclared($0.destination, entity) }
      .compactMap(property)
    let removed = change.removedProperties.filter { isDeclared($0, source) }
      .map { property($0, .removed) }
    var details = PropertyAspects(entity).changes(from: PropertyAspects(source))
    let properties = (kept + removed).sorted { $0.name < $1.name }
    guard change.isRenamed || change.isChanged || !details.isEmpty || !properties.isEmpty else {
      return nil
    }
    if details.isEmpty, properties.isEmpty, change.isChanged {
      details = ["changed by what it inherits or leads to"]
    }
    return Entity(
      name: entity.name ?? "?", change: change.isRenamed ? .renamed : .changed,
      was: change.isRenamed ? source.name : nil, details: details,
      oldHash: source.versionHash.base64EncodedString(),
      newHash: entity.versionHash.base64EncodedString(), properties: properties)
  }

  private static func removed(_ entity: EntityDescription) -> Entity {
    Entity(
      name: entity.name ?? "?", change: .removed, was: nil, details: [],
      oldHash: entity.versionHash.base64EncodedString(), newHash: nil,
      properties: entity.declaredProperties.map { property($0, .removed) })
  }

  private static func property(_ change: ModelDifference.PropertyChange) -> Property? {
    guard let source = change.source else { return property(change.destination, .added) }
    let details = PropertyAspects(change.destination).changes(from: PropertyAspects(source))
    guard change.isRenamed || !change.isUnchanged || !details.isEmpty else { return nil }
    return Property(
      name: change.destination.name, change: change.isRenamed ? .renamed : .changed,
      was: change.isRenamed ? source.name : nil, details: details,
      isStored: !change.isUnchanged)
  }

  private static func property(_ property: PropertyDescription, _ change: Change) -> Property {
    Property(
      name: property.name, change: change, was: nil,
      details: PropertyAspects(property).list.map { "\($0.name) \($0.value)" },
      isStored: !property.isTransient && !(property is FetchedPropertyDescription))
  }
}
