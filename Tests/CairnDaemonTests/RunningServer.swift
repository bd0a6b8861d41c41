// A control server in this process, on a socket of its own.
import CairnControl
import CairnTesting
import Foundation
import Logging
import NIOCore
import ServiceLifecycle
import TestSupport
import Testing

@testable import CairnDaemon

final class RunningServer: Sendable {
  let folder: TemporaryFolder
  let server: ControlServer
  private let task: Task<Void, any Error>
  var socket: String { folder.file("control") }

  /// - Parameter handlers: What it serves; ``FakeHandlers`` when left out.
  init(
    handlers: [ControlHandler] = FakeHandlers().all,
    configure: (inout ControlServer.Settings) -> Void = { _ in }
  ) async throws {
    folder = try TemporaryFolder()
    var settings = ControlServer.Settings(path: folder.file("control"))
    configure(&settings)
    var quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    quiet.logLevel = .critical
    let dispatcher = ControlDispatcher(handlers: handlers, logger: quiet)
    let (listening, continuation) = AsyncStream.makeStream(of: Void.self)
    let server = ControlServer(settings: settings, dispatcher: dispatcher, logger: quiet) {
      continuation.finish()
    }
    self.server = server
    task = Task {
      defer { continuation.finish() }
      try await server.run()
    }
    for await _ in listening {}
  }

  deinit { task.cancel() }

  func client(timeout: Duration = .patience) throws -> ControlClient {
    try ControlClient(socket: socket, timeout: timeout)
  }

  /// Stops the server and waits until it has.
  func stop() async {
    task.cancel()
    _ = await task.result
  }
}
