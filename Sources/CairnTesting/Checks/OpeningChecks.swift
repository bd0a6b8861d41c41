import CairnModel
import CairnStore

/// What holds once a store is open.
enum OpeningChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("metadata has type and UUID") { probe in
      probe.expectEqual(probe.store.type, probe.kindType, "type")
      let metadata = probe.store.metadata ?? [:]
      probe.expectEqual(metadata[StoreMetadataKey.type] as? String, probe.kindType, "metadata type")
      probe.expectEqual(
        metadata[StoreMetadataKey.uuid] as? String, probe.store.identity.identifier,
        "metadata UUID")
    },
    ConformanceCheck("a new store is empty") { probe in
      for entity in probe.model.entities {
        let rows = try probe.fetch(entity.name ?? "")
        probe.expect(rows.isEmpty, "\(entity.name ?? "") has \(rows.count) rows")
      }
    },
    ConformanceCheck("rows and UUID survive closing") { probe in
      guard probe.keepsFiles else { return }
      let row = try probe.insert("Person", ["name": .string("Ada"), "age": .integer(36)])
      let uuid = probe.store.identity.identifier
      let key = row.objectID.rowKey
      try probe.reopen()
      probe.expectEqual(probe.store.identity.identifier, uuid, "UUID")
      let rows = try probe.fetch("Person")
      probe.expectEqual(try probe.strings("name", of: rows), ["Ada"], "names")
      probe.expectEqual(rows.first?.objectID.rowKey, key, "primary key")
      let next = try probe.insert("Person", ["name": .string("Bob")])
      probe.expect(next.objectID.rowKey != key, "a primary key was given twice")
    },
    ConformanceCheck("permanent IDs are all different") { probe in
      let entities = try ["Person", "Employee", "Person", "Company"].map(probe.entity)
      let first = try probe.store.obtainPermanentIDs(for: entities)
      let second = try probe.store.obtainPermanentIDs(for: entities)
      probe.expectEqual(Set(first + second).count, 8, "different IDs")
      probe.expect(!(first + second).contains(where: \.isTemporaryID), "some are temporary")
      probe.expect(
        zip(first, entities).allSatisfy { $0.entity === $1 }, "entities are in another order")
      probe.expect(
        first.allSatisfy { $0.persistentStore === probe.store }, "IDs do not name the store")
    },
  ]
}
