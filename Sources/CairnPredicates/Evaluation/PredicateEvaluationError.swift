/// A predicate asked for something that cannot be done with the object at hand.
public struct PredicateEvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which kind of problem; stable between versions.
  public enum Code: String, Sendable, Hashable {
    case missingVariable
    case notACollection
    case badRegularExpression
    case unsupportedFunction
    case unsupportedSelector
    case unsupportedKeyPath
    case wrongType
    case tooDeep
  }
  public let code: Code
  /// What happened, in Foundation's words where it has some.
  public let reason: String

  package init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { reason }
}
