// What the compiler says in PostgreSQL's dialect, without a server: one statement for each kind of condition.

import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnPostgreSQL

/// Whether a statement finds the right rows is what `PredicateParityTests` asks a server.
@Suite struct QueryTextTests {
  /// Author 1, Book 2 with AudioBook 3, Shelf 4.
  private let schema: SQLSchema
  private let dialect: PostgreSQLDialect

  init() throws {
    schema = try LibraryModel.make { entities in
      entities["Book"]?.properties.append(LibraryModel.attribute("pages", .integer32))
    }
    let tables = PostgreSQLSchema(schema, in: try SchemaName("shop"))
    dialect = PostgreSQLDialect(schema: tables, shapes: RowShapes(tables))
  }

  private func plan(
    _ entity: String, _ predicate: String? = nil,
    _ change: (inout StoreFetchRequest) -> Void = { _ in }
  ) throws -> SQLQueryPlan {
    var request = StoreFetchRequest(
      entity: try #require(schema.model.entitiesByName[entity]),
      predicate: try predicate.map { try ObjectPredicate.parse($0) })
    change(&request)
    return try SQLQueryPlan(request, schema: schema, dialect: dialect)
  }

  private static let author = #" FROM "shop"."author" t0"#
  private static let byBytes = #"COLLATE pg_catalog."C""#
  /// The members of an author's books, up to the condition on them.
  private static let books = #"FROM "shop"."book" t1 WHERE t1."author_id" = t0."cairn_id""#

  // MARK: Conditions

  /// Predicates of authors and what comes after WHERE.
  static let conditions: [(String, String)] = [
    ("FALSEPREDICATE", "FALSE"),
    ("firstName == 'Ada'", #"t0."first_name" = ?"#),
    ("firstName != 'Ada'", #"t0."first_name" IS DISTINCT FROM ?"#),
    ("firstName == nil", #"t0."first_name" IS NULL"#),
    ("firstName < 'B'", #"t0."first_name" < ? \#(byBytes)"#),
    ("bookCount >= 3", #"t0."book_count" >= ?"#),
    ("bookCount > 2.5", #"t0."book_count" > ?"#),
    ("bookCount == 2.5", "FALSE"),
    ("fee > 2", #"t0."fee" > ?"#),
    ("active == YES", #"t0."active" = ?"#),
    (
      "rating == weight",
      #"t0."rating" IS NOT DISTINCT FROM t0."weight"::double precision"#
    ),
    ("bookCount BETWEEN {1, 5}", #"(t0."book_count" >= ? AND t0."book_count" <= ?)"#),
    (
      "bookCount > 1 OR firstName == 'Ada'",
      #"(t0."book_count" > ? OR t0."first_name" = ?)"#
    ),
    ("NOT (firstName == 'Ada')", #"(t0."first_name" = ?) IS NOT TRUE"#),
    ("firstName IN {'Ada', 'Bob', 'Cyd'}", #"t0."first_name" = ANY (?::text[])"#),
    (
      "bookCount IN {1, nil}",
      #"(t0."book_count" IS NULL OR t0."book_count" = ANY (?::bigint[]))"#
    ),
    (
      "firstName BEGINSWITH 'Ad'",
      #"(t0."first_name" >= ? \#(byBytes) AND t0."first_name" < ? \#(byBytes))"#
    ),
    ("firstName ENDSWITH 'a'", #"right(t0."first_name", char_length(?)) = ?"#),
    ("firstName CONTAINS 'd'", #"strpos(t0."first_name", ?) > 0"#),
    (
      "firstName LIKE 'A*'",
      #"((t0."first_name" >= ? \#(byBytes) AND t0."first_name" < ? \#(byBytes)) "#
        + #"AND t0."first_name" ~ ?)"#
    ),
    ("ANY books.title == 'Emma'", #"EXISTS (SELECT 1 \#(books) AND (t1."title" = ?))"#),
    (
      "ALL books.pages > 100",
      #"NOT EXISTS (SELECT 1 \#(books) AND ((t1."pages" > ?) IS NOT TRUE))"#
    ),
    ("books.@count > 2", "(SELECT COUNT(*) \(books)) > ?"),
    (
      "books.@sum.pages > 2",
      #"(SELECT CASE WHEN COUNT(t1."pages") = 0 THEN 0 ELSE SUM(t1."pages")::bigint END "#
        + "\(books)) > ?"
    ),
    (
      "SUBQUERY(books, $b, $b.pages > 100).@count > 1",
      #"(SELECT COUNT(*) \#(books) AND (t1."pages" > ?)) > ?"#
    ),
  ]

  @Test(arguments: conditions)
  func aPredicateBecomesOneCondition(_ predicate: String, _ sql: String) throws {
    let plan = try plan("Author", predicate)
    #expect(plan.body.sql == "\(Self.author) WHERE \(sql)")
    #expect(plan.remainder == nil)
  }

  private static let notASCII =
    #" OR octet_length(t0."first_name") <> char_length(t0."first_name"))"#
  private static let folded = #"lower(t0."first_name" \#(byBytes))"#

  /// Predicates of which the server is asked for more rows than they mean; memory tests what it finds.
  static let coarse: [(String, String)] = [
    ("firstName CONTAINS[cd] 'é'", " WHERE (strpos(\(folded), ?) > 0\(notASCII)"),
    ("firstName ==[cd] 'É'", " WHERE (\(folded) = ? \(byBytes)\(notASCII)"),
    ("firstName MATCHES 'A.*'", #" WHERE t0."first_name" IS NOT NULL"#),
    ("fee >= 1.5", #" WHERE t0."fee" >= ?"#),
    ("uppercase:(firstName) == 'ADA'", ""),
  ]

  @Test(arguments: coarse)
  func whatTheServerWouldAnswerOtherwiseIsLeftToMemory(_ predicate: String, _ sql: String) throws {
    let plan = try plan("Author", predicate)
    #expect(plan.body.sql == Self.author + sql)
    #expect(plan.remainder != nil && plan.limitsInMemory)
  }

  @Test func aListIsOneParameter() throws {
    let names = try plan("Author", "firstName IN {'Ada', 'a \"b\"'}")
    #expect(names.body.bindings == [.string(#"{"Ada","a \"b\""}"#)])
    #expect(try plan("Author", "bookCount IN {1, 2}").body.bindings == [.string("{1,2}")])
  }

  /// The time decides by its index, and the exact seconds where it was rounded.
  @Test func aDateIsTwoColumns() throws {
    let date = Date(timeIntervalSinceReferenceDate: 100.5)
    let plan = try plan("Author") { $0.predicate = ObjectPredicate(format: "born >= %@", date) }
    let condition =
      #"(t0."born" >= ? AND (t0."born" > ? OR t0."born_exact" IS NULL "#
      + #"OR t0."born_exact" >= ? OR t0."born_exact" < ?))"#
    #expect(plan.body.sql == "\(Self.author) WHERE \(condition)")
    #expect(plan.body.bindings.prefix(3) == [.date(date), .date(date), .double(100.5)])
  }

  @Test func keyPathsJoin() throws {
    let book = #" FROM "shop"."book" t0"#
    #expect(
      try plan("Book", "author.firstName == 'Ada'").body.sql == book
        + #" LEFT JOIN "shop"."author" t1 ON t1."cairn_id" = t0."author_id""#
        + #" WHERE t1."first_name" = ?"#)
    #expect(
      try plan("Book", "ANY tags.place == 'north'").body.sql == book
        + #" WHERE EXISTS (SELECT 1 FROM "shop"."book_tags" t2 JOIN "shop"."shelf" t1"#
        + #" ON t1."cairn_id" = t2."shelf_id" WHERE t2."book_id" = t0."cairn_id""#
        + #" AND (t1."place" = ?))"#)
    #expect(
      try plan("AudioBook", "minutes > 60").body.sql == book
        + #" WHERE t0."cairn_entity" = 3 AND t0."minutes" > ?"#)
  }

  // MARK: Order, limit and what is selected

  @Test func orderAndLimit() throws {
    let plan = try plan("Author", "bookCount > 1") {
      $0.sortDescriptors = [ObjectSortDescriptor(key: "firstName", ascending: false)]
      ($0.limit, $0.offset) = (10, 20)
    }
    let (rows, limit) = (
      #"\#(Self.author) WHERE t0."book_count" > ?"#, " LIMIT NULLIF(?, -1) OFFSET ?"
    )
    #expect(plan.ordering.map(\.sql) == [#"t0."first_name" DESC NULLS LAST"#, #"t0."cairn_id""#])
    #expect(
      plan.keys().sql == #"SELECT 1, t0."cairn_id""# + rows
        + #" ORDER BY t0."first_name" DESC NULLS LAST, t0."cairn_id""# + limit)
    #expect(plan.keys().bindings == [.integer(1), .integer(10), .integer(20)])
    #expect(plan.count().sql == "SELECT COUNT(*) FROM (SELECT 1\(rows)\(limit)) AS found")
  }

  @Test func rowsAreInTheOrderOfTheirKeysWhereNothingElseIsAsked() throws {
    #expect(try plan("Author").ordering.map(\.sql) == [#"t0."cairn_id""#])
  }

  @Test func dictionariesAreColumnsWithGroups() throws {
    typealias Column = StoreFetchRequest.DictionaryColumns.Column
    let name = ObjectExpression(forKeyPath: "author.firstName")
    let having = try ObjectPredicate.parse("total > 100")
    let plan = try plan("Book") {
      $0.result = .dictionaries(
        .init(
          columns: [
            Column(key: "name", expression: name, type: .undefined),
            Column(
              key: "total", expression: ObjectExpression(format: "sum:(pages)"), type: .undefined),
          ], groupBy: [name], having: having))
    }
    let columns = try #require(plan.dictionary)
    #expect(columns.select.sql == #"SELECT t1."first_name", SUM(t0."pages")::bigint"#)
    #expect(columns.groupBy.map(\.sql) == [#"t1."first_name""#])
    #expect(columns.having?.sql == #"SUM(t0."pages")::bigint > ?"#)
  }
}
