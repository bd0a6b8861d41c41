// Question marks become numbered parameters, wherever they mean parameters.

import CairnModel
import CairnSQL
import Testing

@testable import CairnPostgreSQL

@Suite struct NumberedStatementTests {
  @Test func marksInNamesAndTextsStayWhatTheyAre() throws {
    let statement = try NumberedStatement(
      SQLFragment("\"a?\"\"?\" = ? AND b = 'it''s ?' AND ? > c", [.integer(1), .string("?")]))
    #expect(statement.text == "\"a?\"\"?\" = $1 AND b = 'it''s ?' AND $2 > c")
    #expect(statement.values == [.integer(1), .string("?")])
  }

  @Test func equalValuesShareANumberOnlyWhereTheyShall() throws {
    let fragment = SQLFragment("? ? ? ?", [.integer(1), .double(0), .integer(1), .double(-0.0)])
    #expect(try NumberedStatement(fragment).text == "$1 $2 $3 $4")
    let shared = try NumberedStatement(fragment, sharesParameters: true)
    #expect(shared.text == "$1 $2 $1 $3")
    let spellings = SQLFragment("? ?", [.string("\u{e9}"), .string("e\u{301}")])
    #expect(try NumberedStatement(spellings, sharesParameters: true).text == "$1 $2")
  }
}
