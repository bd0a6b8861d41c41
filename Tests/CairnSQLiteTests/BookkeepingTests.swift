import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Metadata, history and sidecar, and files that are no stores.
@Suite struct BookkeepingTests {
  @Test func aNewStoreHasApplesBookkeeping() throws {
    let fixture = try StoreFixture()
    let metadata = fixture.store.metadata ?? [:]
    #expect(metadata[StoreMetadataKey.uuid] as? String == fixture.store.identifier)
    #expect(metadata[StoreMetadataKey.type] as? String == "SQLite")
    #expect(
      metadata[StoreMetadataKey.versionHashes] as? [String: Data]
        == fixture.model.entityVersionHashesByName)
    #expect(fixture.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(try fixture.column("PRAGMA journal_mode") == ["wal"])
    #expect(try fixture.column("PRAGMA auto_vacuum") == ["2"])
    #expect(try fixture.column("PRAGMA page_size") == ["4096"])
    #expect(try fixture.column("SELECT Z_VERSION FROM Z_METADATA") == ["1"])
    #expect(
      try fixture.column("SELECT Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        == ["0", "0", "2", "0", "0"])
  }

  @Test func metadataSetOnAStoreIsWrittenWithTheNextSave() throws {
    let fixture = try StoreFixture()
    fixture.store.metadata["app"] = ["key": 7]
    _ = try fixture.receipt(fixture.store.save(SaveChangesRequest()))
    let read = try SQLiteStoreKind().metadata(at: fixture.url, options: StoreOptions())
    #expect((read["app"] as? [String: Int]) == ["key": 7])
    #expect(read[StoreMetadataKey.uuid] as? String == fixture.store.identifier)
  }

  @Test func newMetadataCannotLoseWhatTheStoreNeeds() throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    try SQLiteStoreKind().setMetadata(["only": true], at: fixture.url, options: StoreOptions())
    let store = try fixture.another()
    #expect(store.metadata["only"] as? Bool == true)
    #expect(store.identifier == fixture.store.identifier)
    #expect(
      fixture.model.isConfiguration(
        withName: nil, compatibleWithStoreMetadata: store.metadata))
  }

  @Test func aFileThatIsNoDatabaseIsRefusedAndUntouched() throws {
    let fixture = try StoreFixture()
    let url = fixture.folder.appendingPathComponent("text.sqlite")
    let text = Data(String(repeating: "no database at all\n", count: 100).utf8)
    try text.write(to: url)
    let error = #expect(throws: CoreDataError.self) {
      _ = try StoreFixture.open(url, fixture.model)
    }
    #expect(error?.code == .persistentStoreInvalidType)
    #expect(try Data(contentsOf: url) == text)
  }

  @Test func anotherApplicationsDatabaseIsRefusedAndUntouched() throws {
    let fixture = try StoreFixture()
    let url = fixture.folder.appendingPathComponent("other.sqlite")
    try StoreFileAccess.write(url, options: StoreOptions(), doing: "be made") {
      try $0.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    }
    let before = try Data(contentsOf: url)
    let error = #expect(throws: CoreDataError.self) {
      _ = try StoreFixture.open(url, fixture.model)
    }
    #expect(error?.code == .persistentStoreInvalidType)
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func aMissingFolderAndAMissingReadOnlyStoreAreErrors() throws {
    let fixture = try StoreFixture()
    let missing = fixture.folder.appendingPathComponent("nowhere/a.sqlite")
    let first = #expect(throws: CoreDataError.self) {
      _ = try StoreFixture.open(missing, fixture.model)
    }
    #expect(first?.code == .persistentStoreOpen)
    let absent = fixture.folder.appendingPathComponent("absent.sqlite")
    let second = #expect(throws: CoreDataError.self) {
      _ = try StoreFixture.open(absent, fixture.model, [StoreOptionKey.readOnly: true])
    }
    #expect(second?.code == .persistentStoreOpen)
    #expect(!FileManager.default.fileExists(atPath: absent.path))
  }

  @Test func aReadOnlyStoreReadsAndRefusesToSave() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project")])
    let store = try fixture.another(options: [StoreOptionKey.readOnly: true])
    guard
      case .count(let count) = try store.fetch(
        StoreFetchRequest(entity: fixture.entity("Project"), result: .count))
    else { return }
    #expect(count == 1)
    #expect(throws: CoreDataError.self) {
      _ = try store.obtainPermanentIDs(for: [fixture.entity("Project")])
    }
  }

  @Test func aStoreLockedForLongerThanTheTimeoutIsATimeout() throws {
    let fixture = try StoreFixture()
    let impatient = try fixture.another(options: [StoreOptionKey.timeout: 0.1])
    let entity = try fixture.entity("Project")
    _ = try fixture.store.write(doing: "hold the lock") { _ -> Bool? in
      let error = #expect(throws: CoreDataError.self) {
        _ = try impatient.obtainPermanentIDs(for: [entity])
      }
      #expect(error?.code == .persistentStoreTimeout)
      return true
    }
  }

  @Test func aDamagedFileGivesErrorsNotCrashes() throws {
    let fixture = try StoreFixture()
    try fixture.insert(
      try (0..<200).map { try fixture.row("Project", ["title": .string("\($0)")]) })
    try fixture.store.checkpoint()
    try fixture.store.close()
    let good = try Data(contentsOf: fixture.url)
    var state: UInt64 = 42
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    for round in 0..<40 {
      var bad = good
      for _ in 0..<(1 + next(60)) { bad[next(bad.count)] = UInt8(next(256)) }
      if round % 5 == 0 { bad = bad.prefix(next(bad.count)) }
      let url = fixture.folder.appendingPathComponent("bad\(round).sqlite")
      try bad.write(to: url)
      do {
        let store = try StoreFixture.open(url, fixture.model)
        _ = try store.fetch(StoreFetchRequest(entity: fixture.entity("Project")))
        _ = try store.verifyIntegrity()
        try store.close()
      } catch {
        #expect(error is CoreDataError, "seed 42, round \(round): \(error)")
      }
    }
  }

  // MARK: History

  @Test func historyRecordsWhatHappened() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    var insert = SaveChangesRequest()
    insert.author = "test"
    insert.contextName = "main"
    let row = try fixture.row("Employee", ["email": .string("e")])
    insert.insertions = [.init(snapshot: row)]
    let first = try fixture.receipt(fixture.store.save(insert))
    #expect(first.transactionNumber == 1)
    var update = SaveChangesRequest()
    update.author = "test"
    update.updates = [
      fixture.update(
        first.snapshots[0], ["age": .integer(3), "company": .null, "salary": .null])
    ]
    let second = try fixture.receipt(fixture.store.save(update))
    var delete = SaveChangesRequest()
    delete.deletions = [.init(snapshot: second.snapshots[0])]
    _ = try fixture.receipt(fixture.store.save(delete))
    let history = try fixture.store.readHistory(HistoryReadRequest())
    #expect(history.map(\.number) == [1, 2, 3])
    #expect(history.map(\.author) == ["test", "test", nil])
    #expect(history.map(\.contextName) == ["main", nil, nil])
    #expect(history.flatMap(\.changes).map(\.kind) == [.insert, .update, .delete])
    #expect(history.flatMap(\.changes).allSatisfy { $0.objectID == row.objectID })
    #expect(history[1].changes[0].changedProperties == ["age", "company", "salary"])
    #expect(history[2].changes[0].tombstone == ["email": .string("e")])
    #expect(try fixture.store.readHistory(HistoryReadRequest(after: 2)).map(\.number) == [3])
    #expect(try fixture.store.lastTransactionNumber() == 3)
    #expect(
      try fixture.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY Z_ENT")
        == ["3", "3", "3"])
    #expect(
      try fixture.column("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1").count == 1)
  }

  @Test func aPositionBeforeWhatWasPurgedIsExpired() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    for _ in 0..<5 { try fixture.insert([try fixture.row("Project")]) }
    #expect(try fixture.store.purgeHistory(before: 4, date: nil) == 3)
    #expect(try fixture.store.readHistory(HistoryReadRequest(after: 3)).map(\.number) == [4, 5])
    for after: Int64 in [0, 2, 99] {
      let error = #expect(throws: CoreDataError.self) {
        _ = try fixture.store.readHistory(HistoryReadRequest(after: after))
      }
      #expect(error?.code == .persistentHistoryTokenExpired)
    }
    #expect(try fixture.store.purgeHistory(before: nil, date: .distantFuture) == 2)
    #expect(try fixture.store.lastTransactionNumber() == 5)
    #expect(try fixture.store.readHistory(HistoryReadRequest(after: 5)).isEmpty)
  }

  @Test func aStoreThatHasHistoryGoesOnRecordingWithoutTheOption() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    let row = try fixture.insert([try fixture.row("Project")])[0]
    let plain = try fixture.another()
    var request = SaveChangesRequest()
    request.updates = [fixture.update(row, ["title": .string("t")])]
    #expect(try fixture.receipt(plain.save(request)).transactionNumber == 2)
  }

  // MARK: Sidecar

  @Test func theSidecarCommitsWithTheRowsAndRequirementsGuardIt() throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.historyTracking: true])
    func key(_ text: String) -> SidecarKey { SidecarKey(map: "cursor_1", key: Data(text.utf8)) }
    var request = SaveChangesRequest()
    request.sidecar = [
      .require(key("a"), nil), .put(key("a"), Data([1])), .put(key("b"), Data()),
      .put(key("c"), Data([3])), .remove(key("c")),
    ]
    let receipt = try fixture.receipt(fixture.store.save(request))
    #expect(receipt.transactionNumber == nil)
    #expect(
      try fixture.store.sidecarValues(for: [key("b"), key("x"), key("a")])
        == [Data(), nil, Data([1])])
    guard case .sidecarChanged(let changed) = try fixture.store.save(request) else {
      Issue.record("the requirement held")
      return
    }
    #expect(changed == key("a"))
    let entries = try fixture.store.sidecarEntries(of: "cursor_1", from: nil, to: nil, limit: 0)
    #expect(entries.map { $0.key } == [Data("a".utf8), Data("b".utf8)])
    let upper = try fixture.store.sidecarEntries(
      of: "cursor_1", from: Data("b".utf8), to: nil, limit: 1)
    #expect(upper.map { $0.key } == [Data("b".utf8)])
    #expect(try fixture.store.sidecarEntries(of: "none", from: nil, to: nil, limit: 0).isEmpty)
    request.sidecar = [.put(SidecarKey(map: "x; DROP", key: Data()), Data())]
    #expect(throws: CoreDataError.self) { _ = try fixture.store.save(request) }
  }

  // MARK: Files

  @Test func destroyAndReplaceWorkOnClosedFiles() throws {
    let fixture = try StoreFixture()
    let photo = Data(repeating: 1, count: 150_000)
    try fixture.insert([try fixture.row("Employee", ["photo": .data(photo)])])
    let copy = fixture.folder.appendingPathComponent("Copy.sqlite")
    let kind = SQLiteStoreKind()
    try kind.replace(at: copy, withStoreAt: fixture.url, options: StoreOptions())
    let store = try StoreFixture.open(copy, fixture.model)
    guard
      case .snapshots(let rows) = try store.fetch(
        StoreFetchRequest(entity: fixture.entity("Employee")))
    else { return }
    #expect(rows.map { fixture.value($0, "photo") } == [.data(photo)])
    #expect(store.identifier == fixture.store.identifier)
    try store.close()
    try kind.destroy(at: copy, options: StoreOptions())
    #expect(try kind.metadata(at: copy, options: StoreOptions()).isEmpty)
    #expect(throws: CoreDataError.self) {
      try kind.setMetadata(["a": 1], at: copy, options: StoreOptions())
    }
    let fresh = try StoreFixture.open(copy, fixture.model)
    #expect(fresh.identifier != fixture.store.identifier)
    try fresh.close()
  }
}
