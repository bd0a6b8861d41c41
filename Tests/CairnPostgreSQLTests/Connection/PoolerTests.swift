// Poolers between a store and its server.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct PoolerTests {
  let words: StoreWords

  init() throws { words = try StoreWords() }

  private func store(through folder: String) throws -> PostgreSQLStore {
    PostgreSQLStore(
      configuration: StoreConfiguration(
        model: try LibraryModel.make().model, configurationName: nil,
        url: words.server.storeURL(words.schema, through: folder), options: StoreOptions([:])
      ))
  }

  @Test func aPoolerByTheTransactionIsRefusedByName() throws {
    let pooler = try Pooler(.transaction, to: words.server)
    try expectRefusal(through: pooler.folder)
  }

  @Test func behindAPoolerByTheSessionAStoreWorks() throws {
    let pooler = try Pooler(.session, to: words.server)
    try expectService(through: pooler.folder)
  }

  @Test(.enabled(if: PgBouncer.program != nil, "no PgBouncer; `make test-tools` unpacks it"))
  func thatHoldsForPgBouncerItself() throws {
    let (transactions, sessions) = (
      try PgBouncer(.transaction, to: words.server), try PgBouncer(.session, to: words.server)
    )
    try expectRefusal(through: transactions.folder)
    try expectService(through: sessions.folder)
  }

  private func expectRefusal(through folder: String) throws {
    let store = try store(through: folder)
    let url = try #require(store.url)
    for attempt in [
      { try store.openStore() },
      { _ = try PostgreSQLStoreKind().metadata(at: url, options: StoreOptions([:])) },
    ] {
      let error = #expect(throws: CoreDataError.self) { try attempt() }
      #expect(error?.code == .persistentStoreOpen)
      #expect(
        error?.message.contains("set PgBouncer's pool_mode to session") == true, "\(error as Any)")
    }
    let schemas = try words.server.query(
      "SELECT count(*) FROM pg_namespace WHERE nspname = '\(words.schema)'")
    #expect(schemas == "0")
    // Other clients get the session as the server had made it.
    let settings = try words.server.settings(more: "host='\(folder)'")
    let client = try PostgreSQLConnection(settings, setsUpPooled: false)
    let rows = try client.run(
      "SELECT current_setting('search_path'), coalesce(current_setting('cairn.records', true), ''), "
        + "current_setting('statement_timeout')", isKept: false)
    #expect(client.isPooled)
    #expect((0..<3).map { rows.text(0, $0) } == ["\"$user\", public", "", "0"])
  }

  private func expectService(through folder: String) throws {
    let store = try store(through: folder)
    try store.openStore()
    let shelf = try words.insert("Shelf", ["place": .string("north")], in: store)
    let found = try store.snapshots(for: [shelf.objectID])[0]
    #expect(found?.version == 1)
    try store.close()
  }

  /// A pooler that nothing gives away.
  @Test func inASessionThatChangedHandsNoStatementIsThatOfAnother() throws {
    let pooler = try Pooler(.transaction, to: words.server)
    func client() throws -> PostgreSQLConnection {
      try words.server.connect(more: "host='\(pooler.folder)'")
    }
    let (one, other) = (try client(), try client())
    #expect(one.isPooled)
    try one.run("BEGIN", isKept: false)
    #expect(try one.run("SELECT 1::bigint").integer(0, 0) == 1)
    // In another session, which has a statement of its own by now.
    #expect(try other.run("SELECT 2::bigint").integer(0, 0) == 2)
    try one.run("COMMIT", isKept: false)
    // In the session of the first one.
    let failure = #expect(throws: PostgreSQLFailure.self) { try other.run("SELECT 2::bigint") }
    #expect(failure?.state == .unknownStatement)
    let error = failure?.error("read", "the store")
    #expect(error?.message.contains("pool_mode to session") == true)
  }
}
