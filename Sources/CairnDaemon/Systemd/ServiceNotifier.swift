// Tells systemd how the service is doing, through libsystemd, and asks how often it wants to hear that.
import CSystemd
import CairnPlatform

/// Sends messages to the service manager; does nothing where there is none.
public struct ServiceNotifier: Sendable {
  private let send: @Sendable (NotifyMessage, Int32?) -> Void

  /// Sends through `$NOTIFY_SOCKET`, if it is set.
  public static let system = ServiceNotifier { message, descriptor in
    if var descriptor {
      _ = sd_pid_notify_with_fds(0, 0, message.text, &descriptor, 1)
    } else {
      _ = sd_notify(0, message.text)
    }
  }

  /// Sends to a closure, for tests; the second argument is a descriptor that goes along.
  init(send: @escaping @Sendable (NotifyMessage, Int32?) -> Void) { self.send = send }

  func callAsFunction(_ message: NotifyMessage) { send(message, nil) }

  /// Has the service manager keep a copy of a descriptor and pass it to the next process.
  func keep(_ descriptor: OwnedDescriptor, as name: String) {
    send(.keepDescriptor(name: name), descriptor.rawValue)
  }

  /// Has it close what it keeps under a name.
  func forget(_ name: String) { send(.forgetDescriptor(name: name), nil) }
}

/// The watchdog that the unit asks for.
enum WatchdogInterval {
  /// The time after which systemd ends a silent service; nil when it does not watch this process.
  static func requested() -> Duration? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
    return .microseconds(Int64(clamping: microseconds))
  }
}
