import CairnModel
import CairnStore
import Foundation

/// Reading one state, and noticing what others commit, for stores that can.
enum GenerationChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("a generation stays as it was whatever is committed after it") { probe in
      guard let keeper = probe.store.capabilities.generations else { return }
      let first = try probe.insert("Person", ["name": .string("a")])
      let second = try probe.insert("Person", ["name": .string("b")])
      guard let generation = try keeper.currentGeneration() else { return }
      let update = try probe.update(first, ["name": .string("A")])
      try probe.save {
        $0.updates = [update]
        $0.deletions = [.init(snapshot: second)]
      }
      _ = try probe.insert("Person", ["name": .string("c")])
      probe.expect(generation.isReadable, "it cannot be read any more")
      let ids = [first.objectID, second.objectID]
      probe.expectEqual(
        try generation.snapshots(for: ids).map { $0?.version }, [first.version, second.version],
        "versions")
      let request = StoreFetchRequest(entity: try probe.entity("Person"))
      guard case .snapshots(let rows) = try generation.fetch(request) else {
        return probe.fail("a fetch for rows gave something else")
      }
      probe.expectEqual(Set(rows.map(\.objectID)), Set(ids), "rows")
      probe.expectEqual(try probe.fetch("Person").count, 2, "rows of now")
      guard let next = try keeper.currentGeneration() else {
        return probe.fail("no generation any more")
      }
      probe.expectEqual(
        try next.snapshots(for: ids).map { $0 == nil }, [false, true], "the next generation")
    },
    ConformanceCheck("a generation can be held while the store saves") { probe in
      guard let keeper = probe.store.capabilities.generations else { return }
      var held: [any StoreGeneration] = []
      let request = StoreFetchRequest(entity: try probe.entity("Person"), result: .count)
      for index in 0..<8 {
        guard let generation = try keeper.currentGeneration() else { return }
        held.append(generation)
        _ = try probe.insert("Person", ["name": .string("\(index)")])
      }
      for (index, generation) in held.enumerated() {
        guard case .count(let count) = try generation.fetch(request) else {
          return probe.fail("a fetch for a count gave something else")
        }
        probe.expectEqual(count, index, "rows of generation \(index)")
      }
    },
  ]
}
