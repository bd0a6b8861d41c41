import CairnModel
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// Rows that are deleted together go as they would one by one (core-data-sqlite-format.md, chapters
/// 3 and 5).
@Suite struct BulkDeletionTests {
  private func projects(_ fixture: StoreFixture, _ count: Int) throws -> [RowSnapshot] {
    try fixture.insert(
      (0..<count).map { try fixture.row("Project", ["title": .string("p\($0)")]) })
  }

  @Test func rowsWithGapsAndOfSeveralVersionsGoTogetherAndHistoryNamesThemInTheirOrder() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    var rows = try projects(fixture, 60)
    var change = SaveChangesRequest()
    change.updates = [3, 4, 20, 33].map { fixture.update(rows[$0], ["title": .string("new")]) }
    for row in try fixture.receipt(fixture.store.save(change)).snapshots {
      if let place = rows.firstIndex(where: { $0.objectID == row.objectID }) { rows[place] = row }
    }
    let kept = rows.indices.filter { $0 % 7 == 0 }
    let gone = rows.indices.filter { $0 % 7 != 0 }.reversed().map { rows[$0] }
    var request = SaveChangesRequest()
    request.deletions = gone.map { .init(snapshot: $0) }
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try fixture.fetch("Project", sort: "title").count == kept.count)
    #expect(
      try fixture.store.snapshots(for: kept.map { rows[$0].objectID }).allSatisfy { $0 != nil })
    #expect(
      try fixture.column("SELECT ZENTITYPK FROM ACHANGE WHERE ZCHANGETYPE = 2 ORDER BY Z_PK")
        == gone.compactMap { $0.objectID.rowKey.map(String.init) })
  }

  @Test func ofManyRowsThoseThatAnotherProgramChangedAreTheConflictsAndNothingIsDeleted() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    let rows = try projects(fixture, 30)
    let other = try fixture.another()
    var change = SaveChangesRequest()
    change.updates = [fixture.update(rows[11], ["title": .string("changed")])]
    change.deletions = [.init(snapshot: rows[5])]
    _ = try fixture.receipt(other.save(change))
    try other.close()
    let before = try fixture.column("SELECT COUNT(*) FROM ACHANGE")
    var request = SaveChangesRequest()
    request.insertions = [.init(snapshot: try fixture.row("Project"))]
    request.deletions = rows.map { .init(snapshot: $0) }
    guard case .conflicts(let conflicts) = try fixture.store.save(request) else {
      Issue.record("no conflict")
      return
    }
    #expect(conflicts.map(\.objectID) == [rows[5].objectID, rows[11].objectID])
    #expect(conflicts.map { $0.persisted?.version } == [nil, 2])
    #expect(try fixture.fetch("Project").count == 29)
    #expect(try fixture.column("SELECT COUNT(*) FROM ACHANGE") == before)
    // A merge policy lets the deletion win.
    request.deletions = rows.map { .init(snapshot: $0, overwritesConflicts: true) }
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try fixture.fetch("Project").count == 1)
  }

  @Test func linksHiddenKeysAndFilesGoWithTheirRows() throws {
    let fixture = try StoreFixture()
    let photo = AttributeValue.data(Data(repeating: 7, count: 200_000))
    let employees = try fixture.insert(
      (0..<20).map { try fixture.row("Employee", $0 % 2 == 0 ? ["photo": photo] : [:]) })
    let projects = try projects(fixture, 3)
    let notes = try fixture.insert((0..<20).map { _ in try fixture.row("Note") })
    var links = SaveChangesRequest()
    for (employee, note) in zip(employees, notes) {
      links.links.append(
        .init(
          relationship: try fixture.relationship("Employee", "projects"),
          owner: employee.objectID, added: projects.map(\.objectID)))
      links.links.append(
        .init(
          relationship: try fixture.relationship("Employee", "notes"), owner: employee.objectID,
          added: [note.objectID], order: [note.objectID]))
    }
    _ = try fixture.receipt(fixture.store.save(links))
    var request = SaveChangesRequest()
    request.deletions = employees.dropFirst(2).map { .init(snapshot: $0) }
    _ = try fixture.receipt(fixture.store.save(request))
    // What is left over the fixture finds by itself.
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.store.files.folder.path)
    #expect(files.count == 1)
    let members = try fixture.store.members(
      of: fixture.relationship("Project", "members"), owners: [projects[0].objectID])
    #expect(members == [employees.prefix(2).map(\.objectID)])
    #expect(try fixture.fetch("Note").count == 20)
  }
}
