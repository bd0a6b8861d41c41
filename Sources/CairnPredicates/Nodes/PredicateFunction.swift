// The one table of predefined functions.

/// A predefined function, by its Foundation name.
package enum PredicateFunction: String, Hashable, Sendable, CaseIterable {
  // Over collections, or over several arguments.
  case sum = "sum:"
  case count = "count:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case standardDeviation = "stddev:"
  // Arithmetic.
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case power = "raise:toPower:"
  case squareRoot = "sqrt:"
  case logarithm = "log:"
  case naturalLogarithm = "ln:"
  case exponential = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case absolute = "abs:"
  case truncate = "trunc:"
  case random = "random"
  case randomBelow = "random:"
  // Time.
  case now = "now"
  // Text.
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case canonical = "canonical:"
  case length = "length:"
  // Bits.
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"
  case onesComplement = "onesComplement:"
  /// The argument itself; tells a store not to use an index.
  case noIndex = "noindex:"

  /// How many arguments the function takes.
  package var arity: ClosedRange<Int> {
    switch self {
    case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation: return 1...Int.max
    case .random, .now: return 0...0
    case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr,
      .bitwiseXor, .leftShift, .rightShift:
      return 2...2
    case .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling, .absolute,
      .truncate, .randomBelow, .uppercase, .lowercase, .canonical, .length, .onesComplement,
      .noIndex:
      return 1...1
    }
  }

  /// The sign between two operands in the format language, nil for functions written by name.
  package var infix: String? {
    switch self {
    case .add: return "+"
    case .subtract: return "-"
    case .multiply: return "*"
    case .divide: return "/"
    case .power: return "**"
    case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .modulus,
      .squareRoot, .logarithm, .naturalLogarithm, .exponential, .floor, .ceiling, .absolute,
      .truncate, .random, .randomBelow, .now, .uppercase, .lowercase, .canonical, .length,
      .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement, .noIndex:
      return nil
    }
  }

  /// Whether every call may give another result, so that stores must not fold or reorder it.
  package var isVolatile: Bool {
    self == .random || self == .randomBelow || self == .now
  }

  /// The function that a name in a format string means: the full selector (`sum:`,
  /// `modulus:by:`) or the part before its first colon (`sum`).
  package static func named(_ name: String, argumentCount: Int) -> PredicateFunction? {
    if let exact = PredicateFunction(rawValue: name), exact.arity.contains(argumentCount) {
      return exact
    }
    return byShortName[name]?.first { $0.arity.contains(argumentCount) }
  }

  private static let byShortName = Dictionary(
    grouping: allCases, by: { String($0.rawValue.prefix { $0 != ":" }) })
}
