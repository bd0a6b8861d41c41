// Serves the pages of a store.

import CairnRecords

/// A read-only browser of one store, served to this machine.
///
/// ``run(ready:)`` returns when the task is cancelled or the process is asked to end by SIGINT or SIGTERM.
public struct StoreBrowser: Sendable {
  private let pages: StorePages
  private let server: PageServer

  /// - Throws: `PageError` for a store that cannot be read.
  public init(_ store: ReadOnlyStore, address: ListenAddress = .anyPort) throws {
    pages = try StorePages(BrowsedStore(store), templates: PageTemplates())
    server = PageServer(address: address)
  }

  /// Serves until the process is asked to end.
  ///
  /// - Parameter ready: Called once with the address to open; on the loopback interface it holds a key.
  /// - Throws: what listening threw, such as a port that another program has.
  public func run(ready: @escaping @Sendable (String) -> Void) async throws {
    try await server.run(
      rendering: pages.rendering,
      routes: { StoreRoutes { [pages] _ in pages }.add(to: $0) }, ready: ready)
  }
}
