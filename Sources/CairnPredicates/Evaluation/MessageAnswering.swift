/// An object that expressions may send messages to: `FUNCTION($manager, "selector:", …)`.
///
/// There is no Objective-C runtime to find methods by name, so the object answers by itself.
public protocol MessageAnswering {
  /// What the object answers to a message, with one argument for each colon of the selector.
  ///
  /// - Throws: ``PredicateEvaluationError`` for a message that the object does not know, or
  ///   whatever the method throws.
  func answer(to selector: String, arguments: [Any?]) throws -> Any?
}
