// Whether a table is there, by what a connection knows of the schema: also of what others have made since.
import CairnTesting
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

@Suite struct TableLookTests {
  private let fixture: StoreFixture
  private let other: DatabaseQueue

  init() throws {
    fixture = try StoreFixture()
    other = try DatabaseQueue(path: fixture.url.path)
  }

  private func change(_ sql: String) throws { try other.write { try $0.execute(sql: sql) } }

  /// What the connection for short reads, one of the pool and the one that writes say.
  private func answers(of name: String) throws -> Set<Bool> {
    var answers = Set([
      try fixture.store.readBriefly { try $0.connection.hasTable(name) },
      try fixture.store.readConsistently { try $0.connection.hasTable(name) },
    ])
    _ = try fixture.store.write(doing: "be asked") { lookup -> Bool? in
      answers.insert(try lookup.connection.hasTable(name))
      return nil
    }
    return answers
  }

  @Test func aTableThatAnotherConnectionMakesIsSeenAtOnceAndOneThatItDropsIsGone() throws {
    for _ in 1...2 {
      #expect(try answers(of: "SEEN") == [false])
      try change("CREATE TABLE SEEN (x)")
      #expect(try answers(of: "SEEN") == [true])
      try change("DROP TABLE SEEN")
    }
    #expect(try answers(of: "SEEN") == [false])
    #expect(try answers(of: "ZPROJECT") == [true])
  }

  @Test func aTransactionSeesTheTablesOfItsSnapshot() throws {
    try fixture.store.readConsistently { lookup in
      #expect(try !lookup.connection.hasTable("SEEN"))
      try change("CREATE TABLE SEEN (x)")
      #expect(try !lookup.connection.hasTable("SEEN"))
    }
    #expect(try answers(of: "SEEN") == [true])
  }

  @Test func viewsIndexesAndTriggersAreNoTables() throws {
    try change("CREATE VIEW SEEN AS SELECT 1; CREATE INDEX BYTITLE ON ZPROJECT (ZTITLE)")
    #expect(try answers(of: "SEEN") == [false])
    #expect(try answers(of: "BYTITLE") == [false])
  }
}
