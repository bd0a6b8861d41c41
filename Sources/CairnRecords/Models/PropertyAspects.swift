// What a model says of an entity or a property, as words that can be compared.

import Cairn
import CairnControl
import CairnModel
import Foundation

/// Names and values in their order; a value that is the usual one is left out.
struct PropertyAspects {
  private(set) var list: [(name: String, value: String)] = []

  private mutating func add(_ name: String, _ value: String?) {
    if let value { list.append((name, value)) }
  }

  init(_ property: PropertyDescription) {
    if let attribute = property as? AttributeDescription {
      addAttribute(attribute)
    } else if let relationship = property as? RelationshipDescription {
      addRelationship(relationship)
    } else if property is FetchedPropertyDescription {
      add("kind", "fetched property")
    }
    add("optional", property.isOptional ? nil : "no")
    add("transient", property.isTransient ? "yes" : nil)
    add("hash modifier", property.versionHashModifier)
    let rules = property.validationPredicates.map(\.predicateFormat).sorted()
    add("validation", rules.isEmpty ? nil : rules.joined(separator: " and "))
  }

  private mutating func addAttribute(_ attribute: AttributeDescription) {
    add("type", attribute.attributeType.editorName)
    let standard = AttributeSummary(attribute).defaultValue
    add("default", standard == .null ? nil : standard?.text)
    add("transformer", attribute.valueTransformerName)
    add("external storage", attribute.allowsExternalBinaryDataStorage ? "yes" : nil)
    add("kept when deleted", attribute.preservesValueInHistoryOnDeletion ? "yes" : nil)
    if let derived = attribute as? DerivedAttributeDescription {
      add("derived from", derived.derivationExpression.map { "\($0)" } ?? "nothing")
    }
    if let composite = attribute as? CompositeAttributeDescription {
      add("elements", composite.elements.map(\.name).joined(separator: ", "))
    }
  }

  private mutating func addRelationship(_ relationship: RelationshipDescription) {
    add("destination", relationship.destinationEntity?.name ?? "none")
    add("to many", relationship.isToMany ? "yes" : nil)
    add("ordered", relationship.isOrdered ? "yes" : nil)
    add("inverse", relationship.inverseRelationship?.name ?? "none")
    add("delete rule", "\(relationship.deleteRule)")
    add("least", relationship.minCount > 0 ? "\(relationship.minCount)" : nil)
    add("most", relationship.maxCount > 1 ? "\(relationship.maxCount)" : nil)
  }

  init(_ entity: EntityDescription) {
    add("abstract", entity.isAbstract ? "yes" : nil)
    add("inherits from", entity.superentity?.name ?? "nothing")
    add("class", entity.managedObjectClassName)
    add("hash modifier", entity.versionHashModifier)
    let constraints = entity.constraintNames.map { "(\($0.joined(separator: ", ")))" }.sorted()
    add("unique", constraints.isEmpty ? nil : constraints.joined(separator: " "))
    let indexes = entity.indexes.map { index in
      let elements = index.elements.map { ($0.isAscending ? "" : "-") + ($0.propertyName ?? "?") }
      return "\(index.name) (\(elements.joined(separator: ", ")))"
    }.sorted()
    add("indexes", indexes.isEmpty ? nil : indexes.joined(separator: " "))
  }

  /// Each name whose value is another one, as `type Integer 16 -> Integer 64`.
  func changes(from old: PropertyAspects) -> [String] {
    let before = Dictionary(old.list.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let after = Dictionary(list.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let names = list.map(\.name) + old.list.map(\.name).filter { after[$0] == nil }
    return names.compactMap { name in
      let (old, new) = (before[name], after[name])
      guard old != new else { return nil }
      let usual = ["optional": "yes"]
      return "\(name) \(old ?? usual[name] ?? "no") -> \(new ?? usual[name] ?? "no")"
    }
  }
}
