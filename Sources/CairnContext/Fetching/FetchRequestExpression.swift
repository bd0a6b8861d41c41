import CairnModel
import CairnPredicates
import Foundation

/// An expression whose value is what a fetch request finds: `FETCH(request, context, countOnly)`.
///
/// In the predicate of a fetch it is answered before the predicate goes to the stores, so that it
/// can stand on the right of `IN`. Source: `NSFetchRequestExpression`.
// Unchecked: immutable, as its superclass.
open class FetchRequestExpression: ObjectExpression, @unchecked Sendable {
  /// An expression for the results of a request, or for their number.
  ///
  /// - Parameters:
  ///   - fetch: gives the fetch request.
  ///   - context: gives the context that runs it.
  ///   - countFlag: whether the value is the number of results.
  open class func expression(
    forFetch fetch: ObjectExpression, context: ObjectExpression, countOnly countFlag: Bool
  ) -> ObjectExpression {
    FetchRequestExpression(fetch.node, context.node, countOnly: countFlag)
  }

  private init(_ request: ExpressionNode, _ context: ExpressionNode, countOnly: Bool) {
    super.init(node: .fetch(request, context, countOnly: countOnly))
  }

  /// A fetch request expression from a keyed archive; nil when the archive holds another kind.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
    guard case .fetch = node else { return nil }
  }

  /// The expression that gives the fetch request.
  open var requestExpression: ObjectExpression { ObjectExpression(node: parts.request) }
  /// The expression that gives the context.
  open var contextExpression: ObjectExpression { ObjectExpression(node: parts.context) }
  /// Whether the value is the number of results.
  open var isCountOnlyRequest: Bool { parts.countOnly }

  private var parts: (request: ExpressionNode, context: ExpressionNode, countOnly: Bool) {
    guard case .fetch(let request, let context, let countOnly) = node else {
      // Both initialisers see to it; an archive with another node gives no object.
      fatalError("\(self) is no fetch request expression.")
    }
    return (request, context, countOnly)
  }
}
