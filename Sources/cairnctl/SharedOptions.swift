// Options that every command takes.
import ArgumentParser
import CairnControl
import Foundation

struct SharedOptions: ParsableArguments {
  /// Where the daemon is when nothing says otherwise.
  static let usualSocket = "/run/cairnd/control"

  @Option(
    name: .long,
    help: "The daemon's control socket (default: $CAIRN_SOCKET, else /run/cairnd/control).",
    completion: .file())
  var socket: String?

  @Flag(name: .long, help: "Write JSON for machines.")
  var json = false

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp("Seconds to wait for an answer.", valueName: "seconds"))
  var timeout: Double?

  func validate() throws {
    if socket == "" { throw ValidationError("--socket names the daemon's socket.") }
    if let timeout, !(timeout >= 0 && timeout <= 86400) {
      throw ValidationError("--timeout is a number of seconds from 0 to 86400.")
    }
  }

  /// A connection to the daemon.
  ///
  /// - Parameter work: What a person reads at a terminal, with the seconds so far, when an answer takes long.
  func connect(for work: String? = nil) throws -> ControlClient {
    let environment = ProcessInfo.processInfo.environment["CAIRN_SOCKET"]
    let path = socket ?? environment.flatMap { $0.isEmpty ? nil : $0 } ?? Self.usualSocket
    let client = try ControlClient(socket: path, timeout: .seconds(timeout ?? 60))
    if let work, !json, ProgressBar.canBeSeen {
      let bar = ProgressBar()
      client.whileWaiting = { waited in
        guard let waited else { return bar.clear() }
        bar.show(nil, "\(work), \(waited.components.seconds) s")
      }
    }
    return client
  }
}
