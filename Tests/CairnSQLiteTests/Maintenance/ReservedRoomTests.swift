import CairnStore
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

/// The room that a commit reserves lies behind what others have committed: they may be moving that out of the log,
/// and a byte that is written there would be lost in theirs.
struct ReservedRoomTests {
  private func facts(_ file: URL) throws -> (size: Int64, allocated: Int64) {
    var facts = stat()
    guard stat(file.path, &facts) == 0 else { throw CocoaError(.fileReadUnknown) }
    return (Int64(facts.st_size), Int64(facts.st_blocks) * 512)
  }

  /// A program that has written megabytes into the log of a store and moves nothing.
  private func writeIntoLog(of file: URL) throws -> DatabaseQueue {
    let other = try DatabaseQueue(path: file.path)
    try other.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
      try database.execute(sql: "CREATE TABLE OTHER (BYTES BLOB)")
      try database.execute(sql: "INSERT INTO OTHER VALUES (randomblob(3000000))")
    }
    return other
  }

  @Test func noByteOfWhatOthersHaveCommittedIsWritten() throws {
    let fixture = try StoreFixture()
    // A table of another program is found at the end.
    fixture.isDamagedOnPurpose = true
    _ = try fixture.insert([try fixture.row("Company", ["name": .string("a")])])
    let file = try #require(fixture.store.url)
    let other = try writeIntoLog(of: file)
    #expect(try facts(file).size < 1_000_000)
    _ = try fixture.insert([try fixture.row("Company", ["name": .string("b")])])
    let (size, allocated) = try facts(file)
    #expect(size > 3_000_000, "there is room for all of the log")
    #expect(allocated < 1_000_000, "what others have committed is still a hole")
    try other.close()
  }

  @Test func whatIsReservedIsBehindTheEndOfTheFile() throws {
    let fixture = try StoreFixture()
    let file = try #require(fixture.store.url)
    // What made the tables is in the log until it is moved.
    try DatabaseQueue(path: file.path).writeWithoutTransaction {
      _ = try $0.checkpoint(.passive)
    }
    _ = try fixture.insert([try fixture.row("Company", ["name": .string("a")])])
    let (size, allocated) = try facts(file)
    #expect(size % 65_536 == 0)
    #expect(allocated >= size, "a full disk cannot take it away")
    let pages = try DatabaseQueue(path: file.path).read {
      try Int64.fetchOne($0, sql: "PRAGMA page_count") ?? 0
    }
    #expect(size >= pages * 4096 + 65_536)
  }
}
