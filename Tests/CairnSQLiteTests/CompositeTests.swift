import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Composite attributes: one column for each leaf.
@Suite struct CompositeTests {
  @Test func elementsAreColumnsThatCanBeSavedFetchedAndSorted() throws {
    let composite = CompositeAttributeDescription()
    composite.name = "address"
    composite.elements = [
      AttributeDescription(name: "city", type: .string),
      AttributeDescription(name: "number", type: .integer32),
    ]
    let person = EntityDescription(
      name: "Person", properties: [composite, AttributeDescription(name: "city", type: .string)])
    let model = ManagedObjectModel()
    model.entities = [person]
    try model.prepareForUse()
    let fixture = try StoreFixture(model: model)
    try fixture.insert(
      try ["B", "A", "C"].enumerated().map { index, city in
        try fixture.row(
          "Person",
          [
            "address.city": .string(city), "address.number": .integer(Int64(index)),
            "city": .string("own"),
          ])
      })
    let sorted = try fixture.fetch("Person", "address.number >= 0", sort: "address.city")
    #expect(
      sorted.map { fixture.value($0, "address.city") } == [
        .string("A"), .string("B"), .string("C"),
      ])
    #expect(try fixture.fetch("Person", "address.city == 'C' AND city == 'own'").count == 1)
    #expect(try fixture.fetch("Person", "address.number ** 2 == 4").count == 1)
    #expect(throws: CoreDataError.self) { _ = try fixture.fetch("Person", "address.street == 'x'") }
  }

  @Test func historyOfAnOlderFrameworkIsBroughtToTheCurrentForm() throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be changed") {
      try $0.execute(
        "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
          + "ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
          + "ZPROCESSID VARCHAR, ZQUERYGEN BLOB)")
      try $0.execute(
        "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
          + "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, "
          + "ZCOLUMNS BLOB)")
      try $0.execute(
        "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR) "
          + "VALUES (7, 16002, 1.5, 'old')")
    }
    let store = try fixture.another()
    let entity = try fixture.entity("Project")
    var request = SaveChangesRequest()
    request.author = "new"
    request.insertions = [
      .init(
        snapshot: .make(
          objectID: try store.obtainPermanentIDs(for: [entity])[0], version: 0,
          values: entity.layout.defaultValues))
    ]
    #expect(try fixture.receipt(store.save(request)).transactionNumber == 8)
    let history = try store.readHistory(HistoryReadRequest())
    #expect(history.map(\.author) == ["old", "new"])
  }
}
