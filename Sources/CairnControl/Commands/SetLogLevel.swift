// io.cairn.Daemon.SetLogLevel: log more or less for a while.

/// How important something must be to be logged.
public enum LogLevelName: String, Codable, Sendable, Hashable, CaseIterable {
  case trace, debug, info, notice, warning, error, critical
}

/// Sets the level from which on the daemon logs, until a reload or a restart.
public enum SetLogLevel: ControlMethod {
  public static let name = "io.cairn.Daemon.SetLogLevel"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Log what is at least this important, until a reload or a restart brings the configured level
    # back; without level nothing changes. Answers with the level that is in use. Role: control.
    method SetLogLevel(
      level: ?(trace, debug, info, notice, warning, error, critical)
    ) -> (
      level: (trace, debug, info, notice, warning, error, critical),
      configured: (trace, debug, info, notice, warning, error, critical)
    )
    """
  ]

  public struct Parameters: Codable, Sendable, Hashable {
    /// Nil to look only.
    public var level: LogLevelName?
    public init(level: LogLevelName? = nil) { self.level = level }
  }

  public struct Reply: Codable, Sendable, Hashable {
    public var level: LogLevelName
    /// The one that the configuration names.
    public var configured: LogLevelName

    public init(level: LogLevelName, configured: LogLevelName) {
      self.level = level
      self.configured = configured
    }
  }
}
