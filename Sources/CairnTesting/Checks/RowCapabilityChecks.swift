import CairnModel
import CairnStore
import Foundation

/// What some stores can do with many rows at once, for those that can.
enum RowCapabilityChecks {
  /// Companies and people with a link of every kind.
  private static func fill(_ probe: StoreProbe) throws -> [RowSnapshot] {
    let companies = try ["x", "y"].map { try probe.insert("Company", ["name": .string($0)]) }
    let people = try (0..<6).map { number in
      try probe.insert(
        number % 3 == 2 ? "Employee" : "Person",
        [
          "name": .string("person \(number)"),
          "company": .object(companies[number % 2].objectID),
        ])
    }
    let steps = try (0..<3).map { number in
      try probe.insert(
        "Step",
        ["title": .string("step \(number)"), "company": .object(companies[0].objectID)])
    }
    let notes = try ["n", "m"].map { try probe.insert("Note", ["text": .string($0)]) }
    let (ids, noteIDs) = (people.map(\.objectID), notes.map(\.objectID))
    try probe.save {
      $0.links = [
        .init(
          relationship: try probe.toMany("friends", of: "Person"), owner: ids[0],
          added: [ids[2], ids[4]]),
        .init(
          relationship: try probe.toMany("notes", of: "Person"), owner: ids[1], added: noteIDs),
        .init(
          relationship: try probe.toMany("chapters", of: "Company"), owner: companies[1].objectID,
          added: noteIDs, order: noteIDs.reversed()),
        .init(
          relationship: try probe.toMany("steps", of: "Company"), owner: companies[0].objectID,
          order: [2, 0, 1].map { steps[$0].objectID }),
      ]
    }
    return companies + people
  }

  private static func toManys(_ probe: StoreProbe) throws -> [(RelationshipDescription, String)] {
    try [
      ("people", "Company"), ("steps", "Company"), ("chapters", "Company"), ("friends", "Person"),
      ("friendOf", "Person"), ("notes", "Person"), ("usedIn", "Note"),
    ].map { (try probe.toMany($0, of: $1), $1) }
  }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("rows are gone through by their keys") { probe in
      guard let paging = probe.store.capabilities.rows else { return }
      let rows = try fill(probe).filter { $0.objectID.entity.name != "Company" }
      let person = try probe.entity("Person")
      var found: [ManagedObjectID] = []
      var key = Int64.min
      while true {
        let page = try paging.objectIDs(of: person, after: key, limit: 4)
        probe.expect(page.count <= 4, "a page of \(page.count)")
        guard let last = page.last?.rowKey else { break }
        found += page
        key = last
      }
      let wanted = rows.map(\.objectID).sorted { ($0.rowKey ?? 0) < ($1.rowKey ?? 0) }
      probe.expectEqual(found, wanted, "objects")
      probe.expect(
        zip(found, wanted).allSatisfy { $0.entity === $1.entity }, "objects of another entity")
    },
    ConformanceCheck("a census has the number of rows and the sum of their keys") { probe in
      guard let store = probe.store.capabilities.rows else { return }
      let person = try probe.entity("Person")
      probe.expectEqual(try store.census(of: person), RowCensus(count: 0, keys: 0), "no rows")
      let keys = try fill(probe).filter { $0.objectID.entity.name != "Company" }
        .compactMap(\.rowKey)
      let sum = keys.reduce(UInt64(0)) { $0 &+ UInt64(bitPattern: $1) }
      probe.expectEqual(try store.census(of: person), RowCensus(count: 6, keys: sum), "rows")
    },
    ConformanceCheck("a row is as large as its strings and data") { probe in
      guard let store = probe.store.capabilities.rows else { return }
      let ids = try [
        probe.insert("Person", ["name": .string("12345"), "bytes": .data(Data(count: 100))]),
        probe.insert("Company", ["name": .string("yz")]),
        probe.insert("Person", ["age": .integer(5)]),
        probe.newRow("Person", ["name": .string("not saved")]),
      ].map(\.objectID)
      probe.expectEqual(try store.rowSizes(of: ids), [105, 2, 0, 0], "sizes")
      probe.expectEqual(try store.totalRowSize(of: ids), 107, "total")
      probe.expectEqual(try store.rowSizes(of: []), [], "of nothing")
    },
    ConformanceCheck("reserved keys follow one another and are never given again") { probe in
      guard let store = probe.store.capabilities.rowKeys else { return }
      let names = [("Person", 3), ("Employee", 2), ("Company", 1), ("Person", 4)]
      let runs = try names.map { RowKeyRun(entity: try probe.entity($0), count: $1) }
      let old = try probe.insert("Person").rowKey
      guard let firsts = try store.reserveRowKeys(for: runs) else { return }
      probe.expectEqual(firsts.count, runs.count, "runs")
      var people = Set([old].compactMap(\.self))
      for ((name, count), first) in zip(names, firsts) where name != "Company" {
        for key in first..<first + Int64(count) {
          probe.expect(people.insert(key).inserted, "the key \(key) twice")
        }
      }
      let next = try probe.newRow("Employee").rowKey
      probe.expect(next.map { !people.contains($0) } == true, "a reserved key given again")
      let id = probe.store.objectID(for: try probe.entity("Employee"), rowKey: firsts[1])
      try probe.save {
        $0.insertions = [
          .init(snapshot: .make(objectID: id, version: 0, values: id.entity.layout.defaultValues))
        ]
      }
      probe.expect(try probe.stored(id) != nil, "a row with a reserved key is not there")
    },
    ConformanceCheck("keys that a save claims are its own, or it is refused as a whole") { probe in
      guard let store = probe.store.capabilities.rowKeys else { return }
      let runs = try [("Person", 2), ("Company", 1), ("Employee", 1)].map {
        RowKeyRun(entity: try probe.entity($0), count: $1)
      }
      func request() throws -> SaveChangesRequest? {
        var request = SaveChangesRequest()
        for run in runs {
          guard let first = try store.nextRowKeys(for: [run], after: request.rowKeyClaims)?.first
          else { return nil }
          request.rowKeyClaims.append(RowKeyClaim(run, first: first))
          for key in first..<first + Int64(run.count) {
            let id = probe.store.objectID(for: run.entity, rowKey: key)
            request.insertions.append(
              .init(
                snapshot: .make(objectID: id, version: 0, values: id.entity.layout.defaultValues)))
          }
        }
        return request
      }
      guard let first = try request(), let second = try request() else { return }
      guard case .saved = try probe.store.save(first) else {
        return probe.expect(false, "claims of free keys are refused")
      }
      for insertion in first.insertions {
        probe.expect(try probe.stored(insertion.snapshot.objectID) != nil, "a claimed row is lost")
      }
      // The same keys once more.
      guard case .rowKeysTaken = try probe.store.save(second) else {
        return probe.expect(false, "keys are given twice")
      }
      let taken = first.insertions.map(\.snapshot.objectID)
      let next = try probe.insert("Employee")
      probe.expect(!taken.contains(next.objectID), "a claimed key is given again")
      let companies = try probe.fetch("Company").count
      probe.expectEqual(companies, 1, "rows of the refused save")
    },
    ConformanceCheck("members come with their rows") { probe in
      guard let store = probe.store.capabilities.members else { return }
      let rows = try fill(probe)
      for (relationship, name) in try toManys(probe) {
        let owners = name == "Note" ? try probe.fetch("Note") : rows
        let ids = owners.map(\.objectID).filter { $0.entity.isKind(of: relationship) }
        let wanted = try probe.store.members(of: relationship, owners: ids)
        let found = try store.memberRows(of: relationship, owners: ids, rowLimit: .max)
        probe.expectEqual(found.map { $0.map(\.objectID) }, wanted, relationship.name)
        for member in found.joined() {
          let stored = try probe.stored(member.objectID)
          probe.expect(
            member.row?.values == stored?.values && member.row?.version == stored?.version,
            "\(relationship.name): another row than that of \(member.objectID)")
        }
        let few = try store.memberRows(of: relationship, owners: ids, rowLimit: 1)
        probe.expectEqual(few.map { $0.map(\.objectID) }, wanted, "\(relationship.name), limited")
      }
    },
    ConformanceCheck("members come with the versions that delete them") { probe in
      guard let store = probe.store.capabilities.members else { return }
      let rows = try fill(probe)
      let changed = try probe.update(rows[2], ["age": .integer(3)])
      try probe.save { $0.updates = [changed] }
      for (relationship, name) in try toManys(probe) {
        let owners = name == "Note" ? try probe.fetch("Note") : rows
        let ids = owners.map(\.objectID).filter { $0.entity.isKind(of: relationship) }
        guard let found = try store.memberVersions(of: relationship, owners: ids) else { continue }
        let wanted = Set(try probe.store.members(of: relationship, owners: ids).joined())
        probe.expectEqual(Set(found.map(\.objectID)), wanted, relationship.name)
        probe.expectEqual(found.count, wanted.count, "\(relationship.name), each once")
        for member in found {
          let version = try probe.stored(member.objectID)?.version
          probe.expectEqual(member.version, version, relationship.name)
        }
      }
      let people = try probe.toMany("people", of: "Company")
      guard
        let members = try store.memberVersions(of: people, owners: rows.prefix(2).map(\.objectID))
      else { return }
      try probe.save {
        $0.deletions = members.map { .init(objectID: $0.objectID, version: $0.version) }
      }
      probe.expectEqual(try probe.fetch("Person").count, 0, "what is left")
    },
    ConformanceCheck("while writes are held the holder commits and others read") { probe in
      guard let store = probe.store.capabilities.exclusiveWrites, probe.url != nil else { return }
      let other = try probe.another([StoreOptionKey.timeout: 0.1])
      defer { try? other.close() }
      let rows = try ["a", "b", "c"].map { try probe.newRow("Company", ["name": .string($0)]) }
      func count() throws -> Int {
        let request = StoreFetchRequest(entity: try probe.entity("Company"), result: .count)
        guard case .count(let count) = try other.fetch(request) else { return -1 }
        return count
      }
      struct Stop: Error {}
      do {
        try store.holdingWrites {
          try probe.save { $0.insertions = [.init(snapshot: rows[0])] }
          // Within work that holds them already it is the same.
          _ = try store.holdingWrites {
            try probe.save { $0.insertions = [.init(snapshot: rows[1])] }
          }
          probe.expectEqual(try count(), 2, "what the other store sees")
          var request = SaveChangesRequest()
          request.insertions = [.init(snapshot: rows[2])]
          do {
            let outcome = try other.save(request)
            probe.fail("the other store's save ended with \(outcome)")
          } catch let error as CoreDataError {
            probe.expect(error.code != .persistentStoreIncompatibleSchema, "\(error)")
          }
          throw Stop()
        }
      } catch is Stop {}
      var request = SaveChangesRequest()
      request.insertions = [.init(snapshot: rows[2])]
      guard case .saved = try other.save(request) else { return probe.fail("not saved") }
      probe.expectEqual(try count(), 3, "rows afterwards")
    },
    ConformanceCheck("what was saved has no stray values and is whole") { probe in
      let rows = try fill(probe)
      try probe.save { $0.deletions = [.init(snapshot: rows[5])] }
      if let store = probe.store.capabilities.rows {
        probe.expectEqual(try store.strayValues(in: nil), [:], "stray values")
        probe.expectEqual(try store.strayValues(in: rows.map(\.objectID)), [:], "of some rows")
      }
      if let store = probe.store.capabilities.integrity {
        probe.expectEqual(try store.verifyIntegrity(), [], "damage")
      }
    },
  ]
}

extension EntityDescription {
  /// Whether objects of the entity have the relationship.
  fileprivate func isKind(of relationship: RelationshipDescription) -> Bool {
    layout.toManyByName[relationship.name] != nil
      && relationshipsByName[relationship.name]?.destinationEntity?.name
        == relationship.destinationEntity?.name
  }
}
