import Foundation

/// What the predefined functions do.
package enum FunctionTable {
  /// The value of a function; SQL functions call it too.
  ///
  /// - Throws: ``PredicateEvaluationError`` for arguments of the wrong type or number.
  package static func call(
    _ function: PredicateFunction, _ arguments: [PredicateValue]
  ) throws -> PredicateValue {
    guard function.arity.contains(arguments.count) else {
      throw PredicateEvaluationError(
        .unsupportedFunction,
        "The function \(function.rawValue) does not take \(arguments.count) arguments.")
    }
    let first = arguments.first ?? .null
    let second = arguments.count > 1 ? arguments[1] : .null
    switch function {
    case .sum: return try Statistics.sum(members(arguments))
    case .count: return .integer(Int64(members(arguments).count))
    case .min: return Statistics.minimum(members(arguments))
    case .max: return Statistics.maximum(members(arguments))
    case .average: return try Statistics.average(members(arguments))
    case .median: return try Statistics.median(members(arguments))
    case .mode: return Statistics.mode(members(arguments))
    case .standardDeviation: return try Statistics.standardDeviation(members(arguments))
    case .add: return try Arithmetic.add(first, second)
    case .subtract: return try Arithmetic.subtract(first, second)
    case .multiply: return try Arithmetic.multiply(first, second)
    case .divide: return try Arithmetic.divide(first, second)
    case .modulus: return try Arithmetic.modulus(first, second)
    case .power: return try Arithmetic.power(first, second)
    case .squareRoot: return try Arithmetic.apply(first) { $0.squareRoot() }
    case .logarithm: return try Arithmetic.apply(first) { log10($0) }
    case .naturalLogarithm: return try Arithmetic.apply(first) { log($0) }
    case .exponential: return try Arithmetic.apply(first) { exp($0) }
    case .floor: return try Arithmetic.round(first, .down)
    case .ceiling: return try Arithmetic.round(first, .up)
    case .truncate: return try Arithmetic.round(first, .towardZero)
    case .absolute: return try Arithmetic.absolute(first)
    case .random: return .double(Double.random(in: 0...1))
    case .randomBelow:
      let bound = try Arithmetic.integer(first)
      return .integer(bound > 0 ? Int64.random(in: 0..<bound) : 0)
    case .now: return .date(Date())
    case .uppercase: return try text(first) { $0.uppercased() }
    case .lowercase: return try text(first) { $0.lowercased() }
    case .canonical:
      return try text(first) {
        StringFolding.fold($0, options: [.caseInsensitive, .diacriticInsensitive])
      }
    case .length: return try length(first)
    case .bitwiseAnd: return try Arithmetic.bits(first, second, &)
    case .bitwiseOr: return try Arithmetic.bits(first, second, |)
    case .bitwiseXor: return try Arithmetic.bits(first, second, ^)
    case .leftShift: return try Arithmetic.bits(first, second, <<)
    case .rightShift: return try Arithmetic.bits(first, second, >>)
    case .onesComplement: return try Arithmetic.bits(first, .integer(0)) { value, _ in ~value }
    case .noIndex: return first
    }
  }

  /// What a function over a collection looks at: the members of its only argument, or all its
  /// arguments.
  ///
  /// Null counts as an empty collection, a single value as itself.
  private static func members(_ arguments: [PredicateValue]) -> [PredicateValue] {
    guard arguments.count == 1 else { return CollectionOperators.flattened(arguments) }
    if arguments[0].isNull { return [] }
    return CollectionOperators.flattened(arguments[0].elements ?? [arguments[0]])
  }

  private static func text(
    _ value: PredicateValue, _ function: (String) -> String
  ) throws -> PredicateValue {
    if value.isNull { return .null }
    guard let text = value.text else {
      throw PredicateEvaluationError(
        .wrongType,
        "\(PredicatePrinter.text(of: .constant(value))) is not a text.")
    }
    return .string(function(text))
  }

  /// Unicode scalars of a text (what SQLite counts), bytes of data.
  private static func length(_ value: PredicateValue) throws -> PredicateValue {
    if value.isNull { return .null }
    if case .data(let data) = value { return .integer(Int64(data.count)) }
    guard let text = value.text else {
      throw PredicateEvaluationError(
        .wrongType,
        "\(PredicatePrinter.text(of: .constant(value))) has no length.")
    }
    return .integer(Int64(text.unicodeScalars.count))
  }
}
