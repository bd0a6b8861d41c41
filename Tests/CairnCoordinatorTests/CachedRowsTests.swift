// The table of cached rows, beside a dictionary that is told the same.

import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnCoordinator

@Suite struct CachedRowsTests {
  private let home: ObjectHome

  init() throws {
    let model = Fixture.noteModel()
    try model.prepareForUse()
    let entity = try #require(model.entitiesByName["Note"])
    home = ObjectHome(rowsOf: entity, in: StoreIdentity(identifier: "A", model: model))
  }

  private func row(_ key: Int64, version: Int64) -> RowSnapshot {
    .make(objectID: ManagedObjectID(home: home, rowKey: key), version: version, values: [])
  }

  @Test func rowsComeAndGoAsInADictionary() {
    let seed =
      ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 0...UInt64.max)
    print("CachedRowsTests seed \(seed)")
    var random = SeededNumbers(seed: seed)
    var rows = CachedRows()
    var expected: [Int64: (version: Int64?, holders: Int)] = [:]
    for step in 0..<20_000 {
      // Runs of neighbours and keys far apart, many of them again and again.
      let key = Int64.random(in: 0..<600, using: &random) * (Bool.random(using: &random) ? 1 : 4096)
      switch Int.random(in: 0..<100, using: &random) {
      case ..<30:
        // After a commit only a row that is known already is replaced, and by none that is older.
        let version = Int64.random(in: 0..<Int64(step + 1), using: &random)
        let (isHeld, wasCommitted) = (
          Bool.random(using: &random), Bool.random(using: &random)
        )
        rows.take(
          row(key, version: version), for: key, isHeld: isHeld, readAt: 0,
          wasCommitted: wasCommitted)
        var known: (version: Int64?, holders: Int) = expected[key] ?? (nil, 0)
        if !wasCommitted || known.version.map({ $0 <= version }) ?? false {
          known.version = version
        }
        known.holders += isHeld ? 1 : 0
        expected[key] = known.version == nil && known.holders == 0 ? nil : known
      case ..<60:
        let holders = Int.random(in: 0...1, using: &random)
        rows.change(key) {
          $0.snapshot = row(key, version: Int64(step))
          $0.references += holders
        }
        expected[key] = (Int64(step), (expected[key]?.holders ?? 0) + holders)
      case ..<99:
        rows.change(key) { $0 = .empty }
        expected[key] = nil
      default:
        rows.removeUnclaimed()
        expected = expected.filter { $0.value.holders > 0 }
        rows.reserve(Int.random(in: 0..<100, using: &random))
      }
      #expect(rows.count == expected.count)
      #expect(rows.unclaimedCount == expected.values.count { $0.holders == 0 })
      #expect(rows[key]?.snapshot?.version == expected[key].flatMap(\.version))
    }
    for (key, value) in expected {
      #expect(rows[key]?.snapshot.map { $0.objectID.rowKey == key } ?? true)
      #expect(rows[key]?.snapshot?.version == value.version)
      #expect(rows[key]?.references == value.holders)
    }
  }
}
