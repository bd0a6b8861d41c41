// The one error that everything in this target throws.

/// A call to the kernel that failed: what was tried, on what, and why it did not work.
public struct PlatformError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was tried, as a verb phrase: "open", "bind the socket".
  public let operation: String
  /// The file or socket concerned, when there is one.
  public let path: String?
  /// The kernel's number for the reason.
  public let code: ErrnoCode
  /// What to do, where that is known better here than by the reason alone.
  private let advice: String?

  /// Describes a failure of `operation` on `path`.
  public init(
    _ operation: String, path: String? = nil, code: ErrnoCode, advice: String? = nil
  ) {
    self.advice = advice
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// One line for people: what, where, why, and what to do where that is known.
  public var description: String {
    var text = "cannot \(operation)"
    if let path { text += " \(path)" }
    text += ": \(code.explanation)"
    if let advice = advice ?? code.advice { text += " (\(advice))" }
    return text
  }
}
