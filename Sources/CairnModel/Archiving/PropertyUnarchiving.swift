import CairnPredicates
import Foundation

/// Reads the properties of entities out of a keyed archive.
struct PropertyUnarchiving {
  let file: String
  let values = ArchivedFoundationValues()
  var predicates: PredicateUnarchiving { PredicateUnarchiving(values: values, file: file) }

  /// The flags of `NSFlagsKey`.
  static let externalStorageFlag = 4
  static let preservesOnDeletionFlag = 16

  /// The bits of `NSFetchRequestFlags`, in the order of the request's properties.
  ///
  /// Only their default, 30, is known from files.
  enum RequestFlag {
    static let returnsDistinctResults = 1
    static let includesSubentities = 2
    static let includesPropertyValues = 4
    static let returnsObjectsAsFaults = 8
    static let includesPendingChanges = 16
  }

  /// The name of an archived property; inherited ones may be wrapped.
  func name(of object: ArchivedObject) -> String? {
    object.text("NSPropertyName")
      ?? object.object("NSUnderlyingProperty")?.text("NSPropertyName")
  }

  /// A property; nil for wrappers of inherited ones, which the ancestor brings.
  ///
  /// - Parameter isColumn: Whether it may be a computed one, which no entity has.
  func property(
    _ object: ArchivedObject, depth: Int = 0, isColumn: Bool = false
  ) throws -> PropertyDescription? {
    guard values.spendProperty() else {
      throw ModelFileError(file: file, .tooLarge, "The archive stands for too many objects.")
    }
    let property: PropertyDescription
    switch object.className {
    case "NSAttributeDescription": property = AttributeDescription()
    case "NSDerivedAttributeDescription":
      let derived = DerivedAttributeDescription()
      derived.derivationExpression = try object.object("NSDerivationExpression").map {
        try predicates.expression($0)
      }
      derived.filteringPredicate = try object.object("NSFilteringPredicate").map {
        try predicates.predicate($0)
      }
      property = derived
    case "NSCompositeAttributeDescription":
      let composite = CompositeAttributeDescription()
      composite.elements = try elements(of: object, depth: depth)
      property = composite
    case "NSRelationshipDescription": property = RelationshipDescription()
    case "NSFetchedPropertyDescription": property = FetchedPropertyDescription()
    case "NSExpressionDescription" where isColumn: property = try column(object)
    case "_NSPropertyDescriptionProxy": return nil
    default:
      throw ModelFileError(
        file: file, .invalidValue,
        "The archive holds a property of class \(object.className), which Cairn does not know.")
    }
    guard let name = name(of: object), !name.isEmpty else {
      throw ModelFileError(file: file, .missingValue, "A property of the archive has no name.")
    }
    property.name = name
    try readCommon(object, into: property)
    if let attribute = property as? AttributeDescription { try read(object, into: attribute) }
    if let relationship = property as? RelationshipDescription { read(object, into: relationship) }
    if let fetched = property as? FetchedPropertyDescription {
      fetched.template = try object.object("NSFetchRequest").map { request in
        try template(request, entityName: object.text("_NSFetchRequestEntityName"))
      }
    }
    return property
  }

  private func column(_ object: ArchivedObject) throws -> ExpressionDescription {
    let column = ExpressionDescription()
    column.expression = try object.object("NSExpression").map { try predicates.expression($0) }
    let type = UInt(clamping: object.integer("NSExpressionResultType") ?? 0)
    column.expressionResultType = AttributeType(rawValue: type) ?? .undefined
    return column
  }

  func userInfo(of object: ArchivedObject) -> [AnyHashable: Any] {
    values.value(object["NSUserInfo"]) as? [AnyHashable: Any] ?? [:]
  }

  private func elements(
    of object: ArchivedObject, depth: Int
  ) throws -> [AttributeDescription] {
    let listed = object.members("NSElements")
    let archived = listed.isEmpty ? object.dictionary("NSElements").map(\.1) : listed
    return try archived.compactMap { value in
      guard case .object(let element) = value else { return nil }
      guard depth < ModelFileLimits.compositeDepth else {
        throw ModelFileError(
          file: file, .tooLarge, "Composite attributes are nested deeper than 16 levels.")
      }
      return try property(element, depth: depth + 1) as? AttributeDescription
    }
  }

  private func readCommon(_ object: ArchivedObject, into property: PropertyDescription) throws {
    property.isOptional = object.flag("NSIsOptional")
    property.isTransient = object.flag("NSIsTransient")
    property.isIndexed = object.flag("NSIsIndexed")
    property.isIndexedBySpotlight = object.flag("NSIndexedBySpotlight")
    property.versionHashModifier = object.text("NSVersionHashModifier")
    if let former = object.text("NSRenamingIdentifier"), former != property.name {
      property.renamingIdentifier = former
    }
    property.userInfo = userInfo(of: object)
    let conditions = try object.members("NSValidationPredicates").compactMap {
      value -> ObjectPredicate? in
      guard case .object(let archived) = value else { return nil }
      return try predicates.predicate(archived)
    }
    let warnings = object.members("NSValidationWarnings").map { value -> Any in
      switch value {
      case .integer(let code): return Int(code)
      case .string(let message): return message
      case .none, .bool, .real, .date, .data, .object: return 1550
      }
    }
    if conditions.count == warnings.count, !conditions.isEmpty {
      property.setValidationPredicates(conditions, withValidationWarnings: warnings)
    }
  }

  private func read(_ object: ArchivedObject, into attribute: AttributeDescription) throws {
    let code = object.integer("NSAttributeType") ?? 0
    guard let type = AttributeType(rawValue: UInt(clamping: code)) else {
      throw ModelFileError(
        file: file, .invalidValue,
        "\(attribute.name) is of type \(code), which Cairn does not know.")
    }
    attribute.attributeType = type
    attribute.defaultValue = defaultValue(object["NSDefaultValue"], type: type)
    attribute.valueTransformerName = object.text("NSValueTransformerName")
    attribute.allowsCloudEncryption = object.flag("NSAllowsCloudEncryption")
    let flags = object.integer("NSFlagsKey") ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & Self.externalStorageFlag != 0
    attribute.preservesValueInHistoryOnDeletion = flags & Self.preservesOnDeletionFlag != 0
    if let className = object.text("NSAttributeValueClassName"), className != type.valueClassName {
      attribute.attributeValueClassName = className
    }
  }

  private func defaultValue(_ archived: ArchivedValue, type: AttributeType) -> Any? {
    let value = values.value(archived)
    if type == .boolean, let number = value as? NSNumber {
      return NSNumber(value: number.boolValue)
    }
    if type == .date, let number = value as? NSNumber {
      let seconds = number.doubleValue
      return seconds.isNaN ? nil : Date(timeIntervalSinceReferenceDate: seconds)
    }
    return value
  }

  private func read(_ object: ArchivedObject, into relationship: RelationshipDescription) {
    relationship.destinationEntityName =
      object.text("_NSDestinationEntityName")
      ?? object.object("NSDestinationEntity")?.text("NSEntityName")
    let inverse = object.object("NSInverseRelationship")
    relationship.inverseRelationshipName =
      inverse.flatMap { name(of: $0) } ?? object.text("_NSInverseRelationshipName")
    relationship.deleteRule =
      DeleteRule(rawValue: UInt(clamping: object.integer("NSDeleteRule") ?? 1)) ?? .nullify
    relationship.maxCount = object.integer("NSMaxCount") ?? 0
    relationship.minCount = object.integer("NSMinCount") ?? 0
    relationship.isOrdered = object.flag("NSIsOrdered")
  }

  /// A fetch request of the model or of a fetched property.
  func template(
    _ object: ArchivedObject, entityName: String? = nil
  ) throws -> FetchRequestTemplate {
    let entity =
      object.object("NSEntity")?.text("NSEntityName") ?? entityName ?? object.text("NSEntityName")
    var template = FetchRequestTemplate(
      entityName: entity ?? "",
      predicate: try object.object("NSPredicate").map { try predicates.predicate($0) })
    template.sortDescriptors = predicates.sortDescriptors(object.members("NSSortDescriptors"))
    template.resultType = UInt(clamping: object.integer("NSResultType") ?? 0)
    template.fetchLimit = object.integer("NSFetchLimit") ?? 0
    template.fetchOffset = object.integer("NSFetchOffset") ?? 0
    template.fetchBatchSize = object.integer("NSBatchSize") ?? 0
    if object.flag("NSHasFetchRequestFlags"), let flags = object.integer("NSFetchRequestFlags") {
      template.returnsDistinctResults = flags & RequestFlag.returnsDistinctResults != 0
      template.includesSubentities = flags & RequestFlag.includesSubentities != 0
      template.includesPropertyValues = flags & RequestFlag.includesPropertyValues != 0
      template.returnsObjectsAsFaults = flags & RequestFlag.returnsObjectsAsFaults != 0
      template.includesPendingChanges = flags & RequestFlag.includesPendingChanges != 0
    }
    template.dictionaries.propertiesToFetch = try columns(of: object, "NSValuesToFetch")
    template.dictionaries.propertiesToGroupBy = try columns(of: object, "NSValuesToGroupBy")
    template.dictionaries.havingPredicate = try object.object("NSHavingPredicate").map {
      try predicates.predicate($0)
    }
    let prefetched = object.object("NSRelationshipKeyPathsForPrefetching")
    template.objects.relationshipKeyPathsForPrefetching = prefetched?.members.compactMap {
      if case .string(let path) = $0 { return path }
      return nil
    }
    return template
  }

  /// Names and descriptions of properties; nil for none.
  private func columns(
    of request: ArchivedObject, _ key: String
  ) throws -> [FetchRequestTemplate.Column]? {
    try request.object(key)?.members.compactMap { member in
      switch member {
      case .string(let path): return .path(path)
      case .object(let described):
        if described.className != "NSExpressionDescription" {
          return name(of: described).map { .path($0) }
        }
        return try property(described, isColumn: true).map { .init($0) }
      case .none, .bool, .integer, .real, .date, .data: return nil
      }
    }
  }
}
