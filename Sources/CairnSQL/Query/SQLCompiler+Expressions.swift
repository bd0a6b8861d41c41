import CairnModel
import CairnPredicates
import CairnStore
import Foundation

// Expressions as SQL.

extension SQLCompiler {
  /// The SQL of an expression that gives one value.
  func term(_ node: ExpressionNode) throws -> SQLTerm {
    switch node {
    case .constant(let value): return try constant(value)
    case .evaluatedObject: return object(root.alias, root.entity)
    case .variable(let name):
      if let scope = variables[name] { return object(scope.alias, scope.entity) }
      // In a HAVING clause a variable names a column.
      guard let column = columnsByKey[name] else { throw SQLUnsupported() }
      return try term(column)
    case .keyPath(let path):
      if let column = columnsByKey[path], column != node { return try term(column) }
      return try value(at: path, from: root)
    case .keyPathOf(.variable(let name), let path):
      guard let scope = variables[name] else { throw SQLUnsupported() }
      return try value(at: path, from: scope)
    case .keyPathOf(.evaluatedObject, let path): return try value(at: path, from: root)
    case .keyPathOf(.subquery(let collection, let variable, let predicate), let path):
      let rest = path.split(separator: ".").map(String.init)
      guard path.hasPrefix("@") else { throw SQLUnsupported() }
      return try aggregate(toMany(collection), rest, filter: (variable, predicate))
    case .element(let collection, .size):
      return try aggregate(toMany(collection), ["@count"])
    case .cast(let node, let type): return try cast(node, to: type)
    case .function(let function, let arguments): return try call(function, arguments)
    case .conditional(let condition, let first, let second):
      return try conditional(condition, first, second)
    case .keyPathOf, .element, .message, .setOperation, .subquery, .aggregate, .anyKey,
      .block, .assignment, .fetch:
      throw SQLUnsupported()
    }
  }

  /// The single value at a key path, aggregates over to-many relationships included.
  func value(at path: String, from scope: SQLScope) throws -> SQLTerm {
    switch try resolve(path, from: scope) {
    case .term(let term): return term
    case .members(let members, let rest): return try aggregate(members, rest)
    }
  }

  /// An aggregate over the members of a relationship.
  ///
  /// - Parameter filter: the variable and condition of a SUBQUERY.
  private func aggregate(
    _ members: SQLMembers, _ rest: [String],
    filter: (variable: String, predicate: PredicateNode)? = nil
  ) throws -> SQLTerm {
    guard let name = rest.first, name.hasPrefix("@") else { throw SQLQueryError.toManyKey }
    func condition(_ inner: SQLScope) throws -> SQLFragment? {
      guard let filter else { return nil }
      let outer = variables[filter.variable]
      defer { variables[filter.variable] = outer }
      variables[filter.variable] = inner
      // Key paths without the variable start at the outer object, as they do for the evaluator.
      return try exact(try self.condition(filter.predicate))
    }
    if name == "@count", rest.count == 1 {
      let select = try select(members) { (SQLFragment("COUNT(*)"), try condition($0)) }
      return SQLTerm("(" + select + ")", .integer)
    }
    let path = rest.dropFirst().joined(separator: ".")
    guard !path.isEmpty, let function = Self.aggregates[name] else { throw SQLUnsupported() }
    var kind = SQLKind.null
    let select = try select(members) { inner in
      guard case .term(let value) = try resolve(path, from: inner) else {
        throw SQLQueryError.severalToManyKeys
      }
      let result = try dialect.aggregate(function, value, isOfMembers: true)
      kind = result.kind
      return (result.fragment, try condition(inner))
    }
    return SQLTerm("(" + select + ")", kind)
  }

  private static let aggregates: [String: SQLAggregate] = [
    "@sum": .sum, "@avg": .average, "@min": .minimum, "@max": .maximum,
  ]

  /// Casts between numbers and dates, which are stored alike.
  private func cast(_ node: ExpressionNode, to type: String) throws -> SQLTerm {
    let term = try term(node)
    switch (type, term.kind) {
    case ("NSNumber", .date), ("NSNumber", .double): return dialect.cast(term, to: .double)
    case ("NSNumber", .integer), ("NSString", .string), ("NSDate", .date): return term
    case ("NSDate", .integer), ("NSDate", .double): return dialect.cast(term, to: .date)
    default: throw SQLUnsupported()
    }
  }

  /// The to-many relationship that an expression names, with nothing after it.
  func toMany(_ node: ExpressionNode) throws -> SQLMembers {
    let target: SQLPathTarget
    switch node {
    case .keyPath(let path): target = try resolve(path, from: root)
    case .keyPathOf(.variable(let name), let path):
      guard let scope = variables[name] else { throw SQLUnsupported() }
      target = try resolve(path, from: scope)
    case .constant, .evaluatedObject, .variable, .keyPathOf, .function, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      throw SQLUnsupported()
    }
    guard case .members(let members, let rest) = target, rest.isEmpty else {
      throw SQLUnsupported()
    }
    return members
  }

  private func conditional(
    _ condition: PredicateNode, _ first: ExpressionNode, _ second: ExpressionNode
  ) throws -> SQLTerm {
    let test = try exact(try self.condition(condition))
    let (a, b) = (try term(first), try term(second))
    guard a.kind == .null || b.kind == .null || a.kind.isComparable(to: b.kind) else {
      throw SQLUnsupported()
    }
    return try dialect.conditional(test, a, b)
  }

  // MARK: Functions

  private func call(_ function: PredicateFunction, _ arguments: [ExpressionNode]) throws -> SQLTerm
  {
    switch function {
    case .count, .sum, .min, .max, .average: return try aggregateCall(function, arguments)
    case .now: return try constant(.date(Date()))
    case .median, .mode, .standardDeviation, .random, .randomBelow: throw SQLUnsupported()
    case .add, .subtract, .multiply, .divide, .modulus, .power, .squareRoot, .logarithm,
      .naturalLogarithm, .exponential, .floor, .ceiling, .absolute, .truncate, .uppercase,
      .lowercase, .canonical, .length, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
      .rightShift, .onesComplement, .noIndex:
      return try dialect.call(function, try arguments.map { try term($0) })
    }
  }

  /// `count:(SUBQUERY(…))`, or an aggregate over the rows of a dictionary fetch.
  private func aggregateCall(
    _ function: PredicateFunction, _ arguments: [ExpressionNode]
  ) throws -> SQLTerm {
    guard arguments.count == 1 else { throw SQLUnsupported() }
    if case .subquery(let collection, let variable, let predicate) = arguments[0] {
      guard function == .count else { throw SQLUnsupported() }
      return try aggregate(
        toMany(collection), ["@count"], filter: (variable, predicate))
    }
    if let members = try? toMany(arguments[0]) {
      guard function == .count else { throw SQLUnsupported() }
      return try aggregate(members, ["@count"])
    }
    if case .keyPath(let path) = arguments[0],
      case .members(let members, let rest)? = try? resolve(path, from: root),
      !rest.contains(where: { $0.hasPrefix("@") })
    {
      guard let name = Self.keyPathNames[function] else { throw SQLUnsupported() }
      return try aggregate(members, [name] + rest)
    }
    guard allowsAggregates, let name = Self.rowAggregates[function] else { throw SQLUnsupported() }
    hasAggregates = true
    return try dialect.aggregate(name, try term(arguments[0]), isOfMembers: false)
  }

  private static let rowAggregates: [PredicateFunction: SQLAggregate] = [
    .count: .count, .sum: .sum, .min: .minimum, .max: .maximum, .average: .average,
  ]
  private static let keyPathNames: [PredicateFunction: String] = [
    .sum: "@sum", .min: "@min", .max: "@max", .average: "@avg",
  ]
}
