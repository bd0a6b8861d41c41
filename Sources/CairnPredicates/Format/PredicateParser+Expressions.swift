import Foundation

// Operators between values, and what follows a value: `.path`, `[index]`.

/// How tightly an operator binds; all group from the left.
enum FormatPrecedence: Int, Comparable {
  case setOperation, bitOr, bitXor, bitAnd, shift, sum, product, power, operand

  static let lowest = FormatPrecedence.setOperation
  static func < (a: FormatPrecedence, b: FormatPrecedence) -> Bool { a.rawValue < b.rawValue }

  /// The next tighter level.
  var tighter: FormatPrecedence { FormatPrecedence(rawValue: rawValue + 1) ?? .operand }
}

extension PredicateParser {
  private enum Operation {
    case function(PredicateFunction)
    case set(ExpressionSetOperation)
  }

  /// Operators that bind at least as tightly as given, or a lone operand of either kind.
  mutating func binary(_ minimum: FormatPrecedence) throws -> Item {
    var left = try unary()
    while let (operation, precedence) = nextOperation, precedence >= minimum {
      let (leftNode, leftDepth) = try expression(left)
      advance()
      let right = try binary(precedence.tighter)
      let (rightNode, rightDepth) = try expression(right)
      let node: ExpressionNode
      switch operation {
      case .function(let function):
        try checkAllowed(function, at: left.position)
        node = .function(function, [leftNode, rightNode])
      case .set(let operation): node = .setOperation(operation, leftNode, rightNode)
      }
      left = try item(.expression(node), above: leftDepth, rightDepth, at: left.position)
    }
    return left
  }

  private var nextOperation: (Operation, FormatPrecedence)? {
    switch token.kind {
    case .word(_, .union): return (.set(.union), .setOperation)
    case .word(_, .intersect): return (.set(.intersect), .setOperation)
    case .word(_, .minus): return (.set(.minus), .setOperation)
    case .symbol(.or): return (.function(.bitwiseOr), .bitOr)
    case .symbol(.xor): return (.function(.bitwiseXor), .bitXor)
    case .symbol(.and): return (.function(.bitwiseAnd), .bitAnd)
    case .symbol(.shiftLeft): return (.function(.leftShift), .shift)
    case .symbol(.shiftRight): return (.function(.rightShift), .shift)
    case .symbol(.plus): return (.function(.add), .sum)
    case .symbol(.minus): return (.function(.subtract), .sum)
    case .symbol(.times): return (.function(.multiply), .product)
    case .symbol(.divide): return (.function(.divide), .product)
    case .symbol(.modulus): return (.function(.modulus), .product)
    case .symbol(.power): return (.function(.power), .power)
    default: return nil
    }
  }

  /// `-x`, `~x`; a minus before a number is part of the number.
  private mutating func unary() throws -> Item {
    let position = token.position
    if accept(FormatSymbol.minus) {
      if let literal = try negativeLiteral(at: position) { return try postfix(literal) }
      let (node, depth) = try expression(nested { try $0.unary() })
      let negated: ExpressionNode
      if case .constant(let value) = node, value.kind == .number,
        let result = try? Arithmetic.subtract(.integer(0), value)
      {
        negated = .constant(result)
      } else {
        negated = .function(.subtract, [.constant(.integer(0)), node])
      }
      return try item(.expression(negated), above: depth, at: position)
    }
    if accept(FormatSymbol.complement) {
      try checkAllowed(.onesComplement, at: position)
      let (node, depth) = try expression(nested { try $0.unary() })
      return try item(.expression(.function(.onesComplement, [node])), above: depth, at: position)
    }
    return try postfix(atom())
  }

  /// The number after a minus, so that the smallest integer can be written.
  private mutating func negativeLiteral(at position: Int) throws -> Item? {
    let value: PredicateValue
    switch token.kind {
    case .integer(let number):
      if let small = Int64(exactly: number) {
        value = .integer(-small)
      } else if number == UInt64(Int64.max) + 1 {
        value = .integer(.min)
      } else {
        value = .decimal(-Decimal(number))
      }
    case .decimal(let number): value = .decimal(-number)
    case .double(let number): value = .double(-number)
    default: return nil
    }
    advance()
    return try item(.expression(.constant(value)), at: position)
  }

  /// The steps after a value.
  private mutating func postfix(_ start: Item) throws -> Item {
    var result = start
    while true {
      if accept(FormatSymbol.dot) {
        let (node, depth) = try expression(result)
        let path = try pathStep()
        // A longer path is not a deeper tree.
        let isPath = node.isPath
        result = try item(
          .expression(node.appending(path)), above: isPath ? depth - 1 : depth,
          at: start.position)
      } else if token.kind == .symbol(.openBracket) {
        let (node, depth) = try expression(result)
        advance()
        let (index, indexDepth) = try index()
        try expect(.closeBracket)
        result = try item(
          .expression(.element(of: node, at: index)), above: depth, indexDepth,
          at: start.position)
      } else {
        return result
      }
    }
  }

  /// A name after a dot.
  private mutating func pathStep() throws -> String {
    let token = token
    switch token.kind {
    case .word(let name, _), .collectionOperator(let name):
      advance()
      return name
    case .specifier(.keyPath):
      advance()
      return try withArguments(at: token.position) { try $0.keyPath() }
    default: throw unexpected("a name must follow the dot")
    }
  }

  private mutating func index() throws -> (ExpressionIndex, Int) {
    if accept(.first) { return (.first, 0) }
    if accept(.last) { return (.last, 0) }
    if accept(.size) { return (.size, 0) }
    let (node, depth) = try expression(nested { try $0.binary(.lowest) })
    return (.at(node), depth)
  }

  /// Takes from the arguments; their problems become format errors.
  mutating func withArguments<T>(
    at position: Int, _ body: (inout FormatArguments) throws -> T
  ) throws -> T {
    do {
      return try body(&arguments)
    } catch let problem as FormatArguments.Problem {
      throw failure(problem.reason, at: position, code: .argument)
    }
  }

  func checkAllowed(_ function: PredicateFunction, at position: Int) throws {
    if let allowed = limits.allowedFunctions, !allowed.contains(function.rawValue) {
      throw failure(
        "the function \(function.rawValue) is not allowed here", at: position, code: .limit)
    }
  }
}

extension ExpressionNode {
  /// Whether the expression ends in a key path that can be made longer.
  fileprivate var isPath: Bool {
    switch self {
    case .keyPath, .keyPathOf, .evaluatedObject: return true
    case .constant, .variable, .function, .element, .cast, .message, .setOperation, .subquery,
      .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return false
    }
  }
}
