import CairnModel
import CairnStore

/// The columns of a dictionary fetch, read from names and descriptions.
struct FetchColumns {
  let storeColumns: StoreFetchRequest.DictionaryColumns
  /// The attribute behind a column, by key.
  let attributes: [String: AttributeDescription]

  init(request: AnyFetchRequest, plan: FetchPlan) throws {
    var attributes: [String: AttributeDescription] = [:]
    let asked: [Any] =
      request.propertiesToFetch
      ?? plan.entity.layout.slots.filter { !$0.isTransient && $0.attribute != nil }.map(\.name)
    let columns = try asked.map { property in
      let column = try Self.column(of: property, in: plan.entity)
      if let attribute = column.attribute { attributes[column.column.key] = attribute }
      return column.column
    }
    let groupBy = try (request.propertiesToGroupBy ?? []).map { property in
      try Self.column(of: property, in: plan.entity).column.expression
    }
    if request.havingPredicate != nil, groupBy.isEmpty {
      throw CoreDataError(
        .coreData, "havingPredicate needs propertiesToGroupBy; set both or neither.")
    }
    storeColumns = StoreFetchRequest.DictionaryColumns(
      columns: columns, groupBy: groupBy, having: request.havingPredicate,
      distinct: request.returnsDistinctResults)
    self.attributes = attributes
  }

  private typealias Column = (
    column: StoreFetchRequest.DictionaryColumns.Column, attribute: AttributeDescription?
  )

  private static func column(
    of property: Any, in entity: EntityDescription
  ) throws -> Column {
    switch property {
    case let computed as ExpressionDescription:
      guard let expression = computed.expression else {
        throw CoreDataError(
          .coreData, "The column \"\(computed.name)\" has no expression; give it one.")
      }
      return (
        .init(
          key: computed.name, expression: expression, type: computed.expressionResultType), nil
      )
    case let property as PropertyDescription: return try column(at: property.name, in: entity)
    case let path as String: return try column(at: path, in: entity)
    default:
      throw CoreDataError(
        .coreData,
        "propertiesToFetch takes names and descriptions of properties, not \(type(of: property)).")
    }
  }

  private static func column(at path: String, in entity: EntityDescription) throws -> Column {
    let expression = ObjectExpression(forKeyPath: path)
    if let slot = entity.layout.slotByName[path],
      let attribute = entity.layout.slots[slot].attribute
    {
      return (
        .init(key: path, expression: expression, type: attribute.attributeType), attribute
      )
    }
    var current = entity
    let steps = path.split(separator: ".").map(String.init)
    for (index, step) in steps.enumerated() {
      let property = current.propertiesByName[step]
      let isLast = index == steps.count - 1
      if isLast, let attribute = property as? AttributeDescription {
        return (
          .init(key: path, expression: expression, type: attribute.attributeType), attribute
        )
      }
      guard let relationship = property as? RelationshipDescription, !relationship.isToMany,
        let destination = relationship.destinationEntity
      else {
        throw CoreDataError(
          .coreData,
          "Invalid keypath \"\(path)\" in propertiesToFetch: \"\(step)\" is no attribute or to-one "
            + "relationship of \(current.name ?? "?").")
      }
      if isLast { return (.init(key: path, expression: expression, type: .objectID), nil) }
      current = destination
    }
    throw CoreDataError(.coreData, "propertiesToFetch has an empty key path.")
  }
}
