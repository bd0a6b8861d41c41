// The promises about many rows, beside what every store does: with other programs at work.

import CairnModel
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct RowCapabilityTests {
  let words: StoreWords
  let store: PostgreSQLStore

  init() throws {
    words = try StoreWords()
    store = try words.openRecording(capturing: true)
  }

  /// Another program may have set a sequence to its end.
  @Test func theLastKeysOfASequenceAreGiven() throws {
    try words.sql(
      "SELECT setval(pg_get_serial_sequence('@shelf', 'cairn_id'), 9223372036854775805)",
      on: try words.foreign())
    let shelf = try #require(store.managedObjectModel.entitiesByName["Shelf"])
    let ids = try store.obtainPermanentIDs(for: [shelf, shelf])
    #expect(ids.map(\.rowKey) == [.max - 1, .max])
    #expect(throws: CoreDataError.self) { try store.obtainPermanentIDs(for: [shelf]) }
  }

  @Test func whileWritesAreHeldPlainSQLWaitsToo() throws {
    let foreign = try words.foreign()
    try foreign.run("SET lock_timeout = '50ms'", isKept: false)
    let insertion = "INSERT INTO @shelf (place) VALUES ('north')"
    try store.holdingWrites {
      #expect(throws: PostgreSQLFailure.self) { try words.sql(insertion, on: foreign) }
      try words.insert("Shelf", in: store)
      // The commit has not let it in.
      #expect(throws: PostgreSQLFailure.self) { try words.sql(insertion, on: foreign) }
      #expect(try words.sql("SELECT count(*) FROM @shelf", on: foreign).integer(0, 0) == 1)
    }
    try words.sql(insertion, on: foreign)
    #expect(try words.changes(in: store).count == 2)
  }

  /// VACUUM takes this lock of a table, for as long as it works there.
  @Test func aVacuumHoldsUpNoHolder() throws {
    let other = try words.foreign()
    try words.sql("BEGIN", on: other)
    try words.sql("LOCK TABLE @book IN SHARE UPDATE EXCLUSIVE MODE", on: other)
    let start = ContinuousClock.now
    _ = try store.holdingWrites {
      try words.insert("Shelf", ["place": .string("north")], in: store)
    }
    #expect(ContinuousClock.now - start < .seconds(8))
    #expect(try words.sql("SELECT count(*) FROM @shelf", on: other).integer(0, 0) == 1)
    try words.sql("ROLLBACK", on: other)
  }

  @Test func aSaveThatFailsLeavesTheHoldInPlace() throws {
    let shelf = try words.insert("Shelf", in: store)
    let other = try words.open([StoreOptionKey.timeout: 0.1])
    try store.holdingWrites {
      var request = SaveChangesRequest()
      request.updates = [
        .init(snapshot: shelf.with(version: 9), basedOn: 8, changedSlots: [0])
      ]
      guard case .conflicts = try store.save(request) else {
        Issue.record("no conflict")
        return
      }
      #expect(throws: CoreDataError.self) { try words.insert("Shelf", in: other) }
      try words.insert("Shelf", in: store)
    }
    try words.insert("Shelf", in: other)
  }

  @Test func anotherThreadWaitsForTheOneThatHolds() async throws {
    let started = DispatchSemaphore(value: 0)
    async let waiting = offPool { [words, store] in
      started.wait()
      return try words.insert("Shelf", in: store).rowKey
    }
    try store.holdingWrites {
      started.signal()
      #expect(!store.writerWork.isPending || store.writerWork.signs > 0)
      try words.insert("Shelf", in: store)
    }
    #expect(try await waiting != nil)
    #expect(!store.writerWork.isPending)
    #expect(store.commitTimes.sums.count == 2)
  }

  @Test func aReadOnlyStoreHoldsNothing() throws {
    let reader = try words.open([StoreOptionKey.readOnly: true])
    #expect(throws: CoreDataError.self) { try reader.holdingWrites {} }
  }

  @Test func keysThatAnotherProgramDrawsBetweenAreNotReserved() throws {
    let entity = try #require(store.managedObjectModel.entitiesByName["Shelf"])
    let foreign = try words.foreign()
    var firsts: [Int64] = []
    for _ in 0..<3 {
      let found = try store.reserveRowKeys(for: [RowKeyRun(entity: entity, count: 1000)])
      firsts.append(try #require(found?.first))
      try words.sql("INSERT INTO @shelf (place) VALUES ('north')", on: foreign)
    }
    let taken = try words.sql("SELECT cairn_id FROM @shelf", on: foreign)
    for row in 0..<taken.count {
      let key = try #require(taken.integer(row, 0))
      #expect(!firsts.contains { ($0..<$0 + 1000).contains(key) })
    }
    // A sequence that gives every other number has no runs.
    try words.sql(
      "ALTER TABLE @shelf ALTER COLUMN cairn_id SET INCREMENT BY 2", on: foreign)
    #expect(try store.reserveRowKeys(for: [RowKeyRun(entity: entity, count: 2)]) == nil)
    #expect(try store.obtainPermanentIDs(for: [entity, entity]).count == 2)
  }

  @Test func numbersThatAreNoneAndDecimalsThatNoneHoldsAreStray() throws {
    let foreign = try words.foreign()
    try words.sql(
      """
      INSERT INTO @author (first_name, fee, weight, rating) VALUES ('plain', 1.5, 2, 'Infinity'),
        ('fee', 'NaN', 1, 1), ('large', 1e170, 1, 1), ('small', -1e-140, 1, 1),
        ('weight', 0, 'NaN', 1), ('both', 0, 'NaN', 'NaN')
      """, on: foreign)
    let entity = try #require(store.managedObjectModel.entitiesByName["Author"])
    let ids = try store.objectIDs(of: entity, after: 0, limit: 10)
    let found = try store.strayValues(in: nil)
    let names = try ids.map { id in
      try Set((found[id] ?? []).map { try #require(entity.layout.slots[$0].attribute).name })
    }
    #expect(names == [[], ["fee"], ["fee"], ["fee"], ["weight"], ["weight", "rating"]])
    #expect(try store.strayValues(in: [ids[0], ids[4]]) == found.filter { $0.key == ids[4] })
  }
}
