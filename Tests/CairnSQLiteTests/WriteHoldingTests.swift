import CairnModel
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// One caller keeps the others from committing for a while, and the store tells how large its rows are.
@Suite struct WriteHoldingTests {
  private func save(_ row: RowSnapshot, _ fixture: StoreFixture, in store: SQLiteStore) throws {
    var request = SaveChangesRequest()
    request.insertions = [.init(snapshot: row)]
    _ = try fixture.receipt(store.save(request))
  }

  private func rows(_ count: Int, _ fixture: StoreFixture) throws -> [RowSnapshot] {
    try (0..<count).map { try fixture.row("Project", ["title": .string("\($0)")]) }
  }

  private func count(in store: SQLiteStore, _ fixture: StoreFixture) throws -> Int {
    let request = StoreFetchRequest(entity: try fixture.entity("Project"), result: .objectIDs)
    let found = try #require(try store.fetch(request).objectIDs)
    return found.count
  }

  @Test func whileWritesAreHeldTheCallerCommitsAndOthersReadButDoNotCommit() throws {
    let fixture = try StoreFixture()
    let other = try fixture.another(options: [StoreOptionKey.timeout: 0.05])
    defer { try? other.close() }
    let rows = try rows(3, fixture)
    try fixture.store.holdingWrites {
      #expect(throws: CoreDataError.self) { try save(rows[2], fixture, in: other) }
      try save(rows[0], fixture, in: fixture.store)
      // Within work that holds them already it is the same.
      try fixture.store.holdingWrites { try save(rows[1], fixture, in: fixture.store) }
      #expect(try count(in: fixture.store, fixture) == 2)
      #expect(try count(in: other, fixture) == 2)
    }
    try save(rows[2], fixture, in: other)
    #expect(try count(in: fixture.store, fixture) == 3)
  }

  @Test func workThatFailsLeavesNothingHeldAndKeepsWhatItHadCommitted() throws {
    struct Failure: Error {}
    let fixture = try StoreFixture()
    let other = try fixture.another(options: [StoreOptionKey.timeout: 0.05])
    defer { try? other.close() }
    let rows = try rows(2, fixture)
    #expect(throws: Failure.self) {
      try fixture.store.holdingWrites {
        try save(rows[0], fixture, in: fixture.store)
        throw Failure()
      }
    }
    try save(rows[1], fixture, in: other)
    #expect(try count(in: fixture.store, fixture) == 2)
  }

  @Test func theSizeOfARowIsThatOfItsStringsAndDataWithFilesBesideIt() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Employee", ["name": .string("12345"), "data": .data(Data(count: 100))]),
      try fixture.row("Employee", ["photo": .data(Data(count: 3 << 20)), "name": .string("1")]),
      try fixture.row("Project", ["title": .string("äö")]),
      try fixture.row("Employee", ["age": .integer(5)]),
    ])
    var sizes = try fixture.store.rowSizes(of: rows.map(\.objectID))
    #expect(
      try fixture.store.totalRowSize(of: rows.map(\.objectID)) == sizes.reduce(0, +))
    // Beside the file's name in the row.
    #expect((3 << 20...(3 << 20) + 100).contains(sizes.remove(at: 1)))
    #expect(sizes == [105, 2, 0])
    #expect(try fixture.store.totalRowSize(of: []) == 0)
    #expect(try fixture.store.rowSizes(of: []) == [])
    let gone = fixture.store.objectID(for: rows[0].objectID.entity, rowKey: 999)
    #expect(try fixture.store.rowSizes(of: [gone]) == [0])
  }
}
