// Large values that another program replaces between the moment their row is read and that of their file.

import CairnModel
import CairnPredicates
import CairnSQL
import CairnStore
import Foundation
import TestSupport
import Testing

@testable import CairnSQLite

/// The format, chapter 6: a file goes after the commit that gives it up; who has read the row before
/// gets a value all the same.
@Suite struct ReplacedFilesTests {
  /// Does something once, just before a file is read.
  // Unchecked: used by one test, and by the queue of a connection while the test waits for it.
  private final class Ambush: @unchecked Sendable {
    var action: (() throws -> Void)?
    func spring() throws {
      guard let body = action else { return }
      action = nil
      try body()
    }
    var isSprung: Bool { action == nil }
  }

  private static func photo(_ byte: UInt8) -> AttributeValue {
    .data(Data(repeating: byte, count: 150_000))
  }

  /// Ways of reading the one row with a large value.
  enum Way: CaseIterable {
    case one, several, fetched, filteredInMemory, member

    func read(_ store: SQLiteStore, _ row: RowSnapshot, _ fixture: StoreFixture) throws
      -> AttributeValue
    {
      let id = row.objectID
      switch self {
      case .one: return try store.snapshot(for: id).map { fixture.value($0, "photo") } ?? .null
      case .several:
        return try store.snapshots(for: [id, id])[0].map { fixture.value($0, "photo") } ?? .null
      case .fetched, .filteredInMemory:
        var request = StoreFetchRequest(entity: id.entity)
        if self == .filteredInMemory {
          request.predicate = ObjectPredicate { object, _ in object != nil }
        }
        let rows = try #require(try store.fetch(request).snapshots)
        return rows.first.map { fixture.value($0, "photo") } ?? .null
      case .member:
        let owner = row[row.objectID.entity.layout.slotByName["company"] ?? 0]
        guard case .object(let company) = owner else { return .null }
        let rows = try store.memberRows(
          of: try fixture.relationship("Company", "employees"), owners: [company], rowLimit: 9)
        return rows[0].first?.row.map { fixture.value($0, "photo") } ?? .null
      }
    }
  }

  /// A store with a row that names a file, and what happens before a second store reads a file.
  private func stores() throws -> (StoreFixture, RowSnapshot, SQLiteStore, Ambush) {
    let fixture = try StoreFixture()
    let company = try fixture.insert([try fixture.row("Company")])[0]
    let row = try fixture.insert([
      try fixture.row(
        "Employee", ["photo": Self.photo(1), "company": .object(company.objectID)])
    ])[0]
    let ambush = Ambush()
    let reader = try fixture.another(options: [
      StoreOptions.fileOperationsKey: WatchedFiles(
        didWrite: { _ in }, willRead: { _ in try ambush.spring() })
    ])
    return (fixture, row, reader, ambush)
  }

  /// The only file of the store.
  private func file(_ fixture: StoreFixture) throws -> URL {
    let names = fixture.store.files.names
    #expect(names.count == 1)
    return fixture.store.files.folder.appendingPathComponent(try #require(names.first))
  }

  @Test(arguments: Way.allCases)
  func theValueThatReplacedItIsRead(way: Way) throws {
    let (fixture, row, reader, ambush) = try stores()
    defer { try? reader.close() }
    #expect(try way.read(reader, row, fixture) == Self.photo(1))
    ambush.action = { _ = try fixture.change(row, ["photo": Self.photo(2)]) }
    #expect(try way.read(reader, row, fixture) == Self.photo(2))
    #expect(ambush.isSprung)
  }

  // MARK: Checks

  /// What becomes of a file between reading its row and looking for it.
  enum Change: CaseIterable { case replaced, deleted, lost }

  @Test(arguments: Change.allCases)
  func aFileThatGoesWhileAStoreIsCheckedIsMissedIfARowStillNamesIt(change: Change) throws {
    let (fixture, row, reader, _) = try stores()
    try reader.close()
    let ambush = Ambush()
    let file = try file(fixture)
    let files = WatchedFiles(didWrite: { _ in }, willLook: { _ in try? ambush.spring() })
    let options: [AnyHashable: Any] = [StoreOptions.fileOperationsKey: files]
    let checked = try fixture.another(options: options)
    defer { try? checked.close() }
    ambush.action = {
      switch change {
      case .replaced: _ = try fixture.change(row, ["photo": Self.photo(2)])
      case .deleted: try fixture.delete(row)
      case .lost: try FileManager.default.removeItem(at: file)
      }
    }
    fixture.isDamagedOnPurpose = change == .lost
    let problems = try checked.verifyIntegrity()
    #expect(ambush.isSprung && !FileManager.default.fileExists(atPath: file.path))
    #expect(problems.count == (change == .lost ? 1 : 0), "\(problems)")
  }

  @Test(arguments: Change.allCases)
  func anInspectionAsksAgainBeforeItSaysThatAFileIsMissing(change: Change) throws {
    let (fixture, row, reader, _) = try stores()
    try reader.close()
    let ambush = Ambush()
    let file = try file(fixture)
    let files = WatchedFiles(didWrite: { _ in }, willLook: { _ in try? ambush.spring() })
    ambush.action = {
      switch change {
      case .replaced: _ = try fixture.change(row, ["photo": Self.photo(2)])
      case .deleted: try fixture.delete(row)
      case .lost: try FileManager.default.removeItem(at: file)
      }
    }
    fixture.isDamagedOnPurpose = change == .lost
    let inspection = try StoreInspection(
      contentsOf: fixture.url, model: nil, checks: true, timeout: 5,
      files: ExternalDataFiles(
        store: fixture.url, options: StoreOptions([StoreOptions.fileOperationsKey: files])))
    #expect(ambush.isSprung && !FileManager.default.fileExists(atPath: file.path))
    let findings = inspection.findings.filter { $0.rule == .externalData }
    #expect(findings.count == (change == .lost ? 1 : 0), "\(findings)")
  }

  @Test(arguments: Way.allCases)
  func aRowThatWasDeletedMeanwhileIsNoRowWithoutItsValue(way: Way) throws {
    let (fixture, row, reader, ambush) = try stores()
    defer { try? reader.close() }
    ambush.action = { try fixture.delete(row) }
    #expect(try way.read(reader, row, fixture) == .null)
    #expect(ambush.isSprung)
    #expect(try reader.snapshot(for: row.objectID) == nil)
  }

  @Test(arguments: Way.allCases)
  func aFileThatTheNewerRowNamesAsWellIsLost(way: Way) throws {
    let (fixture, row, reader, _) = try stores()
    defer { try? reader.close() }
    fixture.isDamagedOnPurpose = true
    try FileManager.default.removeItem(at: try file(fixture))
    #expect(try way.read(reader, row, fixture) == .null)
    #expect(try reader.snapshot(for: row.objectID) != nil)
    #expect(try reader.verifyIntegrity().contains { $0.contains("is not in") })
  }

  @Test func aPinnedStateWhoseFileAnotherProgramRemovedIsGivenUp() throws {
    let (fixture, row, reader, _) = try stores()
    defer { try? reader.close() }
    let generation = try #require(try reader.currentGeneration())
    let changed = try fixture.change(row, ["photo": Self.photo(2)])
    let error = #expect(throws: CoreDataError.self) {
      try generation.snapshots(for: [row.objectID])
    }
    #expect(error?.code == .persistentStoreOperation && !generation.isReadable)
    // A state of now has its file.
    let next = try #require(try reader.currentGeneration())
    let read = try next.snapshots(for: [row.objectID])[0]
    #expect(read.map { fixture.value($0, "photo") } == Self.photo(2))
    fixture.isDamagedOnPurpose = true
    try FileManager.default.removeItem(at: try file(fixture))
    let lost = try next.snapshots(for: [changed.objectID])[0]
    #expect(lost.map { fixture.value($0, "photo") } == .null)
  }
}
