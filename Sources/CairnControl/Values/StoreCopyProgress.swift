// How far a copy of a store is.

/// What a daemon does that copies a store, and how far that is.
public struct StoreCopyProgress: Codable, Sendable, Hashable {
  /// The type in Varlink's language.
  static let declaration = """
    # How far a copy of a store is, in bytes; total is null for a step that tells nothing until it ends. keeping copies
    # what a backup is about to replace.
    type StoreCopyProgress (step: (copying, checking, keeping, replacing), done: int, total: ?int)
    """

  /// In the order of a restore: a backup is copied, what is there is kept, and replaced.
  public enum Step: String, Codable, Sendable, CaseIterable {
    case copying
    case checking
    case keeping
    case replacing
  }

  public var step: Step
  /// Bytes.
  public var done: Int
  public var total: Int?

  public init(_ step: Step, done: Int = 0, total: Int? = nil) {
    self.step = step
    self.done = done
    self.total = total
  }
}
