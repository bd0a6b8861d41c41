// A hub whose server dies, and whose standby goes on without the last commits.

import CairnContext
import CairnPostgreSQL
import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnSync

/// Specification: sync.md 2: a store that lacks what others were served from it is an incarnation of its own.
@Suite(.needsServer) struct FailOverTests {
  typealias Daemon = SyncEngineTests.Daemon

  private func settle(_ daemons: [Daemon]) async throws {
    for daemon in daemons + daemons { try await daemon.engine.wait(timeout: .patience) }
  }

  /// libpq's settings for both servers, of which one takes writes.
  private func configuration(_ server: PostgreSQLServer) throws -> ReplicaConfiguration {
    let connection =
      "host=\(server.folder),\(server.folder) port=\(server.port),\(server.standbyPort) "
      + "dbname=postgres user=owner target_session_attrs=read-write"
    return ReplicaConfiguration(
      name: "hub", type: PostgreSQLStore.typeName, url: try PostgreSQLURL.make(connection))
  }

  @Test(.timeLimit(.minutes(10)))
  func aStandbyThatLacksTheLastCommitsGetsThemBackAndNothingIsLost() async throws {
    let server = try PostgreSQLServer()
    let hub = try Hub(server)
    let daemons = try ["first", "second"].map { try hub.daemon($0) }
    for daemon in daemons { try daemon.engine.addReplica(configuration(server)) }
    try daemons[0].insert((0..<20).map { "k\($0)" })
    try await settle(daemons)
    try await offPool { try server.makeStandby() }
    try daemons[1].insert(["streamed"])
    try await settle(daemons)
    #expect(try await eventually { try server.isStandbyLevel() })
    try await offPool { try server.cutStandby() }

    // Committed, answered, and in both machines before the server dies.
    try daemons[0].site.write { context in
      try daemons[0].set("k0", "value", "late", in: context)
      try daemons[0].site.find("Item", "k1", in: context).map(context.delete)
      _ = try daemons[0].site.insert("Item", ["key": "late", "value": "late"], in: context)
    }
    try await settle(daemons)
    #expect(try daemons[1].item("k0", "value") == "late")
    let events = daemons[0].engine.events()
    let listening = Task { () -> Int in
      var count = 0
      for await event in events {
        if case .restored(replica: "hub", _) = event { count += 1 }
      }
      return count
    }
    try await offPool { try server.failOver() }
    // Written before a daemon has looked at the other server.
    try daemons[1].insert(["after"])
    try await settle(daemons)
    let picture = try daemons[0].site.picture()
    #expect(try daemons[1].site.picture() == picture)
    #expect(try daemons[0].picture(of: "hub") == picture)
    for daemon in daemons {
      #expect(try daemon.item("k0", "value") == "late")
      #expect(try daemon.item("k1", "value") == nil)
      #expect(try daemon.item("late", "value") == "late")
      #expect(try daemon.item("after", "value") == "after")
      #expect(try await daemon.engine.verify(name: "hub", level: .full).isEqual)
    }
    for daemon in daemons { try await daemon.close() }
    #expect(await listening.value <= 1)
  }

  /// What was written at the hub alone and lost with its server stays in the machines that had it.
  @Test(.timeLimit(.minutes(10)))
  func aDatabaseThatIsRestoredFromAnOldDumpIsFilledAgain() async throws {
    let hub = try Hub()
    let daemons = try hub.daemons("first", "second")
    try daemons[0].insert(["early"])
    try await settle(daemons)
    let backup = hub.server.newName("backup")
    for daemon in daemons { try await daemon.engine.rest() }
    let dump = try hub.server.dump(schema: hub.schema)
    for daemon in daemons { try daemon.engine.resume() }
    try daemons[0].insert(["late"])
    try daemons[1].site.write { try daemons[1].set("early", "value", "changed", in: $0) }
    try await settle(daemons)
    for daemon in daemons { try await daemon.engine.rest() }
    try hub.sql("ALTER SCHEMA \"\(hub.schema)\" RENAME TO \"\(backup)\"")
    try hub.server.restore(dump)
    for daemon in daemons { try daemon.engine.resume() }
    try await settle(daemons)
    let picture = try daemons[0].site.picture()
    #expect(try daemons[1].site.picture() == picture)
    #expect(try daemons[0].picture(of: "hub") == picture)
    #expect(try daemons[1].item("late", "value") == "late")
    #expect(try daemons[0].item("early", "value") == "changed")
    for daemon in daemons { try await daemon.close() }
  }

  /// Logical replication, by which databases move to a newer version of the server, copies no sequences.
  @Test(.timeLimit(.minutes(10)))
  func aHubThatWasCopiedWithoutItsSequencesLosesNothing() async throws {
    let hub = try Hub()
    let daemons = try ["first", "second"].map { try hub.daemon($0) }
    var configuration = hub.configuration()
    configuration.options[StoreOptionKey.postgreSQLCapture] = .flag(true)
    for daemon in daemons { try daemon.engine.addReplica(configuration) }
    try daemons[0].insert((0..<20).map { "k\($0)" })
    try await settle(daemons)
    for name in ["sql", "later"] {
      try hub.sql("UPDATE @item SET value = '\(name)' WHERE key = 'k0'")
      try await settle(daemons)
    }
    for daemon in daemons { try await daemon.engine.rest() }
    // None of the numbers is there to be met.
    try hub.sql("UPDATE @cairn_store SET purged = (SELECT max(number) FROM @cairn_transaction)")
    try hub.sql("DELETE FROM @cairn_change; DELETE FROM @cairn_transaction")
    for table in ["item_cairn_id_seq", "cairn_transaction_number", "cairn_transaction_key"] {
      try hub.sql("ALTER SEQUENCE @\(table) RESTART")
    }
    for daemon in daemons { try daemon.engine.resume() }
    try await settle(daemons)
    try hub.sql("UPDATE @item SET value = 'copied' WHERE key = 'k1'")
    try daemons[1].insert(["after", "further"])
    try await settle(daemons)
    let picture = try daemons[0].site.picture()
    #expect(try daemons[1].site.picture() == picture)
    #expect(try daemons[0].picture(of: "hub") == picture)
    for daemon in daemons {
      #expect(try daemon.item("k1", "value") == "copied")
      #expect(try daemon.item("after", "value") == "after")
      try await daemon.close()
    }
  }

  /// A restore makes the tables one by one.
  @Test func aHubThatIsJustBeingRestoredIsWaitedFor() async throws {
    let hub = try Hub()
    let daemons = try hub.daemons("first")
    try daemons[0].insert(["early"])
    try await settle(daemons)
    try await daemons[0].engine.rest()
    try hub.sql("ALTER TABLE @cairn_store RENAME TO not_yet")
    try daemons[0].engine.resume()
    try daemons[0].insert(["late"])
    _ = await eventually {
      let link = try? daemons[0].engine.status().replicas.first
      if case .failed? = link?.phase { return true }
      return (link?.counters.failedPasses ?? 0) >= 4
    }
    let link = try #require(try daemons[0].engine.status().replicas.first)
    #expect(link.counters.failedPasses >= 4, "\(link.phase)")
    try hub.sql("ALTER TABLE @not_yet RENAME TO cairn_store")
    try await settle(daemons)
    #expect(try hub.sql("SELECT count(*) FROM @item") == "2")
    try await daemons[0].close()
  }

  @Test func anotherStoreInThePlaceOfTheHubIsNotWrittenTo() async throws {
    let hub = try Hub()
    let other = try Hub(hub.server)
    let daemons = try hub.daemons("first")
    let strangers = try other.daemons("stranger")
    try daemons[0].insert(["own"])
    try strangers[0].insert(["foreign"])
    try await settle(daemons)
    try await settle(strangers)
    try await strangers[0].close()
    try await daemons[0].engine.rest()
    try hub.sql("ALTER SCHEMA \"\(hub.schema)\" RENAME TO \"\(hub.schema)_aside\"")
    try hub.sql("ALTER SCHEMA \"\(other.schema)\" RENAME TO \"\(hub.schema)\"")
    try daemons[0].engine.resume()
    try daemons[0].insert(["late"])
    await #expect {
      try await daemons[0].engine.wait(timeout: .patience)
    } throws: { ($0 as? SyncError)?.code == .anotherStore }
    #expect(try hub.sql("SELECT key FROM @item") == "foreign")
    #expect(try daemons[0].item("foreign", "value") == nil)
    try await daemons[0].close()
  }
}
