// Serves the pages of a store.

import CairnRecords
import Foundation
import Hummingbird
import HummingbirdCore
import Logging

/// A read-only browser of one store, served to this machine.
///
/// ``run(ready:)`` returns when the task is cancelled or the process is asked to end by SIGINT or SIGTERM.
public struct StoreBrowser: Sendable {
  private let routes: PageRoutes
  private let address: ListenAddress

  /// - Throws: `PageError` for a store that cannot be read.
  public init(_ store: ReadOnlyStore, address: ListenAddress = .anyPort) throws {
    let browsed = BrowsedStore(store)
    let inspection = try browsed.inspection(checks: false)
    routes = PageRoutes(
      browsed: browsed,
      rendering: try PageRendering(
        store: browsed.name, hasHistory: inspection?.history != nil,
        canBeChecked: inspection != nil))
    self.address = address
  }

  /// Serves until the process is asked to end.
  ///
  /// - Parameter ready: Called once with the address to open; on the loopback interface it holds a key.
  /// - Throws: what listening threw, such as a port that another program has.
  public func run(ready: @escaping @Sendable (String) -> Void) async throws {
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
    let application = Application(
      router: routes.router(key: key),
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
