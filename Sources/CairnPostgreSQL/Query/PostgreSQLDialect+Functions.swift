import CairnModel
import CairnPredicates
import CairnSQL

// Functions that the server computes as the evaluator does, bit for bit.

extension PostgreSQLDialect {
  func call(_ function: PredicateFunction, _ arguments: [SQLTerm]) throws -> SQLTerm {
    switch function {
    case .add: return try arithmetic("+", arguments)
    case .subtract: return try arithmetic("-", arguments)
    case .multiply: return try arithmetic("*", arguments)
    case .divide: return try quotient("/", arguments)
    case .modulus:
      guard arguments.allSatisfy(\.kind.isInteger) else { throw SQLUnsupported() }
      return try quotient("%", arguments)
    case .bitwiseAnd: return try bits("&", arguments)
    case .bitwiseOr: return try bits("|", arguments)
    case .bitwiseXor: return try bits("#", arguments)
    case .leftShift: return try shift(arguments, isLeft: true)
    case .rightShift: return try shift(arguments, isLeft: false)
    case .onesComplement:
      guard arguments[0].kind.isInteger else { throw SQLUnsupported() }
      return SQLTerm("(~" + integer(arguments[0]) + ")", .integer)
    case .noIndex: return arguments[0]
    case .squareRoot:
      let number = try double(arguments[0])
      return SQLTerm(
        "sqrt(CASE WHEN " + number + " >= 0 THEN " + number + " END)", .double)
    case .floor: return try rounding("floor", arguments[0])
    case .ceiling: return try rounding("ceil", arguments[0])
    case .truncate: return try rounding("trunc", arguments[0])
    case .absolute:
      let isInteger = arguments[0].kind.isInteger
      let number = isInteger ? integer(arguments[0]) : try double(arguments[0])
      return SQLTerm("abs(" + number + ")", isInteger ? .integer : .double)
    case .length:
      guard arguments[0].kind == .string else { throw SQLUnsupported() }
      return SQLTerm(length(arguments[0].fragment), .integer)
    // The server folds by its locale, and computes these by the library of its machine.
    case .uppercase, .lowercase, .canonical, .logarithm, .naturalLogarithm, .exponential, .power:
      throw SQLUnsupported()
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation, .random,
      .randomBelow, .now:
      throw SQLUnsupported()
    }
  }

  // MARK: Numbers

  /// The evaluator has no NaN: what is no number is NULL.
  private func number(_ fragment: SQLFragment) -> SQLFragment { "NULLIF(" + fragment + ", 'NaN')" }

  private func arithmetic(_ sign: String, _ arguments: [SQLTerm]) throws -> SQLTerm {
    let (a, b) = (arguments[0], arguments[1])
    if a.kind.isInteger, b.kind.isInteger {
      return SQLTerm("(" + integer(a) + " \(sign) " + integer(b) + ")", .integer)
    }
    return SQLTerm(number(try double(a) + " \(sign) " + double(b)), .double)
  }

  /// Dividing by zero gives NULL.
  private func quotient(_ sign: String, _ arguments: [SQLTerm]) throws -> SQLTerm {
    let (a, b) = (arguments[0], arguments[1])
    if a.kind.isInteger, b.kind.isInteger {
      return SQLTerm("(" + integer(a) + " \(sign) NULLIF(" + integer(b) + ", 0))", .integer)
    }
    return SQLTerm(number(try double(a) + " \(sign) NULLIF(" + double(b) + ", 0)"), .double)
  }

  private func rounding(_ name: String, _ argument: SQLTerm) throws -> SQLTerm {
    if argument.kind.isInteger { return SQLTerm(integer(argument), .integer) }
    return SQLTerm("\(name)(" + (try double(argument)) + ")", .double)
  }

  private func bits(_ sign: String, _ arguments: [SQLTerm]) throws -> SQLTerm {
    guard arguments.allSatisfy(\.kind.isInteger) else { throw SQLUnsupported() }
    return SQLTerm(
      "(" + integer(arguments[0]) + " \(sign) " + integer(arguments[1]) + ")", .integer)
  }

  /// The server shifts by the last six bits; the evaluator out of the number, and the other way by less than zero.
  private func shift(_ arguments: [SQLTerm], isLeft: Bool) throws -> SQLTerm {
    guard arguments.allSatisfy(\.kind.isInteger) else { throw SQLUnsupported() }
    let (a, b) = (integer(arguments[0]), integer(arguments[1]))
    let (there, back) = isLeft ? ("<<", ">>") : (">>", "<<")
    func far(_ sign: String) -> SQLFragment { sign == "<<" ? a + " & 0" : a + " >> 63" }
    let cases: [SQLFragment] = [
      "WHEN " + b + " > 63 THEN " + far(there),
      "WHEN " + b + " >= 0 THEN " + a + " \(there) (" + b + ")::integer",
      "WHEN " + b + " > -64 THEN " + a + " \(back) (-(" + b + "))::integer",
      "WHEN " + b + " <= -64 THEN " + far(back),
    ]
    return SQLTerm("(CASE " + .joined(cases, by: " ") + " END)", .integer)
  }

  // MARK: Texts

  /// The characters of a text, of which some are kept as two; see ``StoredText``.
  private func length(_ text: SQLFragment) -> SQLFragment {
    "char_length(replace(replace(" + text + ", E'\\001\\001', 'x'), E'\\001\\002', 'x'))::bigint"
  }

  // MARK: Casts and conditions

  func cast(_ term: SQLTerm, to kind: SQLKind) -> SQLTerm {
    if kind == .date, term.kind.isInteger {
      return SQLTerm("(" + integer(term) + ")::double precision", .date)
    }
    return SQLTerm(term.fragment, kind)
  }

  func conditional(_ test: SQLFragment, _ a: SQLTerm, _ b: SQLTerm) throws -> SQLTerm {
    let terms = [a, b].filter { $0.kind != .null }
    // NULL alone has no type.
    guard var kind = terms.first?.kind else { throw SQLUnsupported() }
    var (first, second) = (a.fragment, b.fragment)
    if kind.isNumber, terms.contains(where: { $0.kind != kind }) {
      guard Set(try terms.map { try Self.numberClass($0.kind) }).count == 1 else {
        throw SQLUnsupported()
      }
      if kind.isInteger {
        (first, second, kind) = (integer(a), integer(b), .integer)
      } else {
        kind = .double
      }
    }
    return SQLTerm(
      "(CASE WHEN " + test + " THEN " + first + " ELSE " + second + " END)", kind)
  }
}
