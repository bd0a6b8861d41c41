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
      return try self.condition(filter.predicate)
    }
    if name == "@count", rest.count == 1 {
      let select = try select(members) { ("COUNT(*)", try condition($0)) }
      return SQLTerm("(" + select + ")", .integer)
    }
    let path = rest.dropFirst().joined(separator: ".")
    guard !path.isEmpty, let function = Self.aggregates[name] else { throw SQLUnsupported() }
    var kind = SQLKind.null
    let select = try select(members) { inner in
      guard case .term(let value) = try resolve(path, from: inner) else {
        throw SQLQueryError.severalToManyKeys
      }
      kind = value.kind
      return ("\(function)(\(value.fragment.sql))", try condition(inner))
    }
    if name == "@min" || name == "@max" {
      guard kind.isOrdered else { throw SQLUnsupported() }
      return SQLTerm("(" + select + ")", kind)
    }
    guard kind.isInteger || kind == .double else { throw SQLUnsupported() }
    let sum: SQLKind = kind.isInteger ? .integer : .double
    return SQLTerm("(" + select + ")", name == "@sum" ? sum : .double)
  }

  private static let aggregates = [
    "@sum": SQLFunctionName.sum, "@avg": SQLFunctionName.average, "@min": "MIN", "@max": "MAX",
  ]

  /// Casts between numbers and dates, which are stored alike.
  private func cast(_ node: ExpressionNode, to type: String) throws -> SQLTerm {
    let term = try term(node)
    switch (type, term.kind) {
    case ("NSNumber", .date), ("NSNumber", .double): return SQLTerm(term.asDouble, .double)
    case ("NSNumber", .integer), ("NSString", .string), ("NSDate", .date): return term
    case ("NSDate", .integer), ("NSDate", .double): return SQLTerm(term.fragment, .date)
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
    case .leftShift: return try integers("<<", arguments)
    case .rightShift: return try integers(">>", arguments)
    case .onesComplement:
      let inner = try term(arguments[0])
      guard inner.kind.isInteger else { throw SQLUnsupported() }
      return SQLTerm("(~" + inner.fragment + ")", .integer)
    case .now: return SQLTerm(SQLFragment("?", [.date(Date())]), .date)
    case .noIndex:
      let inner = try term(arguments[0])
      return SQLTerm("+" + inner.fragment, inner.kind, entityNumber: inner.entityNumber)
    case .uppercase, .lowercase, .canonical: return try registered(function, arguments, .string)
    case .length: return try registered(function, arguments, .integer)
    case .squareRoot, .logarithm, .naturalLogarithm, .exponential, .power:
      return try registered(function, arguments, .double)
    case .floor, .ceiling, .absolute, .truncate, .modulus, .bitwiseXor:
      return try registered(function, arguments, nil)
    case .median, .mode, .standardDeviation, .random, .randomBelow: throw SQLUnsupported()
    }
  }

  /// Addition and the like.
  ///
  /// Decimals keep their digits only in memory.
  private func arithmetic(_ sign: String, _ arguments: [ExpressionNode]) throws -> SQLTerm {
    let (a, b) = (try term(arguments[0]), try term(arguments[1]))
    guard a.kind.isNumber, b.kind.isNumber, a.kind != .decimal, b.kind != .decimal else {
      throw SQLUnsupported()
    }
    let kind: SQLKind = a.kind.isInteger && b.kind.isInteger ? .integer : .double
    return SQLTerm("(" + a.asDouble + " \(sign) " + b.asDouble + ")", kind)
  }

  private func integers(_ sign: String, _ arguments: [ExpressionNode]) throws -> SQLTerm {
    let (a, b) = (try term(arguments[0]), try term(arguments[1]))
    guard a.kind.isInteger, b.kind.isInteger else { throw SQLUnsupported() }
    return SQLTerm("(" + a.fragment + " \(sign) " + b.fragment + ")", .integer)
  }

  /// A function that the connection answers with the evaluator's own implementation.
  ///
  /// - Parameter kind: what it gives; nil for an integer of integers and a double of doubles.
  private func registered(
    _ function: PredicateFunction, _ arguments: [ExpressionNode], _ kind: SQLKind?
  ) throws -> SQLTerm {
    let terms = try arguments.map { try term($0) }
    let takesText = kind == .string || function == .length
    for term in terms {
      guard takesText ? term.kind == .string : term.kind.isNumber, term.kind != .decimal
      else { throw SQLUnsupported() }
    }
    let isInteger = terms.allSatisfy { $0.kind.isInteger }
    if function == .bitwiseXor, !isInteger { throw SQLUnsupported() }
    return SQLTerm(
      "\(SQLFunctionName.call)('\(function.rawValue)', "
        + .joined(terms.map(\.asDouble), by: ", ") + ")",
      kind ?? (isInteger ? .integer : .double))
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
      case .members(let members, let rest)? = try? resolve(path, from: root), !rest.isEmpty,
      let name = Self.keyPathNames[function]
    {
      return try aggregate(members, [name] + rest)
    }
    guard allowsAggregates else { throw SQLUnsupported() }
    let argument = try term(arguments[0])
    let (name, kind): (String, SQLKind)
    switch function {
    case .count: (name, kind) = ("COUNT", .integer)
    case .sum:
      // SQLite's own fails where the sum of integers is none, and makes doubles of decimals.
      let isDecimal = argument.kind == .decimal
      let exact = isDecimal ? SQLFunctionName.decimalTotal : SQLFunctionName.total
      (name, kind) = (isDecimal || argument.kind.isInteger ? exact : "SUM", argument.kind)
    case .min: (name, kind) = ("MIN", argument.kind)
    case .max: (name, kind) = ("MAX", argument.kind)
    case .average:
      let isDecimal = argument.kind == .decimal
      (name, kind) =
        isDecimal ? (SQLFunctionName.decimalAverage, .decimal) : ("AVG", .double)
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

extension SQLTerm {
  /// The term for arithmetic: databases keep whole seconds of dates as integers, whose quotient
  /// would be whole too.
  fileprivate var asDouble: SQLFragment {
    kind == .date ? "CAST(" + fragment + " AS REAL)" : fragment
  }
}
