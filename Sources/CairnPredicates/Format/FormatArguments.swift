import Foundation

/// The arguments of a format string, taken in order.
struct FormatArguments {
  /// Nil where specifiers are not allowed at all.
  private let values: [Any?]?
  private var index = 0

  init(_ values: [Any?]?) {
    self.values = values
  }

  /// A wrong or missing argument; the parser adds the position.
  struct Problem: Error {
    let reason: String
  }

  private mutating func next() throws -> Any? {
    guard let values else {
      throw Problem(reason: "specifiers are not allowed in this text")
    }
    guard index < values.count else {
      throw Problem(reason: "there are only \(values.count) arguments for more specifiers")
    }
    index += 1
    return values[index - 1]
  }

  /// The next argument if it is a predicate; otherwise it stays.
  mutating func takePredicate() -> PredicateNode? {
    guard let values, index < values.count, let value = values[index],
      PredicateValue(plain: value) == nil, let predicate = value as? ObjectPredicate
    else { return nil }
    index += 1
    return predicate.node
  }

  /// The text for `%K`.
  mutating func keyPath() throws -> String {
    guard case .string(let path) = PredicateValue(try next()), !path.isEmpty else {
      throw Problem(reason: "the argument of %K must be a key path")
    }
    return path
  }

  /// The expression for every other specifier.
  mutating func expression(_ specifier: FormatSpecifier) throws -> ExpressionNode {
    if specifier == .keyPath { return .path(try keyPath()) }
    let argument = try next()
    let value: PredicateValue
    if let argument, let plain = PredicateValue(plain: argument) {
      value = plain
    } else {
      if specifier == .object, let expression = argument as? ObjectExpression {
        return expression.node
      }
      value = PredicateValue(constant: argument)
    }
    switch specifier {
    case .object, .keyPath: return .constant(value)
    case .integer:
      if value.kind == .number, let number = try? Arithmetic.integer(value) {
        if case .boolean = value { return .constant(value) }
        return .constant(.integer(number))
      }
      // Larger than a signed integer, as `%llu` can be.
      if case .decimal(let number) = value, number == number.rounded() { return .constant(value) }
      throw Problem(reason: "the argument must be an integer")
    case .double:
      if case .decimal = value { return .constant(value) }
      if value.kind == .number { return .constant(.double(NumberOrder.double(of: value))) }
      throw Problem(reason: "the argument must be a number")
    case .character:
      if case .string(let text) = value, text.count == 1 { return .constant(value) }
      if case .integer(let code) = value, let unit = UInt32(exactly: code),
        let scalar = Unicode.Scalar(unit)
      {
        return .constant(.string(String(Character(scalar))))
      }
      throw Problem(reason: "the argument must be one character")
    case .string:
      if case .string = value { return .constant(value) }
      throw Problem(reason: "the argument must be a string")
    }
  }
}

extension Decimal {
  /// The number without its fraction.
  fileprivate func rounded() -> Decimal {
    var number = self
    var result = Decimal()
    NSDecimalRound(&result, &number, 0, .plain)
    return result
  }
}
