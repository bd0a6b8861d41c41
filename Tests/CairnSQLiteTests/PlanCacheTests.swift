import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQL
@testable import CairnSQLite

/// Requests of one shape share what was planned for the first of them, and nothing of its values.
@Suite struct PlanCacheTests {
  private func filled() throws -> StoreFixture {
    let fixture = try StoreFixture()
    let companies = try ["Acme", "Beta"].map { name in
      try fixture.row("Company", ["name": .string(name)])
    }
    let names = ["Ann", "ann", "Bob", "bobby", "", "Zoë", nil]
    var people: [RowSnapshot] = []
    for index in 0..<28 {
      var values: [String: AttributeValue] = [
        "email": .string("e\(index)"), "rating": .double(Double(index % 8) / 2),
        "born": .date(Date(timeIntervalSinceReferenceDate: Double(index % 3) * 100)),
        "badge": .uuid(Self.badge(index % 4)), "data": .data(Data([UInt8(index % 5)])),
        "isActive": .boolean(index % 2 == 0), "salary": .decimal(Decimal(index % 6) / 10),
      ]
      if let name = names[index % names.count] { values["name"] = .string(name) }
      if index % 5 > 0 { values["age"] = .integer(Int64(index % 6)) }
      if index % 3 > 0 { values["company"] = .object(companies[index % 3 - 1].objectID) }
      people.append(try fixture.row(index % 7 == 0 ? "Manager" : "Employee", values))
    }
    try fixture.insert(companies + people)
    return fixture
  }

  private static func badge(_ number: Int) -> UUID {
    UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
  }

  private func keys(
    _ fixture: StoreFixture, _ predicate: ObjectPredicate?, entity: String = "Employee",
    _ change: (inout StoreFetchRequest) -> Void = { _ in }
  ) throws -> [Int64] {
    var request = StoreFetchRequest(entity: try fixture.entity(entity), predicate: predicate)
    change(&request)
    let rows = try #require(try fixture.store.fetch(request).snapshots)
    return rows.compactMap(\.objectID.rowKey)
  }

  /// What the evaluator finds among all rows.
  private func expected(_ fixture: StoreFixture, _ predicate: ObjectPredicate) throws -> [Int64] {
    let all = try fixture.fetch("Employee")
    return try fixture.store.readConsistently { lookup in
      let graph = StoredGraph(lookup: lookup)
      return try all.filter { try predicate.test(graph.view($0)) }.compactMap(\.objectID.rowKey)
    }
  }

  private func isKnown(_ fixture: StoreFixture, _ predicate: ObjectPredicate) throws -> Bool {
    let schema = try fixture.store.schema
    let entity = try fixture.entity("Employee")
    return schema.plans.find(
      StoreFetchRequest(entity: entity, predicate: predicate), of: schema.entity(entity),
      schema: schema, store: nil) != nil
  }

  /// Formats with constants that are taken one after the other; whether they share a plan.
  private static var shapes: [(format: String, constants: [[Any?]], isShared: Bool)] {
    [
      ("name == %@", [["Ann"], ["Bob"], ["nobody"], [""]], true),
      ("%@ == name", [["Ann"], ["Bob"]], true),
      ("name ==[c] %@", [["ANN"], ["bob"], ["BOBBY"]], true),
      ("name != %@", [["Ann"], ["Bob"]], true),
      ("age > %@ AND age <= %@", [[1, 3], [3, 5], [0, 0]], true),
      ("age < %@ OR rating > %@", [[1, 3.0], [2, 0.5]], true),
      ("NOT (age == %@)", [[1], [2]], true),
      ("rating == %@", [[0.5], [3.0], [9.0]], true),
      ("salary >= %@", [[Decimal(1) / 10], [Decimal(4) / 10]], true),
      (
        "born == %@",
        [
          [Date(timeIntervalSinceReferenceDate: 100)], [Date(timeIntervalSinceReferenceDate: 200)],
        ], true
      ),
      ("badge == %@", [[badge(1)], [badge(2)]], true),
      ("data == %@", [[Data([1])], [Data([2, 3])], [Data([4])]], true),
      ("isActive == %@", [[true], [false]], true),
      ("company.name == %@ AND age == %@", [["Acme", 1], ["Beta", 4]], true),
      ("age == %@ AND name == %@ AND age != %@", [[1, "ann", 2], [2, "Bob", 1]], true),
      ("age IN %@", [[[1]], [[1, 2]], [[1, 2, 3, 4, 5]], [[0, 5]], [[]]], false),
      ("name IN %@", [[["Ann"]], [["Ann", "Bob", "", "x", "y"]]], false),
      ("age BETWEEN %@", [[[1, 2]], [[2, 5]]], false),
      ("name BEGINSWITH %@", [["A"], ["b"], [""]], false),
      ("name CONTAINS[c] %@", [["B"], ["n"]], false),
      ("ANY reports.age > %@", [[1], [3]], false),
      ("projects.@count > %@", [[0], [1]], true),
      ("age + 1 > %@", [[1], [3]], false),
    ]
  }

  @Test func eachRequestOfAShapeFindsItsOwnRows() throws {
    let fixture = try filled()
    for (format, constants, isShared) in Self.shapes {
      // Twice, so that the first constants come again after the last.
      for round in 0..<2 {
        for arguments in constants {
          let predicate = try ObjectPredicate.parse(format, arguments: arguments)
          if round == 1 { #expect(try isKnown(fixture, predicate) == isShared, "\(predicate)") }
          #expect(
            try keys(fixture, predicate) == expected(fixture, predicate), "\(predicate)")
        }
      }
    }
  }

  @Test func nilDoesNotShareAPlanWithValues() throws {
    let fixture = try filled()
    for constant in ["Ann", nil, "Bob", nil] as [String?] {
      let predicate = try ObjectPredicate.parse("name == %@", arguments: [constant])
      #expect(try keys(fixture, predicate) == expected(fixture, predicate), "\(predicate)")
    }
    #expect(try keys(fixture, ObjectPredicate.parse("name == nil")).count == 4)
  }

  @Test func constantsOfOtherTypesDoNotShareAPlan() throws {
    let fixture = try filled()
    for constant in [2, 2.5, true, Decimal(2), 3] as [Any] {
      for format in ["age >= %@", "rating == %@", "salary < %@"] {
        let predicate = try ObjectPredicate.parse(format, arguments: [constant])
        #expect(try keys(fixture, predicate) == expected(fixture, predicate), "\(predicate)")
      }
    }
  }

  @Test func objectsAreLookedUpInTheStoreThatIsAsked() throws {
    let (fixture, other) = (try filled(), try filled())
    let companies = try fixture.fetch("Company").map(\.objectID)
    let people = try fixture.fetch("Employee").map(\.objectID)
    let foreign = try other.fetch("Company")[0].objectID
    let temporary = ManagedObjectID.temporary(entity: try fixture.entity("Company"))
    var counts: [Int] = []
    for id in [companies[0], companies[1], foreign, temporary, people[0]] {
      let predicate = try ObjectPredicate.parse("company == %@", arguments: [id])
      counts.append(try keys(fixture, predicate).count)
    }
    #expect(counts == [9, 9, 0, 0, 0])
    for id in people.prefix(3) {
      let predicate = try ObjectPredicate.parse("SELF == %@", arguments: [id])
      #expect(try keys(fixture, predicate) == [id.rowKey])
    }
  }

  @Test func orderLimitAndSubentitiesArePartOfTheShape() throws {
    let fixture = try filled()
    let predicate = try ObjectPredicate.parse("age > %@", arguments: [2])
    let all = try keys(fixture, predicate)
    for _ in 0..<2 {
      #expect(try keys(fixture, predicate) == all)
      for (limit, offset) in [(3, 0), (2, 4), (0, 5), (100, 0)] {
        let found = try keys(fixture, predicate) {
          $0.limit = limit
          $0.offset = offset
        }
        let rest = all.dropFirst(offset)
        #expect(found == Array(limit == 0 ? rest : rest.prefix(limit)))
      }
      for ascending in [true, false] {
        let found = try keys(fixture, predicate) {
          $0.sortDescriptors = [ObjectSortDescriptor(key: "email", ascending: ascending)]
        }
        let emails = try found.map { key in
          try #require(try fixture.fetch("Employee").first { $0.objectID.rowKey == key })
        }.map { "\(fixture.value($0, "email"))" }
        #expect(emails == (ascending ? emails.sorted() : emails.sorted().reversed()))
        #expect(found.sorted() == all)
      }
      let alone = try keys(fixture, predicate) { $0.includesSubentities = false }
      let managers = try keys(fixture, predicate, entity: "Manager")
      #expect((alone + managers).sorted() == all)
      #expect(!managers.isEmpty)
    }
  }

  @Test func rowsKeysAndCountsShareAPlan() throws {
    let fixture = try filled()
    for age in [1, 3, 1] as [Int64] {
      let predicate = try ObjectPredicate.parse("age == %@", arguments: [age])
      let rows = try keys(fixture, predicate)
      for limit in [0, 2] {
        let found = limit == 0 ? rows : Array(rows.prefix(limit))
        var request = StoreFetchRequest(
          entity: try fixture.entity("Employee"), predicate: predicate, limit: limit)
        request.result = .objectIDs
        let ids = try #require(try fixture.store.fetch(request).objectIDs)
        #expect(ids.compactMap(\.rowKey) == found)
        request.result = .count
        let count = try #require(try fixture.store.fetch(request).count)
        #expect(count == found.count)
      }
    }
  }

  @Test func onlySoManyPlansAreKept() throws {
    let fixture = try filled()
    let first = try ObjectPredicate.parse("age > %@", arguments: [1])
    _ = try keys(fixture, first)
    #expect(try isKnown(fixture, first))
    for index in 0..<40 {
      let format = (0..<(2 + index / 4)).map { _ in "age \(["<", "<=", ">", ">="][index % 4]) %@" }
      let predicate = try ObjectPredicate.parse(
        format.joined(separator: " AND "), arguments: [Any?](repeating: 2, count: format.count))
      #expect(try keys(fixture, predicate) == expected(fixture, predicate))
      #expect(try isKnown(fixture, predicate))
    }
    #expect(try !isKnown(fixture, first))
    #expect(try keys(fixture, first) == expected(fixture, first))
  }
}
