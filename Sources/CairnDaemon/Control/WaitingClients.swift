// Answers clients at a passed socket when the daemon cannot start.
import CairnControl
import CairnPlatform
import Foundation

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
  ///
  /// - Parameter scrapers: Sockets for figures and health, where the answer is that there are none; at an address,
  ///   which a unit may name as well, a scraper waits until it gives up, or the daemon starts.
  static func refuse(
    _ sockets: [OwnedDescriptor], with error: ControlError, scrapers: [OwnedDescriptor] = [],
    for stay: Duration = stay
  ) {
    let frame = MessageFraming.frame(ControlReply(failure: error).message)
    let unavailable = Array(
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
    func listeners(_ sockets: [OwnedDescriptor], _ frame: [UInt8]) -> [(UnixListener, [UInt8])] {
      sockets.compactMap { try? UnixListener(adopting: $0) }.map { ($0, frame) }
    }
    let listeners = listeners(sockets, frame) + listeners(scrapers, unavailable)
    if listeners.isEmpty, scrapers.isEmpty { return }
    let end = ContinuousClock.now + stay
    while ContinuousClock.now < end {
      if listeners.isEmpty { Thread.sleep(forTimeInterval: 0.1) }
      for (listener, frame) in listeners {
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
