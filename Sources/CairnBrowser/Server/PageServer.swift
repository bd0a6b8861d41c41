// Listens on an address of this machine and serves pages.

import Foundation
import Hummingbird
import HummingbirdCore
import Logging

/// What both browsers share: the address, its key, and how long connections last.
struct PageServer: Sendable {
  let address: ListenAddress

  /// Serves until the task is cancelled or the process is asked to end by SIGINT or SIGTERM.
  ///
  /// - Parameters:
  ///   - rendering: The frame of pages that say why another is not shown.
  ///   - routes: Adds the pages.
  ///   - ready: Called once with the address to open; on the loopback interface it holds a key.
  /// - Throws: what listening threw, such as a port that another program has.
  func run(
    rendering: PageRendering, routes: (Router<BasicRequestContext>) -> Void,
    ready: @escaping @Sendable (String) -> Void
  ) async throws {
    var logger = Logger(label: "browse")
    logger.logLevel = .critical
    let key: String?
    let bind: BindAddress
    switch address {
    case .loopback(let host, let port):
      key = AccessGuard.newKey()
      bind = .hostname(host, port: port)
    case .socket(let path):
      key = nil
      bind = .unixDomainSocket(path: path)
    }
    let router = Router(context: BasicRequestContext.self)
    router.add(middleware: AccessGuard(key: key, rendering: rendering))
    router.add(middleware: ProblemPages(rendering: rendering))
    router.get("/style.css") { _, _ in
      PageRendering.response(PageRendering.styleSheet, type: "text/css; charset=utf-8")
    }
    routes(router)
    let application = Application(
      router: router,
      server: .http1(configuration: .init(idleTimeout: .seconds(60))),
      configuration: ApplicationConfiguration(
        address: bind, availableConnectionsDelegate: MaximumAvailableConnections(64)),
      onServerRunning: { channel in
        ready(Self.location(address, port: channel.localAddress?.port, key: key))
      },
      logger: logger)
    try await application.runService()
  }

  private static func location(_ address: ListenAddress, port: Int?, key: String?) -> String {
    switch address {
    case .loopback(let host, let wanted):
      let actual = ListenAddress.loopback(host: host, port: port ?? wanted)
      return "\(actual)\(key.map { "?key=\($0)" } ?? "")"
    case .socket: return "\(address)"
    }
  }
}
