// What every store must do, asked of PostgreSQL stores.

import CairnModel
import CairnStore
import CairnTesting
import Foundation
import TestServers
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
