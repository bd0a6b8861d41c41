import CairnPredicates
import Foundation

// Models and their parts as text, for people who print them: a model lists its entities, an entity
// its own properties, each with what it was given.

/// Writes what Core Data's descriptions write, under its names of classes.
///
/// Other entities are named only while there is a model that keeps them.
enum ModelDescribing {
  static func text(of element: ModelElement) -> String {
    switch element {
    case let model as ManagedObjectModel: return text(of: model)
    case let entity as EntityDescription: return text(of: entity)
    case let property as PropertyDescription: return text(of: property)
    case let index as FetchIndexDescription:
      return "\(head(index, "NSFetchIndexDescription")) name \(index.name), elements "
        + list(index.elements.map { text(of: $0) }) + ", partialIndexPredicate "
        + orNull(index.partialIndexPredicate)
    case let part as FetchIndexElementDescription:
      return "\(head(part, "NSFetchIndexElementDescription")) propertyName "
        + "\(orNull(part.propertyName)), collationType \(part.collationType.rawValue), "
        + "isAscending \(number(part.isAscending))"
    default: return head(element, "\(type(of: element))")
    }
  }

  private static func text(of model: ManagedObjectModel) -> String {
    let entities = model.entities.map { ($0.name ?? "", text(of: $0)) }
    let templates = model.templatesByName.map { name, template in
      (name, "entity \(template.entityName), predicate \(orNull(template.predicate))")
    }
    return "\(head(model, "NSManagedObjectModel")) isEditable \(number(!model.isFrozen)), "
      + "entities \(block(entities)), fetch request templates \(block(templates))"
  }

  private static func text(of entity: EntityDescription) -> String {
    let model = entity.managedObjectModel
    defer { withExtendedLifetime(model) {} }
    let properties = entity.declaredProperties.map { ($0.name, text(of: $0)) }
    let subentities = entity.subentities.map { ($0.name ?? "", "name \($0.name ?? "")") }
    let constraints = entity.constraintNames.map { "(\($0.joined(separator: ", ")))" }
    return "\(head(entity, "NSEntityDescription")) name \(orNull(entity.name)), "
      + "managedObjectClassName \(orNull(entity.managedObjectClassName)), "
      + "renamingIdentifier \(orNull(entity.renamingIdentifier)), "
      + "isAbstract \(number(entity.isAbstract)), "
      + "superentity name \(orNull(model == nil ? nil : entity.superentity?.name)), "
      + "properties \(block(properties)), subentities \(block(subentities)), "
      + "userInfo \(userInfo(entity.userInfo)), "
      + "versionHashModifier \(orNull(entity.versionHashModifier)), "
      + "uniquenessConstraints \(list(constraints))"
  }

  private static func text(of property: PropertyDescription) -> String {
    "\(head(property, className(of: property))), name \(property.name), "
      + "isOptional \(number(property.isOptional)), isTransient \(number(property.isTransient)), "
      + "entity \(orNull(property.entity?.name)), "
      + "renamingIdentifier \(orNull(property.renamingIdentifier)), "
      + "validation predicates \(list(property.validationPredicates.map(\.predicateFormat))), "
      + "warnings \(list(property.validationWarnings.map { "\($0)" })), "
      + "versionHashModifier \(orNull(property.versionHashModifier)), "
      + "userInfo \(userInfo(property.userInfo))" + details(of: property)
  }

  private static func className(of property: PropertyDescription) -> String {
    switch property {
    case is DerivedAttributeDescription: return "NSDerivedAttributeDescription"
    case is CompositeAttributeDescription: return "NSCompositeAttributeDescription"
    case is AttributeDescription: return "NSAttributeDescription"
    case is RelationshipDescription: return "NSRelationshipDescription"
    case is FetchedPropertyDescription: return "NSFetchedPropertyDescription"
    case is ExpressionDescription: return "NSExpressionDescription"
    default: return "NSPropertyDescription"
    }
  }

  /// What properties of its kind have besides.
  private static func details(of property: PropertyDescription) -> String {
    switch property {
    case let attribute as AttributeDescription:
      var text =
        ", attributeType \(attribute.attributeType.rawValue), attributeValueClassName "
        + "\(orNull(attribute.attributeValueClassName)), defaultValue "
        + orNull(attribute.defaultValue)
      if attribute.attributeType == .transformable {
        text += ", valueTransformerName \(orNull(attribute.valueTransformerName))"
      }
      if let derived = attribute as? DerivedAttributeDescription {
        text += ", derivationExpression \(orNull(derived.derivationExpression))"
      }
      if let composite = attribute as? CompositeAttributeDescription {
        text += ", elements \(block(composite.elements.map { ($0.name, Self.text(of: $0)) }))"
      }
      return text
    case let relationship as RelationshipDescription:
      let model = relationship.entity?.managedObjectModel
      defer { withExtendedLifetime(model) {} }
      let destination = model == nil ? nil : relationship.destinationEntity?.name
      let inverse = model == nil ? nil : relationship.inverseRelationship?.name
      return ", destination entity \(orNull(destination)), "
        + "inverseRelationship \(orNull(inverse)), "
        + "minCount \(relationship.minCount), maxCount \(relationship.maxCount), "
        + "isOrdered \(number(relationship.isOrdered)), "
        + "deleteRule \(relationship.deleteRule.rawValue)"
    case let column as ExpressionDescription:
      return ", expression \(orNull(column.expression)), "
        + "expressionResultType \(column.expressionResultType.rawValue)"
    case let fetched as FetchedPropertyDescription:
      return ", fetches \(orNull(fetched.template?.entityName)) with predicate "
        + orNull(fetched.template?.predicate)
    default: return ""
    }
  }

  // MARK: Pieces

  private static func head(_ element: ModelElement, _ name: String) -> String {
    "(<\(name): 0x\(String(UInt(bitPattern: ObjectIdentifier(element)), radix: 16))>)"
  }

  private static func number(_ flag: Bool) -> Int { flag ? 1 : 0 }

  private static func orNull(_ value: Any?) -> String { value.map(PlainText.of) ?? "(null)" }

  /// Names with their texts, by name, the texts indented.
  private static func block(_ members: [(name: String, text: String)]) -> String {
    let lines = members.sorted { $0.name < $1.name }.map { name, text in
      "    \(name) = \"" + text.replacingOccurrences(of: "\n", with: "\n    ") + "\";\n"
    }
    return "{\n" + lines.joined() + "}"
  }

  private static func list(_ members: [String]) -> String {
    "(\n" + members.map { "    \($0)" }.joined(separator: ",\n") + (members.isEmpty ? ")" : "\n)")
  }

  private static func userInfo(_ info: [AnyHashable: Any]?) -> String {
    block((info ?? [:]).map { ("\($0.key)", PlainText.of($0.value)) })
  }
}
