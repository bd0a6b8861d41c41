// Answers clients that wait at a passed socket when the daemon cannot start.
import CairnControl
import CairnPlatform

/// Turns waiting clients away with a reason.
///
/// Without it, systemd would start the daemon again at once for the same connection, until it gives
/// up on service and socket.
enum WaitingClients {
  /// Takes every waiting connection, answers `error` to its call and closes it.
  static func refuse(_ sockets: [OwnedDescriptor], with error: ControlError) {
    let frame = MessageFraming.frame(ControlReply(failure: error).message)
    for socket in sockets {
      guard let listener = try? UnixListener(adopting: socket) else { continue }
      var rounds = 0
      while rounds < 64, let stream = try? listener.accept(timeout: .zero) {
        rounds += 1
        // The call is read first where there is one: answers belong to calls.
        _ = try? stream.read(timeout: .milliseconds(100))
        try? stream.write(frame, timeout: .milliseconds(100))
        stream.close()
      }
    }
  }
}
