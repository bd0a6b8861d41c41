import CairnModel
import Foundation

/// A model version inside the editor's mapping document (`sourcemodeldata`, `destinationmodeldata`):
/// the editor's own form of the model, in a keyed archive.
///
/// Kept is what tells one version from another and counts in version hashes; hashes themselves are
/// not recorded. Source: the notes on mapping models in the description of the model format, and
/// documents that Xcode wrote.
package struct EditedModel: Equatable, Sendable {
  private enum Property: Equatable {
    case attribute(type: Int, Traits)
    case relationship(destination: String, isToMany: Bool, isOrdered: Bool, Traits)
  }

  private struct Traits: Equatable {
    let isOptional: Bool
    let isTransient: Bool
    let modifier: String?
  }

  private struct Entity: Equatable {
    var parent: String?
    var properties: [String: Property] = [:]
  }

  private let entities: [String: Entity]

  /// Nil for what is no model of the editor.
  init?(_ data: Data) {
    guard let archive = try? KeyedArchive(data), let root = archive.root,
      root.className == "XDPMModel", let package = root.object("_xd_rootPackage")
    else { return nil }
    let values = ArchivedFoundationValues()
    var entities: [String: Entity] = [:]
    for (name, value) in package.dictionary("XDBucketForClassesstorage") {
      guard case .object(let object) = value, object.className == "XDPMEntity" else { continue }
      guard let entity = Self.entity(object, values) else { return nil }
      entities[name] = entity
    }
    if entities.isEmpty { return nil }
    self.entities = entities
  }

  private static func entity(
    _ object: ArchivedObject, _ values: ArchivedFoundationValues
  ) -> Entity? {
    var entity = Entity()
    for case .object(let generalization) in object.members("XDBucketForGeneralizationsstorage") {
      entity.parent = generalization.object("_general")?.text("_name")
    }
    for (name, value) in object.dictionary("XDBucketForOwnedAttributesstorage") {
      guard values.spendProperty() else { return nil }
      guard case .object(let object) = value else { continue }
      let common = Self.settings(of: object, "XD_PPropStereotype")
      let traits = Traits(
        isOptional: common.flag("XD_PPSK_isOptional"),
        isTransient: common.flag("XD_PPSK_isTransient"),
        modifier: common.text("XD_PPSK_versionHashModifier"))
      switch object.className {
      case "XDPMAttribute":
        let own = Self.settings(of: object, "XD_PAtt_Stereotype")
        guard let type = own.integer("XD_PAttK_attributeType") else { return nil }
        entity.properties[name] = .attribute(type: type, traits)
      case "XDPMRelationship":
        let own = Self.settings(of: object, "XD_PR_Stereotype")
        entity.properties[name] = .relationship(
          destination: own.object("XD_PRK_destination")?.text("_name") ?? "",
          isToMany: own.flag("XD_PRK_isToMany"), isOrdered: own.flag("XD_PRK_ordered"), traits)
      default: continue
      }
    }
    return entity
  }

  /// What the editor notes of an element under the name of a group.
  private static func settings(of object: ArchivedObject, _ group: String) -> Settings {
    var settings = Settings()
    for (name, value) in object.dictionary("XDBucketForStereotypesstorage") where name == group {
      guard case .object(let stereotype) = value else { continue }
      for (key, value) in stereotype.dictionary("XDBucketForOwnedAttributesstorage") {
        if case .object(let setting) = value { settings.owners[key] = setting }
      }
    }
    return settings
  }

  /// Settings by name; each is an object that holds its value.
  private struct Settings {
    var owners: [String: ArchivedObject] = [:]
    func flag(_ key: String) -> Bool { owners[key]?.flag("_default") ?? false }
    func integer(_ key: String) -> Int? { owners[key]?.integer("_default") }
    func text(_ key: String) -> String? { owners[key]?.text("_default") }
    func object(_ key: String) -> ArchivedObject? { owners[key]?.object("_default") }
  }

  // MARK: Comparing

  /// Whether a model is of this version.
  package func isVersion(of model: ManagedObjectModel) -> Bool {
    flattened == Self.flattened(model)
  }

  /// The properties of each entity, inherited ones among them.
  private var flattened: [String: Entity] {
    entities.mapValues { entity in
      var result = entity
      var next = entity.parent
      // As many steps as there are entities: a damaged file may go round in circles.
      for _ in entities {
        guard let name = next, let parent = entities[name] else { break }
        result.properties.merge(parent.properties) { own, _ in own }
        next = parent.parent
      }
      return result
    }
  }

  private static func flattened(_ model: ManagedObjectModel) -> [String: Entity] {
    var result: [String: Entity] = [:]
    for entity in model.entities {
      var made = Entity(parent: entity.superentity?.name)
      for (name, property) in entity.propertiesByName {
        let traits = Traits(
          isOptional: property.isOptional, isTransient: property.isTransient,
          modifier: property.versionHashModifier)
        if let attribute = property as? AttributeDescription {
          made.properties[name] = .attribute(
            type: Int(attribute.attributeType.rawValue), traits)
        } else if let relationship = property as? RelationshipDescription {
          made.properties[name] = .relationship(
            destination: relationship.destinationEntity?.name ?? "",
            isToMany: relationship.isToMany, isOrdered: relationship.isOrdered, traits)
        }
      }
      result[entity.name ?? ""] = made
    }
    return result
  }
}
