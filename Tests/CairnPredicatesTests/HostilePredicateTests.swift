// Text meant to do harm: it is refused with an error, quickly.

import CairnPredicates
import Foundation
import Testing

@Suite struct HostilePredicateTests {
  static let bombs: [String] = [
    String(repeating: "(", count: 100_000) + "a = 1" + String(repeating: ")", count: 100_000),
    String(repeating: "(", count: 200_000),
    String(repeating: "NOT ", count: 100_000) + "a = 1",
    String(repeating: "!", count: 100_000) + "a = 1",
    "a = " + String(repeating: "-", count: 100_000) + "b",
    "a = " + String(repeating: "~", count: 100_000) + "b",
    "a = 1" + String(repeating: " + 1", count: 100_000),
    "a = " + String(repeating: "{", count: 100_000),
    "a" + String(repeating: "[0]", count: 100_000) + " = 1",
    "a = " + String(repeating: "sum(", count: 50_000) + "b" + String(repeating: ")", count: 50_000),
    String(repeating: "SUBQUERY(", count: 20_000),
    "a = " + String(repeating: "$x := ", count: 50_000) + "1",
    "a = " + String(repeating: "TERNARY(a = 1, ", count: 20_000),
    "'" + String(repeating: "\\\\", count: 100_000),
    String(repeating: "%", count: 1000),
    String(repeating: "\u{0}", count: 1000),
    "a.b" + String(repeating: ".", count: 1000) + " = 1",
  ]

  @Test(arguments: bombs.indices)
  func bombsAreRefused(_ index: Int) {
    #expect(throws: PredicateFormatError.self) { try ObjectPredicate.parse(Self.bombs[index]) }
    #expect(throws: PredicateFormatError.self) {
      try ObjectPredicate.parse(untrusted: Self.bombs[index])
    }
  }

  @Test func thousandsOfTermsParseAndEvaluate() throws {
    let text = (0..<10_000).map { "a == \($0)" }.joined(separator: " OR ")
    let predicate = try ObjectPredicate.parse(text)
    #expect(try predicate.test(["a": 9_999]))
    #expect(try !predicate.test(["a": -1]))
    #expect(predicate.predicateFormat == text)
    let error = #expect(throws: PredicateFormatError.self) {
      try ObjectPredicate.parse(untrusted: text)
    }
    #expect(error?.code == .limit)
  }

  @Test func longPathsAreNotDeepTrees() throws {
    let path = Array(repeating: "a", count: 1000).joined(separator: ".")
    #expect(try ObjectPredicate.parse("\(path) == nil").node.contents.keyPaths == [path])
  }

  @Test func limitsOfUntrustedTextAreNamed() {
    let cases: [(String, PredicateFormatError.Code)] = [
      ("a == %@", .argument), ("%K == 1", .argument),
      ("FUNCTION(a, 'uppercase') == 'A'", .limit), ("a isEqual: 1", .limit),
      ("a IN FETCH(b, c, NO)", .limit), ("random() > 0.5", .limit), ("a > random(5)", .limit),
      ("a MATCHES '(a+)+'", .limit), ("a MATCHES '(a|aa)*b'", .limit),
      ("a MATCHES '(.)\\\\1'", .limit), ("a MATCHES b", .limit),
      ("a MATCHES '\(String(repeating: "x", count: 600))'", .limit),
      ("a MATCHES '.*.*.*.*.*.*'", .limit),
      (String(repeating: " ", count: 70_000) + "a == 1", .limit),
      (String(repeating: "(", count: 60) + "a=1" + String(repeating: ")", count: 60), .limit),
    ]
    for (text, code) in cases {
      let error = #expect(throws: PredicateFormatError.self, "\(text.prefix(60))") {
        try ObjectPredicate.parse(untrusted: text)
      }
      #expect(error?.code == code, "\(text.prefix(60))")
    }
  }

  @Test func ordinaryUntrustedTextIsAccepted() throws {
    let texts = [
      "name MATCHES '[A-Z][a-z]+ .*' AND age > 3", "SUBQUERY(items, $i, $i.x > 1).@count > 0",
      "sum(a.b) > 3 AND NOT name LIKE[cd] 'a*'", "a IN {1, 2, 3} OR d > CAST(0, 'NSDate')",
      "name MATCHES '(ab)+[)(]*'",
    ]
    for text in texts {
      let predicate = try ObjectPredicate.parse(untrusted: text)
      #expect(try ObjectPredicate.parse(untrusted: predicate.predicateFormat) == predicate)
    }
  }

  @Test func randomTextNeverCrashes() {
    let words = [
      "a", "'", "\"", "\\", "(", ")", "{", "}", "[", "]", "AND", "NOT", "==", "<", "IN", "1", "0x",
      ".", ",", "$", "$x", "@", "@count", "%@", "%", "#", "SUBQUERY(", "CAST(", ":=", ":", "sum(",
      "ANY", "BETWEEN", "é", "\u{301}", "\u{0}", "**", "-", "~", "nil", "LIKE[cd]", "1e", "\n",
    ]
    let seed =
      ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 1...UInt64.max)
    print("HostilePredicateTests seed \(seed)")
    var state = seed
    for _ in 0..<5000 {
      var text = ""
      for _ in 0..<(state % 12 + 1) {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        text += words[Int(state % UInt64(words.count))] + (state & 0x100 == 0 ? " " : "")
      }
      guard let predicate = try? ObjectPredicate.parse(text, arguments: [1]) else { continue }
      let again = try? ObjectPredicate.parse(predicate.predicateFormat)
      #expect(again == predicate, "seed \(seed): \(text)")
      _ = try? predicate.test(["a": 1] as [String: Any], substitutionVariables: ["x": [1]])
    }
  }

  @Test func wildcardsTakeNoExponentialTime() throws {
    let text = String(repeating: "a", count: 2000)
    let pattern = String(repeating: "*a", count: 50) + "*b"
    #expect(try !holds("SELF LIKE %@", text, pattern))
  }
}
