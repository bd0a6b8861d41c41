// io.cairn.Daemon.Reload: take the configuration on disk over.

/// Reads the configuration anew and takes over what has changed, all of it or nothing.
///
/// Answers when it is done. Fails with ``ControlError/configurationInvalid(problems:)``, and with
/// ``ControlError/restartNeeded(keys:)`` when something has changed that cannot while the daemon runs;
/// the daemon goes on with the configuration it has then.
public enum ReloadConfiguration: ControlMethod {
  public static let name = "io.cairn.Daemon.Reload"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # Take the configuration on disk over, all of it or nothing; answers when it is done, with the keys
    # that have changed. Role: control.
    method Reload() -> (changed: []string)
    """
  ]

  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    /// The keys that have another value now: `log.level`, `replicas.nas`.
    public var changed: [String]
    public init(changed: [String]) { self.changed = changed }
  }
}
