import CairnModel
import CairnStore

/// Links between rows, of every kind.
enum LinkChecks {
  private static func people(_ names: [String], _ probe: StoreProbe) throws -> [RowSnapshot] {
    try names.map { try probe.insert("Person", ["name": .string($0)]) }
  }

  private static func members(
    _ relationship: RelationshipDescription, _ owners: [RowSnapshot], _ probe: StoreProbe
  ) throws -> [Set<ManagedObjectID>] {
    try probe.store.members(of: relationship, owners: owners.map(\.objectID)).map { Set($0) }
  }

  static let all: [ConformanceCheck] = [
    ConformanceCheck("a to-many is what the to-one slots say") { probe in
      let companies = try ["x", "y", "z"].map {
        try probe.insert("Company", ["name": .string($0)])
      }
      let rows = try [0, 0, 1].map { index in
        try probe.insert("Person", ["company": .object(companies[index].objectID)])
      }
      let ids = rows.map(\.objectID)
      let people = try probe.toMany("people", of: "Company")
      let found = try members(people, [companies[1], companies[2], companies[0]], probe)
      probe.expectEqual(found, [[ids[2]], [], [ids[0], ids[1]]], "members")
      probe.expectEqual(
        try probe.value("company", of: probe.stored(ids[0])), .object(companies[0].objectID),
        "to-one")
      let move = try probe.update(rows[0], ["company": .object(companies[2].objectID)])
      let leave = try probe.update(rows[1], ["company": .null])
      try probe.save { $0.updates = [move, leave] }
      probe.expectEqual(
        try members(people, companies, probe), [[], [ids[2]], [ids[0]]], "members afterwards")
    },
    ConformanceCheck("many-to-many links show on both sides") { probe in
      let rows = try people(["a", "b", "c"], probe)
      let ids = rows.map(\.objectID)
      let friends = try probe.toMany("friends", of: "Person")
      let friendOf = try probe.toMany("friendOf", of: "Person")
      try probe.save {
        $0.links = [.init(relationship: friends, owner: ids[0], added: [ids[1], ids[2]])]
      }
      probe.expectEqual(
        try members(friends, rows, probe), [[ids[1], ids[2]], [], []], "friends")
      probe.expectEqual(try members(friendOf, rows, probe), [[], [ids[0]], [ids[0]]], "inverse")
      try probe.save {
        $0.links = [.init(relationship: friendOf, owner: ids[1], removed: [ids[0]])]
      }
      probe.expectEqual(try members(friends, rows, probe), [[ids[2]], [], []], "after removal")
    },
    ConformanceCheck("adding a link twice changes nothing") { probe in
      let ids = try people(["a", "b"], probe).map(\.objectID)
      let friends = try probe.toMany("friends", of: "Person")
      for _ in 0..<2 {
        try probe.save { $0.links = [.init(relationship: friends, owner: ids[0], added: [ids[1]])] }
      }
      let found = try probe.store.members(of: friends, owners: [ids[0]])
      probe.expectEqual(found, [[ids[1]]], "friends")
    },
    ConformanceCheck("links go with their objects") { probe in
      let rows = try people(["a", "b"], probe)
      let ids = rows.map(\.objectID)
      let friends = try probe.toMany("friends", of: "Person")
      let friendOf = try probe.toMany("friendOf", of: "Person")
      try probe.save {
        $0.links = [
          .init(relationship: friends, owner: ids[0], added: [ids[1]]),
          .init(relationship: friends, owner: ids[1], added: [ids[0]]),
        ]
      }
      try probe.save { $0.deletions = [.init(snapshot: rows[1])] }
      probe.expectEqual(try members(friends, [rows[0]], probe), [[]], "friends")
      probe.expectEqual(try members(friendOf, [rows[0]], probe), [[]], "inverse")
    },
    ConformanceCheck("an ordered to-many keeps its order") { probe in
      let company = try probe.insert("Company", ["name": .string("x")])
      let rows = try ["1", "2", "3"].map {
        try probe.insert(
          "Step", ["title": .string($0), "company": .object(company.objectID)])
      }
      let ids = rows.map(\.objectID)
      let steps = try probe.toMany("steps", of: "Company")
      for order in [[ids[2], ids[0], ids[1]], [ids[1], ids[2], ids[0]]] {
        try probe.save {
          $0.links = [.init(relationship: steps, owner: company.objectID, order: order)]
        }
        let found = try probe.store.members(of: steps, owners: [company.objectID])
        probe.expectEqual(found, [order], "steps")
      }
    },
    ConformanceCheck("an ordered many-to-many keeps its order") { probe in
      let companies = try ["x", "y"].map { try probe.insert("Company", ["name": .string($0)]) }
      let ids = try ["1", "2", "3"].map {
        try probe.insert("Note", ["text": .string($0)]).objectID
      }
      let chapters = try probe.toMany("chapters", of: "Company")
      let orders = [[ids[2], ids[0], ids[1]], [ids[0], ids[2]]]
      try probe.save {
        $0.links = zip(companies, orders).map { company, order in
          .init(relationship: chapters, owner: company.objectID, added: order, order: order)
        }
      }
      let owners = companies.map(\.objectID)
      probe.expectEqual(
        try probe.store.members(of: chapters, owners: owners), orders, "chapters")
      let reversed = Array(orders[0].reversed())
      try probe.save {
        $0.links = [.init(relationship: chapters, owner: owners[0], order: reversed)]
      }
      probe.expectEqual(
        try probe.store.members(of: chapters, owners: owners), [reversed, orders[1]], "reordered")
      let usedIn = try probe.toMany("usedIn", of: "Note")
      let users = try probe.store.members(of: usedIn, owners: [ids[0]])
      probe.expectEqual(users.map { Set($0) }, [Set(owners)], "inverse")
    },
    ConformanceCheck("a to-many without inverse keeps its members") { probe in
      let row = try probe.insert("Person", ["name": .string("a")])
      let ids = try ["1", "2"].map { try probe.insert("Note", ["text": .string($0)]).objectID }
      let notes = try probe.toMany("notes", of: "Person")
      try probe.save {
        $0.links = [.init(relationship: notes, owner: row.objectID, added: ids)]
      }
      probe.expectEqual(try members(notes, [row], probe), [Set(ids)], "notes")
      try probe.save {
        $0.links = [.init(relationship: notes, owner: row.objectID, removed: [ids[0]])]
      }
      probe.expectEqual(try members(notes, [row], probe), [[ids[1]]], "after removal")
    },
    ConformanceCheck("links between rows of the same save") { probe in
      let company = try probe.newRow("Company", ["name": .string("x")])
      let person = try probe.newRow(
        "Person", ["name": .string("a"), "company": .object(company.objectID)])
      let friend = try probe.newRow("Employee", ["name": .string("b")])
      let friends = try probe.toMany("friends", of: "Person")
      try probe.save {
        $0.insertions = [person, company, friend].map { .init(snapshot: $0) }
        $0.links = [
          .init(relationship: friends, owner: person.objectID, added: [friend.objectID])
        ]
      }
      let people = try probe.toMany("people", of: "Company")
      probe.expectEqual(try members(people, [company], probe), [[person.objectID]], "people")
      let found = try probe.store.members(of: friends, owners: [person.objectID])
      probe.expectEqual(found, [[friend.objectID]], "friends")
      probe.expect(found.first?.first?.entity === friend.objectID.entity, "entity of the friend")
    },
  ]
}
