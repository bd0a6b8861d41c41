/// What a format string may ask for.
///
/// Predicates in a program's own source need hardly any limits; predicates that arrive over a wire
/// must not be able to exhaust the stack, the processor or the imagination of who reviews them.
public struct PredicateLimits: Sendable, Hashable {
  /// The longest text, in UTF-8 bytes.
  public var maximumLength: Int
  /// How deep parentheses, functions and operators may nest.
  public var maximumDepth: Int
  /// The most nodes (comparisons, operators, constants…) a predicate may have.
  public var maximumNodes: Int
  /// Names of the predefined functions that may be called (`sum:`, `now` …); nil allows all.
  public var allowedFunctions: Set<String>?
  /// Whether `FUNCTION(…)` and comparisons by selector may be used.
  public var allowsMessages: Bool
  /// Whether `FETCH(…)` may be used.
  public var allowsFetches: Bool
  /// The longest pattern after `MATCHES`; 0 forbids regular expressions.
  ///
  /// Patterns in untrusted text must be constants without nested repetitions, which can take
  /// exponential time.
  public var maximumPatternLength: Int
  /// Whether patterns are checked for nested repetitions and back references.
  public var checksPatterns: Bool

  public init(
    maximumLength: Int, maximumDepth: Int, maximumNodes: Int, allowedFunctions: Set<String>?,
    allowsMessages: Bool, allowsFetches: Bool, maximumPatternLength: Int, checksPatterns: Bool
  ) {
    self.maximumLength = maximumLength
    self.maximumDepth = maximumDepth
    self.maximumNodes = maximumNodes
    self.allowedFunctions = allowedFunctions
    self.allowsMessages = allowsMessages
    self.allowsFetches = allowsFetches
    self.maximumPatternLength = maximumPatternLength
    self.checksPatterns = checksPatterns
  }

  /// For format strings in a program's own source.
  public static let trusted = PredicateLimits(
    maximumLength: 16 << 20, maximumDepth: 200, maximumNodes: 1 << 20, allowedFunctions: nil,
    allowsMessages: true, allowsFetches: true, maximumPatternLength: 1 << 20,
    checksPatterns: false)

  /// For text from a peer or an operator.
  public static let untrusted = PredicateLimits(
    maximumLength: 64 << 10, maximumDepth: 50, maximumNodes: 10_000,
    allowedFunctions: Set(
      PredicateFunction.allCases.filter { $0 != .random && $0 != .randomBelow }.map(\.rawValue)),
    allowsMessages: false, allowsFetches: false, maximumPatternLength: 512, checksPatterns: true)
}
