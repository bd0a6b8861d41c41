// The suites of this target that are left out without a server, and what must not leave them out.

import Foundation
import TestServers
import Testing

@Suite struct ServerPresenceTests {
  /// `make test` says `required` where it has installed a server, and CI always.
  @Test func aServerIsThereWhereItMustBe() throws {
    guard ProcessInfo.processInfo.environment["CAIRN_POSTGRESQL"] == "required" else { return }
    #expect(PostgreSQLServer.isAvailable, "\(PostgreSQLServer.absence)")
  }

  @Test(.enabled(if: PostgreSQLServer.isAvailable, "\(PostgreSQLServer.absence)"))
  func theServerOfTheTestsStarts() throws {
    let rows = try PostgreSQLServer.shared.connect().run("SELECT 1::bigint")
    #expect(rows.integer(0, 0) == 1)
  }
}

/// Suites that need the server.
extension Trait where Self == ConditionTrait {
  static var needsServer: Self {
    .enabled(if: PostgreSQLServer.isAvailable, "\(PostgreSQLServer.absence)")
  }
}
