// Query generations of PostgreSQL stores, beside what every store's do.

import CairnModel
import CairnPredicates
import TestSupport
@_spi(Stores) import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct PostgreSQLGenerationTests {
  let words: StoreWords

  init() throws { words = try StoreWords() }

  private func count(_ generation: any StoreGeneration, _ store: PostgreSQLStore) throws -> Int {
    let entity = try #require(store.managedObjectModel.entitiesByName["Shelf"])
    guard
      case .count(let count) = try generation.fetch(
        StoreFetchRequest(entity: entity, result: .count))
    else { return -1 }
    return count
  }

  @Test func aGenerationSeesNothingOfWhatComesAfterIt() throws {
    let store = try words.open()
    let shelf = try words.insert("Shelf", ["place": .string("north")], in: store)
    let generation = try #require(try store.currentGeneration())
    let other = try words.foreign()
    try words.sql("INSERT INTO @shelf (place) VALUES ('other')", on: other)
    try words.sql("UPDATE @shelf SET place = 'south'", on: other)
    #expect(try count(generation, store) == 1)
    var request = StoreFetchRequest(entity: shelf.objectID.entity)
    request.predicate = ObjectPredicate(format: "place == 'north'")
    // A fetch that the evaluator finishes reads inside the same transaction.
    for _ in 0..<2 {
      let rows = try #require(try generation.fetch(request).snapshots)
      #expect(rows.map(\.objectID) == [shelf.objectID])
    }
    #expect(try count(try #require(try store.currentGeneration()), store) == 2)
  }

  @Test func itIsGivenUpAfterItsTime() async throws {
    let store = try words.open([StoreOptionKey.queryGenerationMaximumAge: 0.05])
    let generation = try #require(try store.currentGeneration())
    #expect(await eventually { !generation.isReadable })
    let error = #expect(throws: CoreDataError.self) { try count(generation, store) }
    #expect(error?.code == .persistentStoreOperation)
    #expect(error?.message.contains("older than 0.05 s") == true)
  }

  @Test func oneThatWorkReadsToItsEndLastsUntilThat() async throws {
    let store = try words.open([StoreOptionKey.queryGenerationMaximumAge: 0.05])
    let lasting = try #require(try store.currentGeneration(lasting: .untilReleased))
    let other = try #require(try store.currentGeneration())
    #expect(await eventually { !other.isReadable })
    #expect(try count(lasting, store) == 0)
  }

  @Test func itEndsWithTheStoreAndWithItsLastHolder() async throws {
    let store = try words.open()
    try words.insert("Shelf", in: store)
    var generation = try store.currentGeneration()
    let other = try words.foreign()
    let held =
      "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%\"\(words.schema)\"%'"
    #expect(try words.sql(held, on: other).integer(0, 0) == 1)
    generation = nil
    #expect(await eventually { (try? words.sql(held, on: other).integer(0, 0)) == 0 })
    generation = try store.currentGeneration()
    try store.close()
    #expect(generation?.isReadable == false)
  }

  @Test func aSessionThatEndsTakesItsGenerationAlong() throws {
    let store = try words.open()
    let generation = try #require(try store.currentGeneration())
    let other = try words.foreign()
    try words.sql(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        + "WHERE state = 'idle in transaction' AND query LIKE '%\"\(words.schema)\"%'", on: other)
    let error = #expect(throws: CoreDataError.self) { try count(generation, store) }
    #expect(error?.message.contains("no longer there") == true && !generation.isReadable)
    #expect(try count(try #require(try store.currentGeneration()), store) == 0)
  }
}
