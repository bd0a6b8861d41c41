// Names of a model as names that people write in SQL.

import CairnModel
import CairnSQL
import CairnStore
import TestSupport
import Testing

@testable import CairnPostgreSQL

@Suite struct SchemaNameTests {
  @Test(arguments: [
    ("firstName", "first_name"), ("Author", "author"), ("AudioBook", "audio_book"),
    ("URLString", "url_string"), ("homepageURL", "homepage_url"), ("ISBN13", "isbn13"),
    ("isHTMLPage", "is_html_page"), ("address.city", "address_city"), ("first_name", "first_name"),
    ("x", "x"), ("Größe", "größe"), ("e\u{301}tat", "\u{e9}tat"),
    ("a\"; DROP TABLE b", "a_drop_table_b"),
    ("", "unnamed"), ("--", "unnamed"), ("2nd", "2nd"),
  ])
  func aNameIsReadable(_ name: String, _ expected: String) {
    #expect(ReadableName.of(name) == expected)
  }

  @Test func namesAreUniqueAndNoLongerThanTheServerKeeps() {
    let long = String(repeating: "very_long_name_", count: 6)
    var names = NameAllocator(taken: ["xmin"])
    let given = [
      "name", "name", "name", "xmin", long + "a", long + "b", long + "a",
      String(repeating: "\u{e9}", count: 40), String(repeating: "\u{1F332}", count: 20),
    ].map { names.unique($0) }
    #expect(Set(given).count == given.count)
    #expect(given.allSatisfy { $0.utf8.count <= 63 })
    #expect(given[0...3] == ["name", "name_2", "name_3", "xmin_2"])
    #expect(given[4].hasPrefix("very_long_name_") && given[4] != given[5])
    var again = NameAllocator()
    #expect(again.unique(long + "a") == given[4], "the same in every process")
  }

  @Test func aSchemaHasANameThatTheServerTakes() throws {
    for name in ["inventory", "we\"ird; --", "Größe", String(repeating: "x", count: 63)] {
      #expect(try SchemaName(name).text == name)
    }
    for name in [
      "", "pg_store", "PG_x", "information_schema", "a\0b", String(repeating: "x", count: 64),
    ] {
      let error = #expect(throws: CoreDataError.self) { try SchemaName(name) }
      #expect(error?.code == .persistentStoreOpen)
    }
  }

  @Test func quotingEndsNoNameAndNoText() {
    #expect(SQLText.name("a\"b\0c") == "\"a\"\"bc\"")
    #expect(SQLText.literal("it's \\ \"so\"") == "'it''s \\ \"so\"'")
  }
}

@Suite struct PostgreSQLSchemaTests {
  private func columns(_ table: String, _ schema: PostgreSQLSchema) throws -> [String] {
    try #require(schema.tables.first { $0.name == table }).columns.map(\.name)
  }

  @Test func tablesAndColumnsHaveTheNamesThatPeopleExpect() throws {
    let schema = PostgreSQLSchema(try LibraryModel.make(), in: try SchemaName("library"))
    #expect(schema.tables.map(\.name) == ["author", "book", "shelf", "book_tags"])
    #expect(
      try columns("author", schema) == [
        "cairn_id", "cairn_entity", "cairn_version", "active", "book_count", "born", "born_exact",
        "fee", "first_name", "homepage_url", "id", "portrait", "rating", "weight",
        "favourite_book_id", "favourite_book_entity",
      ])
    #expect(
      try columns("book", schema) == [
        "cairn_id", "cairn_entity", "cairn_version", "isbn13", "title", "minutes", "author_id",
        "shelf_id", "author_wishes_id", "shelf_row_position",
      ])
    #expect(try columns("book_tags", schema) == ["book_id", "shelf_id", "tags_position"])
    // Every column of the structure has its name.
    for table in schema.sql.tables {
      let names = try #require(schema.table(sqlName: table.name))
      #expect(table.columns.allSatisfy { names.column(sqlName: $0.name) != nil })
    }
  }

  @Test func referencesAreRulesWhereDeletingMendsThem() throws {
    func references(_ change: (([String: EntityDescription]) -> Void)? = nil) throws -> [String] {
      PostgreSQLSchema(try LibraryModel.make(change), in: try SchemaName("library")).references
        .map { "\($0.table).\($0.column) \($0.destination)" }.sorted()
    }
    #expect(
      try references() == [
        "book.author_id author", "book.shelf_id shelf", "book_tags.book_id book",
        "book_tags.shelf_id shelf",
      ])
    // A rule without action leaves keys behind that lead nowhere.
    let fewer = try references { entities in
      entities["Author"]?.relationshipsByName["books"]?.deleteRule = .noAction
    }
    #expect(!fewer.contains("book.author_id author") && fewer.count == 3)
  }

  @Test func namesThatMeetAreToldApart() throws {
    let long = String(repeating: "attributeWithAVeryLongName", count: 4)
    let thing = EntityDescription(
      name: "Order",
      properties: ["firstName", "first_name", "cairnId", "xmin", "user", long + "A", long + "B"].map
      {
        LibraryModel.attribute($0, .string)
      } + [LibraryModel.attribute("made", .date), LibraryModel.attribute("made_exact", .double)])
    let same = EntityDescription(
      name: "order", properties: [LibraryModel.attribute("select", .string)])
    let bookkeeping = EntityDescription(name: "CairnStore", properties: [])
    let schema = PostgreSQLSchema(
      try LibraryModel.schema([thing, same, bookkeeping]), in: try SchemaName("s"))
    #expect(Set(schema.tables.map(\.name)) == ["order", "order_2", "cairn_store_2"])
    for table in schema.tables {
      let names = table.columns.map(\.name)
      #expect(Set(names).count == names.count && names.allSatisfy { $0.utf8.count <= 63 })
      #expect(!names.contains("xmin"))
    }
  }

  @Test func namesStayWhenTheModelChanges() throws {
    let name = try SchemaName("library")
    let old = PostgreSQLSchema(try LibraryModel.make(), in: name)
    var kept = KeptNames()
    for (origin, table, column) in old.names {
      if let column {
        kept.columns[table, default: [:]][origin] = column
      } else {
        kept.tables[origin] = table
      }
    }
    // Sorts before the others, and would take the name of one.
    let new = PostgreSQLSchema(
      try LibraryModel.make { entities in
        entities["Author"]?.properties.append(LibraryModel.attribute("first_name", .string))
      }, in: name, kept: kept)
    let author = try #require(new.tables.first { $0.name == "author" })
    let columns = Dictionary(
      uniqueKeysWithValues: author.columns.map { ($0.origin.property, $0.name) }
        .filter { $0.0.contains("irst") })
    #expect(columns == ["firstName": "first_name", "first_name": "first_name_2"])
    #expect(Set(old.names.map { "\($0)" }).isSubset(of: Set(new.names.map { "\($0)" })))
  }
}
