// Printing parses back to an equal predicate, for random trees.

import CairnPredicates
import Foundation
import Testing

@Suite struct PredicateRoundTripTests {
  @Test func randomTreesPrintAndParseBack() throws {
    let seed =
      ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 1...UInt64.max)
    print("PredicateRoundTripTests seed \(seed)")
    var trees = RandomTrees(seed: seed)
    for _ in 0..<2000 {
      let node = trees.predicate(depth: 4)
      let predicate = ObjectPredicate.make(node)
      let text = predicate.predicateFormat
      let again: ObjectPredicate
      do {
        again = try ObjectPredicate.parse(text)
      } catch {
        Issue.record("seed \(seed): \(text) does not parse: \(error)")
        return
      }
      guard again == predicate else {
        Issue.record("seed \(seed): \(text) parses to \(again)")
        return
      }
      #expect(again.hash == predicate.hash, "seed \(seed): \(text)")
      // Compounds of one or no members are written as what they mean, so compare that.
      let meant = ObjectPredicate.make(node.canonical).predicateFormat
      #expect(ObjectPredicate.make(again.node.canonical).predicateFormat == meant, "seed \(seed)")
    }
  }
}

/// A generator of predicates without blocks and objects.
struct RandomTrees {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  private mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }

  private mutating func pick<T>(_ values: [T]) -> T { values[next(values.count)] }

  mutating func predicate(depth: Int) -> PredicateNode {
    switch depth <= 0 ? 9 : next(10) {
    case 0: return .value(next(2) == 0)
    case 1: return .compound(.and, (0..<next(4)).map { _ in predicate(depth: depth - 1) })
    case 2: return .compound(.or, (0..<next(4)).map { _ in predicate(depth: depth - 1) })
    case 3: return .compound(.not, [predicate(depth: depth - 1)])
    default: return .comparison(comparison(depth: depth))
    }
  }

  private mutating func comparison(depth: Int) -> ComparisonNode {
    var types = ComparisonPredicate.Operator.allCases
    types.removeAll { $0 == .customSelector }
    let type = pick(types)
    return ComparisonNode(
      expression(depth: depth - 1), type, expression(depth: depth - 1),
      modifier: pick(ComparisonPredicate.Modifier.allCases),
      options: ComparisonPredicate.Options(rawValue: UInt(next(16))))
  }

  private mutating func expression(depth: Int) -> ExpressionNode {
    switch depth <= 0 ? next(5) : next(16) {
    case 0, 1: return .constant(constant(depth: 2))
    case 2: return .evaluatedObject
    case 3: return .variable(pick(["x", "FETCH_SOURCE", "größe"]))
    case 4, 5: return .keyPath(pick(["a", "a.b", "size", "a.@sum.b", "in.first", "a b", "é.ü"]))
    case 6:
      // Paths on paths are one path.
      return expression(depth: depth - 1).appending(pick(["@count", "name", "last.x", "a-b"]))
    case 7, 8: return function(depth: depth)
    case 9: return .element(of: expression(depth: depth - 1), at: index(depth: depth))
    case 10: return .casting(expression(depth: depth - 1), to: pick(["NSString", "NSDate"]))
    case 11:
      return .message(
        expression(depth: depth - 1), pick(["uppercase", "pow:"]),
        (0..<next(2)).map { _ in expression(depth: depth - 1) })
    case 12:
      return .setOperation(
        pick(ExpressionSetOperation.allCases), expression(depth: depth - 1),
        expression(depth: depth - 1))
    case 13:
      return .subquery(
        expression(depth: depth - 1), variable: "v", predicate(depth: depth - 1))
    case 14: return .aggregate((0..<next(4)).map { _ in expression(depth: depth - 1) })
    default:
      return .conditional(
        predicate(depth: depth - 1), expression(depth: depth - 1), expression(depth: depth - 1))
    }
  }

  private mutating func function(depth: Int) -> ExpressionNode {
    let function = pick(PredicateFunction.allCases)
    let count = min(function.arity.upperBound, function.arity.lowerBound + next(2))
    return .function(function, (0..<count).map { _ in expression(depth: depth - 1) })
  }

  private mutating func index(depth: Int) -> ExpressionIndex {
    switch next(4) {
    case 0: return .first
    case 1: return .last
    case 2: return .size
    default: return .at(expression(depth: depth - 1))
    }
  }

  private mutating func constant(depth: Int) -> PredicateValue {
    switch next(depth > 0 ? 14 : 11) {
    case 0: return .null
    case 1: return .boolean(next(2) == 0)
    case 2: return .integer(pick([0, 1, -1, .max, .min, 42]))
    case 3: return .double(pick([0.5, -2.25, 1, 1e20, -1e-7, 0.1, .pi, .infinity, -.infinity]))
    case 4: return .decimal(pick([Decimal(1), Decimal(-3), Decimal(string: "0.1") ?? 0]))
    case 5, 6:
      return .string(pick(["", "a", "it's", "q\"", "back\\slash", "tab\tline\n", "\u{1}é😀", "%@"]))
    case 7: return .date(Date(timeIntervalSinceReferenceDate: pick([0, 0.1, -978307200, 1 / 3])))
    case 8: return .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID())
    case 9: return .url(URL(fileURLWithPath: "/a b"))
    case 10: return .data(Data([1, 2, 255]))
    case 11, 12: return .array((0..<next(4)).map { _ in constant(depth: depth - 1) })
    default: return .set(Set((0..<next(4)).map { _ in constant(depth: depth - 1) }))
    }
  }
}
