import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// One save: everything or nothing, and what stood in the way.
@Suite struct SaveTests {
  @Test func anUpdateAdvancesTheVersionAndWritesOnlyItsColumns() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([
      try fixture.row("Employee", ["name": .string("A"), "age": .integer(1)])
    ])[0]
    var request = SaveChangesRequest()
    request.updates = [fixture.update(row, ["age": .integer(2)])]
    let stored = try fixture.receipt(fixture.store.save(request)).snapshots[0]
    #expect(stored.version == 2)
    #expect(try fixture.column("SELECT Z_OPT || ZNAME || ZAGE FROM ZEMPLOYEE") == ["2A2"])
  }

  @Test func aRowChangedBySomeoneElseIsAConflictAndNothingIsWritten() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Project", ["title": .string("a")]),
      try fixture.row("Project", ["title": .string("b")]),
    ])
    var first = SaveChangesRequest()
    first.updates = [fixture.update(rows[0], ["title": .string("a2")])]
    _ = try fixture.receipt(fixture.another().save(first))
    var second = SaveChangesRequest()
    second.updates = [
      fixture.update(rows[1], ["title": .string("b2")]),
      fixture.update(rows[0], ["title": .string("a3")]),
    ]
    guard case .conflicts(let conflicts) = try fixture.store.save(second) else {
      Issue.record("no conflict")
      return
    }
    #expect(conflicts.map(\.objectID) == [rows[0].objectID])
    #expect(conflicts[0].expectedVersion == 1)
    #expect(conflicts[0].persisted?.version == 2)
    #expect(try fixture.column("SELECT ZTITLE FROM ZPROJECT ORDER BY Z_PK") == ["a2", "b"])
  }

  @Test func aDeletedRowIsAConflictWithoutPersistedRow() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([try fixture.row("Project")])[0]
    var delete = SaveChangesRequest()
    delete.deletions = [.init(snapshot: row)]
    _ = try fixture.receipt(fixture.store.save(delete))
    var update = SaveChangesRequest()
    update.updates = [fixture.update(row, ["title": .string("x")])]
    guard case .conflicts(let conflicts) = try fixture.store.save(update) else {
      Issue.record("no conflict")
      return
    }
    #expect(conflicts.count == 1)
    #expect(conflicts[0].persisted == nil)
  }

  @Test func anOverwriteWritesWhateverVersionIsThereAndRevivesADeletedRow() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([try fixture.row("Project", ["title": .string("a")])])[0]
    var other = SaveChangesRequest()
    other.updates = [fixture.update(row, ["title": .string("b")])]
    _ = try fixture.receipt(fixture.store.save(other))
    var forced = SaveChangesRequest()
    forced.updates = [fixture.update(row, ["title": .string("c")], overwrites: true)]
    let stored = try fixture.receipt(fixture.store.save(forced)).snapshots[0]
    #expect(stored.version == 3)
    var delete = SaveChangesRequest()
    delete.deletions = [.init(snapshot: stored)]
    _ = try fixture.receipt(fixture.store.save(delete))
    forced.updates = [fixture.update(stored, ["title": .string("d")], overwrites: true)]
    #expect(try fixture.receipt(fixture.store.save(forced)).snapshots[0].version == 4)
    #expect(try fixture.column("SELECT ZTITLE FROM ZPROJECT") == ["d"])
  }

  @Test func aLockedRowMustStillBeAtItsVersion() throws {
    let fixture = try StoreFixture()
    let row = try fixture.insert([try fixture.row("Project")])[0]
    var request = SaveChangesRequest()
    request.locks = [.init(objectID: row.objectID, version: 1)]
    _ = try fixture.receipt(fixture.store.save(request))
    request.locks = [.init(objectID: row.objectID, version: 7)]
    guard case .conflicts = try fixture.store.save(request) else {
      Issue.record("no conflict")
      return
    }
  }

  // MARK: Uniqueness

  @Test func aTakenValueIsReportedWithTheRowThatHasIt() throws {
    let fixture = try StoreFixture()
    let taken = try fixture.insert([try fixture.row("Employee", ["email": .string("a@b")])])[0]
    let new = try fixture.row("Manager", ["email": .string("a@b")])
    var request = SaveChangesRequest()
    request.insertions = [
      .init(snapshot: try fixture.row("Project")), .init(snapshot: new),
    ]
    guard case .constraintViolations(let violations) = try fixture.store.save(request) else {
      Issue.record("no violation")
      return
    }
    #expect(violations.count == 1)
    #expect(violations[0].constraint == ["email"])
    #expect(violations[0].objectIDs == [new.objectID])
    #expect(violations[0].persisted?.objectID == taken.objectID)
    #expect(try fixture.column("SELECT COUNT(*) FROM ZPROJECT") == ["0"])
  }

  @Test func newObjectsThatCollideOnlyWithEachOtherAreReportedTogether() throws {
    let fixture = try StoreFixture()
    let rows = try (0..<3).map { _ in try fixture.row("Employee", ["email": .string("x")]) }
    var request = SaveChangesRequest()
    request.insertions = rows.map { .init(snapshot: $0) }
    guard case .constraintViolations(let violations) = try fixture.store.save(request) else {
      Issue.record("no violation")
      return
    }
    #expect(violations.count == 1)
    #expect(violations[0].objectIDs == rows.map(\.objectID))
    #expect(violations[0].persisted == nil)
  }

  @Test func uniqueValuesMayBeExchangedAndReusedInOneSave() throws {
    let fixture = try StoreFixture()
    let rows = try fixture.insert([
      try fixture.row("Employee", ["email": .string("a")]),
      try fixture.row("Employee", ["email": .string("b")]),
      try fixture.row("Employee", ["email": .string("c")]),
    ])
    var request = SaveChangesRequest()
    request.updates = [
      fixture.update(rows[0], ["email": .string("b")]),
      fixture.update(rows[1], ["email": .string("a")]),
    ]
    request.deletions = [.init(snapshot: rows[2])]
    request.insertions = [
      .init(snapshot: try fixture.row("Employee", ["email": .string("c")]))
    ]
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(
      try fixture.column("SELECT ZEMAIL FROM ZEMPLOYEE ORDER BY Z_PK") == ["b", "a", "c"])
  }

  // MARK: Links

  @Test func orderedMembersKeepTheirOrderInBothKindsOfRelationship() throws {
    let fixture = try StoreFixture()
    let team = try Team(in: fixture, order: [2, 0, 3, 1], project: [1, 3, 0, 2])
    let employees = try fixture.relationship("Company", "employees")
    let members = try fixture.relationship("Project", "members")
    #expect(try fixture.store.members(of: employees, owners: [team.company]) == [team.order])
    #expect(
      try fixture.store.members(of: members, owners: [team.project]) == [team.projectOrder])
    #expect(
      try fixture.column(
        "SELECT Z_FOK_COMPANY FROM ZEMPLOYEE ORDER BY Z_FOK_COMPANY")
        == ["2048", "3072", "4096", "5120"])
    let projects = try fixture.relationship("Employee", "projects")
    #expect(
      try fixture.store.members(of: projects, owners: team.people)
        == team.people.map { _ in [team.project] })
  }

  @Test func linksGoWithTheDeletedRow() throws {
    let fixture = try StoreFixture()
    let person = try fixture.row("Employee")
    let friend = try fixture.row("Employee")
    let project = try fixture.row("Project")
    let note = try fixture.row("Note")
    var request = SaveChangesRequest()
    request.insertions = [person, friend, project, note].map { .init(snapshot: $0) }
    request.links = [
      .init(
        relationship: try fixture.relationship("Employee", "friends"), owner: person.objectID,
        added: [friend.objectID]),
      .init(
        relationship: try fixture.relationship("Employee", "projects"), owner: person.objectID,
        added: [project.objectID]),
      .init(
        relationship: try fixture.relationship("Employee", "notes"), owner: person.objectID,
        added: [note.objectID], order: [note.objectID]),
    ]
    let stored = try fixture.receipt(fixture.store.save(request)).snapshots[0]
    for (name, owner, member) in [
      ("friends", friend, person), ("friends", person, friend), ("projects", person, project),
      ("notes", person, note),
    ] {
      let relationship = try fixture.relationship("Employee", name)
      #expect(
        try fixture.store.members(of: relationship, owners: [owner.objectID])
          == [[member.objectID]], "\(name)")
    }
    var delete = SaveChangesRequest()
    delete.deletions = [.init(snapshot: stored)]
    _ = try fixture.receipt(fixture.store.save(delete))
    #expect(try fixture.column("SELECT COUNT(*) FROM Z_2PROJECTS") == ["0"])
    #expect(try fixture.column("SELECT COUNT(*) FROM Z_2FRIENDS") == ["0"])
    #expect(try fixture.column("SELECT Z2NOTES FROM ZNOTE") == ["NULL"])
    #expect(try fixture.store.verifyIntegrity().isEmpty)
  }

  // MARK: Keys

  @Test func twoStoresOnOneFileNeverGiveOutTheSameKey() throws {
    let fixture = try StoreFixture()
    let other = try fixture.another()
    let entity = try fixture.entity("Manager")
    var keys: [Int64] = []
    for _ in 0..<5 {
      keys += try fixture.store.obtainPermanentIDs(for: [entity, entity]).compactMap(\.rowKey)
      keys += try other.obtainPermanentIDs(for: [entity]).compactMap(\.rowKey)
    }
    #expect(keys == Array(1...15))
    #expect(
      try fixture.column("SELECT Z_NAME || Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        == ["Company0", "Employee15", "Manager0", "Note0", "Project0"])
  }
}
