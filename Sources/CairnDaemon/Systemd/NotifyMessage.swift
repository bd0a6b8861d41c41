// The words systemd understands, kept safe from what names may contain.
import CairnPlatform

/// One message to the service manager: assignments, one a line.
struct NotifyMessage: Sendable, Hashable {
  private(set) var lines: [String] = []

  static let ready = NotifyMessage("READY=1")
  static let stopping = NotifyMessage("STOPPING=1")
  static let watchdog = NotifyMessage("WATCHDOG=1")

  init(_ line: String) { lines = [line] }

  /// A line for people in `systemctl status`.
  static func status(_ text: String) -> NotifyMessage {
    NotifyMessage("STATUS=\(sanitized(text))")
  }

  /// The start of a reload, which systemd wants with the moment it began, in one message.
  static func reloading(monotonicMicroseconds: UInt64) -> NotifyMessage {
    var message = NotifyMessage("RELOADING=1")
    message.lines.append("MONOTONIC_USEC=\(monotonicMicroseconds)")
    return message
  }

  /// Asks for more time to start, stop or reload.
  static func extendTimeout(_ duration: Duration) -> NotifyMessage {
    NotifyMessage("EXTEND_TIMEOUT_USEC=\(duration.wholeNanoseconds / 1000)")
  }

  /// Goes with a descriptor; a closed peer is no reason to drop it.
  static func keepDescriptor(name: String) -> NotifyMessage {
    NotifyMessage("FDSTORE=1").and(NotifyMessage("FDNAME=\(name)")).and(NotifyMessage("FDPOLL=0"))
  }

  static func forgetDescriptor(name: String) -> NotifyMessage {
    NotifyMessage("FDSTOREREMOVE=1").and(NotifyMessage("FDNAME=\(name)"))
  }

  /// The reason for a failing exit.
  ///
  /// - Parameter name: As callers at the control socket get it, without its interface `io.cairn.Daemon`.
  static func failure(errno: Int32, name: String) -> NotifyMessage {
    NotifyMessage("ERRNO=\(errno)").and(NotifyMessage("BUSERROR=io.cairn.Daemon.\(name)"))
  }

  /// Both messages in one.
  func and(_ other: NotifyMessage) -> NotifyMessage {
    var message = self
    message.lines += other.lines
    return message
  }

  var text: String { lines.joined(separator: "\n") }

  /// One line without control characters: a newline in a name must not become an assignment.
  static func sanitized(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .format: " "
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(scalars).prefix(512))
  }
}
