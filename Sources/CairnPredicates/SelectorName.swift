/// The name of a method, as Objective-C writes it: `compare:`.
///
/// Linux has no Objective-C runtime. Only names that Cairn knows can be used to sort or to compare.
public struct SelectorName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ name: String) { rawValue = name }
  public init(stringLiteral value: String) { rawValue = value }

  /// Numbers by value, dates by time, strings by their UTF-8 bytes.
  public static let compare = SelectorName("compare:")
  /// Strings without regard to case.
  public static let caseInsensitiveCompare = SelectorName("caseInsensitiveCompare:")
  /// Strings as the current locale orders them.
  public static let localizedCompare = SelectorName("localizedCompare:")
  /// Strings as the current locale orders them, without regard to case.
  public static let localizedCaseInsensitiveCompare = SelectorName(
    "localizedCaseInsensitiveCompare:")
  /// Strings as file managers list them: numbers inside by value, without regard to case.
  public static let localizedStandardCompare = SelectorName("localizedStandardCompare:")
}
