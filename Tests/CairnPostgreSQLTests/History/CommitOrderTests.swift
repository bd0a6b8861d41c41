// A reader that goes on from the last number it saw misses no commit, in whatever order transactions begin and end.

import CairnModel
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import Synchronization
import TestServers
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

  /// Ends the work of other tasks.
  final class Switch: Sendable {
    private let state = Mutex(false)
    var isOn: Bool { state.withLock { $0 } }
    func turnOn() { state.withLock { $0 = true } }
  }

  /// What a server has acknowledged.
  final class Keys: Sendable {
    private let state = Mutex<Set<Int64>>([])
    var all: Set<Int64> { state.withLock { $0 } }
    func add(_ key: Int64) { state.withLock { _ = $0.insert(key) } }
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
    let statement = TransactionLock.history.statement(of: try SchemaName(words.schema))
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

  @Test func aReaderBesideManyWritersMissesNothing() async throws {
    let words = try StoreWords()
    let seed = UInt64.random(in: 0..<1 << 32)
    let stores = try (0..<3).map { _ in try words.openRecording(capturing: true) }
    let reader = Reader(try words.open())
    let isDone = Switch()
    let rounds = 40
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores {
        group.addTask {
          for number in 0..<rounds {
            await Task.yield()
            try words.save(in: store) {
              $0.insertions = try (0...(number % 3)).map { _ in
                .init(snapshot: try words.row("Shelf", in: store))
              }
            }
          }
        }
      }
      for writer in 0..<3 {
        group.addTask {
          var numbers = SeededNumbers(seed: seed + UInt64(writer))
          let connection = try words.foreign()
          for _ in 0..<rounds {
            try words.sql("BEGIN", on: connection)
            try words.sql("INSERT INTO @shelf (place) VALUES ('sql')", on: connection)
            let pause = Double(numbers.next() % 8) / 1000
            try words.sql("SELECT pg_sleep(\(pause))", on: connection)
            try words.sql(numbers.next() % 4 == 0 ? "ROLLBACK" : "COMMIT", on: connection)
            await Task.yield()
          }
        }
      }
      group.addTask {
        while !isDone.isOn {
          try reader.read(limit: 5)
          await Task.yield()
        }
      }
      for _ in 0..<6 { try await group.next() }
      isDone.turnOn()
      try await group.waitForAll()
    }
    while try reader.read() > 0 {}
    let numbers = reader.kept.map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "seed \(seed)")
    let seen = reader.kept.flatMap(\.changes).compactMap(\.objectID.rowKey).sorted()
    let rows = try words.sql(
      "SELECT cairn_id FROM @shelf ORDER BY cairn_id", on: try words.foreign())
    #expect(seen == (0..<rows.count).compactMap { rows.integer($0, 0) }, "seed \(seed)")
    #expect(seen.count > 3 * rounds * 2, "seed \(seed)")
  }

  /// The server of the tests acknowledges commits before they are written, unless a transaction says otherwise.
  @Test func aNumberThatWasSeenLastsWhenTheServerIsKilled() async throws {
    let server = try PostgreSQLServer()
    let words = try StoreWords(server)
    let store = try words.openRecording(capturing: true)
    let reader = Reader(try words.open())
    let acknowledged = Keys()
    for _ in 0..<3 {
      let isDown = Switch()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          while !isDown.isOn {
            await Task.yield()
            guard let row = try? words.insert("Shelf", in: store), let key = row.rowKey else {
              continue
            }
            acknowledged.add(key)
          }
        }
        group.addTask {
          while !isDown.isOn {
            await Task.yield()
            guard let connection = try? words.foreign() else { continue }
            _ = try? words.sql("INSERT INTO @shelf (place) VALUES ('sql')", on: connection)
          }
        }
        group.addTask {
          while !isDown.isOn {
            _ = try? reader.read()
            await Task.yield()
          }
        }
        let start = acknowledged.all.count
        #expect(await eventually { acknowledged.all.count > start + 20 })
        try server.killAndStart()
        isDown.turnOn()
        try await group.waitForAll()
      }
    }
    // Those who wait for a server that is back may take a session that has ended.
    while try reader.read() > 0 {}
    let numbers = reader.kept.map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    let seen = Set(reader.kept.flatMap(\.changes).compactMap(\.objectID.rowKey))
    let rows = try words.sql("SELECT cairn_id FROM @shelf", on: try words.foreign())
    #expect(seen == Set((0..<rows.count).compactMap { rows.integer($0, 0) }))
    #expect(seen.isSuperset(of: acknowledged.all))
  }
}
