import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQL
@testable import CairnSQLite

/// SQL and the evaluator find the same rows.
@Suite struct PredicateTests {
  /// Rows with gaps, duplicates, odd text and every relationship.
  private func filled(seed: UInt64 = 7) throws -> StoreFixture {
    let fixture = try StoreFixture()
    var random = Random(state: seed)
    let names = ["Ann", "ann", "Änn", "Bob", "bobby", "", "Straße", "100%", "a_b", "Zoë 🐟", nil]
    let companies = try (0..<3).map {
      try fixture.row("Company", ["name": .string(["Acme", "Beta", "acme"][$0])])
    }
    let projects = try (0..<4).map { try fixture.row("Project", ["title": .string("P\($0)")]) }
    var people: [RowSnapshot] = []
    for index in 0..<30 {
      var values: [String: AttributeValue] = ["email": .string("e\(index)")]
      if let name = random.pick(names) { values["name"] = .string(name) }
      if random.below(4) > 0 { values["age"] = .integer(Int64(random.below(6))) }
      if random.below(4) > 0 { values["rating"] = .double(Double(random.below(8)) / 2) }
      if random.below(4) > 0 { values["salary"] = .decimal(Decimal(random.below(5)) / 10) }
      if random.below(3) > 0 { values["isActive"] = .boolean(random.below(2) == 0) }
      if random.below(4) > 0 {
        values["born"] = .date(Date(timeIntervalSinceReferenceDate: Double(random.below(4)) * 100))
      }
      if random.below(3) > 0 { values["company"] = .object(random.pick(companies).objectID) }
      if let boss = people.last, random.below(3) > 0 {
        values["boss"] = .object(random.below(2) == 0 ? boss.objectID : people[0].objectID)
      }
      people.append(try fixture.row(index % 5 == 0 ? "Manager" : "Employee", values))
    }
    var request = SaveChangesRequest()
    request.insertions = (companies + projects + people).map { .init(snapshot: $0) }
    for project in projects.dropLast() {
      let members = people.filter { _ in random.below(4) == 0 }.map(\.objectID)
      request.links.append(
        .init(
          relationship: try fixture.relationship("Project", "members"), owner: project.objectID,
          added: members, order: members))
    }
    _ = try fixture.receipt(fixture.store.save(request))
    return fixture
  }

  private struct Random {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }
  }

  /// The rows by SQL (with its remainder) and by the evaluator alone.
  private func both(
    _ fixture: StoreFixture, _ predicate: ObjectPredicate, entity: String = "Employee"
  ) throws -> (sql: [Int64], memory: [Int64], isWhollySQL: Bool) {
    let request = StoreFetchRequest(entity: try fixture.entity(entity), predicate: predicate)
    let plan = try SQLQueryPlan(request, schema: fixture.store.schema)
    let found = try #require(try fixture.store.fetch(request).snapshots)
    let all = try fixture.fetch(entity)
    let memory = try fixture.store.readConsistently { lookup in
      let graph = StoredGraph(lookup: lookup)
      return try all.filter { try predicate.test(graph.view($0)) }
    }
    func keys(_ rows: [RowSnapshot]) -> [Int64] { rows.compactMap(\.objectID.rowKey).sorted() }
    return (keys(found), keys(memory), plan.remainder == nil)
  }

  /// Predicates that SQL says in full.
  private static let inSQL = [
    "name == 'Ann'", "name != 'Ann'", "NOT (name == 'Ann')", "name == nil", "name != nil",
    "nil == name", "'Ann' == name", "age > 2", "3 > age", "age >= 2 AND age <= 4",
    "age < 2 OR age == nil", "NOT (age < 2)", "NOT (age < 2 OR name == nil)", "NOT age > 2",
    "age == rating", "age != rating", "age < rating", "name == email", "name ==[c] 'ANN'",
    "name ==[cd] 'ann'", "name !=[c] 'ann'", "name BEGINSWITH 'A'", "name BEGINSWITH[cd] 'a'",
    "name BEGINSWITH ''", "name ENDSWITH 'b'", "name CONTAINS '%'", "name CONTAINS[c] 'B'",
    "name LIKE '*nn'", "name LIKE[c] 'a?n'", "name LIKE 'a_b'", "name MATCHES '[A-Z].*'",
    "NOT (name CONTAINS 'n')", "name IN {'Ann', 'Bob'}", "NOT (name IN {'Ann', 'Bob'})",
    "name IN {'Ann', nil}", "name IN {}", "age IN {1, 2, 3, 4, 5, 6}", "age BETWEEN {1, 3}",
    "rating BETWEEN {0.5, 2}", "isActive == YES", "isActive == NO", "isActive != YES",
    "isActive == 1", "salary > 0.2", "salary == 0.1", "age + 1 > 3", "age * 2 == rating * 4",
    "age - rating > 0", "length(name) > 3", "uppercase(name) == 'ANN'", "lowercase(name) == 'ann'",
    "canonical(name) == 'ann'", "'n' IN name", "company == nil", "company != nil",
    "company.name == 'Acme'", "company.name != 'Acme'", "company.name == nil",
    "NOT (company.name == 'Acme')", "company.name ==[c] 'acme'", "boss.name == name",
    "boss.boss.name == 'Ann'", "boss.company.name != nil", "ANY projects.title == 'P1'",
    "ANY projects.title != 'P1'", "NONE projects.title == 'P1'", "ALL projects.title == 'P1'",
    "ALL projects.title IN {'P0', 'P1'}", "NOT (ANY projects.title == 'P0')",
    "projects.@count > 1", "projects.@count == 0", "reports.@count > 0", "reports.@max.age > 3",
    "reports.@min.age == nil", "reports.@sum.age > 4", "ANY reports.age > age",
    "SUBQUERY(projects, $p, $p.title == 'P1').@count > 0",
    "SUBQUERY(reports, $r, $r.age > 2 AND $r.name != nil).@count == 1",
    "SUBQUERY(projects, $p, SUBQUERY($p.members, $m, $m.age > 3).@count > 1).@count > 0",
    "'P1' IN projects.title", "projects.title CONTAINS 'P2'", "ANY projects.title BEGINSWITH 'P'",
    "ANY projects.title LIKE[c] 'p*1'", "TRUEPREDICATE", "FALSEPREDICATE",
    "noindex:(age) > 2", "age > 1 AND (name == nil OR rating < 2)",
    "TERNARY(age > 2, rating, 0) > 1", "born >= CAST(100, 'NSDate')", "abs(age) > 3",
    "(age & 1) == 1", "SELF.age == 2", "age %% 2 == 1", "age ** 2 > 4", "(age ^ 3) > 1",
    "(age << 1) == 4", "(age >> 1) == 1", "~age == -3", "floor(rating) == 1", "sqrt(age) > 1.5",
    "reports[SIZE] > 0", "SUBQUERY(reports, $r, $r.age > 1).@sum.age > 3",
    "SUBQUERY(reports, $r, $r.age > 1).@max.rating > 1", "reports.@avg.age > 2",
    "name IN[cd] {'ANN', 'bob', nil}", "entity.name == 'Manager'", "born + 50 > 120",
    "CAST(born, 'NSNumber') > 100", "name IN {'Ann', 'Bob', '', 'Zoë 🐟', 'a_b', '100%'}",
  ]

  @Test(arguments: inSQL) func sqlAgreesWithTheEvaluator(_ format: String) throws {
    let fixture = try filled()
    let result = try both(fixture, ObjectPredicate.parse(format))
    #expect(result.sql == result.memory, "\(format)")
  }

  /// Predicates with a part that only the evaluator knows.
  private static let mixed = [
    "age > 1 AND FUNCTION(name, 'length') > 3", "salary + 1 > 1.2 OR name == nil",
    "median(reports.age) > 2", "CAST(age, 'NSString') == '3'",
    "age > 1 AND NOT (salary * 2 > 0.3) AND name != nil", "name.length > 3", "name.length == nil",
    "NOT (company.name.length == 4)", "ANY projects.title.length == 2 AND age > 1",
    "SUBQUERY(reports, $r, $r.name.length > 3).@count > 0", "born.timeIntervalSince1970 > 0",
  ]

  @Test(arguments: mixed) func whatSQLCannotSayIsEvaluatedInMemory(_ format: String) throws {
    let fixture = try filled()
    let result = try both(fixture, ObjectPredicate.parse(format))
    #expect(!result.isWhollySQL)
    #expect(result.sql == result.memory, "\(format)")
  }

  @Test func objectsAreComparedByTheirIDs() throws {
    let fixture = try filled()
    let people = try fixture.fetch("Employee", sort: "email").map(\.objectID)
    let company = try fixture.fetch("Company")[0].objectID
    let project = try fixture.fetch("Project")[0].objectID
    let temporary = ManagedObjectID.temporary(entity: try fixture.entity("Company"))
    let cases: [(String, [Any?])] = [
      ("SELF == %@", [people[0]]), ("SELF != %@", [people[0]]), ("SELF IN %@", [people]),
      ("self IN %@", [[people[1], people[2]]]), ("objectID == %@", [people[3]]),
      ("company == %@", [company]), ("company != %@", [company]), ("company IN %@", [[company]]),
      ("company == %@", [temporary]), ("company == %@", [people[0]]),
      ("projects CONTAINS %@", [project]), ("%@ IN projects", [project]),
      ("ANY projects == %@", [project]), ("NONE projects == %@", [project]),
      ("boss IN %@", [people]), ("ANY projects IN %@", [[project]]),
    ]
    for (format, arguments) in cases {
      let predicate = try ObjectPredicate.parse(format, arguments: arguments)
      let result = try both(fixture, predicate)
      #expect(result.sql == result.memory, "\(format)")
      #expect(result.isWhollySQL, "\(format)")
    }
  }

  @Test func randomPredicatesFindTheSameRowsBothWays() throws {
    let seed =
      ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 0...UInt64.max)
    var random = Random(state: seed)
    let fixture = try filled(seed: seed)
    let plain = Self.inSQL + Self.mixed
    for _ in 0..<150 {
      var format = random.pick(plain)
      for _ in 0..<random.below(4) {
        let other = random.pick(plain)
        switch random.below(3) {
        case 0: format = "(\(format)) AND (\(other))"
        case 1: format = "(\(format)) OR (\(other))"
        default: format = "NOT ((\(format)) AND (\(other)))"
        }
      }
      let result = try both(fixture, ObjectPredicate.parse(format))
      #expect(result.sql == result.memory, "seed \(seed): \(format)")
    }
  }

  // MARK: Errors

  @Test(arguments: [
    ("nothing == 1", "keypath nothing not found in entity Employee"),
    ("level == 1", "keypath level not found in entity Employee"),
    ("scratch == 'x'", "keypath scratch not found in entity Employee"),
    ("company.nothing == 1", "keypath company.nothing not found in entity Employee"),
    ("nothing ** 2 == 1", "keypath nothing not found in entity Employee"),
    ("projects.title == 'x'", "to-many key not allowed here"),
    ("ANY projects.members.name == 'x'", "multiple to-many keys not allowed here"),
  ])
  func aWrongKeyPathIsAnErrorInCoreDatasWords(_ format: String, _ text: String) throws {
    let fixture = try StoreFixture()
    let error = #expect(throws: CoreDataError.self) { _ = try fixture.fetch("Employee", format) }
    #expect(error?.message == text)
  }

  @Test(arguments: [
    ("nothing", "keypath nothing not found in entity Employee"),
    ("level", "keypath level not found in entity Employee"),
    ("scratch", "keypath scratch not found in entity Employee"),
    ("name.nothing", "keypath name.nothing not found in entity Employee"),
    ("company.nothing", "keypath company.nothing not found in entity Employee"),
    ("projects.title", "to-many key not allowed here"),
  ])
  func aWrongSortKeyIsAnErrorInCoreDatasWords(_ key: String, _ text: String) throws {
    let fixture = try StoreFixture()
    let error = #expect(throws: CoreDataError.self) {
      _ = try fixture.fetch("Employee", sort: key)
    }
    #expect(error?.message == text)
  }

  // MARK: Order, limits and shapes

  @Test func sortingPutsNilFirstAndFollowsToOneRelationships() throws {
    let fixture = try filled()
    for key in ["name", "age", "company.name", "boss.age", "projects.@count", "born", "salary"] {
      for ascending in [true, false] {
        for selector in [SelectorName.compare, .caseInsensitiveCompare] {
          let descriptors = [
            ObjectSortDescriptor(key: key, ascending: ascending, selector: selector),
            ObjectSortDescriptor(key: "email", ascending: true),
          ]
          var request = StoreFetchRequest(
            entity: try fixture.entity("Employee"), sortDescriptors: descriptors)
          let bySQL = try #require(try fixture.store.fetch(request).snapshots)
          request.sortDescriptors = []
          let all = try #require(try fixture.store.fetch(request).snapshots)
          let byMemory = try fixture.store.readConsistently { lookup in
            let graph = StoredGraph(lookup: lookup)
            return try all.map(graph.view).sorted { try descriptors.areInIncreasingOrder($0, $1) }
          }
          #expect(bySQL.map(\.objectID) == byMemory.map(\.objectID), "\(key) \(ascending)")
        }
      }
    }
  }

  @Test func limitAndOffsetApplyAfterTheWholePredicate() throws {
    let fixture = try filled()
    for format in ["age > 0", "FUNCTION(age, 'doubleValue') > 0"] {
      var request = StoreFetchRequest(
        entity: try fixture.entity("Employee"), predicate: try ObjectPredicate.parse(format),
        sortDescriptors: [ObjectSortDescriptor(key: "email", ascending: true)],
        result: .objectIDs)
      let all = try #require(try fixture.store.fetch(request).objectIDs)
      request.limit = 3
      request.offset = 2
      let some = try #require(try fixture.store.fetch(request).objectIDs)
      #expect(some == Array(all[2..<5]))
      request.result = .count
      let count = try #require(try fixture.store.fetch(request).count)
      #expect(count == 3)
    }
  }

  @Test func dictionariesGroupAndAggregate() throws {
    let fixture = try filled()
    typealias Column = StoreFetchRequest.DictionaryColumns.Column
    let name = ObjectExpression(forKeyPath: "company.name")
    func columns(_ having: String? = nil) throws -> StoreFetchRequest.DictionaryColumns {
      .init(
        columns: [
          Column(key: "company", expression: name, type: .undefined),
          Column(
            key: "n", expression: ObjectExpression(format: "count:(email)"), type: .integer64),
          Column(
            key: "oldest", expression: ObjectExpression(format: "max:(age)"), type: .undefined),
        ], groupBy: [name], having: try having.map { try ObjectPredicate.parse($0) })
    }
    var request = StoreFetchRequest(
      entity: try fixture.entity("Employee"), predicate: ObjectPredicate(format: "company != nil"),
      sortDescriptors: [ObjectSortDescriptor(key: "company.name", ascending: true)],
      result: .dictionaries(try columns()))
    let rows = try #require(try fixture.store.fetch(request).dictionaries)
    let companies = ["Acme", "Beta", "acme"]
    #expect(rows.map { $0["company"] } == companies.map { .string($0) })
    for (row, company) in zip(rows, companies) {
      let members = try fixture.fetch("Employee", "company.name == '\(company)'")
      #expect(row["n"] == .integer(Int64(members.count)))
    }
    request.result = .dictionaries(try columns("n > 1000"))
    let none = try #require(try fixture.store.fetch(request).dictionaries)
    #expect(none.isEmpty)
    request.result = .dictionaries(
      .init(
        columns: [
          Column(key: "age", expression: ObjectExpression(forKeyPath: "age"), type: .integer32)
        ], distinct: true))
    request.sortDescriptors = [ObjectSortDescriptor(key: "age", ascending: true)]
    let ages = try #require(try fixture.store.fetch(request).dictionaries)
    #expect(Set(ages).count == ages.count)
    request.result = .dictionaries(
      .init(
        columns: [
          Column(key: "id", expression: .expressionForEvaluatedObject(), type: .objectID),
          Column(
            key: "c", expression: ObjectExpression(forKeyPath: "company"), type: .objectID),
        ]))
    let objects = try #require(try fixture.store.fetch(request).dictionaries)
    let employees = try fixture.fetch("Employee", "company != nil")
    #expect(
      Set(objects.compactMap { $0["id"] }) == Set(employees.map { .object($0.objectID) }))
  }
}
