import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Answers `FETCH(request, context, countOnly)` inside predicates before they go to a store.
enum FetchExpressions {
  /// The predicate with the results of its fetches as constants.
  ///
  /// - Throws: What a fetch throws, and 134060 for a request or context that is none.
  static func answering(
    in predicate: ObjectPredicate, context: ManagedObjectContext
  ) throws -> ObjectPredicate {
    if predicate.node.isPlain { return predicate }
    var failure: (any Error)?
    var answered = 0
    let node = predicate.node.rewriting { expression in
      guard failure == nil, case .fetch(let request, let owner, let countOnly) = expression,
        case .constant(let request) = request, case .constant(let owner) = owner
      else { return expression }
      do {
        let value = try (owner.anyValue as? ManagedObjectContext ?? context)
          .evaluateFetchExpression(request: request.anyValue, countOnly: countOnly)
        answered += 1
        return .constant(PredicateValue(value))
      } catch {
        failure = error
        return expression
      }
    }
    if let failure { throw failure }
    return answered == 0 ? predicate : ObjectPredicate.make(node)
  }
}

extension ManagedObjectContext: FetchExpressionEvaluating {
  /// The results of a fetch request that a predicate mentions, or their number.
  package func evaluateFetchExpression(request: Any?, countOnly: Bool) throws -> Any? {
    guard let request = request as? AnyFetchRequest else {
      throw CoreDataError(
        .coreData, "The first argument of FETCH must be a fetch request, not \(request ?? "nil").")
    }
    if countOnly { return try FetchExecution(context: self).count(of: request) }
    let results = try fetch(request.withAnyResult())
    guard request.resultType == .dictionaryResultType else { return results }
    // One column is a list of values.
    let rows = results.compactMap { $0 as? NSDictionary }
    return rows.contains { $0.count > 1 } ? rows : rows.flatMap(\.allValues)
  }
}
