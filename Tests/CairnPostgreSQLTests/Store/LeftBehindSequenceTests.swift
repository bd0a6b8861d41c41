// Tables that were copied without their sequences, as logical replication copies them.

import CairnModel
import TestSupport
@_spi(Stores) import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct LeftBehindSequenceTests {
  let words: StoreWords
  let other: PostgreSQLConnection

  init() throws {
    words = try StoreWords()
    other = try words.foreign()
  }

  /// Sets sequences back to where they began.
  private func leaveBehind(_ sequences: String...) throws {
    for name in sequences {
      try words.sql("ALTER SEQUENCE @\(name) RESTART", on: other)
    }
  }

  private func keys(in store: PostgreSQLStore, count: Int) throws -> [Int64] {
    let shelf = try #require(store.managedObjectModel.entitiesByName["Shelf"])
    return try store.obtainPermanentIDs(for: Array(repeating: shelf, count: count))
      .compactMap(\.rowKey)
  }

  @Test func noKeyIsGivenThatARowHas() throws {
    let store = try words.open()
    let shelves = try (0..<3).map { _ in try words.insert("Shelf", in: store) }
    #expect(shelves.map(\.rowKey) == [1, 2, 3])
    try leaveBehind("shelf_cairn_id_seq")
    #expect(try keys(in: store, count: 2) == [4, 5])
    // SQL gives a row a key of its own.
    try words.sql("INSERT INTO @shelf (cairn_id) VALUES (7)", on: other)
    #expect(try keys(in: store, count: 1) == [6])
    #expect(try keys(in: store, count: 3) == [10, 11, 12])
    let entities = ["Shelf", "Author", "Shelf"].compactMap {
      store.managedObjectModel.entitiesByName[$0]
    }
    try words.sql("INSERT INTO @shelf (cairn_id) VALUES (13)", on: other)
    #expect(try store.obtainPermanentIDs(for: entities).map(\.rowKey) == [15, 1, 16])
  }

  /// As `pg_restore --table` leaves it.
  @Test func aColumnThatGivesNoKeysIsNamedWithWhatMendsIt() throws {
    let store = try words.open()
    try words.insert("Shelf", in: store)
    try words.sql("ALTER TABLE @shelf ALTER cairn_id DROP IDENTITY", on: other)
    let error = #expect(throws: CoreDataError.self) { try words.insert("Shelf", in: store) }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    let mending = try #require(error?.message.components(separatedBy: "Mend it: ").last)
    #expect(mending.hasPrefix("ALTER TABLE \"\(words.schema)\".\"shelf\""))
    _ = try words.server.query(mending)
    #expect(try words.insert("Shelf", in: store).rowKey == 2)
  }

  @Test func aKeyAtTheEndOfAllKeysHoldsNothingUp() throws {
    let store = try words.open()
    try words.sql("INSERT INTO @shelf (cairn_id) VALUES (\(Int64.max)), (2)", on: other)
    #expect(try keys(in: store, count: 2) == [3, 4])
  }

  @Test(arguments: [true, false])
  func aCommitHasALaterNumberThanAnyThatReadersMayHaveNoted(_ isSQL: Bool) throws {
    let store = try words.openRecording(capturing: true)
    for _ in 0..<5 { try words.insert("Shelf", in: store) }
    // None of the numbers is there to be met.
    #expect(try store.purgeHistory(before: 6, date: nil) == 5)
    try leaveBehind("cairn_transaction_number")
    if isSQL {
      try words.sql("INSERT INTO @shelf (place) VALUES ('late')", on: other)
    } else {
      try words.insert("Shelf", ["place": .string("late")], in: store)
    }
    let records = try store.readHistory(HistoryReadRequest(after: 5))
    #expect(records.map(\.number) == [6] && records.first?.changes.count == 1)
    #expect(try store.lastTransactionNumber() == 6)
  }

  @Test(arguments: [true, false])
  func changesStandUnderAKeyOfTheirOwn(_ isSQL: Bool) throws {
    let store = try words.openRecording(capturing: true)
    func insert() throws {
      if isSQL {
        try words.sql("INSERT INTO @shelf (place) VALUES ('x')", on: other)
      } else {
        try words.insert("Shelf", ["place": .string("x")], in: store)
      }
    }
    for _ in 0..<5 { try insert() }
    try leaveBehind("cairn_transaction_key", "cairn_change_number", "cairn_transaction_number")
    try insert()
    let records = try store.readHistory(HistoryReadRequest())
    #expect(records.map(\.number) == Array(1...6))
    #expect(records.allSatisfy { $0.changes.count == 1 })
    #expect(try store.verifyIntegrity() == [])
  }
}
