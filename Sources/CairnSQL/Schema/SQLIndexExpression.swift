import CairnModel

/// What an index of an expression is made of, with constants written out.
///
/// Only what SQLite computes by itself and always alike: an index that calls a function of Cairn's
/// would keep every other program from writing.
enum SQLIndexExpression {
  /// Nil for an expression that cannot be indexed.
  static func text(of node: ExpressionNode, entity: SQLEntity) -> String? {
    switch node {
    case .keyPath(let name): return SQLIndexes.column(name, of: entity)
    case .constant(.integer(let number)): return String(number)
    case .constant(.double(let number)): return number.isFinite ? String(number) : nil
    case .function(let function, let arguments):
      guard let sign = signs[function] else { return nil }
      let parts = arguments.compactMap { text(of: $0, entity: entity) }
      guard parts.count == arguments.count else { return nil }
      if function == .absolute { return "\(sign)(\(parts.joined()))" }
      return "(\(parts.joined(separator: " \(sign) ")))"
    case .constant, .evaluatedObject, .variable, .keyPathOf, .element, .cast, .message,
      .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment, .fetch:
      return nil
    }
  }

  private static let signs: [PredicateFunction: String] = [
    .add: "+", .subtract: "-", .multiply: "*", .absolute: "abs",
  ]
}
