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
    // Rows stop at a limit, members do not.
    for limit in [Int.max, 4, 0] {
      try expectSame(fixture, "Employee", "reports", [owners[1]], rowLimit: limit)
    }
    #expect(people.count == 60)
  }

  @Test func ordersAndJoinTablesAreKept() throws {
    let fixture = try StoreFixture()
    let team = try Team(
      in: fixture, order: [3, 0, 4, 1, 2], project: [3, 0, 4, 1, 2], friends: [0, 2])
    try expectSame(fixture, "Company", "employees", [team.company])
    try expectSame(fixture, "Project", "members", [team.project])
    try expectSame(fixture, "Employee", "projects", team.people)
    try expectSame(fixture, "Employee", "friends", team.people)
    let employees = try fixture.relationship("Company", "employees")
    let found = try fixture.store.memberRows(
      of: employees, owners: [team.company], rowLimit: .max)
    #expect(found[0].map(\.objectID) == team.order)
  }
}
