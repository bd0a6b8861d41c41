// Statements alone, many at once, and rows in bulk.

import CairnStore
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct StatementTests {
  let server: PostgreSQLServer
  let connection: PostgreSQLConnection
  /// A schema of the test's own.
  let schema: String

  init() throws {
    server = try PostgreSQLServer.shared
    connection = try server.connect()
    schema = server.newName()
    try connection.run("CREATE SCHEMA \(schema)", isKept: false)
    try connection.run(
      "CREATE TABLE \(schema).line (id bigint PRIMARY KEY, text text)", isKept: false)
  }

  private func insertion(_ number: Int64, _ text: String) -> Statement {
    var parameters = ParameterList()
    parameters.append(number)
    parameters.append(text)
    return Statement("INSERT INTO \(schema).line VALUES ($1, $2)", parameters)
  }

  private func count() throws -> Int64? {
    try connection.run("SELECT count(*) FROM \(schema).line").integer(0, 0)
  }

  @Test func whatAServerLeavesOutOfItsAnswerIsNull() throws {
    let rows = try connection.run("SELECT 1::bigint WHERE false")
    for (row, column) in [(0, 0), (0, 1), (-1, 0), (0, -1)] {
      #expect(rows.integer(row, column) == nil && rows.data(row, column) == nil)
    }
  }

  @Test func valuesComeBackAsTheyWent() throws {
    for text in ["", "plain", "'; DROP TABLE line; --", "\\ \" \u{2019} \u{1F332}", "e\u{301}"] {
      var parameters = ParameterList()
      parameters.append(Int64.min)
      parameters.append(text)
      parameters.append(true)
      parameters.append(data: [0, 255, 92])
      parameters.appendNull(.text)
      let rows = try connection.run("SELECT $1, $2, $3, $4, $5", parameters)
      #expect(rows.count == 1 && rows.columnCount == 5)
      #expect(rows.integer(0, 0) == .min && rows.flag(0, 2) == true)
      #expect(rows.text(0, 1).map { Array($0.utf8) } == Array(text.utf8))
      #expect(rows.data(0, 3) == Data([0, 255, 92]) && rows.text(0, 4) == nil)
    }
  }

  @Test func numbersOfTypesAreTheServersOwn() throws {
    for type in PostgreSQLType.allCases {
      let rows = try connection.run(
        "SELECT oid::bigint, typarray::bigint FROM pg_type WHERE oid = '\(type.name)'::regtype",
        isKept: false)
      #expect(rows.integer(0, 0) == Int64(type.number), "\(type)")
      #expect(rows.integer(0, 1) == Int64(type.arrayNumber), "\(type)")
    }
  }

  @Test func aTextIsPreparedOnceAndTheLongestUnusedAreDropped() throws {
    func prepared() throws -> Int64? {
      try connection.run("SELECT count(*) FROM pg_prepared_statements", isKept: false).integer(0, 0)
    }
    let before = try #require(try prepared())
    for _ in 0..<5 { try connection.run("SELECT 1") }
    #expect(try prepared() == before + 1)
    for number in 0..<(StatementCache.limit + 10) { try connection.run("SELECT \(number)::bigint") }
    #expect(try #require(try prepared()) <= StatementCache.limit)
    // One that was dropped is prepared anew.
    #expect(try connection.run("SELECT 0::bigint").integer(0, 0) == 0)
  }

  @Test func aTextWithValuesOfAnotherTypeIsAnotherStatement() throws {
    for _ in 0..<2 {
      var (number, text) = (ParameterList(), ParameterList())
      number.append(Int64(7))
      text.append("seven")
      #expect(try connection.run("SELECT $1", number).integer(0, 0) == 7)
      #expect(try connection.run([Statement("SELECT $1", text)]).first?.text(0, 0) == "seven")
    }
  }

  @Test func aStatementWhoseTableChangedWorksAgain() throws {
    let text = "SELECT * FROM \(schema).line"
    try connection.run(text)
    try connection.run("ALTER TABLE \(schema).line ADD extra bigint", isKept: false)
    let failure = #expect(throws: PostgreSQLFailure.self) { try connection.run(text) }
    #expect(failure?.state == .changedPlan)
    #expect(try connection.run(text).columnCount == 3)
  }

  @Test func aBatchIsOneTransactionAndGivesEachResult() throws {
    let results = try connection.run(
      (1...500).map { insertion($0, "line \($0)") } + [
        Statement("SELECT count(*) FROM \(schema).line")
      ])
    #expect(results.count == 501 && results.last?.integer(0, 0) == 500)
    #expect(results[3].affectedRows == 1)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try connection.run([insertion(600, "new"), insertion(7, "taken"), insertion(601, "new")])
    }
    #expect(failure?.state == .uniqueViolation && failure?.table == "line")
    #expect(failure?.constraint == "line_pkey")
    #expect(try count() == 500, "none of a batch that failed")
    #expect(try connection.run([insertion(600, "new")]).count == 1, "the connection goes on")
  }

  @Test func aBatchThatFailsWhereItPreparesGoesOnAfterwards() throws {
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try connection.run([insertion(1, "a"), Statement("SELECT nowhere"), insertion(2, "b")])
    }
    #expect(failure?.state == .unknownColumn)
    #expect(try count() == 0)
    #expect(try connection.run([insertion(1, "a"), insertion(2, "b")]).count == 2)
  }

  /// Both sides would wait for the other where one only sends.
  @Test func muchMayGoBothWaysAtOnce() throws {
    let long = String(repeating: "x", count: 20_000)
    var parameters = ParameterList()
    parameters.append(long)
    let batch = Statement("SELECT $1 || $1 || $1", parameters)
    let results = try connection.run([Statement](repeating: batch, count: 300))
    #expect(results.count == 300)
    #expect(results.allSatisfy { $0.text(0, 0)?.utf8.count == 60_000 })
  }

  @Test func rowsAreCopied() throws {
    let copied = try connection.copy("COPY \(schema).line FROM STDIN", columnCount: 2) { rows in
      for number in Int64(0)..<20_000 {
        try rows.row { row in
          row.append(number)
          row.append(number % 7 == 0 ? nil : "line \(number)")
        }
      }
    }
    #expect(copied == 20_000)
    let rows = try connection.run(
      "SELECT count(*), count(text), max(id) FROM \(schema).line")
    #expect(rows.integer(0, 0) == 20_000 && rows.integer(0, 1) == 17_142)
    #expect(rows.integer(0, 2) == 19_999)
  }

  @Test func aCopyThatFailsLeavesNoRow() throws {
    struct GaveUp: Error {}
    #expect(throws: GaveUp.self) {
      try connection.copy("COPY \(schema).line FROM STDIN", columnCount: 2) { rows in
        for number in Int64(0)..<5_000 {
          try rows.row { row in
            row.append(number)
            row.append("x")
          }
        }
        throw GaveUp()
      }
    }
    #expect(try count() == 0)
    let failure = #expect(throws: PostgreSQLFailure.self) {
      try connection.copy("COPY \(schema).line FROM STDIN", columnCount: 2) { rows in
        for _ in 0..<5_000 {
          try rows.row { row in
            row.append(1)
            row.append("twice")
          }
        }
      }
    }
    #expect(failure?.state == .uniqueViolation)
    #expect(try count() == 0)
  }

  @Test func aFailureNamesTheConstraintAndNoValue() throws {
    try connection.run([insertion(1, "a")])
    let failure = try #require(
      #expect(throws: PostgreSQLFailure.self) {
        try connection.run([insertion(1, "canary-77")])
      })
    let error = failure.error("save to", connection.place)
    #expect(error.code == .managedObjectConstraintMerge)
    #expect(error.message.contains("line_pkey") && error.message.contains("save to"))
    #expect(!"\(error)".contains("canary-77"))
  }
}
