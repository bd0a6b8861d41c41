/// A Swift predicate that cannot be said in Core Data's language.
public struct PredicateTranslationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which kind of problem; stable between versions.
  public enum Code: String, Sendable, Hashable {
    /// An operation that the format language does not have.
    case unsupportedOperation
    /// A key path whose property name is not known to ``PropertyNames``.
    case unknownKeyPath
    /// A constant that no store could hold.
    case unsupportedConstant
  }
  public let code: Code
  /// What cannot be translated, and what to do.
  public let reason: String

  package init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { "The predicate cannot be translated: \(reason)" }
}
