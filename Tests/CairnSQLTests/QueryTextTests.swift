// What the compiler says in SQLite's dialect, without a database: one statement for each kind of condition.

import CairnModel
import CairnPredicates
import CairnStore
import TestSupport
import Testing

@testable import CairnSQL

/// Whether a statement finds the right rows is what `PredicateTests` of the SQLite store asks.
@Suite struct QueryTextTests {
  /// A predicate and what comes after FROM.
  struct Condition: Sendable, CustomTestStringConvertible {
    let entity: String
    let predicate: String
    let sql: String
    let bindings: [AttributeValue]

    init(_ entity: String, _ predicate: String, _ sql: String, _ bindings: [AttributeValue] = []) {
      (self.entity, self.predicate) = (entity, predicate)
      (self.sql, self.bindings) = (sql, bindings)
    }

    var testDescription: String { "\(entity): \(predicate)" }
  }

  /// Author 1, Book 2 with AudioBook 3, Shelf 4.
  private let schema: SQLSchema

  init() throws {
    schema = SQLSchema(
      model: try LibraryModel.model { entities in
        entities["Book"]?.properties.append(LibraryModel.attribute("pages", .integer32))
      })
  }

  private func request(_ entity: String, _ predicate: String? = nil) throws -> StoreFetchRequest {
    StoreFetchRequest(
      entity: try #require(schema.model.entitiesByName[entity]),
      predicate: try predicate.map { try ObjectPredicate.parse($0) })
  }

  private func sorted(_ entity: String, _ sort: ObjectSortDescriptor...) throws -> SQLQueryPlan {
    var request = try request(entity)
    request.sortDescriptors = sort
    return try SQLQueryPlan(request, schema: schema)
  }

  // MARK: Conditions

  private static let author = "ZAUTHOR t0 WHERE "

  static let comparisons = [
    Condition("Author", "TRUEPREDICATE", "ZAUTHOR t0"),
    Condition("Author", "FALSEPREDICATE", author + "0"),
    Condition("Author", "firstName == 'Ada'", author + "t0.ZFIRSTNAME = ?", [.string("Ada")]),
    Condition("Author", "firstName != 'Ada'", author + "t0.ZFIRSTNAME IS NOT ?", [.string("Ada")]),
    Condition("Author", "firstName == nil", author + "t0.ZFIRSTNAME IS NULL"),
    Condition("Author", "firstName != nil", author + "t0.ZFIRSTNAME IS NOT NULL"),
    Condition("Author", "bookCount < 3", author + "t0.ZBOOKCOUNT < ?", [.integer(3)]),
    Condition("Author", "bookCount >= 3", author + "t0.ZBOOKCOUNT >= ?", [.integer(3)]),
    Condition("Author", "3 > bookCount", author + "t0.ZBOOKCOUNT < ?", [.integer(3)]),
    Condition("Author", "rating == weight", author + "t0.ZRATING IS t0.ZWEIGHT"),
    Condition("Author", "active == YES", author + "t0.ZACTIVE = ?", [.boolean(true)]),
    Condition("Author", "bookCount > nil", author + "0"),
    Condition(
      "Author", "bookCount + 1 > 3", author + "(t0.ZBOOKCOUNT + ?) > ?", [.integer(1), .integer(3)]),
    Condition(
      "Author", "bookCount BETWEEN {1, 5}", author + "(t0.ZBOOKCOUNT >= ? AND t0.ZBOOKCOUNT <= ?)",
      [.integer(1), .integer(5)]),
  ]

  static let compounds = [
    Condition(
      "Author", "bookCount > 1 AND firstName == 'Ada'",
      author + "t0.ZBOOKCOUNT > ? AND t0.ZFIRSTNAME = ?", [.integer(1), .string("Ada")]),
    Condition(
      "Author", "bookCount > 1 OR firstName == 'Ada'",
      author + "(t0.ZBOOKCOUNT > ? OR t0.ZFIRSTNAME = ?)", [.integer(1), .string("Ada")]),
    Condition(
      "Author", "NOT (firstName == 'Ada')", author + "NOT IFNULL(t0.ZFIRSTNAME = ?, 0)",
      [.string("Ada")]),
  ]

  static let lists = [
    Condition(
      "Author", "firstName IN {'Ada', 'Bob', 'Cyd'}", author + "t0.ZFIRSTNAME IN (?, ?, ?, ?)",
      [.string("Ada"), .string("Bob"), .string("Cyd"), .string("Cyd")]),
    Condition(
      "Author", "bookCount IN {1, 2, 3, 4, 5}",
      author + "t0.ZBOOKCOUNT IN (SELECT value FROM json_each(?))", [.string("[1,2,3,4,5]")]),
    Condition(
      "Author", "bookCount IN {1, nil}", author + "(t0.ZBOOKCOUNT IS NULL OR t0.ZBOOKCOUNT IN (?))",
      [.integer(1)]),
  ]

  static let texts = [
    Condition(
      "Author", "firstName BEGINSWITH 'Ad'",
      author
        + "(t0.ZFIRSTNAME >= ? AND t0.ZFIRSTNAME < ? AND CairnCompare(t0.ZFIRSTNAME, 8, ?, 0))",
      [.string("Ad"), .string("Ae"), .string("Ad")]),
    Condition(
      "Author", "firstName BEGINSWITH[c] 'Ad'",
      author + "CairnCompare(t0.ZFIRSTNAME, 8, ?, 1)", [.string("Ad")]),
    Condition(
      "Author", "firstName ENDSWITH 'a'", author + "CairnCompare(t0.ZFIRSTNAME, 9, ?, 0)",
      [.string("a")]),
    Condition(
      "Author", "firstName CONTAINS[cd] 'é'", author + "CairnCompare(t0.ZFIRSTNAME, 99, ?, 3)",
      [.string("é")]),
    Condition(
      "Author", "firstName LIKE 'A*'", author + "CairnCompare(t0.ZFIRSTNAME, 7, ?, 0)",
      [.string("A*")]),
    Condition(
      "Author", "firstName MATCHES '.*'", author + "CairnCompare(t0.ZFIRSTNAME, 6, ?, 0)",
      [.string(".*")]),
    Condition(
      "Author", "firstName ==[cd] 'É'", author + "CairnFold(t0.ZFIRSTNAME, 3) = ?", [.string("e")]),
    Condition(
      "Author", "firstName IN[c] {'ADA', 'BOB'}",
      author + "CairnFold(t0.ZFIRSTNAME, 1) IN (?, ?)", [.string("ada"), .string("bob")]),
    Condition(
      "Author", "uppercase:(firstName) == 'ADA'",
      author + "CairnCall('uppercase:', t0.ZFIRSTNAME) = ?", [.string("ADA")]),
  ]

  static let keyPaths = [
    Condition(
      "Book", "author.firstName == 'Ada'",
      "ZBOOK t0 LEFT JOIN ZAUTHOR t1 ON t1.Z_PK = t0.ZAUTHOR WHERE t1.ZFIRSTNAME = ?",
      [.string("Ada")]),
    Condition(
      "Book", "author.firstName == 'Ada' AND author.rating > 3",
      "ZBOOK t0 LEFT JOIN ZAUTHOR t1 ON t1.Z_PK = t0.ZAUTHOR "
        + "WHERE t1.ZFIRSTNAME = ? AND t1.ZRATING > ?", [.string("Ada"), .integer(3)]),
    Condition("Book", "author == nil", "ZBOOK t0 WHERE t0.ZAUTHOR IS NULL"),
    Condition(
      "AudioBook", "minutes > 60", "ZBOOK t0 WHERE t0.Z_ENT = 3 AND t0.ZMINUTES > ?", [.integer(60)]
    ),
    Condition(
      "Author", "ANY books.title == 'Emma'",
      author
        + "EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND (t1.ZTITLE = ?))",
      [.string("Emma")]),
    Condition(
      "Author", "ALL books.pages > 100",
      author
        + "NOT EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK "
        + "AND (NOT IFNULL(t1.ZPAGES > ?, 0)))", [.integer(100)]),
    Condition(
      "Author", "NONE books.pages > 100",
      author
        + "NOT IFNULL(EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK "
        + "AND (t1.ZPAGES > ?)), 0)", [.integer(100)]),
    Condition(
      "Author", "ANY books.shelf.place == 'north'",
      author
        + "EXISTS (SELECT 1 FROM ZBOOK t1 LEFT JOIN ZSHELF t2 ON t2.Z_PK = t1.ZSHELF "
        + "WHERE t1.ZAUTHOR = t0.Z_PK AND (t2.ZPLACE = ?))", [.string("north")]),
    Condition(
      "Book", "ANY tags.place == 'north'",
      "ZBOOK t0 WHERE EXISTS (SELECT 1 FROM Z_2TAGS t2 JOIN ZSHELF t1 ON t1.Z_PK = t2.Z_4TAGS "
        + "WHERE t2.Z_2TAGGED = t0.Z_PK AND (t1.ZPLACE = ?))", [.string("north")]),
  ]

  static let aggregates = [
    Condition(
      "Author", "books.@count > 2",
      author + "(SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?", [.integer(2)]),
    Condition(
      "Author", "books.@sum.pages > 2",
      author + "(SELECT CairnSum(t1.ZPAGES) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?",
      [.integer(2)]),
    Condition(
      "Author", "books.@avg.pages > 2",
      author + "(SELECT CairnAverage(t1.ZPAGES) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?",
      [.integer(2)]),
    Condition(
      "Author", "books.@min.title == 'A'",
      author + "(SELECT MIN(t1.ZTITLE) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) = ?",
      [.string("A")]),
    Condition(
      "Author", "SUBQUERY(books, $b, $b.pages > 100 AND $b.title != nil).@count > 1",
      author
        + "(SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK "
        + "AND ((t1.ZPAGES > ? AND t1.ZTITLE IS NOT NULL))) > ?", [.integer(100), .integer(1)]),
  ]

  @Test(arguments: comparisons + compounds + lists + texts + keyPaths + aggregates)
  func aPredicateBecomesOneCondition(_ condition: Condition) throws {
    let plan = try SQLQueryPlan(request(condition.entity, condition.predicate), schema: schema)
    #expect(plan.body.sql == " FROM " + condition.sql)
    #expect(plan.body.bindings == condition.bindings)
    #expect(plan.remainder == nil && plan.memorySort.isEmpty)
  }

  @Test func whatSQLCannotSayIsLeftToMemoryAndTheRestIsNot() throws {
    let plan = try SQLQueryPlan(
      request("Author", "fee + 1 > 2 AND firstName == 'Ada'"), schema: schema)
    #expect(plan.body.sql == " FROM ZAUTHOR t0 WHERE t0.ZFIRSTNAME = ?")
    #expect(plan.remainder?.predicateFormat == "fee + 1 > 2")
    #expect(plan.limitsInMemory)
  }

  @Test func aKeyPathThatLeadsNowhereIsAnError() throws {
    let error = #expect(throws: CoreDataError.self) {
      try SQLQueryPlan(request("Author", "nothing == 1"), schema: schema)
    }
    #expect(error?.message == "keypath nothing not found in entity Author")
  }

  // MARK: Order, limit and what is selected

  @Test func sortKeysBecomeTermsOfTheOrder() throws {
    let ascending = ObjectSortDescriptor(key: "firstName", ascending: true)
    let folded = ObjectSortDescriptor(
      key: "firstName", ascending: false, selector: .caseInsensitiveCompare)
    #expect(
      try sorted("Author", folded, ascending).ordering.map(\.sql) == [
        "t0.ZFIRSTNAME COLLATE CairnCaseInsensitive DESC", "t0.ZFIRSTNAME ASC", "t0.Z_PK",
      ])
    let path = try sorted("Book", ObjectSortDescriptor(key: "author.firstName", ascending: true))
    #expect(path.ordering.map(\.sql) == ["t1.ZFIRSTNAME ASC", "t0.Z_PK"])
    #expect(path.body.sql == " FROM ZBOOK t0 LEFT JOIN ZAUTHOR t1 ON t1.Z_PK = t0.ZAUTHOR")
    let count = try sorted("Author", ObjectSortDescriptor(key: "books.@count", ascending: false))
    #expect(
      count.ordering.map(\.sql) == [
        "(SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) DESC", "t0.Z_PK",
      ])
  }

  @Test func limitAndOffsetAreParameters() throws {
    var request = try request("Author", "bookCount > 1")
    let all = try SQLQueryPlan(request, schema: schema)
    #expect(all.count().sql == "SELECT COUNT(*) FROM ZAUTHOR t0 WHERE t0.ZBOOKCOUNT > ?")
    #expect(all.keys().sql == "SELECT 1, t0.Z_PK FROM ZAUTHOR t0 WHERE t0.ZBOOKCOUNT > ?")
    (request.limit, request.offset) = (10, 20)
    let plan = try SQLQueryPlan(request, schema: schema)
    #expect(plan.rows().sql.hasSuffix(" FROM ZAUTHOR t0 WHERE t0.ZBOOKCOUNT > ? LIMIT ? OFFSET ?"))
    #expect(plan.rows().bindings == [.integer(1), .integer(10), .integer(20)])
    #expect(
      plan.count().sql == "SELECT COUNT(*) FROM "
        + "(SELECT 1 FROM ZAUTHOR t0 WHERE t0.ZBOOKCOUNT > ? LIMIT ? OFFSET ?)")
    request.limit = 0
    #expect(
      try SQLQueryPlan(request, schema: schema).rows().bindings == [
        .integer(1), .integer(-1), .integer(20),
      ])
  }

  @Test func dictionariesAreColumnsWithGroups() throws {
    typealias Column = StoreFetchRequest.DictionaryColumns.Column
    let name = ObjectExpression(forKeyPath: "author.firstName")
    var request = try request("Book")
    request.result = .dictionaries(
      .init(
        columns: [
          Column(key: "name", expression: name, type: .undefined),
          Column(
            key: "total", expression: ObjectExpression(format: "sum:(pages)"), type: .undefined),
        ], groupBy: [name], having: try ObjectPredicate.parse("total > 100")))
    let plan = try SQLQueryPlan(request, schema: schema)
    let columns = try #require(plan.dictionary)
    #expect(columns.select.sql == "SELECT t1.ZFIRSTNAME, CairnTotal(t0.ZPAGES)")
    #expect(columns.groupBy.map(\.sql) == ["t1.ZFIRSTNAME"])
    #expect(columns.having?.sql == "CairnTotal(t0.ZPAGES) > ?")
    #expect(columns.columns.map(\.type) == [.string, .integer64])
  }
}
