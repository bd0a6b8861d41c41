// Keys as ranges, and which rows have been met before.
import CairnModel
import CairnSQL
import CairnStore
import Testing

@testable import CairnSQLite

/// Sets of row keys, held against `Set`.
@Suite struct KeyRunsTests {
  private func keys(
    _ generator: inout some RandomNumberGenerator, below limit: Int64
  ) -> [Int64] {
    (0..<Int.random(in: 0...40, using: &generator)).map { _ in
      Int64.random(in: 0..<limit, using: &generator)
    }
  }

  @Test func keysAreCountedFoundAndJoined() {
    var generator = SystemRandomNumberGenerator()
    for round in 0..<300 {
      let limit: Int64 = round % 2 == 0 ? 60 : 100_000
      let (a, b) = (keys(&generator, below: limit), keys(&generator, below: limit))
      let (first, second) = (KeyRuns(a), KeyRuns(b))
      #expect(first.count == Set(a).count)
      #expect((0..<60).allSatisfy { first.contains($0) == a.contains($0) }, "\(a)")
      guard let joined = first.joined(with: second) else {
        #expect(!Set(a).isDisjoint(with: b), "\(a) \(b)")
        continue
      }
      #expect(Set(a).isDisjoint(with: b), "\(a) \(b)")
      #expect(joined.ranges == KeyRuns(a + b).ranges, "\(a) \(b)")
    }
    let ends = KeyRuns([.min, .max])
    #expect(ends.contains(.min) && ends.contains(.max) && !ends.contains(0))
    #expect(ends.joined(with: KeyRuns([.max])) == nil)
  }

  @Test func runsInAnyOrderAreMerged() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let runs = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        let first = Int64.random(in: -50...50, using: &generator)
        return first...first + Int64.random(in: 0...9, using: &generator)
      }
      let merged = KeyRuns(merging: runs)
      #expect(merged.ranges.flatMap { Array($0) } == Set(runs.joined()).sorted(), "\(runs)")
    }
  }

  @Test func rowsAreNewOnce() {
    let (a, b) = (EntityDescription(name: "A"), EntityDescription(name: "B"))
    let model = ManagedObjectModel()
    model.entities = [a, b]
    #expect(throws: Never.self) { try model.prepareForUse() }
    let schema = SQLSchema(model: model)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      var known = KnownRows()
      var plain: [Set<Int64>] = [[], []]
      for _ in 0..<8 {
        var rows: [EntityRows] = []
        var expected: [String] = []
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          let isFirst = Bool.random(using: &generator)
          let start = Int64.random(in: 0..<2000, using: &generator)
          let length = Int64.random(in: 1...200, using: &generator)
          for key in start..<start + length {
            rows.add(key, of: schema.entity(isFirst ? a : b))
            if plain[isFirst ? 0 : 1].insert(key).inserted {
              expected.append("\(isFirst ? "A" : "B")\(key)")
            }
          }
        }
        let new = known.insert(rows).flatMap { run in run.keys.map { "\(run.entity.name)\($0)" } }
        #expect(new == expected)
      }
    }
  }
}
