import CairnPredicates
import Foundation
import Testing

/// Chapter II.12: predicates, expressions and sort descriptors can be archived and copied.
@Suite struct PredicateArchivingTests {
  private func archived<T: NSObject & NSSecureCoding>(_ object: T) throws -> T? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
  }

  @Test(arguments: [
    "a == 1 AND b IN {'x', 'é'} OR NOT c BEGINSWITH[cd] 'q'",
    "SUBQUERY(items, $i, $i.x > $limit).@count > 0", "TRUEPREDICATE", "ANY a.b MATCHES '[a-z]+'",
    "d >= CAST(100.25, 'NSDate') AND u == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')",
    "a BETWEEN {1, 2.5} AND TERNARY(a > 1, x, y) == nil",
  ])
  func aPredicateComesBackEqualAndOfItsClass(_ format: String) throws {
    let predicate = try ObjectPredicate.parse(format)
    let again = try #require(try archived(predicate))
    #expect(again == predicate)
    #expect(type(of: again) == type(of: predicate))
    #expect(again.predicateFormat == predicate.predicateFormat)
  }

  @Test func randomPredicatesComeBackEqual() throws {
    let seed =
      ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 1...UInt64.max)
    var trees = RandomTrees(seed: seed)
    for _ in 0..<100 {
      let predicate = ObjectPredicate.make(trees.predicate(depth: 3))
      let again = try archived(predicate)
      #expect(again == predicate, "seed \(seed): \(predicate)")
    }
  }

  @Test func constantsThatTextCannotHoldTravelBesideIt() throws {
    let predicate = ObjectPredicate(format: "a == %@", ["k": 1, "l": "x"] as [String: Any])
    #expect(try archived(predicate) == predicate)
  }

  @Test func compoundsKeepTheirShape() throws {
    let one = CompoundPredicate(andPredicateWithSubpredicates: [ObjectPredicate(format: "a == 1")])
    let again = try #require(try archived(one))
    #expect(again.compoundPredicateType == .and)
    #expect(again.subpredicates.count == 1)
  }

  @Test func expressionsComeBackEqual() throws {
    for format in ["a.b.@sum.c + 2", "lowercase(name)", "{1, 'x', nil}", "$v", "a[FIRST]"] {
      let expression = try ObjectExpression.parse(format)
      #expect(try archived(expression) == expression)
    }
  }

  @Test func sortDescriptorsComeBackEqual() throws {
    for descriptor in [
      ObjectSortDescriptor(key: "a.b", ascending: true),
      ObjectSortDescriptor(key: nil, ascending: false, selector: .localizedStandardCompare),
    ] {
      #expect(try archived(descriptor) == descriptor)
    }
  }

  @Test func whatCannotBeArchivedIsAProgrammersErrorAsOnApplesPlatforms() async {
    await #expect(processExitsWith: .failure) {
      let block = ObjectPredicate { _, _ in true }
      _ = try? NSKeyedArchiver.archivedData(
        withRootObject: CompoundPredicate(notPredicateWithSubpredicate: block),
        requiringSecureCoding: true)
    }
    await #expect(processExitsWith: .failure) {
      let descriptor = ObjectSortDescriptor(key: "a", ascending: true) { _, _ in .orderedSame }
      _ = try? NSKeyedArchiver.archivedData(
        withRootObject: descriptor, requiringSecureCoding: true)
    }
  }

  @Test func copiesAreTheObjectItself() {
    let predicate = ObjectPredicate(format: "a == 1")
    #expect(predicate.copy() as? ObjectPredicate === predicate)
    let expression = ObjectExpression(forKeyPath: "a")
    #expect(expression.copy() as? ObjectExpression === expression)
    let descriptor = ObjectSortDescriptor(key: "a", ascending: true)
    #expect(descriptor.copy() as? ObjectSortDescriptor === descriptor)
  }
}
