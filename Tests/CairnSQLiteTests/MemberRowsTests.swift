import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Members of relationships with their rows are the members, and the rows, that reading them one
/// after the other gives (core-data-sqlite-format.md, chapters 3 and 4).
@Suite struct MemberRowsTests {
  private func expectSame(
    _ fixture: StoreFixture, _ entity: String, _ name: String, _ owners: [ManagedObjectID],
    rowLimit: Int = .max
  ) throws {
    let relationship = try fixture.relationship(entity, name)
    let found = try fixture.store.memberRows(
      of: relationship, owners: owners, rowLimit: rowLimit)
    let together = try fixture.store.members(of: relationship, owners: owners)
    #expect(found.count == owners.count)
    var rows = 0
    for (place, owner) in owners.enumerated() {
      let alone = try fixture.store.members(of: relationship, owners: [owner])[0]
      #expect(found[place].map(\.objectID) == alone, "\(entity).\(name)")
      #expect(together[place] == alone, "\(entity).\(name)")
      for member in found[place] {
        guard let row = member.row else { continue }
        rows += 1
        let stored = try fixture.store.snapshot(for: member.objectID)
        #expect(row.objectID == member.objectID && row.objectID.entity === stored?.objectID.entity)
        #expect(row.values == stored?.values && row.version == stored?.version)
      }
    }
    #expect(rows == min(rowLimit, found.joined().count))
  }

  @Test func membersWhoseKeysAlternateBetweenOwnersComeInTheOrderOfTheirKeys() throws {
    let fixture = try StoreFixture()
    let bosses = try fixture.insert(
      (0..<4).map { try fixture.row("Manager", ["name": .string("boss \($0)")]) })
    let people = try fixture.insert(
      (0..<60).map { number in
        try fixture.row(
          number % 7 == 0 ? "Manager" : "Employee",
          [
            "name": .string("person \(number)"), "age": .integer(Int64(number)),
            "boss": .object(bosses[number * number % 3].objectID),
          ])
      })
    // Owners in no order, one of them twice, one without members.
    let owners = [2, 0, 3, 1, 0].map { bosses[$0].objectID }
    try expectSame(fixture, "Employee", "reports", owners)
    try expectSame(fixture, "Employee", "reports", [owners[1]])
    #expect(people.count == 60)
  }

  @Test func onlyTheFirstMembersGetTheirRows() throws {
    let fixture = try StoreFixture()
    let boss = try fixture.insert([try fixture.row("Employee")])[0]
    try fixture.insert(
      try (0..<9).map { _ in
        try fixture.row("Employee", ["boss": .object(boss.objectID)])
      })
    try expectSame(fixture, "Employee", "reports", [boss.objectID], rowLimit: 4)
    try expectSame(fixture, "Employee", "reports", [boss.objectID], rowLimit: 0)
  }

  @Test func ordersAndJoinTablesAreKept() throws {
    let fixture = try StoreFixture()
    let company = try fixture.row("Company", ["name": .string("c")])
    let project = try fixture.row("Project", ["title": .string("p")])
    let people = try (0..<5).map {
      try fixture.row(
        "Employee", ["name": .string("e\($0)"), "company": .object(company.objectID)])
    }
    let order = [3, 0, 4, 1, 2].map { people[$0].objectID }
    var request = SaveChangesRequest()
    request.insertions = ([company, project] + people).map { .init(snapshot: $0) }
    request.links = [
      .init(
        relationship: try fixture.relationship("Company", "employees"), owner: company.objectID,
        order: order),
      .init(
        relationship: try fixture.relationship("Project", "members"), owner: project.objectID,
        added: order, order: order),
      .init(
        relationship: try fixture.relationship("Employee", "friends"),
        owner: people[2].objectID, added: [people[0].objectID, people[4].objectID]),
    ]
    _ = try fixture.receipt(fixture.store.save(request))
    try expectSame(fixture, "Company", "employees", [company.objectID])
    try expectSame(fixture, "Project", "members", [project.objectID])
    try expectSame(fixture, "Employee", "projects", people.map(\.objectID))
    try expectSame(fixture, "Employee", "friends", people.map(\.objectID))
    let employees = try fixture.relationship("Company", "employees")
    let found = try fixture.store.memberRows(
      of: employees, owners: [company.objectID], rowLimit: .max)
    #expect(found[0].map(\.objectID) == order)
  }
}
