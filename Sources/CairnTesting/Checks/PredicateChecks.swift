import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// The same predicate finds the same rows in the store and in memory.
enum PredicateChecks {
  /// Predicates over `Person` in the conformance model.
  ///
  /// Each is evaluated by the store and, over all its rows, in memory.
  static let formats: [String] = [
    "TRUEPREDICATE", "FALSEPREDICATE",
    "age = 20", "age != 20", "age > 20", "age >= 30", "age < 30", "age <= 20",
    "age = nil", "age != nil", "name = nil", "name != nil", "name = 'Ada'", "name != 'Ada'",
    "20 < age", "age BETWEEN {20, 30}", "NOT age BETWEEN {20, 30}",
    "age IN {20, 40}", "NOT (age IN {20, 40})", "name IN {'Ada', 'bob'}", "name IN {}",
    "name > 'B'", "name < 'a'", "name ==[c] 'ADA'", "name ==[cd] 'zoe'", "name ==[d] 'Zoe'",
    "name BEGINSWITH 'A'", "name BEGINSWITH[c] 'a'", "name BEGINSWITH[cd] 'ZO'",
    "name ENDSWITH 'e'", "name ENDSWITH[c] 'B'", "name CONTAINS 'o'", "name CONTAINS[cd] 'OE'",
    "name LIKE 'A*'", "name LIKE '?ob'", "name LIKE[c] 'a?A'", "name LIKE '*%*'",
    "name LIKE '*_*'", "name CONTAINS '%'", "name BEGINSWITH '_'", "name MATCHES '[A-C].*'",
    "name MATCHES[c] 'a.a'", "name CONTAINS ''", "name BEGINSWITH ''",
    "age = 20 AND name = 'bob'", "age = 20 OR name = 'Ada'", "NOT (age = 20)",
    "NOT (age = 20 OR name = 'Ada')", "NOT (age = 20 AND active = YES)",
    "active = YES", "active = NO", "active != YES", "active == nil",
    "rating > 1.5", "rating + age > 22", "age * 2 = 40", "age - 10 = 10",
    "company = nil", "company != nil", "company.name = 'x'", "company.name != 'x'",
    "company.name = nil", "company.name BEGINSWITH[c] 'X'", "NOT (company.name = 'x')",
    "ANY friends.age > 25", "ANY friends.name = 'Ada'", "ANY friends.company.name = 'x'",
    "NONE friends.age > 25", "friends.@count = 0", "friends.@count > 1", "friends.@count = 1",
    "company.people.@count > 1", "SUBQUERY(friends, $f, $f.age = 20).@count > 0",
    "SUBQUERY(friends, $f, $f.age = 20 AND $f.name BEGINSWITH 'b').@count = 1",
    "friends.@max.age > 25", "friends.@sum.age > 30", "friends.@min.age = 20",
    "born > CAST(100.0, 'NSDate')", "born = nil", "price > 10", "price = 12.5",
    "big > 4294967296", "code = nil AND name != nil", "name = code",
    "length:(name) = 3", "uppercase:(name) = 'ADA'", "lowercase:(name) = 'zoe'",
    "(age > 10 AND age < 25) OR (name ENDSWITH 'a' AND NOT company = nil)",
  ]

  private static func fill(_ probe: StoreProbe) throws -> [RowSnapshot] {
    let companies = try ["x", "y"].map { try probe.insert("Company", ["name": .string($0)]) }
    let rows = [
      try probe.insert(
        "Person",
        [
          "name": .string("bob"), "age": .integer(20), "active": .boolean(true),
          "rating": .double(1.5), "company": .object(companies[0].objectID),
          "price": .decimal(Decimal(string: "12.5") ?? 0), "code": .string("bob"),
        ]),
      try probe.insert(
        "Person",
        [
          "name": .string("Ada"), "age": .integer(30), "active": .boolean(false),
          "rating": .double(2.5), "company": .object(companies[0].objectID),
          "born": .date(Date(timeIntervalSinceReferenceDate: 1000)),
        ]),
      try probe.insert(
        "Person",
        ["name": .string("Zo\u{eb}"), "age": .integer(20), "big": .integer(5_000_000_000)]),
      try probe.insert(
        "Employee",
        [
          "name": .string("50% _off"), "age": .integer(40), "rating": .double(-1),
          "company": .object(companies[1].objectID),
          "born": .date(Date(timeIntervalSinceReferenceDate: 1)), "price": .decimal(3),
        ]),
      try probe.insert("Person", [:]),
      try probe.insert("Person", ["name": .string("")]),
    ]
    let ids = rows.map(\.objectID)
    let friends = try probe.toMany("friends", of: "Person")
    try probe.save {
      $0.links = [
        .init(relationship: friends, owner: ids[0], added: [ids[1]]),
        .init(relationship: friends, owner: ids[1], added: [ids[0], ids[2]]),
        .init(relationship: friends, owner: ids[4], added: [ids[3], ids[4]]),
      ]
    }
    return rows
  }

  /// Rows and members of the store, for evaluation in memory.
  private final class Source: SnapshotSource {
    let store: PersistentStore
    init(store: PersistentStore) { self.store = store }
    func snapshot(for id: ManagedObjectID) -> RowSnapshot? {
      ((try? store.snapshots(for: [id])) ?? []).first ?? nil
    }
    func members(
      of relationship: RelationshipDescription, owner: ManagedObjectID
    ) -> [ManagedObjectID] {
      ((try? store.members(of: relationship, owners: [owner])) ?? []).first ?? []
    }
  }

  private static func compare(
    _ predicate: ObjectPredicate, _ text: String, _ rows: [RowSnapshot], _ probe: StoreProbe
  ) throws {
    let found: [RowSnapshot]
    do {
      found = try probe.fetch("Person") { $0.predicate = predicate }
    } catch {
      return probe.fail("\(text) threw \(error)")
    }
    let source = Source(store: probe.store)
    let wanted = try rows.filter { try predicate.test(SnapshotView($0, source: source)) }
    let foundIDs = Set(found.map(\.objectID))
    let wantedIDs = Set(wanted.map(\.objectID))
    if foundIDs != wantedIDs {
      let names = try probe.strings("name", of: found).sorted()
      let wantedNames = try probe.strings("name", of: wanted).sorted()
      probe.fail("\(text): in memory \(wantedNames), in the store \(names)")
    }
    probe.expectEqual(found.count, foundIDs.count, "\(text) found a row twice; rows")
  }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("predicates find the same rows as in memory") { probe in
      _ = try fill(probe)
      let rows = try probe.fetch("Person")
      for format in formats {
        try compare(try ObjectPredicate.parse(format), format, rows, probe)
      }
    },
    ConformanceCheck("predicates about objects take IDs") { probe in
      let rows = try fill(probe)
      let ids = rows.map(\.objectID)
      let companies = try probe.fetch("Company")
      guard companies.count == 2 else { return probe.fail("\(companies.count) companies, not 2") }
      let predicates: [(String, [Any?])] = [
        ("SELF = %@", [ids[0]]), ("SELF != %@", [ids[0]]), ("SELF IN %@", [[ids[1], ids[2]]]),
        ("NOT (SELF IN %@)", [[ids[1], ids[2]]]),
        ("company = %@", [companies[0].objectID]), ("company != %@", [companies[0].objectID]),
        ("company IN %@", [companies.map(\.objectID)]),
        ("friends CONTAINS %@", [ids[2]]), ("ANY friends = %@", [ids[0]]),
        ("%@ IN friends", [ids[1]]),
      ]
      let all = try probe.fetch("Person")
      for (format, arguments) in predicates {
        let predicate = try ObjectPredicate.parse(format, arguments: arguments)
        try compare(predicate, format, all, probe)
      }
    },
    ConformanceCheck("predicates with constants from arguments") { probe in
      _ = try fill(probe)
      let all = try probe.fetch("Person")
      let predicates: [(String, [Any?])] = [
        ("name = %@", ["bob"]), ("%K = %@", ["name", "Ada"]), ("age = %d", [20]),
        ("name = %@", [nil]), ("born > %@", [Date(timeIntervalSinceReferenceDate: 10)]),
        ("price = %@", [Decimal(string: "12.5")]), ("name IN %@", [["bob", "Ada"]]),
        ("age BETWEEN %@", [[20, 30]]), ("name LIKE %@", ["50%*"]),
        ("name CONTAINS %@", ["_"]), ("rating = %@", [1.5]),
      ]
      for (format, arguments) in predicates {
        let predicate = try ObjectPredicate.parse(format, arguments: arguments)
        try compare(predicate, "\(format) \(arguments)", all, probe)
      }
    },
  ]
}
