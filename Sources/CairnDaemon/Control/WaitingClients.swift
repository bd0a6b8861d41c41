// Answers clients at a passed socket when the daemon cannot start.
import CairnControl
import CairnPlatform

/// Turns clients away with a reason.
///
/// Without it, systemd would start the daemon again at once for the same connection, until it gives
/// up on service and socket.
enum WaitingClients {
  /// How long a daemon that cannot start stays to answer.
  ///
  /// It bounds how often systemd starts the service for clients that come one after another: the
  /// socket unit fails for good beyond its `TriggerLimitBurst`, 20 in 10 seconds.
  static let stay = Duration.seconds(2)

  /// Takes the connections that wait and those that come during `stay`, answers `error` to the call
  /// of each and closes it.
  ///
  /// Returns at once without sockets.
  static func refuse(
    _ sockets: [OwnedDescriptor], with error: ControlError, for stay: Duration = stay
  ) {
    let listeners = sockets.compactMap { try? UnixListener(adopting: $0) }
    if listeners.isEmpty { return }
    let frame = MessageFraming.frame(ControlReply(failure: error).message)
    let end = ContinuousClock.now + stay
    while ContinuousClock.now < end {
      for listener in listeners {
        do {
          guard let stream = try listener.accept(timeout: .milliseconds(100)) else { continue }
          answer(stream, frame)
        } catch {
          // Nothing can be answered at a socket that fails; the daemon ends with its own error.
          return
        }
      }
    }
  }

  private static func answer(_ stream: UnixStream, _ frame: [UInt8]) {
    // The call is read first where there is one: answers belong to calls.
    _ = try? stream.read(timeout: .milliseconds(100))
    try? stream.write(frame, timeout: .milliseconds(100))
    stream.close()
  }
}
