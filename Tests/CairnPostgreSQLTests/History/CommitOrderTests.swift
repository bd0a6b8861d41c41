// A reader that goes on from the last number it saw misses no commit, in whatever order transactions begin and end.

import CairnModel
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import Synchronization
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct CommitOrderTests {
  /// Goes on from number to number, as a program with a token does.
  final class Reader: Sendable {
    let store: PostgreSQLStore
    private let state = Mutex<(last: Int64, kept: [HistoryTransactionRecord])>((0, []))

    init(_ store: PostgreSQLStore) { self.store = store }

    var kept: [HistoryTransactionRecord] { state.withLock { $0.kept } }

    /// - Returns: How many commits were new.
    @discardableResult
    func read(limit: Int = 0) throws -> Int {
      let last = state.withLock { $0.last }
      let records = try store.readHistory(HistoryReadRequest(after: last, limit: limit))
      state.withLock { state in
        state.kept += records
        state.last = records.last?.number ?? state.last
      }
      return records.count
    }
  }

  @Test func aTransactionThatStaysOpenLongIsNotPassedOver() throws {
    let words = try StoreWords()
    let store = try words.openRecording(capturing: true)
    let reader = Reader(try words.open())
    let (slow, other) = (try words.foreign(), try words.foreign())
    try words.sql("BEGIN ISOLATION LEVEL SERIALIZABLE", on: slow)
    try words.sql("INSERT INTO @shelf (place) VALUES ('slow')", on: slow)
    for place in ["a", "b"] {
      try words.insert("Shelf", ["place": .string(place)], in: store)
      try words.sql("INSERT INTO @shelf (place) VALUES ('quick')", on: other)
      // The one that is open keeps them from nothing.
      #expect(try reader.read() == 2)
    }
    try words.sql("INSERT INTO @shelf (place) VALUES ('slow, too')", on: slow)
    #expect(try reader.read() == 0)
    try words.sql("COMMIT", on: slow)
    #expect(try reader.read() == 1)
    #expect(reader.kept.last?.changes.count == 2)
    #expect(reader.kept.map(\.number) == [1, 2, 3, 4, 5])
  }

  @Test func aCommitThatIsUnderWayKeepsOthersWithNumbersWaitingAndNoReader() async throws {
    let words = try StoreWords()
    let store = try words.openRecording()
    try words.insert("Shelf", in: store)
    let reader = Reader(try words.open())
    let slow = try words.foreign()
    try words.sql("BEGIN", on: slow)
    let statement = AdvisoryLock.history.statement(of: try SchemaName(words.schema))
    try slow.run(statement.text, statement.parameters)
    let process = slow.backendProcess
    async let waiting: Void = { _ = try words.insert("Shelf", in: store) }()
    #expect(
      await eventually {
        let found = try? words.sql(
          "SELECT count(*) FROM pg_stat_activity WHERE \(process) = ANY (pg_blocking_pids(pid))",
          on: try words.foreign())
        return found?.integer(0, 0) ?? 0 > 0
      })
    #expect(try reader.read() == 1)
    try words.sql("ROLLBACK", on: slow)
    try await waiting
    #expect(try reader.read() == 1)
  }
}
