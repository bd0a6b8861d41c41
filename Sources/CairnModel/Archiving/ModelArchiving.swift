import Foundation

/// Writes a whole model as a keyed archive.
struct ModelArchiving {
  typealias Reference = KeyedArchiveBuilder.Reference
  typealias Field = (String, PropertyListValue)

  private var archive = KeyedArchiveBuilder()
  private let root: Reference
  private var entities: [ObjectIdentifier: Reference] = [:]
  private var properties: [ObjectIdentifier: Reference] = [:]
  private let model: ManagedObjectModel

  /// - Throws: ``ModelFileError`` for what archives cannot hold.
  static func archive(_ model: ManagedObjectModel) throws -> Data {
    var writing = ModelArchiving(model)
    try writing.write()
    return writing.archive.data(root: writing.root)
  }

  private init(_ model: ManagedObjectModel) {
    self.model = model
    root = archive.reserve()
    for entity in model.entities {
      entities[ObjectIdentifier(entity)] = archive.reserve()
      for property in entity.declaredProperties {
        properties[ObjectIdentifier(property)] = archive.reserve()
      }
    }
  }

  private func uid(_ entity: EntityDescription?) -> PropertyListValue {
    .uid((entity.flatMap { entities[ObjectIdentifier($0)] } ?? .null).uid)
  }

  private mutating func write() throws {
    for entity in model.entities {
      for property in entity.declaredProperties { try write(property) }
      try write(entity)
    }
    let byName = dictionary(of: model.entities)
    let names = model.configurations
    let configurations = names.map { name in
      (archive.add(text: name), set(of: model.entities(forConfigurationName: name) ?? []))
    }
    let templates = try model.templatesByName.sorted { $0.key < $1.key }.map {
      (archive.add(text: $0.key), try add($0.value))
    }
    let identifiers = model.versionIdentifiers.map { "\($0.base)" }.sorted()
      .map { archive.add(text: $0) }
    let hints = archive.add(list: identifiers, className: "NSSet")
    var fields: [Field] = [
      ("NSEntities", .uid(byName.uid)), ("NSVersionIdentifiers", .uid(hints.uid)),
    ]
    let requests = templates.isEmpty ? Reference.null : archive.add(dictionary: templates)
    fields.append(("NSFetchRequestTemplates", .uid(requests.uid)))
    if !configurations.isEmpty {
      fields.append(("NSConfigurations", .uid(archive.add(dictionary: configurations).uid)))
    }
    archive.fill(root, "NSManagedObjectModel", fields)
  }

  private mutating func dictionary(of list: [EntityDescription]) -> Reference {
    archive.add(
      dictionary: list.map { entity in
        (archive.add(text: entity.name), entities[ObjectIdentifier(entity)] ?? .null)
      })
  }

  private mutating func set(of list: [EntityDescription]) -> Reference {
    archive.add(
      list: list.map { entities[ObjectIdentifier($0)] ?? .null }, className: "NSSet")
  }

  private mutating func add(userInfo: [AnyHashable: Any]?) -> Reference {
    archive.add(
      // In one order, so that equal models are equal archives.
      dictionary: (userInfo ?? [:]).sorted { "\($0.key)" < "\($1.key)" }.map {
        (archive.add(value: $0.key.base), archive.add(value: $0.value))
      }, className: "NSDictionary")
  }

  // MARK: Entities

  private mutating func write(_ entity: EntityDescription) throws {
    // Inherited properties are listed as well, as in Apple's archives; readers skip them.
    let listed = entity.properties.map { property in
      (archive.add(text: property.name), properties[ObjectIdentifier(property)] ?? .null)
    }
    let members = archive.add(dictionary: listed)
    let subentities = dictionary(of: entity.subentities)
    let info = add(userInfo: entity.userInfo)
    var fields: [Field] = [
      ("NSEntityName", .uid(archive.add(text: entity.name).uid)),
      ("NSClassNameForEntity", .uid(archive.add(text: entity.managedObjectClassName).uid)),
      ("NSManagedObjectModel", .uid(root.uid)), ("NSSuperentity", uid(entity.superentity)),
      ("NSSubentities", .uid(subentities.uid)), ("NSProperties", .uid(members.uid)),
      ("NSUserInfo", .uid(info.uid)),
      ("NSVersionHashModifier", .uid(archive.add(text: entity.versionHashModifier).uid)),
      ("NSRenamingIdentifier", .uid(archive.add(text: entity.renamingIdentifier).uid)),
    ]
    if entity.isAbstract { fields.append(("NSIsAbstract", .bool(true))) }
    if !entity.constraintNames.isEmpty {
      let tuples = entity.constraintNames.map { names in
        archive.add(list: names.map { archive.add(text: $0) }, className: "NSMutableArray")
      }
      let list = archive.add(list: tuples, className: "NSMutableArray")
      fields.append(("NSUniqueTuples", .uid(list.uid)))
    }
    if !entity.indexes.isEmpty {
      let indexes = try entity.indexes.map { try add($0, of: entity) }
      let list = archive.add(list: indexes)
      fields.append(("NSFetchIndexDescriptions", .uid(list.uid)))
    }
    if let reference = entities[ObjectIdentifier(entity)] {
      archive.fill(reference, "NSEntityDescription", fields)
    }
  }

  private mutating func add(
    _ index: FetchIndexDescription, of entity: EntityDescription
  ) throws -> Reference {
    let reference = archive.reserve()
    let elements = try index.elements.map { element in
      let name = archive.add(text: element.propertyName)
      var fields: [Field] = [
        ("NSPropertyName", .uid(name.uid)),
        ("NSFetchIndexElementType", .integer(Int64(element.collationType.rawValue))),
        ("NSAscending", .bool(element.isAscending)),
        ("NSFetchIndexDescription", .uid(reference.uid)),
      ]
      // Properties are known by their names; this one is no entity's.
      if let computed = element.property as? ExpressionDescription {
        let property = archive.reserve()
        try write(computed, as: property)
        fields.append(("NSIndexedProperty", .uid(property.uid)))
      }
      return archive.add("NSFetchIndexElementDescription", fields)
    }
    let list = archive.add(list: elements)
    var predicate = Reference.null
    if let partial = index.partialIndexPredicate {
      predicate = try PredicateArchiving.add(partial.node, to: &archive)
    }
    archive.fill(
      reference, "NSFetchIndexDescription",
      [
        ("NSIndexName", .uid(archive.add(text: index.name).uid)),
        ("NSIndexElements", .uid(list.uid)), ("NSPartialIndexPredicate", .uid(predicate.uid)),
        ("NSEntity", uid(entity)),
      ])
    return reference
  }

  // MARK: Properties

  private mutating func write(_ property: PropertyDescription) throws {
    guard let reference = properties[ObjectIdentifier(property)] else { return }
    try write(property, as: reference)
  }

  private mutating func write(_ property: PropertyDescription, as reference: Reference) throws {
    var fields = try common(property)
    if let attribute = property as? AttributeDescription { fields += self.fields(of: attribute) }
    switch property {
    case let derived as DerivedAttributeDescription:
      fields += try self.fields(of: derived)
      archive.fill(
        reference, "NSDerivedAttributeDescription",
        inheriting: ["NSAttributeDescription", "NSPropertyDescription"], fields)
    case let composite as CompositeAttributeDescription:
      let elements = try composite.elements.map { element in
        let reference = archive.reserve()
        try write(element, as: reference)
        return reference
      }
      fields.append(("NSElements", .uid(archive.add(list: elements).uid)))
      archive.fill(
        reference, "NSCompositeAttributeDescription",
        inheriting: ["NSAttributeDescription", "NSPropertyDescription"], fields)
    case is AttributeDescription:
      archive.fill(
        reference, "NSAttributeDescription", inheriting: ["NSPropertyDescription"], fields)
    case let relationship as RelationshipDescription:
      fields += self.fields(of: relationship)
      archive.fill(
        reference, "NSRelationshipDescription", inheriting: ["NSPropertyDescription"], fields)
    case let fetched as FetchedPropertyDescription:
      let request = try fetched.template.map { try add($0) } ?? .null
      let name = archive.add(text: fetched.template?.entityName)
      fields += [
        ("NSFetchRequest", .uid(request.uid)), ("_NSFetchRequestEntityName", .uid(name.uid)),
        ("NSIsReadOnly", .bool(true)),
      ]
      archive.fill(
        reference, "NSFetchedPropertyDescription", inheriting: ["NSPropertyDescription"], fields)
    case let computed as ExpressionDescription:
      let expression = try computed.expression.map {
        try PredicateArchiving.add($0.node, to: &archive)
      }
      // No known file has one; the keys are named as those of the other properties are.
      fields += [
        ("NSExpression", .uid((expression ?? .null).uid)),
        ("NSExpressionResultType", .integer(Int64(computed.expressionResultType.rawValue))),
      ]
      archive.fill(
        reference, "NSExpressionDescription", inheriting: ["NSPropertyDescription"], fields)
    default: break
    }
  }

  private mutating func common(_ property: PropertyDescription) throws -> [Field] {
    var fields: [Field] = [
      ("NSPropertyName", .uid(archive.add(text: property.name).uid)),
      ("NSEntity", uid(property.entity)),
      ("NSRenamingIdentifier", .uid(archive.add(text: property.renamingIdentifier).uid)),
    ]
    // The bits that Apple's archives always carry, and those of the three flags.
    let isReadOnly =
      property is DerivedAttributeDescription || property is FetchedPropertyDescription
    let bits =
      0xF1 | (property.isOptional ? 2 : 0) | (isReadOnly ? 4 : 0) | (property.isTransient ? 8 : 0)
    fields.append(("_P", .integer(Int64(bits))))
    if property.isOptional { fields.append(("NSIsOptional", .bool(true))) }
    if property.isTransient { fields.append(("NSIsTransient", .bool(true))) }
    if property.isIndexed { fields.append(("NSIsIndexed", .bool(true))) }
    if property.isIndexedBySpotlight { fields.append(("NSIndexedBySpotlight", .bool(true))) }
    if let modifier = property.versionHashModifier {
      fields.append(("NSVersionHashModifier", .uid(archive.add(text: modifier).uid)))
    }
    if property.userInfo?.isEmpty == false {
      fields.append(("NSUserInfo", .uid(add(userInfo: property.userInfo).uid)))
    }
    if !property.validationPredicates.isEmpty {
      let conditions = try property.validationPredicates.map {
        try PredicateArchiving.add($0.node, to: &archive)
      }
      let warnings = property.validationWarnings.map { archive.add(value: $0) }
      fields.append(("NSValidationPredicates", .uid(archive.add(list: conditions).uid)))
      fields.append(("NSValidationWarnings", .uid(archive.add(list: warnings).uid)))
    }
    return fields
  }

  private mutating func fields(of attribute: AttributeDescription) -> [Field] {
    let flags =
      (attribute.allowsExternalBinaryDataStorage ? PropertyUnarchiving.externalStorageFlag : 0)
      | (attribute.preservesValueInHistoryOnDeletion
        ? PropertyUnarchiving.preservesOnDeletionFlag : 0)
    var fields: [Field] = [
      ("NSAttributeType", .integer(Int64(attribute.attributeType.rawValue))),
      (
        "NSAttributeValueClassName",
        .uid(archive.add(text: attribute.attributeValueClassName).uid)
      ),
      ("NSDefaultValue", .uid(archive.add(value: attribute.defaultValue).uid)),
      ("NSValueTransformerName", .uid(archive.add(text: attribute.valueTransformerName).uid)),
      ("NSFlagsKey", .integer(Int64(flags))),
    ]
    if attribute.allowsCloudEncryption { fields.append(("NSAllowsCloudEncryption", .bool(true))) }
    return fields
  }

  private mutating func fields(of derived: DerivedAttributeDescription) throws -> [Field] {
    var expression = Reference.null
    if let node = derived.derivationExpression?.node {
      expression = try PredicateArchiving.add(node, to: &archive)
    }
    var filter = Reference.null
    if let node = derived.filteringPredicate?.node {
      filter = try PredicateArchiving.add(node, to: &archive)
    }
    return [
      ("NSDerivationExpression", .uid(expression.uid)),
      ("NSFilteringPredicate", .uid(filter.uid)), ("NSIsReadOnly", .bool(true)),
    ]
  }

  private mutating func fields(of relationship: RelationshipDescription) -> [Field] {
    let inverse = relationship.inverseRelationship
    let inverseUID = (inverse.flatMap { properties[ObjectIdentifier($0)] } ?? .null).uid
    let destination = archive.add(
      text: relationship.destinationEntity?.name ?? relationship.destinationEntityName)
    var fields: [Field] = [
      ("NSDestinationEntity", uid(relationship.destinationEntity)),
      ("_NSDestinationEntityName", .uid(destination.uid)),
      ("NSInverseRelationship", .uid(inverseUID)),
      // A name that leads nowhere counts for the version, too.
      (
        "_NSInverseRelationshipName",
        .uid(archive.add(text: inverse?.name ?? relationship.inverseRelationshipName).uid)
      ),
      ("NSDeleteRule", .integer(Int64(relationship.deleteRule.rawValue))),
      ("NSMaxCount", .integer(Int64(relationship.maxCount))),
      ("NSMinCount", .integer(Int64(relationship.minCount))),
    ]
    if relationship.isOrdered { fields.append(("NSIsOrdered", .bool(true))) }
    return fields
  }

  private mutating func add(_ template: FetchRequestTemplate) throws -> Reference {
    var predicate = Reference.null
    if let node = template.predicate?.node {
      predicate = try PredicateArchiving.add(node, to: &archive)
    }
    typealias Flag = PropertyUnarchiving.RequestFlag
    let flags =
      (template.returnsDistinctResults ? Flag.returnsDistinctResults : 0)
      | (template.includesSubentities ? Flag.includesSubentities : 0)
      | (template.includesPropertyValues ? Flag.includesPropertyValues : 0)
      | (template.returnsObjectsAsFaults ? Flag.returnsObjectsAsFaults : 0)
      | (template.includesPendingChanges ? Flag.includesPendingChanges : 0)
    let sorting = PredicateArchiving.add(template.sortDescriptors, to: &archive)
    let entity = model.entitiesByName[template.entityName]
    var fields: [Field] = [
      ("NSPredicate", .uid(predicate.uid)), ("NSSortDescriptors", .uid(sorting.uid)),
      ("NSEntity", uid(entity)), ("NSHasFetchRequestFlags", .bool(true)),
      ("NSFetchRequestFlags", .integer(Int64(flags))),
      ("NSResultType", .integer(Int64(template.resultType))),
      ("NSFetchLimit", .integer(Int64(template.fetchLimit))),
      ("NSFetchOffset", .integer(Int64(template.fetchOffset))),
      ("NSBatchSize", .integer(Int64(template.fetchBatchSize))),
      ("NSAllocationType", .integer(0)),
    ]
    let dictionaries = template.dictionaries
    let having = try dictionaries.havingPredicate.map {
      try PredicateArchiving.add($0.node, to: &archive)
    }
    let prefetched = template.objects.relationshipKeyPathsForPrefetching.map { paths in
      archive.add(list: paths.map { archive.add(text: $0) })
    }
    fields += [
      ("NSValuesToFetch", .uid(try add(dictionaries.propertiesToFetch).uid)),
      ("NSValuesToGroupBy", .uid(try add(dictionaries.propertiesToGroupBy).uid)),
      ("NSHavingPredicate", .uid((having ?? .null).uid)),
      ("NSRelationshipKeyPathsForPrefetching", .uid((prefetched ?? .null).uid)),
    ]
    if entity == nil {
      fields.append(("NSEntityName", .uid(archive.add(text: template.entityName).uid)))
    }
    return archive.add("NSFetchRequest", inheriting: ["NSPersistentStoreRequest"], fields)
  }

  /// The columns of dictionaries: properties by their names, computed ones as descriptions.
  private mutating func add(_ columns: [FetchRequestTemplate.Column]?) throws -> Reference {
    guard let columns else { return .null }
    let references = try columns.map { column in
      switch column {
      case .path(let path): return archive.add(text: path)
      case .computed(let computed):
        let reference = archive.reserve()
        try write(computed, as: reference)
        return reference
      }
    }
    return archive.add(list: references)
  }
}
