// The difference of two lists, and the work that placing changed objects costs: no Core Data in it.
import Foundation
import Testing

@testable import CairnContext

/// Chapter 23 of the specification: differences are minimal and correct.
@Suite struct ResultsDifferenceTests {
  /// A value in a list, which can change.
  private final class Item: NSObject {
    var rank: Int
    var section: String
    init(_ rank: Int, _ section: String = "") {
      (self.rank, self.section) = (rank, section)
    }
  }

  private func content(_ items: [Item]) -> ResultsContent {
    ResultsContent(objects: items, names: items.map(\.section))
  }

  private func update(
    _ old: ResultsContent, removing removed: Set<Int> = [], _ changed: [(Item, Int)],
    counting count: UnsafeMutablePointer<Int>? = nil
  ) -> ResultsUpdate {
    ResultsUpdate(
      of: old, removing: removed,
      placing: changed.map { .init(object: $0.0, origin: $0.1, name: $0.0.section) },
      isSectioned: true
    ) { first, second in
      count?.pointee += 1
      guard let first = first as? Item, let second = second as? Item else { return false }
      return first.rank < second.rank
    }
  }

  private func difference(_ old: ResultsContent, _ update: ResultsUpdate) -> ResultsDifference {
    ResultsDifference(
      from: old, to: update.content, origins: update.origins, touched: update.touched)
  }

  @Test func placingCostsTheLengthAndABinarySearchForEachChange() {
    for changes in [1, 10, 100, 1000, 10_000] {
      let items = (0..<10_000).map { Item($0) }
      let old = content(items)
      var numbers = SeededGenerator(seed: 7)
      let changed = items.indices.shuffled(using: &numbers).prefix(changes).map { index in
        items[index].rank = Int.random(in: 0..<10_000, using: &numbers)
        return (items[index], index)
      }
      var count = 0
      let update = update(old, changed, counting: &count)
      // 14 steps of the search, two looks at the neighbours, and the sort of what changed.
      #expect(count <= changes * 50, "\(changes) changes, \(count) comparisons")
      let ranks = update.content.objects.compactMap { ($0 as? Item)?.rank }
      #expect(ranks == ranks.sorted())
    }
  }

  @Test func anUnchangedListHasNoDifference() {
    let old = content((0..<10).map { Item($0, "\($0 / 3)") })
    #expect(difference(old, update(old, [])).isEmpty)
  }

  @Test func anObjectThatChangedAndStillFitsStays() {
    let items = [1, 3, 5, 7].map { Item($0) }
    let old = content(items)
    items[1].rank = 4
    let difference = difference(old, update(old, [(items[1], 1)]))
    #expect(difference.updates.map(\.old) == [1] && difference.moves.isEmpty)
  }

  @Test func equalObjectsKeepTheirOrderAndNewOnesComeLast() {
    let items = [1, 2, 2, 2, 3].map { Item($0) }
    let old = content(items)
    let new = Item(2)
    let update = update(old, [(items[1], 1), (items[3], 3), (new, -1)])
    #expect(update.content.objects == [items[0], items[1], items[2], items[3], new, items[4]])
    let difference = difference(old, update)
    #expect(difference.updates.map(\.old) == [1, 3] && difference.moves.isEmpty)
    #expect(difference.inserts.map(\.new) == [4])
  }

  @Test func ofManyThatChangedTheFewestMove() {
    let items = [1, 2, 3, 4, 5].map { Item($0) }
    let old = content(items)
    // The first goes to the end; the others change without changing places.
    items[0].rank = 9
    let difference = difference(old, update(old, items.enumerated().map { ($1, $0) }))
    #expect(difference.moves == [.init(type: .move, old: 0, new: 4)])
    #expect(difference.updates.map(\.old) == [1, 2, 3, 4])
  }

  @Test func sectionsThatChangePlacesGoAndComeAndTheirObjectsMove() {
    let items = [Item(1, "a"), Item(2, "b"), Item(3, "b"), Item(4, "c")]
    let old = content(items)
    items[0].rank = 5
    let difference = difference(old, update(old, [(items[0], 0)]))
    #expect(difference.deletedSections == [0] && difference.insertedSections == [2])
    #expect(difference.moves == [.init(type: .move, old: 0, new: 3)])
    #expect(difference.updates.isEmpty && difference.deletes.isEmpty)
  }

  @Test func objectsOfASectionThatDoNotStandTogetherArePutTogether() {
    let items = [Item(1, "a"), Item(2, "b"), Item(3, "a")]
    let content = content(items)
    #expect(content.objects == [items[0], items[2], items[1]])
    #expect(content.sections.map(\.name) == ["a", "b"])
    #expect(content.firstOutOfOrder?.place == 2)
  }

  @Test func theLongestIncreaseIsTheLongest() {
    /// The length, by trying everything.
    func longest(_ numbers: [Int]) -> Int {
      (0..<(1 << numbers.count)).map { mask -> Int in
        let chosen = numbers.indices.filter { mask & (1 << $0) != 0 }.map { numbers[$0] }
        return zip(chosen, chosen.dropFirst()).allSatisfy(<) ? chosen.count : 0
      }.max() ?? 0
    }
    var numbers = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      let list = Array(0..<Int.random(in: 0...8, using: &numbers)).shuffled(using: &numbers)
      let marks = ResultsDifference.longestIncrease(list)
      let chosen = zip(list, marks).filter(\.1).map(\.0)
      #expect(zip(chosen, chosen.dropFirst()).allSatisfy(<))
      #expect(chosen.count == longest(list), "\(list)")
    }
  }
}
