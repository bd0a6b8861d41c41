import GRDB
import Synchronization
import Testing

@testable import CairnSQLite

// A long statement of a migration tells that it is getting on.
struct MigrationPulseTests {
  @Test func oneLongStatementReportsManyTimesAndKeepsItsFraction() throws {
    let reports = Mutex<[Double]>([])
    let pulse = MigrationPulse(interval: .zero) { fraction in
      reports.withLock { $0.append(fraction) }
    }
    try DatabaseQueue().write { database in
      let handle = try #require(database.sqliteConnection)
      pulse.advance(to: 0.2)
      try pulse.beat(on: handle) {
        try database.execute(
          sql: """
            CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
            LIMIT 1000000) SELECT i FROM n
            """)
      }
      let during = reports.withLock { $0 }
      #expect(during.count > 3)
      #expect(during.allSatisfy { $0 == 0.2 })
      try database.execute(sql: "CREATE TABLE u AS SELECT * FROM t")
      #expect(reports.withLock { $0.count } == during.count, "the pulse beats after its work")
    }
  }
}
