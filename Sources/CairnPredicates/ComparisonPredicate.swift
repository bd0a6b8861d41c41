import Foundation

/// A comparison of two expressions. Source: `NSComparisonPredicate`.
///
/// Immutable, may be used on any thread unless it mentions managed objects.
// Unchecked: immutable after initialisation.
open class ComparisonPredicate: ObjectPredicate, @unchecked Sendable {
  /// Whether both sides are compared directly, or each member of the left side.
  public enum Modifier: UInt, Sendable, Hashable, CaseIterable {
    case direct = 0
    case all = 1
    case any = 2
  }

  /// The comparison, with Foundation's raw values.
  public enum Operator: UInt, Sendable, Hashable, CaseIterable {
    case lessThan = 0
    case lessThanOrEqualTo = 1
    case greaterThan = 2
    case greaterThanOrEqualTo = 3
    case equalTo = 4
    case notEqualTo = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case customSelector = 11
    case contains = 99
    case between = 100
  }

  /// How strings are compared.
  public struct Options: OptionSet, Sendable, Hashable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// `[c]`: without regard to case.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: without regard to accents.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: both sides are promised to be normalised; compared byte by byte.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: as the locale does; Cairn compares normalised text.
    public static let localeSensitive = Options(rawValue: 8)
  }

  private let comparison: ComparisonNode

  package init(comparison: ComparisonNode) {
    self.comparison = comparison
    super.init(node: .comparison(comparison))
  }

  /// The comparison, or one that refuses because its sides nest too deep, and its depth.
  private static func bounded(
    _ lhs: ObjectExpression, _ rhs: ObjectExpression,
    _ make: (ExpressionNode, ExpressionNode) -> ComparisonNode
  ) -> (ComparisonNode, depth: Int) {
    let depth = PredicateNesting.depth(over: [lhs.depth, rhs.depth])
    if depth <= PredicateNesting.maximum { return (make(lhs.node, rhs.node), depth) }
    let refusal = ExpressionNode.block(ExpressionBlock(refusing: PredicateNesting.refusal), [])
    return (make(refusal, .constant(.null)), 2)
  }

  public init(
    leftExpression lhs: ObjectExpression, rightExpression rhs: ObjectExpression,
    modifier: Modifier, type: Operator, options: Options = []
  ) {
    let (made, depth) = Self.bounded(lhs, rhs) {
      ComparisonNode($0, type, $1, modifier: modifier, options: options)
    }
    comparison = made
    super.init(node: .comparison(made), depth: depth)
  }

  /// A comparison by a method of the left value that takes the right one.
  public init(
    leftExpression lhs: ObjectExpression, rightExpression rhs: ObjectExpression,
    customSelector selector: SelectorName
  ) {
    let (made, depth) = Self.bounded(lhs, rhs) {
      ComparisonNode($0, .customSelector, $1, selector: selector)
    }
    comparison = made
    super.init(node: .comparison(made), depth: depth)
  }

  public required init?(coder: NSCoder) {
    guard case .comparison(let comparison)? = PredicateArchive.predicate(from: coder) else {
      return nil
    }
    self.comparison = comparison
    super.init(node: .comparison(comparison))
  }

  open var predicateOperatorType: Operator { comparison.type }
  open var comparisonPredicateModifier: Modifier { comparison.modifier }
  open var leftExpression: ObjectExpression { ObjectExpression(node: comparison.left) }
  open var rightExpression: ObjectExpression { ObjectExpression(node: comparison.right) }
  open var customSelector: SelectorName? { comparison.selector }
  open var options: Options { comparison.options }
}
