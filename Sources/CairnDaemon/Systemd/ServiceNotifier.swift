// Tells systemd how the service is doing, through libsystemd.
import CSystemd
import CairnPlatform

/// Sends messages to the service manager; does nothing where there is none.
public struct ServiceNotifier: Sendable {
  private let send: @Sendable (NotifyMessage) -> Void

  /// Sends through `$NOTIFY_SOCKET`, if it is set.
  public static let system = ServiceNotifier { message in
    _ = sd_notify(0, message.text)
  }

  /// Sends to a closure, for tests.
  init(send: @escaping @Sendable (NotifyMessage) -> Void) { self.send = send }

  func callAsFunction(_ message: NotifyMessage) { send(message) }
}
