// Predicates that are long and deep.

import CairnModel
import CairnPredicates
import Foundation

package enum ParityLists {
  /// Formats, and a list for each of their places.
  package static var constants: [(format: String, list: [Any])] {
    let numbers = (0..<100_000).map { $0 * 3 }
    let fewer = numbers.prefix(2000)
    return [
      ("n IN %@", numbers), ("s IN %@", numbers.map { "a\($0)" } + ["a", "\u{e9}"]),
      ("g IN %@", numbers.map { Double($0) / 2 }),
      ("s IN[cd] %@", fewer.map { "x\($0)" } + ["E", "A", "B"]),
      ("at IN %@", fewer.map { Date(timeIntervalSinceReferenceDate: Double($0) / 2) }),
      ("u IN %@", fewer.map { _ in UUID() } + ParityValues.uuids.compactMap { $0 }),
      ("n IN %@ AND NOT (g IN %@)", numbers),
    ]
  }

  /// Predicates that no database takes as they are.
  package static func large() throws -> [ObjectPredicate] {
    let terms = (0..<1500).map { ObjectPredicate(format: "n == %d OR s == %@", $0 * 7, "x\($0)") }
    var nested = ObjectPredicate(format: "n >= 0")
    for number in 0..<1000 {
      nested = CompoundPredicate(
        andPredicateWithSubpredicates: [nested, ObjectPredicate(format: "n != %d", number * 2)])
    }
    var negated = ObjectPredicate(format: "j > 2")
    for _ in 0..<100 { negated = CompoundPredicate(notPredicateWithSubpredicate: negated) }
    var subqueries = "$x30.j > 0"
    for level in (0..<30).reversed() {
      let inner = level == 0 ? "parts" : "$x\(level).parts"
      subqueries = "SUBQUERY(\(inner), $x\(level + 1), \(subqueries)).@count > 0"
    }
    var sum = "j"
    for _ in 0..<150 { sum = "(\(sum) + 1)" }
    return [
      CompoundPredicate(orPredicateWithSubpredicates: terms),
      CompoundPredicate(
        notPredicateWithSubpredicate: CompoundPredicate(orPredicateWithSubpredicates: terms)),
      nested, negated, try ObjectPredicate.parse(subqueries),
      try ObjectPredicate.parse("\(sum) > 152"),
    ]
  }
}
