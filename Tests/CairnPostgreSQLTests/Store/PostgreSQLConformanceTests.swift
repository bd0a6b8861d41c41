// What every store must do, asked of PostgreSQL stores.

import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct PostgreSQLConformanceTests {
  @Test(arguments: PersistentStoreConformance.checkNames)
  func keepsThePromiseOfAStore(_ name: String) throws {
    let server = try PostgreSQLServer.shared
    let suite = PersistentStoreConformance(kind: PostgreSQLStoreKind()) {
      server.storeURL(server.newName("conformance"))
    }
    for failure in suite.run(only: [name]) { Issue.record("\(failure)") }
  }
}

extension PostgreSQLServer {
  /// The URL of a store in a schema.
  ///
  /// - Parameter options: Settings of its sessions, as the server's program takes them.
  func storeURL(_ schema: String, options: String = "") -> URL? {
    let settings = options.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let host = folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let name = schema.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return URL(
      string: "postgresql://owner@/postgres?host=\(host)&port=\(port)"
        + (options.isEmpty ? "" : "&options=\(settings)") + "#\(name)")
  }
}
