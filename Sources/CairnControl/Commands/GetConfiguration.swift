// io.cairn.Daemon.GetConfiguration: the configuration that is in use.

/// Every key of the configuration with its value and where that was written.
///
/// What the files say since the last reload is not in it.
public enum GetConfiguration: ControlMethod {
  public static let name = "io.cairn.Daemon.GetConfiguration"
  public static let role = ControlRole.status
  public static let declarations = [
    """
    # A key with the value in use, null for none. source is a file, "--set", "default", or "SetLogLevel"
    # for a level that was set by command; line is that of the file.
    type Setting (key: string, value: ?string, source: string, line: ?int)
    """,
    """
    # The configuration in use, key by key, with where each value comes from. No key holds a secret.
    # Role: status.
    method GetConfiguration() -> (file: string, settings: []Setting)
    """,
  ]
  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    /// The main file.
    public var file: String
    public var settings: [Setting]

    public init(file: String, settings: [Setting]) {
      self.file = file
      self.settings = settings
    }
  }

  /// A key with its value.
  public struct Setting: Codable, Sendable, Hashable {
    /// The source of values that nothing says.
    public static let defaultSource = "default"
    /// The source of a level that was set by command.
    public static let commandSource = "SetLogLevel"

    public var key: String
    public var value: String?
    public var source: String
    /// Counted from 1.
    public var line: Int?

    public init(key: String, value: String? = nil, source: String, line: Int? = nil) {
      self.key = key
      self.value = value
      self.source = source
      self.line = line
    }
  }
}
