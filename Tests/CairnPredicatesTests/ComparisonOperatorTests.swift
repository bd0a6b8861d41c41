// Each comparison operator in memory, with null rules and string options.

import CairnPredicates
import Foundation
import Testing

@Suite struct ComparisonOperatorTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let text: String
    let expected: Bool
    var testDescription: String { text }
    init(_ text: String, _ expected: Bool) {
      self.text = text
      self.expected = expected
    }
  }

  static let cases: [Case] = [
    // Numbers by value across types.
    .init("one == 1 AND one == 1.0 AND one == YES", true),
    .init("half < 1 AND half > 0 AND half == 0.5", true),
    .init("big == 9007199254740993", true),
    .init("big == 9007199254740992.0", false),
    .init("big > 9007199254740992.0", true),
    .init("decimal == 0.1 AND decimal < 1 AND decimal != 0", true),
    .init("yes == 1 AND yes != 0 AND yes > no", true),
    .init("one >= 1 AND one <= 1 AND NOT one > 1 AND NOT one < 1", true),
    // Dates by seconds.
    .init("date == CAST(100, 'NSDate') AND date == 100 AND date < CAST(100.5, 'NSDate')", true),
    // Text by bytes.
    .init("name == 'Anna' AND name != 'anna'", true),
    .init("'B' < 'a' AND 'a' < 'ab' AND 'z' < 'é'", true),
    .init("composed == decomposed", false),
    .init("composed ==[l] decomposed AND composed ==[c] decomposed", true),
    .init("composed ==[n] decomposed", false),
    .init("url == 'https://example.org/a'", true),
    // Different kinds.
    .init("name == 1", false),
    .init("name != 1", true),
    .init("name < 1 OR name > 1 OR name <= 1", false),
    .init("uuid == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')", true),
    // Null.
    .init("missing == nil AND nil == nil AND name != nil", true),
    .init("missing != nil OR name == nil", false),
    .init("missing != 1 AND missing != 'x' AND 1 != missing", true),
    .init("missing < 1 OR missing > 1 OR missing <= nil OR missing >= nil OR nil < 1", false),
    .init("NOT missing < 1 AND NOT (missing == 1)", true),
    .init("missing BETWEEN {0, 1} OR 1 BETWEEN {nil, 2} OR 1 BETWEEN nil", false),
    .init(
      "missing LIKE '*' OR missing MATCHES '.*' OR missing CONTAINS '' OR missing BEGINSWITH ''",
      false),
    .init("name LIKE nil OR name CONTAINS nil OR name ENDSWITH nil", false),
    .init("missing IN {1, 2} OR name IN nil OR missing IN 'text'", false),
    .init("missing IN {nil, 2}", true),
    .init("missing.deeper.still == nil", true),
    // Options.
    .init("name ==[c] 'ANNA' AND name !=[c] 'ANN'", true),
    .init("'Straße' ==[c] 'STRASSE'", true),
    .init("'résumé' ==[d] 'resume' AND 'RÉSUMÉ' ==[cd] 'resume'", true),
    .init("'résumé' ==[c] 'resume'", false),
    .init("'ABC' <[c] 'abd' AND 'abc' <=[c] 'ABC'", true),
    .init("'ΑΣ' ==[c] 'ας'", true),
    // BETWEEN.
    .init("one BETWEEN {1, 2} AND one BETWEEN {0, 1}", true),
    .init("one BETWEEN {2, 3} OR one BETWEEN {2, 0}", false),
    .init("'b' BETWEEN {'a', 'c'} AND 'B' BETWEEN[c] {'a', 'c'}", true),
    // IN and CONTAINS.
    .init("one IN {3, 2, 1.0}", true),
    .init("name IN {'anna'}", false),
    .init("name IN[c] {'anna'}", true),
    .init("'nn' IN name AND name CONTAINS 'nn' AND NOT name CONTAINS 'NN'", true),
    .init("name CONTAINS[c] 'NN' AND 'crème' CONTAINS[d] 'eme'", true),
    .init("name CONTAINS ''", true),
    .init("list CONTAINS 2 AND NOT list CONTAINS 9", true),
    .init("2 IN map AND map CONTAINS 1", true),
    .init("'aab' CONTAINS 'ab' AND 'aaab' CONTAINS 'aab' AND NOT 'aa' CONTAINS 'aab'", true),
    // BEGINSWITH and ENDSWITH.
    .init("name BEGINSWITH 'An' AND NOT name BEGINSWITH 'an' AND name BEGINSWITH[c] 'an'", true),
    .init("name ENDSWITH 'na' AND NOT name ENDSWITH 'xAnna' AND name ENDSWITH[c] 'NA'", true),
    .init("'%_x' BEGINSWITH '%_' AND NOT 'abx' BEGINSWITH '%_'", true),
    // LIKE.
    .init("name LIKE 'A*a' AND name LIKE 'An?a' AND name LIKE '*' AND name LIKE '????'", true),
    .init("name LIKE 'A' OR name LIKE '?????' OR name LIKE 'a*' OR name LIKE '???'", false),
    .init("name LIKE[c] 'a*' AND 'élan' LIKE[d] 'e*'", true),
    .init("'a*b' LIKE 'a\\\\*b' AND NOT 'axb' LIKE 'a\\\\*b'", true),
    .init("'a.b' LIKE 'a.b' AND NOT 'axb' LIKE 'a.b' AND NOT 'a%b' LIKE 'a%'", true),
    .init("'' LIKE '' AND '' LIKE '*' AND NOT '' LIKE '?'", true),
    .init("'aXbXc' LIKE '*X?' AND NOT 'aXbXcd' LIKE '*X?'", true),
    // MATCHES.
    .init("name MATCHES 'A.*' AND NOT name MATCHES 'nn' AND name MATCHES[c] 'ANNA'", true),
    .init("'ab' MATCHES 'a|ab' AND NOT 'abc' MATCHES 'a|ab'", true),
    .init("'Élan' MATCHES[cd] 'e.*'", true),
    .init("'a\\n' MATCHES 'a'", false),
    // Selectors.
    .init("name isEqual: 'Anna' AND name hasPrefix: 'A' AND NOT name hasSuffix: 'x'", true),
  ]

  static func sample() -> Sample {
    Sample([
      "one": NSNumber(value: 1), "half": 0.5, "big": NSNumber(value: 9_007_199_254_740_993),
      "decimal": NSDecimalNumber(string: "0.1"), "yes": true, "no": false,
      "date": Date(timeIntervalSinceReferenceDate: 100), "name": "Anna",
      "composed": "caf\u{E9}", "decomposed": "cafe\u{301}",
      "url": URL(string: "https://example.org/a") as Any,
      "uuid": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") as Any,
      "list": [1, 2, 3], "map": ["a": 1, "b": 2],
    ])
  }

  @Test(arguments: cases)
  func operatorGivesTheDefinedResult(_ row: Case) throws {
    #expect(try holds(row.text, Self.sample()) == row.expected)
  }

  @Test func notANumberIsNull() throws {
    let object = Sample(["x": Double.nan])
    #expect(try holds("x == nil", object))
    #expect(try !holds("x < 1 OR x > 1", object))
  }

  @Test func impossibleComparisonsThrow() {
    let cases: [(String, PredicateEvaluationError.Code)] = [
      ("ANY one == 1", .notACollection), ("one CONTAINS 1", .notACollection),
      ("one LIKE 'x'", .wrongType), ("one BETWEEN {1}", .wrongType),
      ("name MATCHES '('", .badRegularExpression), ("name MATCHES 'a)(b'", .badRegularExpression),
      ("$x == 1", .missingVariable), ("name frobnicate: 1", .unsupportedSelector),
      ("name.foo == 1", .unsupportedKeyPath), ("ANYKEY == 1", .unsupportedKeyPath),
      ("name + 1 == 2", .wrongType),
    ]
    for (format, code) in cases {
      let error = #expect(throws: PredicateEvaluationError.self) {
        try holds(format, Self.sample())
      }
      #expect(error?.code == code, "\(format)")
    }
  }

  @Test func objectsCompareByTheirIDs() throws {
    let a = Sample()
    let b = Sample()
    let owner = Sample(["friend": a, "friends": NSSet(array: [a])])
    #expect(try holds("friend == %@", owner, a))
    #expect(try holds("friend == %@", owner, a.objectID))
    #expect(try holds("friend != %@", owner, b))
    #expect(try holds("SELF == %@", a, a.objectID))
    #expect(try holds("SELF IN %@", a, [b, a]))
    #expect(try holds("friends CONTAINS %@ AND %@ IN friends", owner, a, a.objectID))
    #expect(try holds("ANY friends == %@", owner, a))
    #expect(try holds("objectID == %@", a, a))
    #expect(try holds("entity == %@", a, Sample.entity))
  }

  @Test func equalValuesHashAlike() {
    let groups: [[PredicateValue]] = [
      [
        .integer(1), .double(1), .boolean(true), .decimal(1),
        .date(Date(timeIntervalSinceReferenceDate: 1)),
      ],
      [.string("a:b"), .url(URL(fileURLWithPath: "/")), .string("x")],
      [.decimal(Decimal(string: "0.5") ?? 0), .double(0.5)],
      [.double(0), .double(-0.0), .integer(0), .boolean(false)],
    ]
    for group in groups {
      for a in group {
        for b in group where a == b { #expect(a.hashValue == b.hashValue, "\(a) \(b)") }
      }
    }
    #expect(Set(groups[0]).count == 1)
    #expect(Set(groups[3]).count == 1)
  }
}
