import CairnModel
import CairnStore

/// Optimistic locking, and that a refused save writes nothing.
enum ConflictChecks {
  private static func conflicts(_ outcome: SaveOutcome, _ probe: StoreProbe) -> [RowConflict] {
    if case .conflicts(let conflicts) = outcome { return conflicts }
    probe.fail("expected conflicts, found \(outcome)")
    return []
  }

  /// A row as read before another save changed it.
  private static func staleRow(_ probe: StoreProbe) throws -> RowSnapshot {
    let row = try probe.insert("Person", ["name": .string("first")])
    let update = try probe.update(row, ["name": .string("second")])
    try probe.save { $0.updates = [update] }
    return row
  }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("an update based on an old version is a conflict") { probe in
      let stale = try staleRow(probe)
      let update = try probe.update(stale, ["name": .string("third")])
      let found = conflicts(try probe.attempt { $0.updates = [update] }, probe)
      probe.expectEqual(found.map(\.objectID), [stale.objectID], "objects")
      probe.expectEqual(found.first?.expectedVersion, stale.version, "expected version")
      probe.expectEqual(
        try probe.value("name", of: found.first?.persisted), .string("second"), "persisted name")
      probe.expectEqual(
        try probe.value("name", of: probe.stored(stale.objectID)), .string("second"), "stored name")
    },
    ConformanceCheck("a delete based on an old version is a conflict") { probe in
      let stale = try staleRow(probe)
      let found = conflicts(
        try probe.attempt { $0.deletions = [.init(snapshot: stale)] }, probe)
      probe.expectEqual(found.map(\.objectID), [stale.objectID], "objects")
      probe.expect(try probe.stored(stale.objectID) != nil, "the row is gone all the same")
    },
    ConformanceCheck("changing a deleted row is a conflict without a row") { probe in
      let row = try probe.insert("Person", ["name": .string("a")])
      try probe.save { $0.deletions = [.init(snapshot: row)] }
      let update = try probe.update(row, ["name": .string("b")])
      let found = conflicts(try probe.attempt { $0.updates = [update] }, probe)
      probe.expectEqual(found.map(\.objectID), [row.objectID], "objects")
      probe.expect(found.allSatisfy { $0.persisted == nil }, "it has a persisted row")
    },
    ConformanceCheck("overwriting writes whatever the version") { probe in
      let stale = try staleRow(probe)
      let update = try probe.update(stale, ["name": .string("third")], overwrites: true)
      try probe.save { $0.updates = [update] }
      probe.expectEqual(
        try probe.value("name", of: probe.stored(stale.objectID)), .string("third"), "name")
      try probe.save {
        $0.deletions = [.init(snapshot: stale, overwritesConflicts: true)]
      }
      probe.expect(try probe.stored(stale.objectID) == nil, "the row was not deleted")
    },
    ConformanceCheck("a lock holds only at its version") { probe in
      let stale = try staleRow(probe)
      let found = conflicts(
        try probe.attempt {
          $0.locks = [.init(objectID: stale.objectID, version: stale.version)]
        }, probe)
      probe.expectEqual(found.map(\.objectID), [stale.objectID], "objects")
      let current = try probe.stored(stale.objectID)
      try probe.save {
        $0.locks = [.init(objectID: stale.objectID, version: current?.version ?? 0)]
      }
    },
    ConformanceCheck("a conflict leaves the rest unwritten") { probe in
      let stale = try staleRow(probe)
      let other = try probe.insert("Person", ["name": .string("other")])
      let new = try probe.newRow("Person", ["name": .string("new")])
      let good = try probe.update(other, ["name": .string("changed")])
      let bad = try probe.update(stale, ["name": .string("third")])
      _ = conflicts(
        try probe.attempt {
          $0.insertions = [.init(snapshot: new)]
          $0.updates = [good, bad]
        }, probe)
      let names = try probe.strings("name", of: probe.fetch("Person")).sorted()
      probe.expectEqual(names, ["other", "second"], "names")
      probe.expectEqual(
        try probe.stored(other.objectID)?.version, other.version, "version of the other row")
    },
    ConformanceCheck("all conflicts are reported at once") { probe in
      let stale = [try staleRow(probe), try staleRow(probe)]
      let updates = try stale.map { try probe.update($0, ["name": .string("x")]) }
      let found = conflicts(try probe.attempt { $0.updates = updates }, probe)
      probe.expectEqual(Set(found.map(\.objectID)), Set(stale.map(\.objectID)), "objects")
    },
  ]
}
