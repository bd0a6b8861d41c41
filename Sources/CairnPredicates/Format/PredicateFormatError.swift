/// A format string that is not a predicate or expression.
public struct PredicateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which kind of problem; stable between versions.
  public enum Code: String, Sendable, Hashable {
    /// The text does not follow the grammar.
    case syntax
    /// A specifier without an argument, or with one of the wrong type.
    case argument
    /// The text asks for more than its limits allow.
    case limit
  }
  public let code: Code
  /// The whole text.
  public let text: String
  /// Where the problem starts, counted in Unicode scalars from the beginning of the text.
  public let position: Int
  /// What is wrong there.
  public let reason: String

  package init(code: Code, text: String, position: Int, reason: String) {
    self.code = code
    self.text = text
    self.position = position
    self.reason = reason
  }

  public var description: String {
    "Unable to parse the format string \"\(text)\": \(reason) at position \(position)"
  }
}
