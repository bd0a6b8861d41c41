// `log`: what is logged and how.

/// What is logged and how.
public struct LogSection: Sendable, Hashable {
  /// The least important level that is logged.
  public enum Level: String, Sendable, Hashable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
  }

  /// Where lines go and how they look.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// The journal when standard error leads there, `logfmt` otherwise.
    case auto
    case journal, logfmt, json
  }

  public var level: Level
  public var format: Format

  public init(level: Level = .info, format: Format = .auto) {
    self.level = level
    self.format = format
  }

  static func read(_ reader: SectionReader) -> LogSection {
    let section = LogSection(
      level: reader.choice("level", default: .info),
      format: reader.choice("format", default: .auto))
    reader.finish()
    return section
  }
}
