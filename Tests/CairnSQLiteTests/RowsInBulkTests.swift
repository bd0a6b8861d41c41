import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Rows that are written and read many at a time are what they would be one by one
/// (core-data-sqlite-format.md, chapter 3).
@Suite struct RowsInBulkTests {
  /// Around the lengths at which texts are kept in other ways, in memory and on the way to SQLite.
  private static let lengths = [0, 1, 15, 16, 4096, 65_535, 65_536, 65_537, 200_000]

  private func values(_ length: Int) -> [String: AttributeValue] {
    let filling = String(repeating: "ä", count: length / 2) + (length % 2 == 0 ? "" : "x")
    return [
      "name": .string(filling), "data": .data(Data(repeating: UInt8(length % 251), count: length)),
      "age": .integer(Int64(length)),
    ]
  }

  @Test func textsAndDataOfEveryLengthComeBackInsertedAndUpdated() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert(Self.lengths.map { try fixture.row("Employee", values($0)) })
    for (row, length) in zip(rows, Self.lengths) {
      let stored = try #require(try fixture.store.snapshot(for: row.objectID))
      for (name, value) in values(length) { #expect(fixture.value(stored, name) == value) }
    }
    var request = SaveChangesRequest()
    request.updates = zip(rows, Self.lengths.reversed()).map { fixture.update($0, values($1)) }
    let updated = try fixture.receipt(fixture.store.save(request)).snapshots
    let stored = try fixture.store.snapshots(for: rows.map(\.objectID))
    for ((row, receipt), length) in zip(zip(stored, updated), Self.lengths.reversed()) {
      let row = try #require(row)
      for (name, value) in values(length) { #expect(fixture.value(row, name) == value) }
      #expect(row.version == 2 && receipt.version == 2 && receipt.values == row.values)
    }
  }

  @Test func rowsComeInTheOrderInWhichTheyAreAskedForHoweverOften() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert(
      (0..<300).map { try fixture.row("Project", ["title": .string("\($0)")]) })
    let employees = try fixture.insert(
      (0..<40).map { try fixture.row("Employee", ["name": .string("e\($0)")]) })
    let gone = try fixture.row("Project").objectID
    var generator = SystemRandomNumberGenerator()
    let wanted =
      (rows + employees + rows.prefix(50)).map { Optional($0) } + Array(repeating: nil, count: 20)
    for _ in 0..<10 {
      let asked = wanted.shuffled(using: &generator)
      let found = try fixture.store.snapshots(for: asked.map { $0?.objectID ?? gone })
      for (row, expected) in zip(found, asked) {
        #expect(row?.objectID == expected?.objectID && row?.values == expected?.values)
      }
    }
  }

  @Test func aListOfKeysIsJSONWithEveryNumberThereIs() throws {
    let keys: [Int64] = [0, 7, 10, -1, 1_234_567_890, .max, .min]
    let decoded = try JSONDecoder().decode([Int64].self, from: Data(KeyList.json(keys).utf8))
    #expect(decoded == keys)
    #expect(KeyList.json([Int64]()) == "[]")
  }

  @Test func keysThatFollowOneAnotherAreOneRangeWhateverTheirOrder() {
    let keys: [Int64] = [7, 8, 9, 10, 2, 1, 9, .max, .max - 1, .min, 20]
    let runs = KeyRuns(keys)
    #expect(
      runs.ranges == [.min ... .min, 1...2, 7...10, 20...20, (.max - 1) ... .max])
    var found: [Int64] = []
    for portion in runs.portions {
      switch portion {
      case .range(let range): found += range
      case .list(let list): found += list
      }
    }
    #expect(found.sorted() == Set(keys).sorted())
    #expect(KeyRuns([]).portions.isEmpty)
  }

  @Test func positionsOfKeysAreFoundInAnyOrder() {
    var positions = KeyPositions()
    for (position, key) in [5, 3, 9, 3, 1, 5, 5].enumerated() {
      positions.add(Int64(key), position)
    }
    positions.sort()
    for key in [9, 1, 3, 5, 5, 3, 4, 10, 0, 9] {
      let expected = [5: [0, 5, 6], 3: [1, 3], 9: [2], 1: [4]][key] ?? []
      let found = positions.places(of: Int64(key)).map { positions.pairs[$0].position }
      #expect(found == expected, "\(key)")
    }
  }
}
