import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// Batch requests inside the store.
@Suite struct BatchTests {
  @Test func aBatchInsertTakesDefaultsAndRecordsHistory() throws {
    let model = try SampleModel.make()
    let fixture = try StoreFixture(
      options: [StoreOptionKey.historyTracking: true], model: model)
    let ids = try fixture.store.executeBatch(
      .insert(
        entity: fixture.entity("Project"),
        rows: BatchRowSource((0..<10).map { ["title": .string("\($0)")] })), author: "batch",
      contextName: nil
    ).inserted
    #expect(ids.map(\.rowKey) == Array(1...10))
    #expect(try fixture.fetch("Project").count == 10)
    let history = try fixture.store.readHistory(HistoryReadRequest())
    #expect(history.map(\.author) == ["batch"])
    #expect(history[0].changes.count == 10)
    #expect(throws: CoreDataError.self) {
      _ = try fixture.store.executeBatch(
        .insert(entity: fixture.entity("Project"), rows: [["nothing": .null]]), author: nil,
        contextName: nil)
    }
    #expect(try fixture.fetch("Project").count == 10)
  }

  @Test func aBatchUpdateComputesFromTheOldValues() throws {
    let fixture = try StoreFixture()
    try fixture.insert([
      try fixture.row("Employee", ["age": .integer(1), "rating": .double(5)]),
      try fixture.row("Manager", ["age": .integer(2), "rating": .double(6)]),
      try fixture.row("Employee", ["age": .null]),
    ])
    let ids = try fixture.store.executeBatch(
      .update(
        entity: fixture.entity("Employee"), includesSubentities: true,
        predicate: ObjectPredicate(format: "age != nil"),
        values: [
          "age": ObjectExpression(format: "age * 10"),
          "rating": ObjectExpression(format: "age + 0.5"),
          "name": ObjectExpression(forConstantValue: "x"),
        ]), author: nil, contextName: nil
    ).updated
    #expect(ids.count == 2)
    #expect(
      try fixture.column(
        "SELECT ZAGE || ' ' || ZRATING || ZNAME || Z_OPT FROM ZEMPLOYEE "
          + "WHERE ZAGE IS NOT NULL ORDER BY Z_PK") == ["10 1.5x2", "20 2.5x2"])
  }

  @Test func aBatchDeleteFollowsTheDeleteRules() throws {
    let model = ManagedObjectModel()
    let company = EntityDescription(name: "Company")
    let person = EntityDescription(name: "Person")
    let desk = EntityDescription(name: "Desk")
    let people = SampleModel.toMany("people", person)
    let employer = SampleModel.toOne("company", company)
    people.deleteRule = .cascade
    SampleModel.connect(people, employer)
    let desks = SampleModel.toMany("desks", desk)
    let owner = SampleModel.toOne("owner", person)
    SampleModel.connect(desks, owner)
    let guards = SampleModel.toMany("guarded", desk)
    guards.deleteRule = .deny
    let keeper = SampleModel.toOne("keeper", company)
    SampleModel.connect(guards, keeper)
    company.properties = [people, guards]
    person.properties = [employer, desks]
    desk.properties = [owner, keeper]
    model.entities = [company, person, desk]
    try model.prepareForUse()
    let fixture = try StoreFixture(model: model)
    let firm = try fixture.row("Company")
    let worker = try fixture.row("Person", ["company": .object(firm.objectID)])
    let table = try fixture.row("Desk", ["owner": .object(worker.objectID)])
    let bank = try fixture.row("Company")
    let safe = try fixture.row("Desk", ["keeper": .object(bank.objectID)])
    try fixture.insert([firm, worker, table, bank, safe])
    func delete(_ format: String, _ id: ManagedObjectID) throws -> Int {
      try fixture.store.executeBatch(
        .delete(
          StoreFetchRequest(
            entity: fixture.entity("Company"),
            predicate: ObjectPredicate(format: format, id))), author: nil, contextName: nil
      ).deleted.count
    }
    let error = #expect(throws: CoreDataError.self) { _ = try delete("SELF == %@", bank.objectID) }
    #expect(error?.code == .validationRelationshipDeniedDelete)
    #expect(try delete("SELF == %@", firm.objectID) == 2)
    #expect(try fixture.column("SELECT COUNT(*) FROM ZPERSON") == ["0"])
    #expect(try fixture.column("SELECT ZOWNER FROM ZDESK") == ["NULL", "NULL"])
    #expect(try fixture.column("SELECT COUNT(*) FROM ZCOMPANY") == ["1"])
  }

  @Test func derivedAttributesFollowTheirSources() throws {
    let model = ManagedObjectModel()
    let book = EntityDescription(name: "Book")
    let page = EntityDescription(name: "Page")
    let pages = SampleModel.toMany("pages", page)
    let owner = SampleModel.toOne("book", book)
    SampleModel.connect(pages, owner)
    book.properties = [
      AttributeDescription(name: "title", type: .string), pages,
      FormatModel.derived("count", .integer64, "pages.@count"),
      FormatModel.derived("folded", .string, "canonical:(title)"),
      FormatModel.derived("words", .integer64, "sum:(pages.words)"),
    ]
    page.properties = [
      AttributeDescription(name: "words", type: .integer64), owner,
      FormatModel.derived("bookTitle", .string, "book.title"),
    ]
    model.entities = [book, page]
    try model.prepareForUse()
    let fixture = try StoreFixture(model: model)
    let novel = try fixture.row("Book", ["title": .string("Ünder")])
    let stored = try fixture.insert(
      [novel]
        + (1...3).map {
          try fixture.row(
            "Page", ["book": .object(novel.objectID), "words": .integer(Int64($0))])
        })
    #expect(fixture.value(stored[0], "count") == .integer(3))
    #expect(fixture.value(stored[0], "folded") == .string("under"))
    #expect(fixture.value(stored[0], "words") == .integer(6))
    #expect(fixture.value(stored[1], "bookTitle") == .string("Ünder"))
    var request = SaveChangesRequest()
    request.updates = [fixture.update(stored[0], ["title": .string("B")])]
    request.deletions = [.init(snapshot: stored[3])]
    let changed = try fixture.receipt(fixture.store.save(request)).snapshots[0]
    #expect(fixture.value(changed, "count") == .integer(2))
    #expect(fixture.value(changed, "folded") == .string("b"))
    #expect(fixture.value(changed, "words") == .integer(3))
    #expect(try fixture.column("SELECT ZBOOKTITLE FROM ZPAGE") == ["B", "B"])
  }
}
