import CairnModel
import CairnStore

/// Combinations of a request's properties that Core Data refuses when the request is run.
enum FetchRules {
  /// - Throws: 134060 with what is wrong.
  static func check(_ request: AnyFetchRequest, entity: EntityDescription) throws {
    let type = request.resultType
    guard [0, 1, 2, 4].contains(type.rawValue) else {
      throw refusal("resultType \(type.rawValue) is none: choose one of the four types.")
    }
    let isGrouped = !(request.propertiesToGroupBy ?? []).isEmpty
    if type != .dictionaryResultType {
      if isGrouped || request.havingPredicate != nil {
        throw refusal(
          "propertiesToGroupBy and havingPredicate need the resultType .dictionaryResultType.")
      }
      if type == .managedObjectResultType {
        for property in request.propertiesToFetch ?? [] { try check(property, of: entity) }
      }
    } else {
      if request.havingPredicate != nil, !isGrouped {
        throw refusal("havingPredicate needs propertiesToGroupBy; set both or neither.")
      }
      if isGrouped, request.propertiesToFetch == nil {
        throw refusal("propertiesToGroupBy needs propertiesToFetch; say which columns you want.")
      }
    }
    for path in request.relationshipKeyPathsForPrefetching ?? [] {
      try check(prefetching: path, from: entity)
    }
  }

  private static func refusal(_ text: String) -> CoreDataError {
    CoreDataError(.coreData, "Invalid fetch request: " + text)
  }

  /// For objects as results: properties that belong to the row.
  private static func check(_ property: Any, of entity: EntityDescription) throws {
    let name: String
    switch property {
    case is ExpressionDescription:
      throw refusal("expressions in propertiesToFetch need the resultType .dictionaryResultType.")
    case let property as PropertyDescription: name = property.name
    case let text as String: name = text
    default:
      throw refusal(
        "propertiesToFetch takes names and descriptions of properties, not \(type(of: property)).")
    }
    if entity.layout.slotByName[name] != nil || entity.propertiesByName[name] != nil { return }
    throw CoreDataError(
      .coreData, "keypath \(name) not found in entity \(entity.name ?? "?")")
  }

  /// Each step must be a relationship of the entity or of one of its subentities.
  private static func check(prefetching path: String, from start: EntityDescription) throws {
    var entities = [start]
    for step in path.split(separator: ".").map(String.init) {
      entities = entities.flatMap(\.selfAndDescendants).compactMap {
        ($0.propertiesByName[step] as? RelationshipDescription)?.destinationEntity
      }
      if entities.isEmpty {
        throw CoreDataError(
          .coreData,
          "relationshipKeyPathsForPrefetching: \"\(path)\" is no path of relationships from entity "
            + "\(start.name ?? "?"); \"\(step)\" leads nowhere.")
      }
    }
  }
}
