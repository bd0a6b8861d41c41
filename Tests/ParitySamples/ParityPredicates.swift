// Random predicates that every way of evaluating must answer alike.

import CairnModel
import CairnPredicates
import Foundation

/// Makes predicates that fit the rows of ``ParityRows``.
package struct ParityPredicates {
  private var random: ParityRandom

  package init(seed: UInt64) { random = ParityRandom(state: seed | 1) }

  package mutating func predicate(depth: Int) -> ObjectPredicate {
    switch depth <= 0 ? 9 : random.below(9) {
    case 0:
      return CompoundPredicate(
        andPredicateWithSubpredicates: (0..<random.below(4)).map { _ in predicate(depth: depth - 1)
        })
    case 1, 2:
      return CompoundPredicate(
        orPredicateWithSubpredicates: (0..<random.below(4)).map { _ in predicate(depth: depth - 1) }
      )
    case 3, 4:
      return CompoundPredicate(notPredicateWithSubpredicate: predicate(depth: depth - 1))
    default: return random.below(4) == 0 ? toMany(depth: depth) : comparison(on: "")
    }
  }

  private mutating func comparison(on prefix: String) -> ObjectPredicate {
    let options = random.pick(["", "", "[c]", "[d]", "[cd]", "[n]", "[l]"])
    switch random.below(6) {
    case 0, 1:
      let key = prefix + random.pick(["s", "t", "owner.name", "whole.s"])
      let operation = random.pick([
        "==", "!=", "<", ">=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "IN", "BETWEEN",
      ])
      if operation == "IN" {
        let list = (0..<random.below(12)).map { _ in text() as Any }
        return ObjectPredicate(format: "%K IN\(options) %@", key, list)
      }
      if operation == "BETWEEN" {
        return ObjectPredicate(format: "%K BETWEEN {%@, %@}", key, text(), text())
      }
      if random.below(4) == 0 {
        return ObjectPredicate(format: "%K \(operation)\(options) %K", key, prefix + "t")
      }
      return ObjectPredicate(format: "%K \(operation)\(options) %@", key, text())
    case 2, 3:
      let sign = random.pick(["==", "!=", "<", "<=", ">", ">="])
      return ObjectPredicate(
        format: "%@ \(sign) %@", number(prefix, depth: 2), number(prefix, depth: 2))
    case 4:
      let key = prefix + random.pick(["i", "j", "f", "g", "d", "at", "flag"])
      let list = (0..<random.below(8)).map { _ in constant() ?? NSNull() }
      return ObjectPredicate(format: "%K IN %@", key, list)
    default:
      let key = prefix + random.pick(["u", "link", "raw", "at", "flag", "s", "owner", "whole"])
      return ObjectPredicate(format: "%K \(random.pick(["==", "!="])) nil", key)
    }
  }

  private mutating func toMany(depth: Int) -> ObjectPredicate {
    let sign = random.pick(["==", "!=", "<", ">="])
    switch random.below(5) {
    case 0:
      return ObjectPredicate(format: "tags.@count \(sign) %d", random.below(4))
    case 1:
      let modifier = random.pick(["ANY", "ALL", "NONE"])
      return ObjectPredicate(format: "\(modifier) parts.j \(sign) %@", number("", depth: 1))
    case 2:
      let modifier = random.pick(["ANY", "ALL", "NONE"])
      return ObjectPredicate(
        format: "\(modifier) tags.name \(sign)[cd] %@", random.pick(["red", "BLUE", "x"]))
    case 3:
      let function = random.pick(["@sum", "@avg", "@min", "@max"])
      let key = random.pick(["i", "j", "g", "f"])
      return ObjectPredicate(
        format: "parts.\(function).\(key) \(sign) %@", number("", depth: 1))
    default:
      let inner = CompoundPredicate(andPredicateWithSubpredicates: [
        comparisonOnMember(), comparisonOnMember(),
      ])
      return ObjectPredicate(
        format: "SUBQUERY(parts, $p, %@).@count \(sign) %d", inner, random.below(3))
    }
  }

  private mutating func comparisonOnMember() -> ObjectPredicate {
    let sign = random.pick(["==", "!=", "<", ">="])
    switch random.below(3) {
    case 0: return ObjectPredicate(format: "$p.j \(sign) j")
    case 1: return ObjectPredicate(format: "$p.s \(sign)[c] %@", text())
    default: return ObjectPredicate(format: "$p.f \(sign) %@", constant() ?? 0)
    }
  }

  private mutating func text() -> String? { random.pick(ParityValues.texts.compactMap { $0 }) }

  private mutating func constant() -> Any? {
    switch random.below(5) {
    case 0: return random.pick(ParityValues.integers)
    case 1: return random.pick(ParityValues.doubles)
    case 2: return random.pick(ParityValues.decimals).map { NSDecimalNumber(decimal: $0) }
    case 3: return random.pick(ParityValues.dates)
    default: return random.pick(ParityValues.flags)
    }
  }

  private mutating func number(_ prefix: String, depth: Int) -> ObjectExpression {
    if depth <= 0 || random.below(2) == 0 {
      if random.below(2) == 0 { return ObjectExpression(forConstantValue: constant()) }
      return ObjectExpression(
        forKeyPath: prefix + random.pick(["i", "j", "f", "g", "at", "d", "flag", "owner.age"]))
    }
    let function = random.pick([
      "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "abs:", "floor:",
      "trunc:", "sqrt:",
    ])
    let count = function.filter { $0 == ":" }.count
    return ObjectExpression(
      forFunction: function,
      arguments: (0..<count).map { _ in number(prefix, depth: depth - 1) })
  }
}
