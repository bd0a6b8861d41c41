import CairnPredicates
import Foundation
import Testing

/// Chapter 24.2: format arguments, in C lists, in arrays, and the percent sign.
@Suite struct VariadicArgumentTests {
  @Test func aCArgumentListIsReadByItsDirectives() {
    let predicate = withVaList([-5 as Int32, Int64.min, UInt64.max, 2.5, 65 as Int32]) {
      ObjectPredicate(
        format: "a > %d AND b < %lld AND c == %llu AND d == %f AND e == %c", arguments: $0)
    }
    #expect(
      predicate
        == ObjectPredicate(
          format: "a > -5 AND b < %@ AND c == 18446744073709551615 AND d == 2.5 AND e == 'A'",
          NSNumber(value: Int64.min)))
  }

  @Test func objectsAndTextsInACArgumentListAreTheirAddresses() {
    let key = NSString(string: "person.name")
    let value = NSArray(array: [1, 2])
    let predicate = withExtendedLifetime((key, value)) {
      "text".withCString { text in
        withVaList([
          Int(bitPattern: Unmanaged.passUnretained(key).toOpaque()),
          Int(bitPattern: Unmanaged.passUnretained(value).toOpaque()), Int(bitPattern: text),
        ]) { ObjectPredicate(format: "%K IN %@ OR x == %s", arguments: $0) }
      }
    }
    #expect(predicate.predicateFormat == "person.name IN {1, 2} OR x == \"text\"")
    let expression = withVaList([7]) { ObjectExpression(format: "a + %ld", arguments: $0) }
    #expect(expression.description == "a + 7")
  }

  @Test func everyIntegerAndDoubleDirectiveTakesANumber() throws {
    for directive in [
      "%d", "%i", "%u", "%ld", "%lu", "%lld", "%llu", "%hi", "%hu", "%qi", "%qu", "%zd", "%zu",
      "%x", "%X", "%o", "%D", "%U", "%f", "%lf", "%g", "%e", "%F", "%E", "%G",
    ] {
      let predicate = try ObjectPredicate.parse("a == \(directive)", arguments: [42])
      #expect(try predicate.test(["a": 42]), "\(directive)")
    }
  }

  @Test func aDoubledPercentSignIsTheRemainder() throws {
    let predicate = ObjectPredicate(format: "a %% 2 == 1")
    #expect(try predicate.test(["a": 7]))
    #expect(try !predicate.test(["a": 8]))
    #expect(predicate.predicateFormat == "modulus:by:(a, 2) == 1")
    #expect(try ObjectPredicate.parse(predicate.predicateFormat) == predicate)
  }

  @Test func predicatesAndExpressionsCanBeArguments() {
    let inner = ObjectPredicate(format: "$x.a > 1")
    let list = ObjectExpression(forKeyPath: "items")
    let predicate = ObjectPredicate(
      format: "SUBQUERY(%@, $x, %@).@count > 0 AND %@", list, inner, ObjectPredicate(value: true))
    #expect(
      predicate.predicateFormat == "SUBQUERY(items, $x, $x.a > 1).@count > 0 AND TRUEPREDICATE")
  }

  @Test func substitutionKeepsTheClass() {
    let comparison = ComparisonPredicate(
      leftExpression: ObjectExpression(forKeyPath: "a"),
      rightExpression: ObjectExpression(forVariable: "v"), modifier: .direct, type: .equalTo)
    let replaced: ComparisonPredicate = comparison.withSubstitutionVariables(["v": 3])
    #expect(replaced.predicateFormat == "a == 3")
  }

  @Test func compoundsGiveTheirMembersBack() {
    let first = ObjectPredicate(format: "a == 1")
    let compound = CompoundPredicate(orPredicateWithSubpredicates: [first])
    #expect(compound.subpredicates.first as? ObjectPredicate === first)
  }

  // MARK: Costs

  // A search of the list would compare a thousand million values.
  @Test(.timeLimit(.minutes(10))) func longListsAreLookedUpAndNotSearched() throws {
    let numbers = (0..<100_000).map { $0 * 2 }
    let predicate = ObjectPredicate(format: "n IN %@", numbers)
    for number in 0..<20_000 {
      let isMember = try predicate.test(["n": number])
      if isMember != (number % 2 == 0) { Issue.record("\(number)") }
    }
    let words = ObjectPredicate(format: "n IN[cd] %@", numbers.map { "É\($0)" })
    #expect(try words.test(["n": "e4"]))
    #expect(try !words.test(["n": "e5"]))
  }

  @Test(.timeLimit(.minutes(10))) func longTextsParsePrintAndCompareInProportion() throws {
    let list = (0..<50_000).map { "\($0)" }.joined(separator: ", ")
    let terms = (0..<20_000).map { "k\($0) == 'v\($0)'" }.joined(separator: " OR ")
    let path = Array(repeating: "a", count: 20_000).joined(separator: ".")
    for text in ["n IN {\(list)}", terms, "\(path) == 1"] {
      let predicate = try ObjectPredicate.parse(text)
      let again = try ObjectPredicate.parse(predicate.predicateFormat)
      #expect(again == predicate)
    }
  }
}
