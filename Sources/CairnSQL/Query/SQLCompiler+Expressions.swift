import CairnModel
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
      guard let scope = variables[name] else { throw SQLUnsupported() }
      return object(scope.alias, scope.entity)
    case .keyPath(let path):
      if let column = columnsByKey[path], column != node { return try term(column) }
      return try value(at: path, from: scope)
    case .keyPathOf(.variable(let name), let path):
      guard let scope = variables[name] else { throw SQLUnsupported() }
      return try value(at: path, from: scope)
    case .keyPathOf(.evaluatedObject, let path): return try value(at: path, from: root)
    case .keyPathOf(.subquery(let collection, let variable, let predicate), let path):
      guard path == "@count" else { throw SQLUnsupported() }
      return try count(collection, variable, predicate)
    case .function(let function, let arguments): return try call(function, arguments)
    case .conditional(let condition, let first, let second):
      return try conditional(condition, first, second)
    case .cast, .keyPathOf, .element, .message, .setOperation, .subquery, .aggregate, .anyKey,
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

  private func aggregate(_ members: SQLMembers, _ rest: [String]) throws -> SQLTerm {
    guard let name = rest.first, name.hasPrefix("@") else { throw SQLQueryError.toManyKey }
    if name == "@count", rest.count == 1 {
      let select = try select(members) { _ in ("COUNT(*)", nil) }
      return SQLTerm("(" + select + ")", .integer)
    }
    let path = rest.dropFirst().joined(separator: ".")
    guard !path.isEmpty, ["@sum", "@avg", "@min", "@max"].contains(name) else {
      throw SQLUnsupported()
    }
    var kind = SQLKind.null
    let select = try select(members) { inner in
      guard case .term(let value) = try resolve(path, from: inner) else {
        throw SQLQueryError.severalToManyKeys
      }
      kind = value.kind
      return ("\(name.dropFirst().uppercased())(\(value.fragment.sql))", nil)
    }
    if name == "@min" || name == "@max" {
      guard kind.isOrdered else { throw SQLUnsupported() }
      return SQLTerm("(" + select + ")", kind)
    }
    guard kind == .integer || kind == .double else { throw SQLUnsupported() }
    return SQLTerm("IFNULL((" + select + "), 0)", name == "@sum" ? kind : .double)
  }

  /// `SUBQUERY(collection, $variable, predicate).@count`.
  private func count(
    _ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode
  ) throws -> SQLTerm {
    let members = try toMany(collection)
    let outer = variables[variable]
    defer { variables[variable] = outer }
    let select = try select(members) { inner in
      variables[variable] = inner
      return ("COUNT(*)", try within(inner) { try condition(predicate) })
    }
    return SQLTerm("(" + select + ")", .integer)
  }

  /// The to-many relationship that an expression names, with nothing after it.
  func toMany(_ node: ExpressionNode) throws -> SQLMembers {
    let target: SQLPathTarget
    switch node {
    case .keyPath(let path): target = try resolve(path, from: scope)
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
    let test = try self.condition(condition)
    let (a, b) = (try term(first), try term(second))
    let kind = a.kind == .null ? b.kind : a.kind
    guard a.kind == .null || b.kind == .null || a.kind.isComparable(to: b.kind) else {
      throw SQLUnsupported()
    }
    let text = "CASE WHEN " + test + " THEN " + a.fragment + " ELSE " + b.fragment + " END"
    return SQLTerm("(" + text + ")", kind)
  }

  // MARK: Functions

  private func call(_ function: PredicateFunction, _ arguments: [ExpressionNode]) throws -> SQLTerm
  {
    switch function {
    case .count, .sum, .min, .max, .average: return try aggregateCall(function, arguments)
    case .add: return try arithmetic("+", arguments)
    case .subtract: return try arithmetic("-", arguments)
    case .multiply: return try arithmetic("*", arguments)
    case .divide: return try arithmetic("/", arguments)
    case .bitwiseAnd: return try integers("&", arguments)
    case .bitwiseOr: return try integers("|", arguments)
    case .now: return SQLTerm(SQLFragment("?", [.date(Date())]), .date)
    case .noIndex:
      let inner = try term(arguments[0])
      return SQLTerm("+" + inner.fragment, inner.kind, entityNumber: inner.entityNumber)
    case .uppercase, .lowercase, .canonical: return try registered(function, arguments, .string)
    case .length: return try registered(function, arguments, .integer)
    case .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling, .absolute,
      .truncate:
      return try registered(function, arguments, .double)
    case .median, .mode, .standardDeviation, .modulus, .power, .random, .randomBelow, .bitwiseXor,
      .leftShift, .rightShift, .onesComplement:
      throw SQLUnsupported()
    }
  }

  /// Addition and the like.
  ///
  /// Decimals keep their digits only in memory.
  private func arithmetic(_ sign: String, _ arguments: [ExpressionNode]) throws -> SQLTerm {
    let (a, b) = (try term(arguments[0]), try term(arguments[1]))
    for kind in [a.kind, b.kind] where kind != .integer && kind != .double {
      throw SQLUnsupported()
    }
    let kind: SQLKind = a.kind == .integer && b.kind == .integer ? .integer : .double
    return SQLTerm("(" + a.fragment + " \(sign) " + b.fragment + ")", kind)
  }

  private func integers(_ sign: String, _ arguments: [ExpressionNode]) throws -> SQLTerm {
    let (a, b) = (try term(arguments[0]), try term(arguments[1]))
    guard a.kind == .integer, b.kind == .integer else { throw SQLUnsupported() }
    return SQLTerm("(" + a.fragment + " \(sign) " + b.fragment + ")", .integer)
  }

  /// A function that the connection answers with the evaluator's own implementation.
  private func registered(
    _ function: PredicateFunction, _ arguments: [ExpressionNode], _ kind: SQLKind
  ) throws -> SQLTerm {
    let argument = try term(arguments[0])
    let takesText = kind == .string || function == .length
    guard takesText ? argument.kind == .string : argument.kind.isNumber, argument.kind != .decimal
    else { throw SQLUnsupported() }
    return SQLTerm(
      "\(SQLFunctionName.call)('\(function.rawValue)', " + argument.fragment + ")", kind)
  }

  /// `count:(SUBQUERY(…))`, or an aggregate over the rows of a dictionary fetch.
  private func aggregateCall(
    _ function: PredicateFunction, _ arguments: [ExpressionNode]
  ) throws -> SQLTerm {
    guard arguments.count == 1 else { throw SQLUnsupported() }
    if case .subquery(let collection, let variable, let predicate) = arguments[0] {
      guard function == .count else { throw SQLUnsupported() }
      return try count(collection, variable, predicate)
    }
    if let members = try? toMany(arguments[0]) {
      guard function == .count else { throw SQLUnsupported() }
      return try aggregate(members, ["@count"])
    }
    if case .keyPath(let path) = arguments[0],
      case .members(let members, let rest)? = try? resolve(path, from: scope), !rest.isEmpty,
      let name = Self.keyPathNames[function]
    {
      return try aggregate(members, [name] + rest)
    }
    guard allowsAggregates else { throw SQLUnsupported() }
    let argument = try term(arguments[0])
    let (name, kind): (String, SQLKind)
    switch function {
    case .count: (name, kind) = ("COUNT", .integer)
    case .sum: (name, kind) = ("SUM", argument.kind)
    case .min: (name, kind) = ("MIN", argument.kind)
    case .max: (name, kind) = ("MAX", argument.kind)
    case .average: (name, kind) = ("AVG", .double)
    case .median, .mode, .standardDeviation, .add, .subtract, .multiply, .divide, .modulus, .power,
      .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling, .absolute,
      .truncate, .random, .randomBelow, .now, .uppercase, .lowercase, .canonical, .length,
      .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement, .noIndex:
      throw SQLUnsupported()
    }
    return SQLTerm("\(name)(" + argument.fragment + ")", kind)
  }

  private static let keyPathNames: [PredicateFunction: String] = [
    .sum: "@sum", .min: "@min", .max: "@max", .average: "@avg",
  ]
}
