import CairnModel
import CairnPredicates
import Foundation

/// Dictionary results made in memory: columns, grouping, aggregates, having and distinct.
package struct DictionaryRows {
  let columns: StoreFetchRequest.DictionaryColumns
  let source: any SnapshotSource

  init(
    columns: StoreFetchRequest.DictionaryColumns, entity: EntityDescription,
    source: any SnapshotSource
  ) {
    var columns = columns
    columns.columns = columns.columns.map { column in
      let node = column.expression.node.rewriting { Self.overMembers($0, of: entity) }
      return .init(key: column.key, expression: ObjectExpression(node: node), type: column.type)
    }
    columns.having = columns.having.map { having in
      ObjectPredicate.make(having.node.rewriting { Self.overMembers($0, of: entity) })
    }
    self.columns = columns
    self.source = source
  }

  /// One result before it becomes a plain dictionary: its columns over the row they came from.
  final class Row: KeyValueReading {
    let values: [String: AttributeValue]
    let representative: SnapshotView?
    private let source: any SnapshotSource

    init(
      values: [String: AttributeValue], representative: SnapshotView?,
      source: any SnapshotSource
    ) {
      self.values = values
      self.representative = representative
      self.source = source
    }

    func value(forKey key: String) -> Any? {
      guard let value = values[key] else { return representative?.value(forKey: key) }
      // A key path goes on from the object, not from its ID.
      if case .object(let id) = value, let row = source.snapshot(for: id) {
        return SnapshotView(row, source: source)
      }
      return AttributeCoding.decode(value)
    }
  }

  /// The results over the rows that match.
  func make(
    from views: [SnapshotView], sort: (inout [Row]) throws -> Void
  ) throws -> [[String: AttributeValue]] {
    var rows: [Row] = []
    for group in try groups(of: views) {
      let row = Row(
        values: try values(of: group), representative: group.first, source: source)
      if let having = columns.having, try !holds(having, for: row, group: group) { continue }
      rows.append(row)
    }
    try sort(&rows)
    let results = rows.map(\.values)
    guard columns.distinct else { return results }
    var seen: Set<[String: AttributeValue]> = []
    return results.filter { seen.insert($0.mapValues(\.comparedByBytes)).inserted }
  }

  /// One group a result: by the grouping expressions, all rows for aggregates alone, otherwise one
  /// row each.
  private func groups(of views: [SnapshotView]) throws -> [[SnapshotView]] {
    if columns.groupBy.isEmpty {
      if columns.columns.contains(where: { Self.hasAggregate($0.expression.node) }) {
        return [views]
      }
      return views.map { [$0] }
    }
    var order: [[PredicateValue]] = []
    var members: [[PredicateValue]: [SnapshotView]] = [:]
    for view in views {
      let key = try columns.groupBy.map { PredicateValue(try $0.value(for: view)) }
      if members[key] == nil { order.append(key) }
      members[key, default: []].append(view)
    }
    return order.map { members[$0] ?? [] }
  }

  private func values(of group: [SnapshotView]) throws -> [String: AttributeValue] {
    var result: [String: AttributeValue] = [:]
    for column in columns.columns {
      let node = try Self.evaluatingAggregates(in: column.expression.node, over: group)
      let value = try ObjectExpression(node: node).value(for: group.first)
      if column.type.isInteger, case .double(let number) = PredicateValue(value) {
        try Self.checkFit(number, column: column.key)
      }
      let stored = Self.attributeValue(of: PredicateValue(value), type: column.type)
      if !stored.isNull { result[column.key] = stored }
    }
    return result
  }

  private func holds(
    _ having: ObjectPredicate, for row: Row, group: [SnapshotView]
  ) throws -> Bool {
    let node = try Self.evaluatingAggregates(in: having.node, over: group)
    // A variable named as a column is the column.
    let bindings = row.values.compactMapValues { AttributeCoding.decode($0) }
    let missing = columns.columns.map { ($0.key, NSNull() as Any) }
    return try ObjectPredicate.make(node).test(
      row, substitutionVariables: bindings.merging(missing) { value, _ in value })
  }

  // MARK: Aggregates

  /// An aggregate over the members of a to-many relationship, which every row has for itself, in a
  /// form that is not taken for one over the rows: with the operator in the key path.
  private static func overMembers(
    _ node: ExpressionNode, of entity: EntityDescription
  ) -> ExpressionNode {
    guard case .function(let function, let arguments) = node, isAggregate(function, arguments),
      case .keyPath(let path) = arguments[0],
      let (members, rest) = split(path, behindToManyOf: entity)
    else { return node }
    if function == .count, rest.isEmpty { return .keyPath(members + ".@count") }
    guard let name = operators[function], !rest.isEmpty else {
      return .function(function, [.keyPathOf(.evaluatedObject, path)])
    }
    return .keyPath("\(members).\(name).\(rest)")
  }

  private static let operators: [PredicateFunction: String] = [
    .sum: "@sum", .min: "@min", .max: "@max", .average: "@avg",
  ]

  /// The key path up to its first to-many relationship, and what follows; nil when it has none, and
  /// when an operator makes one value of the members already.
  private static func split(
    _ path: String, behindToManyOf start: EntityDescription
  ) -> (members: String, rest: String)? {
    let parts = path.split(separator: ".").map(String.init)
    if parts.contains(where: { $0.hasPrefix("@") }) { return nil }
    var entity: EntityDescription? = start
    for (index, part) in parts.enumerated() {
      guard let relationship = entity?.propertiesByName[part] as? RelationshipDescription else {
        return nil
      }
      if relationship.isToMany {
        return (
          parts[...index].joined(separator: "."), parts[(index + 1)...].joined(separator: ".")
        )
      }
      entity = relationship.destinationEntity
    }
    return nil
  }

  private static func isAggregate(_ function: PredicateFunction, _ arguments: [ExpressionNode])
    -> Bool
  {
    guard arguments.count == 1 else { return false }
    switch arguments[0] {
    case .keyPath, .evaluatedObject, .function: break
    default: return false
    }
    return [.sum, .count, .min, .max, .average, .median, .mode, .standardDeviation]
      .contains(function)
  }

  private static func hasAggregate(_ node: ExpressionNode) -> Bool {
    guard case .function(let function, let arguments) = node else { return false }
    return isAggregate(function, arguments) || arguments.contains(where: hasAggregate)
  }

  /// The expression with each aggregate replaced by its value over the group.
  private static func evaluatingAggregates(
    in node: ExpressionNode, over group: [SnapshotView]
  ) throws -> ExpressionNode {
    guard case .function(let function, let arguments) = node else { return node }
    guard isAggregate(function, arguments) else {
      return .function(
        function, try arguments.map { try evaluatingAggregates(in: $0, over: group) })
    }
    let argument = ObjectExpression(node: arguments[0])
    let values = try group.map { PredicateValue(try argument.value(for: $0)) }
      .filter { !$0.isNull }
    // As in a database: no rows have a count, but no sum, minimum or average.
    if values.isEmpty, function != .count { return .constant(.null) }
    if function == .count { return .constant(.integer(Int64(values.count))) }
    let call = ObjectExpression(node: .function(function, [.constant(.array(values))]))
    return .constant(PredicateValue(try call.value(for: nil)))
  }

  private static func evaluatingAggregates(
    in node: PredicateNode, over group: [SnapshotView]
  ) throws -> PredicateNode {
    switch node {
    case .value, .block: return node
    case .compound(let type, let members):
      return .compound(type, try members.map { try evaluatingAggregates(in: $0, over: group) })
    case .comparison(var comparison):
      comparison.left = try evaluatingAggregates(in: comparison.left, over: group)
      comparison.right = try evaluatingAggregates(in: comparison.right, over: group)
      return .comparison(comparison)
    }
  }

  // MARK: Values

  /// - Throws: 134070 for a number that is too large for an integer column.
  package static func checkFit(_ number: Double, column: String) throws {
    if abs(number) < 0x1p63 { return }
    throw CoreDataError(
      .persistentStoreOperation,
      "The value of the column \"\(column)\" is about \(number), too large for an integer; give "
        + "its expression description the result type double or decimal.")
  }

  /// A computed value in the column's type where it has one, otherwise as it is.
  package static func attributeValue(of value: PredicateValue, type: AttributeType)
    -> AttributeValue
  {
    switch type {
    case .integer16, .integer32, .integer64:
      if let number = value.anyValue as? NSNumber { return .integer(number.int64Value) }
    case .double:
      if let number = value.anyValue as? NSNumber { return .double(number.doubleValue) }
    case .float:
      if let number = value.anyValue as? NSNumber { return .float(number.floatValue) }
    case .decimal:
      let number = value.anyValue as? NSNumber
      if let decimal = number.flatMap(AttributeCoding.decimal) { return .decimal(decimal) }
    case .boolean:
      if let number = value.anyValue as? NSNumber { return .boolean(number.boolValue) }
    case .undefined, .string, .date, .binaryData, .uuid, .uri, .transformable, .objectID,
      .composite:
      break
    }
    switch value {
    case .null, .array, .set, .dictionary: return .null
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .double(let number): return .double(number)
    case .decimal(let number): return .decimal(number)
    case .string(let text): return .string(text)
    case .date(let date): return .date(date)
    case .data(let data): return .data(data)
    case .uuid(let uuid): return .uuid(uuid)
    case .url(let url): return .url(url)
    case .objectID, .object: return value.managedObjectID.map { .object($0) } ?? .null
    }
  }
}
