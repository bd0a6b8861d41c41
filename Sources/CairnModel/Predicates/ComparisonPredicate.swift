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

  public init(
    leftExpression lhs: ObjectExpression, rightExpression rhs: ObjectExpression,
    modifier: Modifier, type: Operator, options: Options = []
  ) {
    comparison = ComparisonNode(
      lhs.node, type, rhs.node, modifier: modifier, options: options)
    super.init(node: .comparison(comparison))
  }

  /// A comparison by a method of the left value that takes the right one.
  public init(
    leftExpression lhs: ObjectExpression, rightExpression rhs: ObjectExpression,
    customSelector selector: SelectorName
  ) {
    comparison = ComparisonNode(lhs.node, .customSelector, rhs.node, selector: selector)
    super.init(node: .comparison(comparison))
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
