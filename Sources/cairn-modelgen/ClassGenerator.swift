import CairnModel
import Foundation

/// Makes Swift source of a model that is ready for use: classes where its entities ask for `class`,
/// only the properties where they ask for `category`, nothing for the rest.
struct ClassGenerator {
  let model: ManagedObjectModel
  /// The name of the model file, for the head of the generated one.
  let source: String
  /// The module to import, `Cairn` or one that re-exports it.
  let module: String
  /// Whether the entities' own settings are passed over.
  let generatesAll: Bool

  private var names: FrameworkNames { FrameworkNames(importing: module) }

  /// The entities for which something is generated, by name.
  private var entities: [EntityDescription] {
    model.entities.filter { EntityClass(entity: $0, names: names).isNamed && kind(of: $0) != nil }
      .sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  private func kind(of entity: EntityDescription) -> String? {
    if generatesAll { return "class" }
    guard let kind = entity.codeGenerationType, ["class", "category"].contains(kind) else {
      return nil
    }
    return kind
  }

  /// Why nothing can be generated; empty when it can.
  func problems() -> [String] {
    Dictionary(grouping: entities, by: { EntityClass(entity: $0, names: names).name })
      .filter { $0.value.count > 1 }.sorted { $0.key < $1.key }
      .map { name, entities in
        "Entities \(entities.compactMap(\.name).joined(separator: ", ")) share the class \(name); "
          + "set the code generation of all but one to Manual/None."
      }
  }

  func text() -> String {
    let parts = entities.map { entity in
      kind(of: entity) == "class"
        ? classText(entity) + "\n" + extensionText(entity) : extensionText(entity)
    }
    let head = "// Generated from \(source) by cairn-modelgen. Changes are overwritten.\n"
    let registration = RegistrationText(name: source, statements: entities.flatMap(registrations))
      .lines
    let imports = ["import Foundation"] + ImportText.framework(module)
    let heads = imports.map { ImportText.lines($0) + "\n" }
    return ([head + "\n" + heads.joined()] + parts).joined(separator: "\n")
      + registration.map { $0 + "\n" }.joined()
  }

  /// What the class and its properties, and those of objects it leads to, are called.
  private func registrations(of entity: EntityDescription) -> [String] {
    let type = escaped(EntityClass(entity: entity, names: names).name)
    // What a class overrides that the program writes itself is in the companion file.
    let overrides = kind(of: entity) == "class" ? ", overriding: []" : ""
    var lines = [
      "\(names.managedObject).registerClass(\(type).self, named: \(quoted(type))\(overrides))"
    ]
    for property in generatedProperties(of: entity) {
      let path = "\\\(type).\(escaped(property.name))"
      lines.append("names[\(path)] = \(quoted(property.name))")
      guard let relationship = property as? RelationshipDescription, !relationship.isToMany,
        let destination = relationship.destinationEntity,
        entities.contains(where: { $0 === destination })
      else { continue }
      for next in generatedProperties(of: destination).map(\.name) {
        for step in ["?", "!"] {
          lines.append(
            "names[\(path)\(step).\(escaped(next))] = \(quoted("\(property.name).\(next)"))")
        }
      }
    }
    return lines
  }

  /// The properties that generated code declares for an entity's class and those above it.
  private func generatedProperties(of entity: EntityDescription) -> [PropertyDescription] {
    var found: [PropertyDescription] = []
    var next: EntityDescription? = entity
    while let one = next {
      if entities.contains(where: { $0 === one }) {
        found += EntityClass(entity: one, names: names).properties
          .filter { property in !found.contains { $0.name == property.name } }
      }
      next = one.superentity
    }
    return found.sorted { $0.name < $1.name }
  }

  private func classText(_ entity: EntityDescription) -> String {
    let type = EntityClass(entity: entity, names: names)
    return """
      /// An object of entity \(entity.name ?? "").
      open class \(escaped(type.name)): \(escaped(type.parentName)) {
      }

      """
  }

  private func extensionText(_ entity: EntityDescription) -> String {
    let type = EntityClass(entity: entity, names: names)
    let name = escaped(type.name)
    var lines = ["extension \(name) {"]
    lines += [
      "  /// A request for all objects of the entity.",
      "  public class func fetchRequest() -> \(names.fetchRequest)<\(name)> {",
      "    \(names.fetchRequest)<\(name)>(entityName: \(quoted(entity.name ?? "")))", "  }",
    ]
    for property in type.properties { lines += self.lines(for: property, of: entity) }
    lines.append("}")
    // Subclasses inherit the conformance.
    if !type.hasNamedParent, canIdentify(entity) {
      lines += ["", "extension \(name): Identifiable {", "}"]
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func lines(for property: PropertyDescription, of entity: EntityDescription) -> [String] {
    let layout: EntityLayout = entity.layout
    switch property {
    case let attribute as AttributeDescription:
      return AccessorText(
        attribute: attribute, slot: layout.slotByName[attribute.name], names: names
      ).lines
    case let relationship as RelationshipDescription:
      let numbers = relationship.isToMany ? layout.toManyByName : layout.slotByName
      guard let number = numbers[relationship.name] else { return [] }
      return RelationshipText(relationship: relationship, number: number, names: names).lines
    case let fetched as FetchedPropertyDescription:
      let type =
        fetched.template.flatMap { model.entitiesByName[$0.entityName] }
        .map { escaped(EntityClass(entity: $0, names: names).name) } ?? names.managedObject
      return [
        "", "  public var \(escaped(fetched.name)): [\(type)] {",
        "    value(forKey: \(quoted(fetched.name))) as? [\(type)] ?? []", "  }",
      ]
    default: return []
    }
  }

  /// Whether a property called `id`, if there is one, can be the identity.
  private func canIdentify(_ entity: EntityDescription) -> Bool {
    guard let attribute = entity.attributesByName["id"] else { return true }
    return AccessorText(attribute: attribute, slot: 0, names: names).isHashable
  }
}
