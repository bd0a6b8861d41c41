import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// The format, chapter 7: triggers, the functions that they call, and the values that they keep.
@Suite struct Chapter07TriggerTests {
  /// Book ⇄ Page (one to many), Book ⇄ Tag (many to many), Book → Shelf; derived attributes of
  /// every kind in Book.
  private func library() throws -> ManagedObjectModel {
    let (book, page) = (EntityDescription(name: "Book"), EntityDescription(name: "Page"))
    let (tag, shelf) = (EntityDescription(name: "Tag"), EntityDescription(name: "Shelf"))
    FormatModel.link(
      book, SampleModel.toMany("pages", page), page, SampleModel.toOne("book", book))
    FormatModel.link(book, SampleModel.toMany("tags", tag), tag, SampleModel.toMany("books", book))
    FormatModel.link(
      book, SampleModel.toOne("shelf", shelf), shelf, SampleModel.toMany("books", book))
    book.properties += [
      FormatModel.attribute("title", .string),
      FormatModel.derived("pageCount", .integer64, "pages.@count"),
      FormatModel.derived("words", .integer64, "pages.words.@sum"),
      FormatModel.derived("longest", .integer64, "pages.words.@max"),
      FormatModel.derived("shortest", .integer64, "pages.words.@min"),
      FormatModel.derived("tagCount", .integer64, "tags.@count"),
      FormatModel.derived("weight", .double, "tags.weight.@sum"),
      FormatModel.derived("room", .string, "shelf.room"),
      FormatModel.derived("copy", .string, "title"),
      FormatModel.derived("plain", .string, "canonical:(title)"),
      FormatModel.derived("upper", .string, "uppercase:(title)"),
      FormatModel.derived("lower", .string, "lowercase:(title)"),
      FormatModel.derived("changed", .date, "now()"),
    ]
    page.properties.append(FormatModel.attribute("words", .integer64))
    tag.properties.append(FormatModel.attribute("weight", .double))
    shelf.properties.append(FormatModel.attribute("room", .string))
    return try FormatModel.make(book, page, tag, shelf)
  }

  private func values(_ fixture: StoreFixture, _ names: String...) throws -> [String] {
    let list = names.map { "IFNULL(Z\($0.uppercased()), '-')" }.joined(separator: " || ' ' || ")
    return try fixture.column("SELECT \(list) FROM ZBOOK ORDER BY Z_PK")
  }

  @Test func aCountFollowsMembersThatComeMoveAndGo() throws {
    let fixture = try StoreFixture(model: try library())
    let books = try fixture.insert([try fixture.row("Book"), try fixture.row("Book")])
    #expect(try values(fixture, "pageCount") == ["0", "0"])
    func page(_ book: Int, _ words: Int64) throws -> RowSnapshot {
      try fixture.row("Page", ["book": .object(books[book].objectID), "words": .integer(words)])
    }
    let pages = try fixture.insert([try page(0, 10), try page(0, 30), try page(1, 5)])
    #expect(
      try values(fixture, "pageCount", "words", "longest", "shortest") == ["2 40 30 10", "1 5 5 5"])
    let moved = try fixture.change(pages[1], ["book": .object(books[1].objectID)])
    #expect(try values(fixture, "pageCount", "words", "longest") == ["1 10 10", "2 35 30"])
    let changed = try fixture.change(moved, ["words": .integer(1)])
    #expect(try values(fixture, "words", "shortest") == ["10 10", "6 1"])
    _ = try fixture.change(changed, ["book": .null])
    try fixture.delete(pages[2])
    #expect(try values(fixture, "pageCount", "words", "longest") == ["1 10 10", "0 0 -"])
  }

  /// As an object that overwrites what others have changed brings it along.
  @Test(arguments: [false, true])
  func anOldDerivedValueIsNotWritten(overwrites: Bool) throws {
    let fixture = try StoreFixture(model: try library())
    let book = try fixture.insert([try fixture.row("Book")])[0]
    try fixture.insert([
      try fixture.row("Page", ["book": .object(book.objectID), "words": .integer(7)])
    ])
    var request = SaveChangesRequest()
    request.updates = [
      fixture.update(
        book, ["title": .string("T"), "pageCount": .integer(0), "words": .null, "plain": .null],
        overwrites: overwrites)
    ]
    let saved = try fixture.receipt(fixture.store.save(request)).snapshots[0]
    #expect(try values(fixture, "title", "pageCount", "words", "plain") == ["T 1 7 t"])
    #expect(fixture.value(saved, "pageCount") == .integer(1))
  }

  @Test func aRowThatIsItsOwnMemberIsCountedOnce() throws {
    let node = EntityDescription(name: "Node")
    FormatModel.link(
      node, SampleModel.toMany("children", node), node, SampleModel.toOne("parent", node))
    node.properties.append(FormatModel.derived("many", .integer64, "children.@count"))
    let fixture = try StoreFixture(model: try FormatModel.make(node))
    let id = try fixture.store.obtainPermanentIDs(for: [node])[0]
    let own = try fixture.insert([try fixture.row("Node", ["parent": .object(id)], id: id)])[0]
    #expect(try fixture.column("SELECT ZMANY FROM ZNODE") == ["1"])
    try fixture.insert([try fixture.row("Node", ["parent": .object(id)])])
    #expect(try fixture.column("SELECT ZMANY FROM ZNODE ORDER BY Z_PK") == ["2", "0"])
    try fixture.change(try #require(fixture.fetch("Node").first), ["parent": .null])
    #expect(try fixture.column("SELECT ZMANY FROM ZNODE ORDER BY Z_PK") == ["1", "0"])
    #expect(own.objectID == id)
  }

  @Test func anAggregateOverLinksFollowsLinksAndMembers() throws {
    let fixture = try StoreFixture(model: try library())
    let rows = try fixture.insert([
      try fixture.row("Book"), try fixture.row("Book"),
      try fixture.row("Tag", ["weight": .double(1.5)]),
      try fixture.row("Tag", ["weight": .double(2)]),
    ])
    let tags = try fixture.relationship("Book", "tags")
    try fixture.link(tags, of: rows[0], adding: [rows[2], rows[3]])
    try fixture.link(tags, of: rows[1], adding: [rows[3]])
    #expect(try values(fixture, "tagCount", "weight") == ["2 3.5", "1 2.0"])
    let heavy = try fixture.change(rows[3], ["weight": .double(10)])
    #expect(try values(fixture, "tagCount", "weight") == ["2 11.5", "1 10.0"])
    try fixture.delete(heavy)
    #expect(try values(fixture, "tagCount", "weight") == ["1 1.5", "0 0.0"])
  }

  @Test func aValueThroughAToOneFollowsKeyAndDestination() throws {
    let fixture = try StoreFixture(model: try library())
    let shelf = try fixture.row("Shelf", ["room": .string("A")])
    let other = try fixture.row("Shelf", ["room": .string("B")])
    let rows = try fixture.insert([
      try fixture.row("Book", ["shelf": .object(shelf.objectID)]), try fixture.row("Book"), shelf,
      other,
    ])
    #expect(try values(fixture, "room") == ["A", "-"])
    _ = try fixture.change(rows[2], ["room": .string("C")])
    let second = try fixture.change(rows[1], ["shelf": .object(other.objectID)])
    #expect(try values(fixture, "room") == ["C", "B"])
    _ = try fixture.change(second, ["shelf": .null])
    #expect(try values(fixture, "room") == ["C", "-"])
  }

  @Test func aValueThroughSeveralToOnesFollowsEachOfThem() throws {
    let (page, book) = (EntityDescription(name: "Page"), EntityDescription(name: "Book"))
    let shelf = EntityDescription(name: "Shelf")
    FormatModel.link(
      book, SampleModel.toMany("pages", page), page, SampleModel.toOne("book", book))
    FormatModel.link(
      shelf, SampleModel.toMany("books", book), book, SampleModel.toOne("shelf", shelf))
    page.properties.append(FormatModel.derived("room", .string, "book.shelf.room"))
    shelf.properties.append(FormatModel.attribute("room", .string))
    let fixture = try StoreFixture(model: try FormatModel.make(page, book, shelf))
    func rooms() throws -> [String] {
      try fixture.column("SELECT IFNULL(ZROOM, '-') FROM ZPAGE ORDER BY Z_PK")
    }
    let shelves = try ["A", "B"].map { try fixture.row("Shelf", ["room": .string($0)]) }
    let books = try shelves.map { try fixture.row("Book", ["shelf": .object($0.objectID)]) }
    let pages = try books.map { try fixture.row("Page", ["book": .object($0.objectID)]) }
    // Each row comes before what it leads to.
    let rows = try fixture.insert(pages + books + shelves)
    #expect(try rooms() == ["A", "B"])
    let shelfA = try fixture.change(rows[4], ["room": .string("C")])
    #expect(try rooms() == ["C", "B"])
    _ = try fixture.change(rows[3], ["shelf": .object(shelfA.objectID)])
    #expect(try rooms() == ["C", "C"])
    let bookA = try fixture.change(rows[2], ["shelf": .null])
    #expect(try rooms() == ["-", "C"])
    _ = try fixture.change(rows[1], ["book": .object(bookA.objectID)])
    #expect(try rooms() == ["-", "-"])
    #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
  }

  @Test func aPathMayComeToTheSameTableAgain() throws {
    let node = EntityDescription(name: "Node")
    FormatModel.link(
      node, SampleModel.toMany("children", node), node, SampleModel.toOne("parent", node))
    node.properties += [
      FormatModel.attribute("name", .string),
      FormatModel.derived("above", .string, "parent.parent.name"),
    ]
    let fixture = try StoreFixture(model: try FormatModel.make(node))
    func above() throws -> [String] {
      try fixture.column("SELECT IFNULL(ZABOVE, '-') FROM ZNODE ORDER BY Z_PK")
    }
    let top = try fixture.row("Node", ["name": .string("top")])
    let middle = try fixture.row("Node", ["parent": .object(top.objectID)])
    let low = try fixture.row("Node", ["parent": .object(middle.objectID)])
    let rows = try fixture.insert([low, middle, top])
    #expect(try above() == ["-", "-", "top"])
    try fixture.change(rows[2], ["name": .string("new")])
    #expect(try above() == ["-", "-", "new"])
    try fixture.change(rows[1], ["parent": .object(rows[1].objectID)])
    #expect(try above() == ["-", "-", "-"])
    #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
    try fixture.execute("UPDATE ZNODE SET ZABOVE = 'x'")
    let found = try StoreInspection(contentsOf: fixture.url).findings.map(\.place)
    #expect(found == ["Node/p1 ZABOVE", "Node/p2 ZABOVE", "Node/p3 ZABOVE"])
    fixture.isDamagedOnPurpose = true
  }

  /// Book with a derived attribute that no store keeps, and a relationship or attribute more.
  private func odd(
    _ expression: String, filter: String? = nil, extra: String? = nil
  ) throws -> ManagedObjectModel {
    let (book, page) = (EntityDescription(name: "Book"), EntityDescription(name: "Page"))
    let author = EntityDescription(name: "Author")
    FormatModel.link(
      book, SampleModel.toMany("pages", page), page, SampleModel.toOne("book", book))
    FormatModel.link(
      author, SampleModel.toMany("books", book), book, SampleModel.toOne("author", author))
    let derived = FormatModel.derived("odd", .integer64, expression)
    derived.filteringPredicate = filter.map { ObjectPredicate(format: $0) }
    book.properties += [FormatModel.attribute("title", .string), derived]
    page.properties += [FormatModel.attribute("words", .integer64)]
    if let extra { page.properties.append(FormatModel.attribute(extra, .string)) }
    return try FormatModel.make(book, page, author)
  }

  @Test(arguments: [
    ("pages.@sum.words", nil), ("author.books.@count", nil), ("pages.book.title", nil),
    ("missing", nil), ("pages", nil), ("pages.words.@median", nil), ("pages.@count.words", nil),
    ("SUBQUERY(pages, $p, $p.words > 1).@count", nil), ("title + 'x'", nil),
    ("count:(pages)", "words > 1"),
  ])
  func whatNoStoreKeepsIsRefusedWhenAStoreIsMade(expression: String, filter: String?) throws {
    let model = try odd(expression, filter: filter)
    let error = #expect(throws: CoreDataError.self) { try StoreFixture(model: model) }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(error?.message.contains("Book.odd") == true)
  }

  @Test func aFileOfAnotherFrameworkThatKeepsItOpensAndStays() throws {
    let plain = try odd("count:(pages)")
    let filtered = try odd("count:(pages)", filter: "words > 1")
    let fixture = try StoreFixture(model: plain)
    try fixture.store.close()
    var metadata = try SQLiteStoreKind().metadata(at: fixture.url, options: StoreOptions())
    metadata.merge(MetadataTable.modelEntries(of: filtered)) { $1 }
    try SQLiteStoreKind().setMetadata(metadata, at: fixture.url, options: StoreOptions())
    let triggers = try fixture.column("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
    let store = try StoreFixture.open(fixture.url, filtered)
    try store.close()
    #expect(
      try fixture.column("SELECT sql FROM sqlite_master WHERE type = 'trigger'") == triggers)
    let error = #expect(throws: CoreDataError.self) {
      try SQLiteStore.migrateInPlace(
        at: fixture.url, from: filtered,
        to: odd("count:(pages)", filter: "words > 1", extra: "note"), options: StoreOptions())
    }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(
      try fixture.column("SELECT sql FROM sqlite_master WHERE type = 'trigger'") == triggers)
    fixture.isDamagedOnPurpose = true
  }

  private func date(_ value: AttributeValue) -> Date? {
    if case .date(let date) = value { date } else { nil }
  }

  @Test func valuesOfTheSameRowFollowIt() throws {
    let fixture = try StoreFixture(model: try library())
    let before = Date().timeIntervalSinceReferenceDate
    let row = try fixture.insert([try fixture.row("Book", ["title": .string("Éa")])])[0]
    #expect(try values(fixture, "copy", "plain", "upper", "lower") == ["Éa ea ÉA éa"])
    let first = try #require(date(fixture.value(row, "changed")))
    #expect(abs(first.timeIntervalSinceReferenceDate - before) < 60)
    // What the receipt says is what is stored.
    #expect(fixture.value(row, "plain") == .string("ea"))
    let next = try fixture.change(row, ["title": .string("X")])
    #expect(try values(fixture, "copy", "plain", "upper", "lower") == ["X x X x"])
    let second = try #require(date(fixture.value(next, "changed")))
    #expect(second >= first)
  }

  @Test func batchRequestsKeepThemToo() throws {
    let fixture = try StoreFixture(model: try library())
    _ = try fixture.store.executeBatch(
      .insert(entity: fixture.entity("Book"), rows: [["title": .string("Ö")]]), author: nil,
      contextName: nil)
    #expect(try values(fixture, "copy", "plain", "pageCount") == ["Ö o 0"])
    _ = try fixture.store.executeBatch(
      .update(
        entity: fixture.entity("Book"), includesSubentities: true, predicate: nil,
        values: ["title": ObjectExpression(forConstantValue: "É")]), author: nil, contextName: nil)
    #expect(try values(fixture, "copy", "plain") == ["É e"])
  }

  @Test func derivedValuesThatAMigrationAddsAreComputed() throws {
    let full = try library()
    let bare = try #require(full.copy() as? ManagedObjectModel)
    bare.entitiesByName["Book"]?.properties.removeAll { $0 is DerivedAttributeDescription }
    try bare.prepareForUse()
    let fixture = try StoreFixture(model: bare)
    let shelf = try fixture.row("Shelf", ["room": .string("A")])
    let book = try fixture.row(
      "Book", ["title": .string("É"), "shelf": .object(shelf.objectID)])
    let rows = try fixture.insert([
      book, shelf,
      try fixture.row("Page", ["book": .object(book.objectID), "words": .integer(7)]),
      try fixture.row("Tag", ["weight": .double(2)]),
    ])
    try fixture.link(fixture.relationship("Book", "tags"), of: rows[0], adding: [rows[3]])
    try fixture.store.close()
    try SQLiteStore.migrateInPlace(
      at: fixture.url, from: bare, to: full, options: StoreOptions())
    #expect(
      try values(fixture, "pageCount", "words", "tagCount", "weight", "room", "copy", "plain")
        == ["1 7 1 2.0 A É e"])
    #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
  }

  @Test func theFunctionsOfApplesTriggersAreThere() throws {
    let fixture = try StoreFixture()
    let calls = [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue",
      "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
      "NSCoreDataTriggerUpdateAffectedObjectValue",
    ].map { "SELECT \($0)('ZPROJECT', Z_ENT, Z_PK, 'title', ZTITLE) FROM ZPROJECT" }
    try fixture.store.close()
    // As Photos has them.
    try fixture.execute(
      "CREATE TRIGGER ZT_ZPROJECT_ZTITLE_ZNOTE_INSERT_INCREMENT AFTER INSERT ON ZNOTE BEGIN "
        + "UPDATE ZPROJECT SET ZTITLE = 'noted'; " + calls.joined(separator: "; ") + "; END")
    let store = try fixture.another()
    var request = SaveChangesRequest()
    request.insertions = try ["Project", "Note"].map { name in
      let id = try store.obtainPermanentIDs(for: [fixture.entity(name)])[0]
      return .init(snapshot: try fixture.row(name, id: id))
    }
    _ = try fixture.receipt(store.save(request))
    #expect(try fixture.column("SELECT ZTITLE FROM ZPROJECT") == ["noted"])
    try store.close()
  }
}
