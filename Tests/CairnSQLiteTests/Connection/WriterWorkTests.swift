import CairnStore
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

/// What a store tells of its writer to the watchdog.
struct WriterWorkTests {
  /// How many signs some work of a store gives.
  private func signs(of store: SQLiteStore, during work: () throws -> Void) rethrows -> Int {
    let before = store.writerWork.signs
    try work()
    return store.writerWork.signs - before
  }

  @Test func aWriteThatWaitsForAnotherProgramsLockGetsOnUntilItsWaitIsOver() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.timeout: 0.2])
    let store = fixture.store
    var settings = Configuration()
    settings.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: fixture.url.path, configuration: settings)
    try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    let waited = signs(of: store) {
      #expect(throws: (any Error).self) { try store.holdingWrites {} }
    }
    // Forty looks in the first hundredth of a second, one a millisecond afterwards.
    #expect(waited > 40)
    #expect(!store.writerWork.isPending)
    try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(try signs(of: store) { try store.holdingWrites {} } == 2)
  }

  @Test func aLongStatementGetsOnAndWhatDoesNothingDoesNot() throws {
    let fixture = try StoreFixture()
    let store = fixture.store
    func write(_ work: (RowLookup) throws -> Void) throws -> Int {
      try signs(of: store) {
        _ = try store.write(doing: "be tried") { lookup -> Bool? in
          #expect(store.writerWork.isPending)
          try work(lookup)
          return nil
        }
      }
    }
    let counting = try write { lookup in
      _ = try lookup.connection.integer(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 300000) "
          + "SELECT count(*) FROM n")
    }
    #expect(counting > 10)
    // Its turn and its end.
    #expect(try write { _ in } == 2)
  }

  @Test func joiningTheLineIsNoSignItsTurnAndItsEndAre() {
    let work = QueueWork()
    #expect(!work.isPending)
    work.begin()
    work.begin()
    #expect(work.isPending)
    #expect(work.signs == 0)
    work.run {}
    #expect(work.signs == 1)
    work.end()
    #expect(work.signs == 2)
    #expect(work.isPending)
    work.end()
    #expect(!work.isPending)
  }

  @Test func signsGoToEverythingThatTheThreadWorksForAndToNothingElse() {
    let (outer, inner, other) = (QueueWork(), QueueWork(), QueueWork())
    outer.run { inner.run { QueueWork.gotOn() } }
    #expect(outer.signs == 2)
    #expect(inner.signs == 2)
    QueueWork.gotOn()
    #expect(outer.signs == 2)
    #expect(other.signs == 0)
  }
}
