import CairnModel
import CairnPredicates
import CairnStore
import Foundation

/// Batch requests, for stores that execute them.
enum BatchChecks {
  private struct Batches {
    let probe: StoreProbe
    let store: any BatchExecuting

    init?(_ probe: StoreProbe) {
      guard let store = probe.store.capabilities.batches else { return nil }
      self.probe = probe
      self.store = store
    }

    func run(_ request: StoreBatchRequest) throws -> BatchOutcome {
      try store.executeBatch(request, author: "batch", contextName: "checks")
    }

    func insert(
      _ entity: String, _ rows: [BatchRowSource.Row], _ duplicates: BatchDuplicateRule = .refuse
    ) throws -> BatchOutcome {
      try run(
        .insert(
          entity: try probe.entity(entity), rows: BatchRowSource(rows), duplicates: duplicates))
    }

    func update(
      _ entity: String, _ predicate: ObjectPredicate?, _ values: [String: ObjectExpression],
      includesSubentities: Bool = true
    ) throws -> BatchOutcome {
      try run(
        .update(
          entity: try probe.entity(entity), includesSubentities: includesSubentities,
          predicate: predicate, values: values))
    }

    func delete(
      _ entity: String, _ fill: (inout StoreFetchRequest) -> Void = { _ in }
    ) throws -> BatchOutcome {
      var request = StoreFetchRequest(entity: try probe.entity(entity), result: .objectIDs)
      fill(&request)
      return try run(.delete(request))
    }

    /// Runs what must fail, and looks that it changes nothing.
    func expectFailure(
      _ code: CoreDataError.Code, of entity: String, _ body: () throws -> BatchOutcome
    ) throws {
      let before = try probe.fetch(entity).map(\.values)
      do {
        let outcome = try body()
        probe.fail("expected \(code), found \(outcome)")
      } catch let error as CoreDataError {
        probe.expectEqual(error.code, code, "code")
      }
      probe.expect(try probe.fetch(entity).map(\.values) == before, "rows have changed")
    }

    /// The kinds, keys and properties of the last commit's changes.
    func changes() throws -> [String] {
      guard let history = probe.store.capabilities.history,
        let last = try history.readHistory(HistoryReadRequest()).last
      else { return [] }
      probe.expectEqual(last.author, "batch", "author")
      probe.expectEqual(last.contextName, "checks", "name of the context")
      return last.changes.map { change in
        let properties = change.changedProperties?.sorted().joined(separator: " ") ?? ""
        return "\(change.kind) \(change.objectID.entity.name ?? "") "
          + "\(change.objectID.rowKey ?? 0) \(properties)"
      }.sorted()
    }

    func key(_ row: RowSnapshot) -> Int64 { row.rowKey ?? 0 }
  }

  private static func strings(_ row: RowSnapshot?, _ names: [String], _ probe: StoreProbe) throws
    -> [AttributeValue?]
  {
    try names.map { try probe.value($0, of: row) }
  }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("a batch insert makes rows, portion by portion") { probe in
      guard let batches = Batches(probe) else { return }
      let company = try probe.insert("Company", ["name": .string("x")])
      var portions = [0..<3, 3..<5].map { range in
        range.map { number -> BatchRowSource.Row in
          ["name": .string("\(number)"), "company": .object(company.objectID)]
        }
      }
      let source = BatchRowSource { portions.isEmpty ? nil : portions.removeFirst() }
      let outcome = try batches.run(
        .insert(entity: try probe.entity("Employee"), rows: source, duplicates: .refuse))
      let rows = try probe.fetch("Employee")
      probe.expectEqual(outcome.inserted, rows.map(\.objectID), "objects")
      probe.expectEqual(try probe.strings("name", of: rows), (0..<5).map { "\($0)" }, "names")
      probe.expectEqual(rows.map(\.version), [1, 1, 1, 1, 1], "versions")
      let people = try probe.toMany("people", of: "Company")
      let members = try probe.store.members(of: people, owners: [company.objectID])
      probe.expectEqual(members, [rows.map(\.objectID)], "members")
      probe.expectEqual(
        try batches.changes(), rows.map { "insert Employee \(batches.key($0)) " }.sorted(),
        "history")
      try batches.expectFailure(.coreData, of: "Person") {
        try batches.insert("Person", [["name": .string("a")], ["nothing": .null]])
      }
    },
    ConformanceCheck("a batch insert refuses, skips or overwrites what is there") { probe in
      guard let batches = Batches(probe) else { return }
      let there = try probe.insert(
        "Employee", ["code": .string("a"), "name": .string("old"), "age": .integer(7)])
      let rows: [BatchRowSource.Row] = [
        ["code": .string("b"), "name": .string("b")],
        ["code": .string("a"), "name": .string("new")],
        ["name": .string("without code")],
        ["code": .string("A")],
      ]
      try batches.expectFailure(.managedObjectConstraintMerge, of: "Person") {
        try batches.insert("Person", rows)
      }
      let skipped = try batches.insert("Person", rows, .skip)
      probe.expectEqual(skipped.inserted.count, 3, "inserted beside what is there")
      probe.expectEqual(skipped.updated, [], "updated")
      probe.expectEqual(
        try probe.value("name", of: probe.stored(there.objectID)), .string("old"), "name")
      let overwritten = try batches.insert(
        "Person",
        [
          ["code": .string("a"), "name": .string("first")],
          ["code": .string("c"), "name": .string("c"), "age": .integer(1)],
          ["code": .string("a"), "name": .string("second")],
          ["code": .string("c"), "name": .string("c again")],
        ], .overwrite)
      probe.expectEqual(overwritten.inserted.count, 1, "inserted")
      probe.expectEqual(overwritten.updated, [there.objectID], "updated")
      let now = try probe.stored(there.objectID)
      probe.expectEqual(
        try strings(now, ["code", "name", "age"], probe),
        [.string("a"), .string("second"), .integer(7)], "values")
      probe.expectEqual(now?.version, 3, "version")
      let new = try overwritten.inserted.first.flatMap { try probe.stored($0) }
      probe.expectEqual(
        try strings(new, ["code", "name", "age"], probe),
        [.string("c"), .string("c again"), .integer(1)], "values of the new row")
      let properties = "code name"
      probe.expectEqual(
        try batches.changes(),
        [
          "insert Person \(new.map(batches.key) ?? 0) ",
          "update Employee \(batches.key(there)) \(properties)",
          "update Employee \(batches.key(there)) \(properties)",
          "update Person \(new.map(batches.key) ?? 0) \(properties)",
        ].sorted(), "history")
    },
    ConformanceCheck("a batch update computes from the rows as they were") { probe in
      guard let batches = Batches(probe) else { return }
      let company = try probe.insert("Company", ["name": .string("x")])
      let rows = try [("Person", 1), ("Employee", 2), ("Person", 3)].map { entity, age in
        try probe.insert(
          entity,
          [
            "age": .integer(Int64(age)), "name": .string("n\(age)"),
            "code": .string("\(age)"), "company": .object(company.objectID),
          ])
      }
      let outcome = try batches.update(
        "Person", ObjectPredicate(format: "age > 1"),
        [
          "age": ObjectExpression(format: "age * 10"),
          "rating": ObjectExpression(format: "age + 0.5"),
          "name": ObjectExpression(format: "company.name"),
          "weight": ObjectExpression(forConstantValue: 2),
        ])
      probe.expectEqual(outcome.updated, rows.dropFirst().map(\.objectID), "objects")
      let stored = try rows.map { try probe.stored($0.objectID) }
      let names = ["age", "rating", "name", "weight"]
      probe.expectEqual(
        try stored.map { try strings($0, names, probe) },
        [
          [.integer(1), .null, .string("n1"), .null],
          [.integer(20), .double(2.5), .string("x"), .float(2)],
          [.integer(30), .double(3.5), .string("x"), .float(2)],
        ], "values")
      probe.expectEqual(stored.map { $0?.version }, [1, 2, 2], "versions")
      let changed = names.sorted().joined(separator: " ")
      probe.expectEqual(
        try batches.changes(),
        [
          "update Employee \(batches.key(rows[1])) \(changed)",
          "update Person \(batches.key(rows[2])) \(changed)",
        ].sorted(), "history")
      // What only memory can tell apart.
      let constant = try batches.update(
        "Person", ObjectPredicate(format: "code MATCHES '[12]'"),
        [
          "name": ObjectExpression(forConstantValue: "y"),
          "company": ObjectExpression(forConstantValue: nil),
        ],
        includesSubentities: false)
      probe.expectEqual(constant.updated, [rows[0].objectID], "without subentities")
      probe.expectEqual(
        try strings(try probe.stored(rows[0].objectID), ["name", "company"], probe),
        [.string("y"), .null], "constants")
      try batches.expectFailure(.coreData, of: "Person") {
        try batches.update("Person", nil, ["nothing": ObjectExpression(forConstantValue: 1)])
      }
      try batches.expectFailure(.managedObjectConstraintMerge, of: "Person") {
        try batches.update("Person", nil, ["code": ObjectExpression(forConstantValue: "same")])
      }
      probe.expectEqual(
        try batches.update(
          "Person", ObjectPredicate(value: false), ["age": ObjectExpression(forConstantValue: 1)]
        )
        .updated, [], "of no rows")
    },
    ConformanceCheck("a batch delete takes rows out of relationships") { probe in
      guard let batches = Batches(probe) else { return }
      let companies = try ["x", "y", "z"].map { try probe.insert("Company", ["name": .string($0)]) }
      let people = try (0..<4).map { number in
        try probe.insert(
          number == 2 ? "Employee" : "Person",
          ["company": .object(companies[number % 2].objectID), "name": .string("\(number)")])
      }
      let friends = try probe.toMany("friends", of: "Person")
      try probe.save {
        $0.links = [
          .init(relationship: friends, owner: people[0].objectID, added: people.map(\.objectID))
        ]
      }
      let outcome = try batches.delete("Company") {
        $0.predicate = ObjectPredicate(format: "name == 'x'")
      }
      probe.expectEqual(outcome.deleted.ids, [companies[0].objectID], "deleted")
      let left = [people[0], people[2]]
      probe.expectEqual(Set(outcome.updated), Set(left.map(\.objectID)), "updated")
      let stored = try left.map { try probe.stored($0.objectID) }
      probe.expectEqual(
        try stored.map { try probe.value("company", of: $0) }, [.null, .null], "companies")
      probe.expectEqual(stored.map { $0?.version }, [2, 2], "versions")
      probe.expectEqual(
        try batches.changes(),
        [
          "delete Company \(batches.key(companies[0])) ",
          "update Employee \(batches.key(people[2])) company",
          "update Person \(batches.key(people[0])) company",
        ].sorted(), "history")
      let some = try batches.delete("Person") {
        $0.sortDescriptors = [ObjectSortDescriptor(key: "name", ascending: false)]
        $0.limit = 2
      }
      probe.expectEqual(some.deleted.ids, [people[3].objectID, people[2].objectID], "the last two")
      let found = try probe.store.members(of: friends, owners: [people[0].objectID])
      probe.expectEqual(found.map(Set.init), [Set(people.prefix(2).map(\.objectID))], "friends")
      let all = try batches.delete("Person")
      probe.expectEqual(all.deleted.count, 2, "all others")
      probe.expectEqual(try batches.delete("Person").deleted.count, 0, "none")
    },
    ConformanceCheck("a batch delete follows the delete rules") { probe in
      guard let batches = Batches(probe) else { return }
      let folders = try ["a", "b"].map { try probe.insert("Folder", ["name": .string($0)]) }
      let covers = try (0..<4).map { _ in try probe.insert("Cover") }
      let files = try (0..<4).map { number in
        try probe.insert(
          "File",
          [
            "folder": .object(folders[number % 2].objectID),
            "cover": .object(covers[number].objectID),
          ])
      }
      for (cover, file) in zip(covers, files) {
        let update = try probe.update(cover, ["file": .object(file.objectID)])
        try probe.save { $0.updates = [update] }
      }
      let pin = try probe.insert("Pin", ["folder": .object(folders[1].objectID)])
      try batches.expectFailure(.validationRelationshipDeniedDelete, of: "Folder") {
        try batches.delete("Folder")
      }
      let outcome = try batches.delete("Folder") {
        $0.predicate = ObjectPredicate(format: "name == 'a'")
      }
      let gone = [folders[0], files[0], files[2], covers[0], covers[2]]
      probe.expectEqual(Set(outcome.deleted.ids), Set(gone.map(\.objectID)), "deleted")
      probe.expectEqual(
        try batches.changes(),
        gone.map { "delete \($0.objectID.entity.name ?? "") \(batches.key($0)) " }.sorted(),
        "history")
      // From the other end, the rule is to take the key away.
      let some = try batches.delete("Cover") { $0.limit = 1 }
      probe.expectEqual(some.deleted.ids, [covers[1].objectID], "a cover")
      probe.expectEqual(some.updated, [files[1].objectID], "its file")
      probe.expectEqual(
        try probe.value("cover", of: probe.stored(files[1].objectID)), .null, "no cover")
      _ = try batches.delete("Pin")
      probe.expect(try probe.stored(pin.objectID) == nil, "the pin is there")
      probe.expectEqual(try batches.delete("Folder").deleted.count, 4, "without a pin")
    },
  ]
}
