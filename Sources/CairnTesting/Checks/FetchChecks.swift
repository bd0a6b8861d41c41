import CairnModel
import CairnPredicates
import CairnStore

/// Which rows a fetch finds, in which order and shape.
enum FetchChecks {
  private static func fill(_ probe: StoreProbe) throws {
    let ages: [(String, AttributeValue)] = [
      ("bob", .integer(20)), ("Ada", .integer(30)), ("cid", .null), ("Zoe", .integer(20)),
    ]
    for (name, age) in ages { _ = try probe.insert("Person", ["name": .string(name), "age": age]) }
    _ = try probe.insert(
      "Employee", ["name": .string("Eve"), "age": .integer(40), "salary": .integer(5)])
  }

  private static func sorted(_ key: String, ascending: Bool = true) -> ObjectSortDescriptor {
    ObjectSortDescriptor(key: key, ascending: ascending)
  }

  private static func count(
    _ entity: String, _ probe: StoreProbe, _ change: (inout StoreFetchRequest) -> Void
  ) throws -> Int {
    var request = StoreFetchRequest(entity: try probe.entity(entity), result: .count)
    change(&request)
    guard case .count(let count) = try probe.store.fetch(request) else {
      throw ProbeError(description: "a fetch for a count gave something else")
    }
    return count
  }

  private static func dictionaries(
    _ columns: StoreFetchRequest.DictionaryColumns, _ probe: StoreProbe,
    sortedBy key: String? = nil
  ) throws -> [[String: AttributeValue]] {
    var request = StoreFetchRequest(
      entity: try probe.entity("Person"), result: .dictionaries(columns))
    if let key { request.sortDescriptors = [sorted(key)] }
    guard case .dictionaries(let rows) = try probe.store.fetch(request) else {
      throw ProbeError(description: "a fetch for dictionaries gave something else")
    }
    return rows
  }

  private static func column(
    _ key: String, _ format: String, _ type: AttributeType
  ) throws -> StoreFetchRequest.DictionaryColumns.Column {
    .init(key: key, expression: try ObjectExpression.parse(format), type: type)
  }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("subentities take part when asked for") { probe in
      try fill(probe)
      probe.expectEqual(try probe.fetch("Person").count, 5, "with subentities")
      probe.expectEqual(
        try probe.fetch("Person") { $0.includesSubentities = false }.count, 4, "without")
      let employees = try probe.fetch("Employee")
      probe.expectEqual(try probe.strings("name", of: employees), ["Eve"], "employees")
      let entity = try probe.entity("Employee")
      probe.expect(
        try probe.fetch("Person").contains { $0.objectID.entity === entity },
        "a row of a subentity has the wrong entity")
    },
    ConformanceCheck("text sorts by code units, null first") { probe in
      try fill(probe)
      _ = try probe.insert("Person", [:])
      let up = try probe.fetch("Person") { $0.sortDescriptors = [sorted("name")] }
      probe.expectEqual(
        try probe.strings("name", of: up), ["nil", "Ada", "Eve", "Zoe", "bob", "cid"], "ascending")
      let down = try probe.fetch("Person") {
        $0.sortDescriptors = [sorted("name", ascending: false)]
      }
      probe.expectEqual(
        try probe.strings("name", of: down), ["cid", "bob", "Zoe", "Eve", "Ada", "nil"],
        "descending")
    },
    ConformanceCheck("several sort descriptors, the first deciding first") { probe in
      try fill(probe)
      let rows = try probe.fetch("Person") {
        $0.sortDescriptors = [sorted("age", ascending: false), sorted("name")]
      }
      probe.expectEqual(
        try probe.strings("name", of: rows), ["Eve", "Ada", "Zoe", "bob", "cid"], "names")
    },
    ConformanceCheck("sorting through a to-one relationship") { probe in
      for (company, person) in [("y", "1"), ("x", "2")] {
        let row = try probe.insert("Company", ["name": .string(company)])
        _ = try probe.insert(
          "Person", ["name": .string(person), "company": .object(row.objectID)])
      }
      _ = try probe.insert("Person", ["name": .string("3")])
      let rows = try probe.fetch("Person") { $0.sortDescriptors = [sorted("company.name")] }
      probe.expectEqual(try probe.strings("name", of: rows), ["3", "2", "1"], "names")
    },
    ConformanceCheck("offset and limit cut the sorted result") { probe in
      try fill(probe)
      let windows: [(Int, Int, [String])] = [
        (0, 2, ["Ada", "Eve"]), (1, 2, ["Eve", "Zoe"]), (3, 0, ["bob", "cid"]), (9, 2, []),
      ]
      for (offset, limit, names) in windows {
        let rows = try probe.fetch("Person") {
          $0.sortDescriptors = [sorted("name")]
          $0.offset = offset
          $0.limit = limit
        }
        probe.expectEqual(
          try probe.strings("name", of: rows), names, "offset \(offset), limit \(limit)")
      }
    },
    ConformanceCheck("counts honour entity, predicate, offset and limit") { probe in
      try fill(probe)
      probe.expectEqual(try count("Person", probe) { _ in }, 5, "all")
      probe.expectEqual(
        try count("Person", probe) { $0.includesSubentities = false }, 4, "exact entity")
      probe.expectEqual(
        try count("Person", probe) { $0.predicate = ObjectPredicate(format: "age = 20") }, 2,
        "with a predicate")
      probe.expectEqual(
        try count("Person", probe) {
          $0.offset = 1
          $0.limit = 3
        }, 3, "in a window")
    },
    ConformanceCheck("object IDs come in the order of the sort") { probe in
      try fill(probe)
      let rows = try probe.fetch("Person") { $0.sortDescriptors = [sorted("name")] }
      var request = StoreFetchRequest(entity: try probe.entity("Person"), result: .objectIDs)
      request.sortDescriptors = [sorted("name")]
      guard case .objectIDs(let ids) = try probe.store.fetch(request) else {
        return probe.fail("a fetch for IDs gave something else")
      }
      probe.expectEqual(ids, rows.map(\.objectID), "IDs")
    },
    ConformanceCheck("dictionaries hold the columns asked for, without nulls") { probe in
      try fill(probe)
      let rows = try dictionaries(
        .init(columns: [
          try column("name", "name", .string), try column("years", "age", .integer16),
        ]), probe, sortedBy: "name")
      probe.expectEqual(
        rows.last, ["name": .string("cid")], "the row whose age is null")
      probe.expectEqual(rows.first, ["name": .string("Ada"), "years": .integer(30)], "first row")
    },
    ConformanceCheck("aggregates over all rows") { probe in
      try fill(probe)
      let rows = try dictionaries(
        .init(columns: [
          try column("sum", "sum:(age)", .integer64), try column("low", "min:(age)", .integer64),
          try column("high", "max:(age)", .integer64),
          try column("known", "count:(age)", .integer64),
          try column("mean", "average:(age)", .double),
        ]), probe)
      probe.expectEqual(
        rows,
        [
          [
            "sum": .integer(110), "low": .integer(20), "high": .integer(40),
            "known": .integer(4), "mean": .double(27.5),
          ]
        ], "aggregates")
    },
    ConformanceCheck("groups, and distinct rows") { probe in
      try fill(probe)
      let grouped = try dictionaries(
        .init(
          columns: [
            try column("age", "age", .integer16), try column("how", "count:(name)", .integer64),
          ], groupBy: [try ObjectExpression.parse("age")]), probe, sortedBy: "age")
      probe.expectEqual(
        grouped,
        [
          ["how": .integer(1)], ["age": .integer(20), "how": .integer(2)],
          ["age": .integer(30), "how": .integer(1)], ["age": .integer(40), "how": .integer(1)],
        ], "groups")
      let distinct = try dictionaries(
        .init(columns: [try column("age", "age", .integer16)], distinct: true), probe,
        sortedBy: "age")
      probe.expectEqual(
        distinct,
        [[:], ["age": .integer(20)], ["age": .integer(30)], ["age": .integer(40)]], "distinct")
    },
    ConformanceCheck("an unknown key path is an error") { probe in
      var request = StoreFetchRequest(entity: try probe.entity("Person"))
      request.predicate = ObjectPredicate(format: "nonsense = 1")
      do {
        _ = try probe.store.fetch(request)
        probe.fail("the fetch did not throw")
      } catch {
        probe.expect(
          "\(error)".contains("nonsense"), "the error does not name the key path: \(error)")
      }
    },
  ]
}
