// The order that sort descriptors give.

import CairnPredicates
import Foundation
import Testing

@Suite struct SortDescriptorTests {
  private func sorted(
    _ values: [Any?], _ descriptor: ObjectSortDescriptor
  ) throws -> [PredicateValue] {
    try values.map { Sample(["k": $0 as Any]) }
      .sorted { try [descriptor].areInIncreasingOrder($0, $1) }
      .map { PredicateValue($0.value(forKey: "k")) }
  }

  @Test func nullComesFirstThenNumbersByValueThenTextByBytes() throws {
    let values: [Any?] = ["é", "a", 2.5, nil, "B", 1, true, Decimal(3)]
    #expect(
      try sorted(values, ObjectSortDescriptor(key: "k", ascending: true))
        == [
          .null, .integer(1), .integer(1), .double(2.5), .integer(3), .string("B"),
          .string("a"), .string("é"),
        ])
    #expect(
      try sorted(["a", nil, "b"], ObjectSortDescriptor(key: "k", ascending: false))
        == [.string("b"), .string("a"), .null])
  }

  @Test func selectorsCompareTextTheirWay() throws {
    let insensitive = ObjectSortDescriptor(
      key: "k", ascending: true, selector: .caseInsensitiveCompare)
    #expect(
      try sorted(["b", "A", nil, "C"], insensitive)
        == [.null, .string("A"), .string("b"), .string("C")])
    let standard = ObjectSortDescriptor(
      key: "k", ascending: true, selector: .localizedStandardCompare)
    #expect(
      try sorted(["f10", "f9", "F1"], standard)
        == [.string("F1"), .string("f9"), .string("f10")])
  }

  @Test func severalDescriptorsDecideInTurn() throws {
    let objects = [("b", 1), ("a", 2), ("a", 1)].map { Sample(["n": $0.0, "i": $0.1]) }
    let order = [
      ObjectSortDescriptor(key: "n", ascending: true),
      ObjectSortDescriptor(key: "i", ascending: false),
    ]
    let sorted = try objects.sorted { try order.areInIncreasingOrder($0, $1) }
    #expect(sorted.map { $0.value(forKey: "i") as? Int } == [2, 1, 1])
  }

  @Test func reversingAndEquality() {
    let descriptor = ObjectSortDescriptor(key: "a.b", ascending: true)
    #expect(descriptor == ObjectSortDescriptor(key: "a.b", ascending: true, selector: "compare:"))
    let reversed = descriptor.reversedSortDescriptor as? ObjectSortDescriptor
    #expect(reversed == ObjectSortDescriptor(key: "a.b", ascending: false))
    #expect(reversed?.compare(["a": ["b": 1]], to: ["a": ["b": 2]]) == .orderedDescending)
  }

  @Test func comparatorsSeeTheValues() {
    let byLength = ObjectSortDescriptor(key: "k", ascending: true) { a, b in
      let a = (a as? String)?.count ?? 0
      let b = (b as? String)?.count ?? 0
      return a < b ? .orderedAscending : (a == b ? .orderedSame : .orderedDescending)
    }
    #expect(byLength.compare(["k": "zz"], to: ["k": "aaa"]) == .orderedAscending)
    #expect(byLength.hasCustomComparator && byLength.selector == nil)
  }
}
