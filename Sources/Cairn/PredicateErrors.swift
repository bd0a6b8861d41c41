// Predicates, expressions and sort descriptors that throw where Foundation's raise, and collections
// that are filtered and sorted with them. Disfavoured, so that Cairn's own modules, which have the same
// below, do not have to choose.
import CairnModel
import CairnPredicates
import Foundation

extension ObjectPredicate {
  /// A predicate from its format string.
  ///
  /// - Parameter arguments: the values of `%@`, `%K`, `%d` … in order.
  /// - Throws: ``PredicateFormatError`` with the place where the text stops making sense.
  @_disfavoredOverload
  public static func parse(_ format: String, arguments: [Any?] = []) throws -> ObjectPredicate {
    make(try PredicateParser.predicate(format, arguments: arguments, limits: .trusted))
  }

  /// A predicate from text that came over a wire: no arguments, and nothing beyond the limits.
  ///
  /// - Throws: ``PredicateFormatError``, also for what the limits forbid.
  @_disfavoredOverload
  public static func parse(
    untrusted text: String, limits: PredicateLimits = .untrusted
  ) throws -> ObjectPredicate {
    make(try PredicateParser.predicate(text, arguments: nil, limits: limits))
  }

  /// Whether the object fulfils the predicate.
  ///
  /// - Throws: ``PredicateEvaluationError`` when the predicate asks for something impossible: a
  ///   variable without a value, ANY over a single value, text as a regular expression that is
  ///   none.
  @_disfavoredOverload
  public final func test(
    _ object: Any?, substitutionVariables bindings: [String: Any]? = nil
  ) throws -> Bool {
    try PredicateEvaluator.evaluate(storedNode, with: object, bindings: bindings)
  }
}

extension ObjectExpression {
  /// An expression from its format string.
  ///
  /// - Throws: ``PredicateFormatError`` with the place where the text stops making sense.
  @_disfavoredOverload
  public static func parse(_ format: String, arguments: [Any?] = []) throws -> ObjectExpression {
    ObjectExpression(
      node: try PredicateParser.expression(format, arguments: arguments, limits: .trusted))
  }

  /// The expression's value for an object.
  ///
  /// - Throws: ``PredicateEvaluationError``.
  @_disfavoredOverload
  public final func value(for object: Any?, context: NSMutableDictionary? = nil) throws -> Any? {
    try PredicateEvaluator.value(of: node, with: object, context: context).anyValue
  }
}

extension ObjectSortDescriptor {
  /// As ``compare(_:to:)``, with errors.
  ///
  /// - Throws: ``PredicateEvaluationError``.
  @_disfavoredOverload
  public final func order(_ object1: Any, _ object2: Any) throws -> ComparisonResult {
    try order(values: sortValue(of: object1), sortValue(of: object2))
  }
}

extension Sequence {
  /// The members that fulfil the predicate, in their order.
  @_disfavoredOverload
  public func filtered(using predicate: ObjectPredicate) -> [Element] {
    filter { predicate.evaluate(with: $0) }
  }

  /// The members in the order of the descriptors, the first deciding first.
  ///
  /// Members that no descriptor tells apart keep their order. Each key is read once a member.
  @_disfavoredOverload
  public func sorted(using sortDescriptors: [ObjectSortDescriptor]) -> [Element] {
    ObjectSorting.sorted(Array(self), by: sortDescriptors)
  }
}

extension MutableCollection where Self: RandomAccessCollection {
  /// Puts the members in the order of the descriptors, the first deciding first.
  @_disfavoredOverload
  public mutating func sort(using sortDescriptors: [ObjectSortDescriptor]) {
    let sorted = ObjectSorting.sorted(Array(self), by: sortDescriptors)
    for (index, member) in zip(indices, sorted) { self[index] = member }
  }
}
