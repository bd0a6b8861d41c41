import CairnStore
import Foundation
import GRDB
import GRDBSQLite
import Testing

@testable import CairnSQLite

/// How connections wait for a lock that another one has.
struct LockWaitTests {
  /// All pauses of a wait that is in vain, in microseconds.
  private func pauses(_ wait: LockWait) -> [Int64] {
    Array(sequence(first: Int32(0)) { $0 + 1 }.lazy.map(wait.pause(before:)).prefix { $0 != nil })
      .compactMap(\.self)
  }

  @Test(arguments: [1, 7, 10, 99, 100, 101, 1000, 5000, 240_000] as [Int32])
  func theWaitIsAsLongAsItsLimit(_ limit: Int32) {
    #expect(pauses(LockWait(limit: limit)).reduce(0, +) == Int64(limit) * 1000)
  }

  @Test func itLooksOftenAtFirstAndSeldomLater() {
    let pauses = pauses(LockWait(limit: 60_000))
    #expect(pauses.first == 250)
    #expect(pauses.dropLast() == pauses.dropLast().sorted()[...])
    #expect(pauses.count < 1500)
  }

  @Test func withoutALimitNothingWaits() {
    #expect(LockWait(limit: 0).pause(before: 0) == nil)
    #expect(LockWait(limit: -3).limit == 0)
    #expect(LockWait(seconds: .nan).limit == 0)
    #expect(LockWait(seconds: .infinity).limit == .max)
    #expect(LockWait(seconds: 0.25).limit == 250)
  }

  @Test func theOptionsSayHowLongByPragmaOrTimeout() {
    func wait(_ options: [String: any Sendable]) -> Int32 {
      ConnectionSettings(path: "", options: StoreOptions(options), isReadOnly: true).lockWait.limit
    }
    #expect(wait([:]) == 240_000)
    #expect(wait([StoreOptionKey.timeout: 0.5]) == 500)
    #expect(
      wait([StoreOptionKey.timeout: 0.5, StoreOptionKey.sqlitePragmas: ["Busy_Timeout": "70"]])
        == 70)
  }

  @Test func aLockThatIsKeptFailsTheWaitAndOneThatIsLetGoEndsIt() throws {
    let fixture = try StoreFixture()
    let path = fixture.folder.appendingPathComponent("other.sqlite").path
    var settings = Configuration()
    settings.allowsUnsafeTransactions = true
    let holder = try DatabaseQueue(path: path, configuration: settings)
    let waiter = try DatabaseQueue(path: path)
    try holder.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE t(a); BEGIN IMMEDIATE") }
    func write(waiting wait: LockWait) throws {
      try waiter.writeWithoutTransaction {
        wait.install(on: $0.sqliteConnection)
        try $0.execute(sql: "INSERT INTO t VALUES (1)")
      }
    }
    for limit in [0, 20] as [Int32] {
      let error = #expect(throws: DatabaseError.self) { try write(waiting: LockWait(limit: limit)) }
      #expect(error?.resultCode == .SQLITE_BUSY)
    }
    // A queue of its own: tests that block have all threads of the global one for longer than the wait.
    DispatchQueue(label: "lock.holder").asyncAfter(deadline: .now() + .milliseconds(20)) {
      try? holder.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    }
    try write(waiting: LockWait(limit: 60_000))
  }
}
