import CairnStore
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

/// A store says whether its log is in its file, or others keep it from that.
struct SettledFileTests {
  private func size(_ path: String) -> Int64 {
    var facts = stat()
    return stat(path, &facts) == 0 ? Int64(facts.st_size) : -1
  }

  private func write(_ fixture: StoreFixture) throws {
    _ = try fixture.insert([try fixture.row("Company", ["name": .string("a")])])
  }

  /// A program of its own, whose transactions stay open as long as it wants.
  private func program(at path: String) throws -> DatabaseQueue {
    var options = Configuration()
    options.allowsUnsafeTransactions = true
    return try DatabaseQueue(path: path, configuration: options)
  }

  @Test func aFileThatNobodyReadsIsSettledAndItsLogEmpty() throws {
    let fixture = try StoreFixture()
    let path = try #require(fixture.store.url?.path)
    try write(fixture)
    #expect(size(path + "-wal") > 0)
    #expect(try fixture.store.settleFile())
    #expect(size(path + "-wal") == 0)
    #expect(try fixture.store.settleFile(), "again there is nothing to do")
  }

  @Test func whoReadsInTheLogKeepsItAndTheStoreSaysSoUntilItEnds() throws {
    let fixture = try StoreFixture()
    let path = try #require(fixture.store.url?.path)
    try write(fixture)
    let other = try program(at: path)
    func ask(_ sql: String) throws {
      try other.writeWithoutTransaction { try $0.execute(sql: sql) }
    }
    try ask("BEGIN")
    try ask("SELECT COUNT(*) FROM ZCOMPANY")
    // A reader of all that there is lets it be moved, but not the log begin anew.
    #expect(try !fixture.store.settleFile())
    // One of an earlier state keeps what came later from being moved, too.
    try write(fixture)
    #expect(try !fixture.store.settleFile())
    #expect(size(path + "-wal") > 0)
    try ask("COMMIT")
    #expect(try fixture.store.settleFile())
    #expect(size(path + "-wal") == 0)
    try other.close()
  }

  @Test func whoWritesIsNotWaitedForAndTheStoreSaysThatItWasHeldUp() throws {
    let fixture = try StoreFixture()
    let path = try #require(fixture.store.url?.path)
    try write(fixture)
    let other = try program(at: path)
    // Who writes keeps the log from beginning anew.
    try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    #expect(try !fixture.store.settleFile())
    try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(try fixture.store.settleFile())
    try other.close()
  }
}
