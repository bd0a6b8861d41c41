import CairnModel
import CairnStore

/// Uniqueness constraints, for stores that keep them.
enum ConstraintChecks {
  private static func violations(
    _ outcome: SaveOutcome, _ probe: StoreProbe
  ) -> [ConstraintViolation] {
    if case .constraintViolations(let violations) = outcome { return violations }
    probe.fail("expected constraint violations, found \(outcome)")
    return []
  }

  /// Checked when the store says ``StoreCapabilities/keepsUniqueness``.
  static let all: [ConformanceCheck] = rules.map { rule in
    ConformanceCheck(rule.name) { probe in
      if probe.store.capabilities.keepsUniqueness { try rule.body(probe) }
    }
  }

  private static let rules: [ConformanceCheck] = [
    ConformanceCheck("a value that a row has is a violation") { probe in
      let row = try probe.insert("Person", ["code": .string("x")])
      let new = try probe.newRow("Person", ["code": .string("x")])
      let found = violations(try probe.attempt { $0.insertions = [.init(snapshot: new)] }, probe)
      probe.expectEqual(found.map(\.constraint), [["code"]], "constraints")
      probe.expectEqual(found.first?.objectIDs, [new.objectID], "objects")
      probe.expectEqual(found.first?.persisted?.objectID, row.objectID, "the stored row")
      probe.expectEqual(try probe.fetch("Person").count, 1, "rows")
    },
    ConformanceCheck("two new rows with one value are a violation") { probe in
      let new = try (0..<2).map { _ in try probe.newRow("Person", ["code": .string("x")]) }
      let found = violations(
        try probe.attempt { $0.insertions = new.map { .init(snapshot: $0) } }, probe)
      probe.expectEqual(Set(found.flatMap(\.objectIDs)), Set(new.map(\.objectID)), "objects")
      probe.expectEqual(try probe.fetch("Person").count, 0, "rows")
    },
    ConformanceCheck("a constraint holds across the entity's subentities") { probe in
      _ = try probe.insert("Person", ["code": .string("x")])
      let new = try probe.newRow("Employee", ["code": .string("x")])
      _ = violations(try probe.attempt { $0.insertions = [.init(snapshot: new)] }, probe)
    },
    ConformanceCheck("nulls never collide") { probe in
      _ = try probe.insert("Person", ["code": .null])
      _ = try probe.insert("Person", ["code": .null])
      probe.expectEqual(try probe.fetch("Person").count, 2, "rows")
    },
    ConformanceCheck("a value is free once its row is deleted or changed in the same save") {
      probe in
      let first = try probe.insert("Person", ["code": .string("x")])
      let second = try probe.insert("Person", ["code": .string("y")])
      let new = try probe.newRow("Person", ["code": .string("x")])
      try probe.save {
        $0.deletions = [.init(snapshot: first)]
        $0.insertions = [.init(snapshot: new)]
      }
      let moved = try probe.update(second, ["code": .string("z")])
      let next = try probe.newRow("Person", ["code": .string("y")])
      try probe.save {
        $0.updates = [moved]
        $0.insertions = [.init(snapshot: next)]
      }
      probe.expectEqual(
        try probe.strings("code", of: probe.fetch("Person")).sorted(), ["x", "y", "z"], "codes")
    },
    ConformanceCheck("an update to a value that a row has is a violation") { probe in
      _ = try probe.insert("Person", ["code": .string("x")])
      let row = try probe.insert("Person", ["code": .string("y")])
      let update = try probe.update(row, ["code": .string("x")])
      let found = violations(try probe.attempt { $0.updates = [update] }, probe)
      probe.expectEqual(found.first?.objectIDs, [row.objectID], "objects")
      probe.expectEqual(
        try probe.value("code", of: probe.stored(row.objectID)), .string("y"), "stored code")
    },
  ]
}
