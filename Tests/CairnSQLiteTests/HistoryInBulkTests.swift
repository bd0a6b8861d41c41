import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Changes that are recorded many at a time are what they would be one by one
/// (core-data-sqlite-format.md, persistent history).
@Suite struct HistoryInBulkTests {
  private static var options: [AnyHashable: Any] { ["NSPersistentHistoryTrackingKey": true] }

  private func changes(_ fixture: StoreFixture) throws -> [String] {
    try fixture.column(
      "SELECT Z_PK || ' ' || Z_ENT || ' ' || ZCHANGETYPE || ' ' || ZENTITY || ' ' || ZENTITYPK"
        + " || ' ' || ZTRANSACTIONID || ' ' || (ZCOLUMNS IS NULL) FROM ACHANGE ORDER BY Z_PK")
  }

  private func number(_ entity: String, _ fixture: StoreFixture) throws -> String {
    try fixture.column("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'")[0]
  }

  @Test func everyNewRowHasItsChangeInTheOrderOfTheSave() throws {
    let fixture = try StoreFixture(options: Self.options)
    // Runs of several lengths, one of them with a gap in its keys, in one table and in two.
    var rows = try (0..<20).map { _ in try fixture.row("Note") }
    _ = try fixture.row("Note")
    rows += try (0..<9).map { _ in try fixture.row("Note") }
    rows += try (0..<3).map { _ in try fixture.row("Project") }
    rows += try (0..<8).map { _ in try fixture.row("Employee") }
    rows += try (0..<8).map { _ in try fixture.row("Manager") }
    try fixture.insert(rows)
    let numbers = try ["Note", "Project", "Employee", "Manager"].map {
      ($0, try number($0, fixture))
    }
    let byName = Dictionary(uniqueKeysWithValues: numbers)
    let expected = rows.enumerated().map { index, row in
      "\(index + 1) 16001 0 \(byName[row.objectID.entity.name ?? ""] ?? "?") "
        + "\(row.objectID.rowKey ?? 0) 1 1"
    }
    #expect(try changes(fixture) == expected)
    #expect(
      try fixture.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001")
        == ["\(rows.count)"])
  }

  @Test func everyUpdateHasItsChangeWithItsOwnColumns() throws {
    let fixture = try StoreFixture(options: Self.options)
    let people = try fixture.insert(try (0..<40).map { _ in try fixture.row("Employee") })
    let projects = try fixture.insert(try (0..<20).map { _ in try fixture.row("Project") })
    // More than one statement takes, then other columns, then another table, then the first again.
    var updates = people[..<35].map { fixture.update($0, ["name": .string("new")]) }
    updates += people[35..<37].map { fixture.update($0, ["age": .integer(3)]) }
    updates += projects.map { fixture.update($0, ["title": .string("new")]) }
    updates += people[37...].map { fixture.update($0, ["name": .string("new")]) }
    var request = SaveChangesRequest()
    request.updates = updates
    _ = try fixture.receipt(fixture.store.save(request))
    let first = people.count + projects.count + 1
    let schema = try fixture.store.schema
    let expected = try updates.enumerated().map { index, update in
      let id = update.snapshot.objectID
      let columns = schema.entity(id.entity).history.mask(slots: update.changedSlots, toManys: [])
      let bits = columns.map { String(format: "%02X", $0) }.joined()
      return "\(first + index) 16001 1 \(try number(id.entity.name ?? "", fixture)) "
        + "\(id.rowKey ?? 0) 3 \(bits)"
    }
    let found = try fixture.column(
      "SELECT Z_PK || ' ' || Z_ENT || ' ' || ZCHANGETYPE || ' ' || ZENTITY || ' ' || ZENTITYPK"
        + " || ' ' || ZTRANSACTIONID || ' ' || HEX(ZCOLUMNS) FROM ACHANGE WHERE Z_PK >= \(first)"
        + " ORDER BY Z_PK")
    #expect(found == expected)
    #expect(
      try fixture.column("SELECT COUNT(DISTINCT ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1")
        == ["3"])
    #expect(
      try fixture.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001")
        == ["\(first + updates.count - 1)"])
  }

  @Test func changesGoOnAfterTheCounterWhenTheirTableIsEmpty() throws {
    let fixture = try StoreFixture(options: Self.options)
    let people = try fixture.insert(try (0..<40).map { _ in try fixture.row("Employee") })
    _ = try fixture.column("DELETE FROM ACHANGE")
    var request = SaveChangesRequest()
    request.updates = people.map { fixture.update($0, ["name": .string("new")]) }
    request.insertions = try (0..<20).map { _ in .init(snapshot: try fixture.row("Note")) }
    _ = try fixture.receipt(fixture.store.save(request))
    let keys = try fixture.column("SELECT Z_PK FROM ACHANGE ORDER BY Z_PK")
    #expect(keys == (41...100).map(String.init))
    #expect(
      try fixture.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001") == ["100"])
  }

  @Test func updatesAndDeletionsKeepTheirPlacesBeforeInsertions() throws {
    let fixture = try StoreFixture(options: Self.options)
    let old = try fixture.insert(try (0..<3).map { _ in try fixture.row("Note") })
    var request = SaveChangesRequest()
    request.deletions = [.init(snapshot: old[0])]
    request.updates = [fixture.update(old[1], ["text": .string("new")])]
    request.insertions = try (0..<10).map { _ in .init(snapshot: try fixture.row("Note")) }
    _ = try fixture.receipt(fixture.store.save(request))
    let kinds = try fixture.column("SELECT ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK")
    #expect(kinds == ["0", "0", "0", "2", "1"] + Array(repeating: "0", count: 10))
    let keys = try fixture.column("SELECT ZENTITYPK FROM ACHANGE ORDER BY Z_PK")
    #expect(keys == ["1", "2", "3", "1", "2"] + (4...13).map(String.init))
  }

  @Test func rowsThatATriggerTookAwayHaveTheirChangesAllTheSame() throws {
    let fixture = try StoreFixture(options: Self.options)
    _ = try fixture.column(
      "CREATE TRIGGER eater AFTER INSERT ON ZNOTE WHEN new.ZTEXT = 'gone' BEGIN "
        + "DELETE FROM ZNOTE WHERE Z_PK = new.Z_PK; END")
    try fixture.insert(
      try (0..<12).map { index in
        try fixture.row("Note", ["text": .string(index == 5 ? "gone" : "kept")])
      })
    #expect(try fixture.column("SELECT COUNT(*) FROM ZNOTE") == ["11"])
    #expect(
      try fixture.column("SELECT ZENTITYPK FROM ACHANGE ORDER BY Z_PK")
        == (1...12).map(String.init))
    _ = try fixture.column("DROP TRIGGER eater")
  }
}
