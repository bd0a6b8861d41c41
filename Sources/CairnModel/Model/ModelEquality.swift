import CairnPredicates
import Foundation

/// Structural equality of models and their parts, as in Core Data: relevant values, not identity.
///
/// Other entities are compared by name only, so that comparing one does not compare its whole
/// model.
enum ModelEquality {
  /// Equal elements have equal hashes; only names take part, because the rest may still change.
  static func hash(of element: ModelElement) -> Int {
    var hasher = Hasher()
    switch element {
    case let model as ManagedObjectModel: hasher.combine(model.entities.count)
    case let entity as EntityDescription: hasher.combine(entity.name)
    case let property as PropertyDescription: hasher.combine(property.name)
    case let index as FetchIndexDescription: hasher.combine(index.name)
    case let part as FetchIndexElementDescription: hasher.combine(part.propertyName)
    default: hasher.combine(ObjectIdentifier(element))
    }
    return hasher.finalize()
  }

  static func areEqual(_ first: ModelElement, _ second: ModelElement) -> Bool {
    switch (first, second) {
    case (let a as ManagedObjectModel, let b as ManagedObjectModel): return models(a, b)
    case (let a as EntityDescription, let b as EntityDescription): return entities(a, b)
    case (let a as PropertyDescription, let b as PropertyDescription): return properties(a, b)
    case (let a as FetchIndexDescription, let b as FetchIndexDescription):
      return a.name == b.name && a.elements == b.elements
        && a.partialIndexPredicate == b.partialIndexPredicate
    case (let a as FetchIndexElementDescription, let b as FetchIndexElementDescription):
      return a.propertyName == b.propertyName && a.collationType == b.collationType
        && a.isAscending == b.isAscending
    default: return false
    }
  }

  private static func models(_ a: ManagedObjectModel, _ b: ManagedObjectModel) -> Bool {
    guard a.entities.count == b.entities.count, a.configurations == b.configurations else {
      return false
    }
    let others = b.entitiesByName
    for (name, entity) in a.entitiesByName {
      guard let other = others[name], entities(entity, other) else { return false }
    }
    for name in a.configurations {
      let first = Set((a.entities(forConfigurationName: name) ?? []).map(\.name))
      let second = Set((b.entities(forConfigurationName: name) ?? []).map(\.name))
      if first != second { return false }
    }
    return a.versionIdentifiers == b.versionIdentifiers
      && (a.localizationDictionary ?? [:]) == (b.localizationDictionary ?? [:])
      && a.templatesByName.count == b.templatesByName.count
      && a.templatesByName.allSatisfy { name, template in
        b.templatesByName[name].map { template.isSame(as: $0) } ?? false
      }
  }

  private static func entities(_ a: EntityDescription, _ b: EntityDescription) -> Bool {
    guard a !== b else { return true }
    guard a.name == b.name, a.isAbstract == b.isAbstract,
      a.managedObjectClassName == b.managedObjectClassName,
      a.versionHashModifier == b.versionHashModifier,
      a.renamingIdentifier == b.renamingIdentifier,
      a.superentity?.name == b.superentity?.name,
      Set(a.subentities.map(\.name)) == Set(b.subentities.map(\.name)),
      Set(a.constraintNames) == Set(b.constraintNames),
      values(a.userInfo, b.userInfo), a.indexes == b.indexes,
      a.declaredProperties.count == b.declaredProperties.count
    else { return false }
    let others = Dictionary(
      b.declaredProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return a.declaredProperties.allSatisfy { property in
      others[property.name].map { properties(property, $0) } ?? false
    }
  }

  private static func properties(_ a: PropertyDescription, _ b: PropertyDescription) -> Bool {
    guard a !== b else { return true }
    guard a.name == b.name, a.isOptional == b.isOptional, a.isTransient == b.isTransient,
      a.versionHashModifier == b.versionHashModifier,
      a.renamingIdentifier == b.renamingIdentifier, values(a.userInfo, b.userInfo),
      a.validationPredicates == b.validationPredicates,
      a.validationWarnings.map({ "\($0)" }) == b.validationWarnings.map({ "\($0)" })
    else { return false }
    switch (a, b) {
    case (let a as AttributeDescription, let b as AttributeDescription): return attributes(a, b)
    case (let a as RelationshipDescription, let b as RelationshipDescription):
      return (a.destinationEntity?.name ?? a.destinationEntityName)
        == (b.destinationEntity?.name ?? b.destinationEntityName)
        && (a.inverseRelationship?.name ?? a.inverseRelationshipName)
          == (b.inverseRelationship?.name ?? b.inverseRelationshipName)
        && a.maxCount == b.maxCount && a.minCount == b.minCount && a.deleteRule == b.deleteRule
        && a.isOrdered == b.isOrdered
    case (let a as FetchedPropertyDescription, let b as FetchedPropertyDescription):
      switch (a.template, b.template) {
      case (nil, nil): return true
      case (let first?, let second?): return first.isSame(as: second)
      case (nil, _?), (_?, nil): return false
      }
    case (let a as ExpressionDescription, let b as ExpressionDescription):
      return a.expression == b.expression && a.expressionResultType == b.expressionResultType
    default: return type(of: a) == type(of: b)
    }
  }

  private static func attributes(_ a: AttributeDescription, _ b: AttributeDescription) -> Bool {
    guard a.attributeType == b.attributeType,
      a.attributeValueClassName == b.attributeValueClassName,
      a.valueTransformerName == b.valueTransformerName,
      a.allowsExternalBinaryDataStorage == b.allowsExternalBinaryDataStorage,
      a.preservesValueInHistoryOnDeletion == b.preservesValueInHistoryOnDeletion,
      a.allowsCloudEncryption == b.allowsCloudEncryption,
      PredicateValue(a.defaultValue) == PredicateValue(b.defaultValue)
    else { return false }
    switch (a, b) {
    case (let a as DerivedAttributeDescription, let b as DerivedAttributeDescription):
      return a.derivationExpression == b.derivationExpression
        && a.filteringPredicate == b.filteringPredicate
    case (let a as CompositeAttributeDescription, let b as CompositeAttributeDescription):
      return a.elements == b.elements
    case (is DerivedAttributeDescription, _), (_, is DerivedAttributeDescription),
      (is CompositeAttributeDescription, _), (_, is CompositeAttributeDescription):
      return false
    default: return true
    }
  }

  /// Whether two annotation dictionaries are the same; none and an empty one are.
  private static func values(_ a: [AnyHashable: Any]?, _ b: [AnyHashable: Any]?) -> Bool {
    let (a, b) = (a ?? [:], b ?? [:])
    return a.count == b.count
      && a.allSatisfy { key, value in
        b[key].map { PredicateValue(value) == PredicateValue($0) } ?? false
      }
  }
}

extension FetchRequestTemplate {
  /// Whether both requests ask for the same.
  func isSame(as other: FetchRequestTemplate) -> Bool {
    entityName == other.entityName && predicate == other.predicate
      && sortDescriptors == other.sortDescriptors && resultType == other.resultType
      && fetchLimit == other.fetchLimit && fetchOffset == other.fetchOffset
      && fetchBatchSize == other.fetchBatchSize
      && includesSubentities == other.includesSubentities
      && includesPendingChanges == other.includesPendingChanges && objects == other.objects
      && dictionaries.isSame(as: other.dictionaries)
  }
}

extension FetchRequestTemplate.DictionaryResults {
  func isSame(as other: Self) -> Bool {
    havingPredicate == other.havingPredicate
      && returnsDistinctResults == other.returnsDistinctResults
      && Self.areSame(propertiesToFetch, other.propertiesToFetch)
      && Self.areSame(propertiesToGroupBy, other.propertiesToGroupBy)
  }

  private typealias Column = FetchRequestTemplate.Column

  private static func areSame(_ a: [Column]?, _ b: [Column]?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.elementsEqual(b) { a, b in
      switch (a, b) {
      case (.path(let a), .path(let b)): return a == b
      case (.computed(let a), .computed(let b)): return a == b
      case (_, _): return false
      }
    }
  }
}
