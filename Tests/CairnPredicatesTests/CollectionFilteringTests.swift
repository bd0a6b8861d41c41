import CairnPredicates
import Foundation
import Testing

/// Chapter 24.7: collections are filtered and sorted by predicates and sort descriptors.
@Suite struct CollectionFilteringTests {
  private struct Pet: Hashable {
    var name: String
    var age: Int
  }
  private let pets = [
    Pet(name: "Rex", age: 3), Pet(name: "ada", age: 7), Pet(name: "Bea", age: 3),
  ]
  private let old = ObjectPredicate(format: "age > 3 OR name BEGINSWITH 'R'")
  private let order = [
    ObjectSortDescriptor(key: "age", ascending: true),
    ObjectSortDescriptor(key: "name", ascending: false),
  ]

  @Test func swiftCollectionsAreFilteredAndSorted() {
    #expect(pets.filtered(using: old).map(\.name) == ["Rex", "ada"])
    #expect(Set(pets).filtered(using: old).count == 2)
    #expect(pets.sorted(using: order).map(\.name) == ["Rex", "Bea", "ada"])
    var list = pets
    list.sort(using: [
      ObjectSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)
    ])
    #expect(list.map(\.name) == ["ada", "Bea", "Rex"])
  }

  @Test func equalMembersKeepTheirPlaces() {
    let sorted = pets.sorted(using: [ObjectSortDescriptor(key: "age", ascending: false)])
    #expect(sorted.map(\.name) == ["ada", "Rex", "Bea"])
  }

  private let rows: [[String: Any]] = [["n": 3], ["n": 1], [:], ["n": 2]]
  private let small = ObjectPredicate(format: "n < 3")
  private let byNumber = [ObjectSortDescriptor(key: "n", ascending: true)]
  private func numbers(_ list: Any) -> [Int?] {
    (list as? [Any] ?? []).map { ($0 as? [String: Any])?["n"] as? Int }
  }

  @Test func foundationsArraysAreFilteredAndSorted() {
    let array = NSArray(array: rows)
    #expect(numbers(array.filtered(using: small)) == [1, 2])
    #expect(numbers(array.sortedArray(using: byNumber)) == [nil, 1, 2, 3])
    let mutable = NSMutableArray(array: rows)
    mutable.sort(using: byNumber)
    mutable.filter(using: small)
    #expect(mutable.count == 2)
    #expect(((mutable[0] as? [String: Any])?["n"] as? Int) == 1)
  }

  @Test func foundationsSetsAreFilteredAndSorted() {
    let words = NSSet(array: ["b", "a", "cc"])
    let long = ObjectPredicate(format: "SELF.length > 1")
    #expect(words.filtered(using: long) == ["cc"])
    let bySelf = [ObjectSortDescriptor(key: nil, ascending: false)]
    #expect(words.sortedArray(using: bySelf) as? [String] == ["cc", "b", "a"])
    let mutable = NSMutableSet(set: words)
    mutable.filter(using: long)
    #expect(mutable.count == 1)
    let ordered = NSMutableOrderedSet(array: ["b", "a", "cc"])
    #expect(
      ordered.filtered(using: ObjectPredicate(format: "SELF != 'a'")).array as? [String] == [
        "b", "cc",
      ])
    ordered.sort(using: bySelf)
    #expect(ordered.array as? [String] == ["cc", "b", "a"])
    ordered.filter(using: ObjectPredicate(format: "SELF < 'c'"))
    #expect(ordered.array as? [String] == ["b", "a"])
  }
}
