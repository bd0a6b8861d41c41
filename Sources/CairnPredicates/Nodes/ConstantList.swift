import Synchronization

/// The constants on the right of `IN`, folded by the comparison's options and hashed on first use.
package final class ConstantList: Sendable {
  /// Shorter lists are compared one by one.
  private static let shortest = 9

  private let constants: [PredicateValue]
  private let options: ComparisonPredicate.Options
  /// Mutable state: the hashed constants once they were needed, inside the mutex.
  private let members = Mutex<Set<PredicateValue>?>(nil)

  /// Nil when the expression is not a long list of constants.
  init?(_ node: ExpressionNode, options: ComparisonPredicate.Options) {
    switch node {
    case .constant(.array(let values)) where values.count >= Self.shortest: constants = values
    case .constant(.set(let values)) where values.count >= Self.shortest: constants = Array(values)
    case .aggregate(let nodes) where nodes.count >= Self.shortest:
      let values = nodes.compactMap { node -> PredicateValue? in
        if case .constant(let value) = node { return value }
        return nil
      }
      guard values.count == nodes.count else { return nil }
      constants = values
    case .constant, .evaluatedObject, .variable, .keyPath, .keyPathOf, .function, .element, .cast,
      .message, .setOperation, .subquery, .aggregate, .anyKey, .block, .conditional, .assignment,
      .fetch:
      return nil
    }
    self.options = options
  }

  /// Whether a value is one of the constants.
  func contains(_ value: PredicateValue) -> Bool {
    let members = members.withLock { members in
      if let members { return members }
      let made = Set(constants.map { StringFolding.fold($0, options: options) })
      members = made
      return made
    }
    return members.contains(StringFolding.fold(value, options: options))
  }
}
