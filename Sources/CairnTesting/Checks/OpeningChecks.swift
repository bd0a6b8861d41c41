import CairnModel
import CairnStore
import Foundation

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
      let key = row.objectID.key
      try probe.reopen()
      probe.expectEqual(probe.store.identity.identifier, uuid, "UUID")
      let rows = try probe.fetch("Person")
      probe.expectEqual(try probe.strings("name", of: rows), ["Ada"], "names")
      probe.expectEqual(rows.first?.objectID.key, key, "primary key")
      let next = try probe.insert("Person", ["name": .string("Bob")])
      probe.expect(next.objectID.key != key, "a primary key was given twice")
    },
    ConformanceCheck("values and links survive closing") { probe in
      guard probe.keepsFiles else { return }
      let company = try probe.insert("Company", ["name": .string("<Ä & \"x\">\r\n\u{1}")])
      let notes = try ["b", "a", "c"].map { try probe.insert("Note", ["text": .string($0)]) }
      let values: [String: AttributeValue] = [
        "name": .string(""), "age": .integer(-7), "big": .integer(.min), "rating": .double(-0.1),
        "weight": .float(.greatestFiniteMagnitude), "active": .boolean(false),
        "price": .decimal(Decimal(string: "-1234567.25") ?? 0),
        "born": .date(Date(timeIntervalSinceReferenceDate: -1.5e-9)),
        "bytes": .data(Data([0, 255, 10])), "token": .uuid(UUID()),
        "company": .object(company.objectID),
      ]
      let person = try probe.insert("Person", values)
      let chapters = try probe.toMany("chapters", of: "Company")
      try probe.save {
        $0.links = [
          .init(
            relationship: chapters, owner: company.objectID, added: notes.map(\.objectID),
            order: notes.map(\.objectID))
        ]
      }
      try probe.reopen()
      let again = try probe.fetch("Person").first
      for (name, value) in values where name != "company" {
        let found = try probe.value(name, of: again)
        probe.expect(
          found?.isSameStoredValue(as: value) ?? false,
          "\(name): expected \(value), found \(String(describing: found))")
      }
      guard let stored = try probe.fetch("Company").first else {
        return probe.fail("the company is gone")
      }
      probe.expectEqual(
        try probe.value("name", of: stored), .string("<Ä & \"x\">\r\n\u{1}"), "difficult text")
      probe.expectEqual(try probe.value("company", of: again), .object(stored.objectID), "to-one")
      let people = try probe.toMany("people", of: "Company")
      probe.expectEqual(
        try probe.store.members(of: people, owners: [stored.objectID]).first?.map(\.key),
        [person.objectID.key], "to-many")
      let order = try probe.store.members(
        of: try probe.toMany("chapters", of: "Company"), owners: [stored.objectID])
      probe.expectEqual(
        order.first?.map(\.key) ?? [], notes.map(\.objectID.key), "ordered to-many")
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
