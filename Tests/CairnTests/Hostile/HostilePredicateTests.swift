// Predicates that nobody would write, from their text to the rows they find.

import Cairn
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: predicates.md – what a text means does not depend on who evaluates it, and no
/// text does worse than throw.
@Suite struct HostilePredicateTests {
  /// Texts whose answer depends on when they are asked.
  private static let unsteady = ["random", "now"]

  @Test func textMeansTheSamePrintedInMemoryAndInTheStore() throws {
    let seed = TestSeed.get("hostile predicates")
    var numbers = SeededNumbers(seed: seed)
    let folder = try TemporaryFolder()
    let store = try HostileStore(in: folder.url, model: HostileStore.model(in: folder.url))
    defer { try? store.close() }
    try store.fill(items: 14)
    var counts = (parsed: 0, both: 0, found: 0)
    let texts =
      HostilePredicates.good
      + (0..<10_000).map { _ in
        HostilePredicates.text(using: &numbers)
      }
    try store.context.performAndWait {
      let items = try store.context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
      for text in texts {
        guard let predicate = try? ObjectPredicate.parse(untrusted: text) else { continue }
        counts.parsed += 1
        let printed = predicate.predicateFormat
        let again = try? ObjectPredicate.parse(printed)
        #expect(again == predicate, "seed \(seed): \(text) is printed as \(printed)")
        let request = FetchRequest<ManagedObject>(entityName: "Item")
        request.predicate = predicate
        let fetched = Result { try store.context.fetch(request) }
        let tested = Result { try items.filter { try predicate.test($0) } }
        guard case .success(let found) = fetched, case .success(let wanted) = tested,
          !Self.unsteady.contains(where: { text.contains($0) })
        else { continue }
        counts.both += 1
        counts.found += found.count
        #expect(
          Set(found) == Set(wanted) && found.count == wanted.count,
          "seed \(seed): \(text): store \(names(found)), memory \(names(wanted))")
      }
    }
    #expect(counts.parsed > 700 && counts.both > 300 && counts.found > 300, "\(counts)")
  }

  private func names(_ objects: [ManagedObject]) -> [String] {
    objects.map { "\($0.objectID.uriRepresentation().lastPathComponent)" }.sorted()
  }
}
