import CairnModel
import CairnPredicates
import CairnSQL
import Foundation

// Numbers by their exact values, across their types: the server would make doubles of integers, and then compare.

extension PostgreSQLDialect {
  /// The types in which the server computes.
  enum NumberClass { case integer, double, decimal }

  static func numberClass(_ kind: SQLKind) throws -> NumberClass {
    switch kind {
    case .integer, .boolean: return .integer
    case .double, .date: return .double
    case .decimal: return .decimal
    case .string, .uuid, .url, .data, .opaqueData, .object, .entity, .null: throw SQLUnsupported()
    }
  }

  /// An integer or boolean as `bigint`.
  func integer(_ term: SQLTerm) -> SQLFragment {
    guard term.kind == .boolean else { return term.fragment }
    if case .boolean(let flag)? = term.parameter { return .parameter(.integer(flag ? 1 : 0)) }
    return "(" + term.fragment + ")::integer::bigint"
  }

  /// Any number but a decimal as `double precision`.
  func double(_ term: SQLTerm) throws -> SQLFragment {
    switch try Self.numberClass(term.kind) {
    case .double: return term.fragment
    case .integer:
      if let number = term.parameter.flatMap(NumberConstant.init)?.integer {
        return .parameter(.double(Double(number)))
      }
      return "(" + integer(term) + ")::double precision"
    case .decimal: throw SQLUnsupported()
    }
  }

  func numbers(
    _ a: SQLTerm, _ relation: NumberRelation, _ b: SQLTerm
  ) throws -> SQLFragment {
    if let constant = b.parameter.flatMap(NumberConstant.init), a.parameter == nil {
      return try number(a, relation, constant)
    }
    switch (try Self.numberClass(a.kind), try Self.numberClass(b.kind)) {
    case (.integer, .integer): return relation.compare(integer(a), integer(b), isConstant: false)
    case (.double, .double): return relation.compare(a.fragment, b.fragment, isConstant: false)
    case (.decimal, .decimal): return relation.compare(a.fragment, b.fragment, isConstant: false)
    case (.decimal, .integer): return relation.compare(a.fragment, integer(b), isConstant: false)
    case (.integer, .decimal): return relation.compare(integer(a), b.fragment, isConstant: false)
    case (.integer, .double): return try mixed(a, relation, b)
    case (.double, .integer): return try mixed(b, relation.flipped, a)
    case (.decimal, .double), (.double, .decimal): throw SQLUnsupported()
    }
  }

  /// How many bytes a text may have that stands in a statement several times.
  private static let longestRepeated = 2000

  /// An integer and a double, neither of which holds all values of the other.
  private func mixed(
    _ a: SQLTerm, _ relation: NumberRelation, _ b: SQLTerm
  ) throws -> SQLFragment {
    let (i, d) = (integer(a), b.fragment)
    guard i.sql.utf8.count + d.sql.utf8.count < Self.longestRepeated else {
      throw SQLUnsupported()
    }
    // Below zero, zero or above it, as the integer is less than the double, equal to it or greater.
    let whole: SQLFragment = "trunc(" + d + ")"
    let difference: [SQLFragment] = [
      "WHEN " + i + " IS NULL OR " + d + " IS NULL THEN NULL",
      "WHEN " + d + " >= 9223372036854775808::double precision THEN -1",
      "WHEN " + d + " < -9223372036854775808::double precision THEN 1",
      "WHEN " + i + " <> " + whole + "::bigint THEN CASE WHEN " + i + " < " + whole
        + "::bigint THEN -1 ELSE 1 END",
      "WHEN " + d + " > " + whole + " THEN -1", "WHEN " + d + " < " + whole + " THEN 1 ELSE 0",
    ]
    let order: SQLFragment = "(CASE " + .joined(difference, by: " ") + " END)"
    switch relation {
    case .equal: return "(" + order + " = 0 OR " + i + " IS NULL AND " + d + " IS NULL)"
    case .unequal:
      return isNotTrue(order + " = 0 OR " + i + " IS NULL AND " + d + " IS NULL")
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return order + " \(relation.sign) 0"
    }
  }

  // MARK: Constants

  private func number(
    _ term: SQLTerm, _ relation: NumberRelation, _ constant: NumberConstant
  ) throws -> SQLFragment {
    switch try Self.numberClass(term.kind) {
    case .integer:
      let place = constant.amongIntegers
      if term.kind == .boolean, relation == .equal || relation == .unequal,
        case .exact(let number) = place, number == 0 || number == 1
      {
        return relation.compare(
          term.fragment, .parameter(.boolean(number == 1)), isConstant: true)
      }
      let column = integer(term)
      return compare(column, relation, place, isNotNull: column) {
        relation in { relation.compare(column, .parameter(.integer($0)), isConstant: true) }
      }
    case .double:
      return compare(
        term.fragment, relation, constant.amongDoubles, isNotNull: term.parts.first ?? term.fragment
      ) { relation in
        { number in
          if let date = DateForm(term) { return date.compare(relation, number) }
          return relation.compare(term.fragment, .parameter(.double(number)), isConstant: true)
        }
      }
    case .decimal: return try decimal(term.fragment, relation, constant)
    }
  }

  /// Compares with a constant by its place among the values that a column can have.
  private func compare<Number>(
    _ column: SQLFragment, _ relation: NumberRelation, _ place: NumberPlace<Number>,
    isNotNull: SQLFragment, _ exact: (NumberRelation) -> (Number) -> SQLFragment
  ) -> SQLFragment {
    let isThere = isNotNull + " IS NOT NULL"
    switch (place, relation) {
    case (.exact(let number), _): return exact(relation)(number)
    case (_, .equal): return literal(false)
    case (_, .unequal): return literal(true)
    case (.above, .less), (.above, .lessOrEqual), (.below, .greater), (.below, .greaterOrEqual):
      return isThere
    case (.above, _), (.below, _): return literal(false)
    case (.behind(let number), .less), (.behind(let number), .lessOrEqual):
      return exact(.lessOrEqual)(number)
    case (.behind(let number), _): return exact(.greater)(number)
    }
  }

  /// Decimals are compared with doubles as doubles, made in memory's own way.
  private func decimal(
    _ column: SQLFragment, _ relation: NumberRelation, _ constant: NumberConstant
  ) throws -> SQLFragment {
    let number: Double
    switch constant {
    case .integer(let value):
      return relation.compare(column, .parameter(.integer(value)), isConstant: true)
    case .decimal(let value):
      return relation.compare(column, .parameter(.decimal(value)), isConstant: true)
    case .double(let value): number = value
    }
    guard relation != .unequal, abs(number) < 1e100 else { throw SQLUnsupported() }
    let margin = abs(number) * 1e-9
    let (low, high) = (Decimal(number - margin), Decimal(number + margin))
    guard !low.isNaN, !high.isNaN else { throw SQLUnsupported() }
    func bound(_ sign: String, _ value: Decimal) -> SQLFragment {
      column + " \(sign) " + .parameter(.decimal(value))
    }
    var found: SQLFragment
    switch relation {
    case .less, .lessOrEqual: found = bound("<=", high)
    case .greater, .greaterOrEqual: found = bound(">=", low)
    case .equal, .unequal: found = "(" + bound(">=", low) + " AND " + bound("<=", high) + ")"
    }
    found.isCoarse = true
    return found
  }
}

/// Where a constant is among the values that a column can have.
enum NumberPlace<Number> {
  case exact(Number)
  /// Between this value and the next.
  case behind(Number)
  case below, above
}

/// A number that a predicate mentions; dates are doubles.
enum NumberConstant {
  case integer(Int64)
  case double(Double)
  case decimal(Decimal)

  init?(_ value: AttributeValue) {
    switch value {
    case .boolean(let flag): self = .integer(flag ? 1 : 0)
    case .integer(let number): self = .integer(number)
    case .float(let number): self = .double(Double(number))
    case .double(let number): self = .double(number)
    case .decimal(let number): self = .decimal(number)
    case .null, .string, .date, .data, .uuid, .url, .object: return nil
    }
  }

  var integer: Int64? {
    if case .integer(let number) = self { return number }
    return nil
  }

  var amongIntegers: NumberPlace<Int64> {
    switch self {
    case .integer(let number): return .exact(number)
    case .double(let number):
      if number >= 0x1p63 { return .above }
      let whole = number.rounded(.down)
      guard let integer = Int64(exactly: whole) else { return .below }
      return whole == number ? .exact(integer) : .behind(integer)
    case .decimal(var number):
      var whole = Decimal()
      NSDecimalRound(&whole, &number, 0, .down)
      guard let integer = Int64("\(whole)") else { return number < 0 ? .below : .above }
      return whole == number ? .exact(integer) : .behind(integer)
    }
  }

  var amongDoubles: NumberPlace<Double> {
    switch self {
    case .double(let number): return .exact(number)
    // As the evaluator compares them.
    case .decimal(let number): return .exact(NumberOrder.double(of: .decimal(number)))
    case .integer(let number):
      let near = Double(number)
      switch NumberOrder.compare(.integer(number), .double(near)) {
      case .orderedSame: return .exact(near)
      case .orderedAscending: return .behind(near.nextDown)
      case .orderedDescending: return .behind(near)
      }
    }
  }
}
