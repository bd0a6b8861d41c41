// Serves the pages of the daemon.

import CairnControl

/// Pages about a running daemon and the stores that it keeps in step, served to this machine.
///
/// Each page asks the daemon over its control socket, with the role of the caller. A page of a store opens
/// its file read-only, and closes it afterwards.
public struct DaemonBrowser: Sendable {
  private let routes: DaemonRoutes
  private let server: PageServer

  /// - Parameters:
  ///   - refresh: Seconds after which browsers ask for the page again; 0 for never.
  ///   - connect: Makes a connection to the daemon, on any thread.
  /// - Throws: nothing that its callers can cause.
  public init(
    address: ListenAddress = .anyPort, refresh: Int,
    connect: @escaping @Sendable () throws -> ControlClient
  ) throws {
    routes = DaemonRoutes(
      source: DaemonSource(connect: connect), templates: try PageTemplates(), refresh: refresh)
    server = PageServer(address: address)
  }

  /// Serves until the process is asked to end.
  ///
  /// The daemon may come, go and come back meanwhile.
  ///
  /// - Parameter ready: Called once with the address to open; on the loopback interface it holds a key.
  /// - Throws: what listening threw, such as a port that another program has.
  public func run(ready: @escaping @Sendable (String) -> Void) async throws {
    let watch = DaemonWatch(routes.source)
    let sampling = Task { await watch.run() }
    defer { sampling.cancel() }
    try await server.run(
      rendering: routes.rendering, routes: { routes.add(to: $0, watch: watch) }, ready: ready)
  }
}
