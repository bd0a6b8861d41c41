import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The columns of a dictionary fetch, read from names and descriptions.
struct FetchColumns {
  let storeColumns: StoreFetchRequest.DictionaryColumns
  /// The attribute behind a column, by key.
  private let attributes: [String: AttributeDescription]
  /// Columns that are parts of a composite attribute asked for as a whole: their paths, by key.
  private let composites: [String: [String]]

  private struct Column {
    var key: String
    var expression: ObjectExpression
    var type: AttributeType
    var attribute: AttributeDescription?

    var stored: StoreFetchRequest.DictionaryColumns.Column {
      .init(key: key, expression: expression, type: type)
    }
  }

  init(request: AnyFetchRequest, entity: EntityDescription) throws {
    let asked: [Any] =
      request.propertiesToFetch
      ?? entity.layout.slots.filter { !$0.isTransient && $0.attribute != nil }.map(\.name)
    var columns: [Column] = []
    var composites: [String: [String]] = [:]
    for property in asked {
      let parts = Self.parts(of: property, in: entity)
      for part in parts {
        composites[part] = part.split(separator: ".").map(String.init)
        columns.append(try Self.column(at: part, in: entity))
      }
      if parts.isEmpty { columns.append(try Self.column(of: property, in: entity)) }
    }
    let groupBy = try (request.propertiesToGroupBy ?? []).map { property in
      try Self.column(of: property, in: entity).expression
    }
    if !groupBy.isEmpty {
      for column in columns
      where !Self.isAggregate(column.expression.node)
        && !groupBy.contains(where: { $0.node == column.expression.node })
      {
        throw CoreDataError(
          .coreData,
          "SELECT clauses in queries with GROUP BY components can only contain properties named in "
            + "the GROUP BY or aggregate functions")
      }
    }
    storeColumns = StoreFetchRequest.DictionaryColumns(
      columns: columns.map(\.stored), groupBy: groupBy,
      having: request.havingPredicate.map {
        ObjectPredicate.make($0.node.rewriting { $0.overAllRows })
      }, distinct: request.returnsDistinctResults)
    attributes = Dictionary(
      columns.compactMap { column in column.attribute.map { (column.key, $0) } },
      uniquingKeysWith: { first, _ in first })
    self.composites = composites
  }

  // MARK: Columns

  /// The elements of a composite attribute, all the way down; empty for everything else.
  private static func parts(of property: Any, in entity: EntityDescription) -> [String] {
    let name: String
    switch property {
    case let composite as CompositeAttributeDescription: name = composite.name
    case let text as String: name = text
    default: return []
    }
    guard entity.layout.slotByName[name] == nil else { return [] }
    return entity.layout.slots.filter { $0.name.hasPrefix(name + ".") && !$0.isTransient }
      .map(\.name)
  }

  private static func column(of property: Any, in entity: EntityDescription) throws -> Column {
    switch property {
    case let computed as ExpressionDescription:
      guard let expression = computed.expression else {
        throw CoreDataError(
          .coreData, "The column \"\(computed.name)\" has no expression; give it one.")
      }
      return Column(
        key: computed.name, expression: ObjectExpression(node: expression.node.overAllRows),
        type: computed.expressionResultType)
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
    var current = entity
    var steps = path.split(separator: ".").map(String.init)
    while !steps.isEmpty {
      // An element of a composite attribute is named by a path.
      let whole = steps.joined(separator: ".")
      if let slot = current.layout.slotByName[whole],
        let attribute = current.layout.slots[slot].attribute
      {
        if attribute.isTransient { break }
        return Column(
          key: path, expression: expression, type: attribute.attributeType, attribute: attribute)
      }
      let step = steps.removeFirst()
      guard let relationship = current.propertiesByName[step] as? RelationshipDescription else {
        break
      }
      if relationship.isToMany {
        throw CoreDataError(
          .coreData, "Invalid to many relationship in setPropertiesToFetch: \(path)")
      }
      guard let destination = relationship.destinationEntity else { break }
      if steps.isEmpty { return Column(key: path, expression: expression, type: .objectID) }
      current = destination
    }
    if path == "objectID" {
      return Column(key: path, expression: .expressionForEvaluatedObject(), type: .objectID)
    }
    throw CoreDataError(.coreData, "keypath \(path) not found in entity \(entity.name ?? "?")")
  }

  /// Whether an expression has one value for a group of rows.
  private static func isAggregate(_ node: ExpressionNode) -> Bool {
    switch node {
    case .constant: return true
    case .function(let function, let arguments):
      if function.isAggregate { return true }
      return !arguments.isEmpty && arguments.allSatisfy(isAggregate)
    case .evaluatedObject, .variable, .keyPath, .keyPathOf, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return false
    }
  }

  // MARK: Rows

  /// One result as programs see it.
  func dictionary(of row: [String: AttributeValue]) -> NSDictionary {
    var result: [String: Any] = [:]
    for (key, value) in row {
      guard let value = AttributeCoding.decode(value, for: attributes[key]) else { continue }
      if let path = composites[key] {
        Self.put(value, at: path[...], in: &result)
      } else {
        result[key] = value
      }
    }
    let dictionary = NSMutableDictionary(capacity: result.count)
    for (key, value) in result { dictionary[key] = value }
    return dictionary
  }

  private static func put(
    _ value: Any, at path: ArraySlice<String>, in dictionary: inout [String: Any]
  ) {
    guard let first = path.first else { return }
    if path.count == 1 {
      dictionary[first] = value
    } else {
      var nested = dictionary[first] as? [String: Any] ?? [:]
      put(value, at: path.dropFirst(), in: &nested)
      dictionary[first] = nested
    }
  }
}

extension PredicateFunction {
  /// Whether the function makes one value of a group of rows.
  fileprivate var isAggregate: Bool {
    switch self {
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation: return true
    case .add, .subtract, .multiply, .divide, .modulus, .power, .squareRoot, .logarithm,
      .naturalLogarithm, .exponential, .floor, .ceiling, .absolute, .truncate, .random,
      .randomBelow, .now, .uppercase, .lowercase, .canonical, .length, .bitwiseAnd, .bitwiseOr,
      .bitwiseXor, .leftShift, .rightShift, .onesComplement, .noIndex:
      return false
    }
  }
}

extension ExpressionNode {
  /// The expression with operators at the beginning of a key path, `@sum.price` and `@count`, as
  /// aggregates over the rows of the fetch.
  fileprivate var overAllRows: ExpressionNode {
    rewriting { node in
      guard case .keyPath(let path) = node, path.hasPrefix("@") else { return node }
      if path == "@count" { return .function(.count, [.evaluatedObject]) }
      let parts = path.split(separator: ".", maxSplits: 1)
      let functions: [Substring: PredicateFunction] = [
        "@sum": .sum, "@avg": .average, "@min": .min, "@max": .max,
      ]
      guard parts.count == 2, let function = functions[parts[0]] else { return node }
      return .function(function, [.keyPath(String(parts[1]))])
    }
  }
}
