// Files of external data that a crash left: removed when nobody can need them, and only then.

import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CairnSQLite

/// Specification: core-data-sqlite-format.md, chapter 6.
@Suite struct UnnamedFilesTests {
  private static let photo = AttributeValue.data(Data(repeating: 7, count: 150_000))

  private func names(_ fixture: StoreFixture) -> Set<String> {
    Set(
      (try? FileManager.default.contentsOfDirectory(atPath: fixture.store.files.folder.path)) ?? [])
  }

  private func unnamedFiles(_ fixture: StoreFixture) -> UnnamedFiles {
    UnnamedFiles(path: fixture.url.path, options: StoreOptions())
  }

  /// A store with a large value, and the name of its file.
  private func fixture(options: [AnyHashable: Any] = [:]) throws -> (StoreFixture, name: String) {
    let fixture = try StoreFixture(options: options)
    try fixture.insert([
      try fixture.row("Employee", ["name": .string("e"), "photo": Self.photo])
    ])
    return (fixture, try #require(names(fixture).first))
  }

  /// Puts a file where those of external data are.
  private func put(_ name: String = UUID().uuidString, in fixture: StoreFixture) throws -> String {
    try fixture.store.files.makeFolder()
    try Data([1]).write(to: fixture.store.files.folder.appendingPathComponent(name))
    return name
  }

  /// The files of an open store as a crash at this moment would leave them.
  private func crashed(_ fixture: StoreFixture) throws -> URL {
    let folder = fixture.folder.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["Test.sqlite", "Test.sqlite-wal", ".Test_SUPPORT"] {
      let file = fixture.folder.appendingPathComponent(name)
      if FileManager.default.fileExists(atPath: file.path) {
        try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(name))
      }
    }
    return folder.appendingPathComponent("Test.sqlite")
  }

  private static func hexadecimal(_ text: String) -> String {
    text.utf8.map { String(format: "%02x", $0) }.joined()
  }

  private func names(at url: URL) -> Set<String> {
    Set(ExternalDataFiles(store: url).names)
  }

  // MARK: What goes and what stays

  @Test func openingAfterACrashRemovesThemAndNothingElse() throws {
    let (fixture, name) = try fixture()
    let part = try put(UUID().uuidString + ".part", in: fixture)
    let unnamed = try put(in: fixture)
    let foreign = ["notes.txt", UUID().uuidString.lowercased(), UUID().uuidString + ".jpg"]
    for name in foreign { _ = try put(name, in: fixture) }
    let url = try crashed(fixture)
    try FileManager.default.createDirectory(
      at: ExternalDataFiles(store: url).folder.appendingPathComponent(UUID().uuidString),
      withIntermediateDirectories: true)
    #expect(names(at: url).isSuperset(of: [name, part, unnamed]))
    let store = try StoreFixture.open(url, fixture.model)
    defer { try? store.close() }
    let left = try FileManager.default.contentsOfDirectory(atPath: store.files.folder.path)
    #expect(Set(left).isSuperset(of: foreign + [name]) && left.count == foreign.count + 2)
    #expect(Set(left).isDisjoint(with: [part, unnamed]))
    _ = try unnamedFiles(fixture).remove()
  }

  @Test func aCrashBetweenCommitAndRemovalIsMadeGood() throws {
    let (fixture, name) = try fixture()
    let row = try #require(try fixture.fetch("Employee").first)
    var request = SaveChangesRequest()
    request.deletions = [.init(snapshot: row)]
    let content = try Data(contentsOf: fixture.store.files.folder.appendingPathComponent(name))
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(names(fixture) == [])
    try content.write(to: fixture.store.files.folder.appendingPathComponent(name))
    let url = try crashed(fixture)
    let store = try StoreFixture.open(url, fixture.model)
    try store.close()
    #expect(names(at: url) == [])
    #expect(try unnamedFiles(fixture).remove() == 1)
  }

  @Test func aStoreThatWasClosedIsLookedAtOnlyForAVacuum() throws {
    let (fixture, name) = try fixture()
    let unnamed = try put(in: fixture)
    try fixture.store.close()
    try fixture.another().close()
    #expect(names(fixture) == [name, unnamed])
    try fixture.another(options: [StoreOptionKey.sqliteManualVacuum: true]).close()
    #expect(names(fixture) == [name])
  }

  @Test func withARollbackJournalOpeningRemovesThem() throws {
    let options: [AnyHashable: Any] = [StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]]
    let (fixture, name) = try fixture(options: options)
    _ = try put(in: fixture)
    try fixture.store.close()
    try fixture.another(options: options).close()
    #expect(names(fixture) == [name])
  }

  @Test func readingOnlyRemovesNothing() throws {
    let (fixture, name) = try fixture()
    let unnamed = try put(in: fixture)
    let url = try crashed(fixture)
    try StoreFixture.open(
      url, fixture.model,
      [StoreOptionKey.readOnly: true, StoreOptionKey.sqliteManualVacuum: true]
    ).close()
    #expect(names(at: url) == [name, unnamed])
    _ = try unnamedFiles(fixture).remove()
  }

  @Test func aTableThatTheModelDoesNotKnowNamesFilesToo() throws {
    let (fixture, name) = try fixture()
    let foreign = try put(in: fixture)
    try fixture.store.close()
    _ = try fixture.column("CREATE TABLE \"ZOLD \"\"ONE\" (ZDATA BLOB)")
    _ = try fixture.column(
      "INSERT INTO \"ZOLD \"\"ONE\" VALUES (x'02\(Self.hexadecimal(foreign))00')")
    #expect(try unnamedFiles(fixture).remove() == 0)
    #expect(names(fixture) == [name, foreign])
    _ = try fixture.column("DROP TABLE \"ZOLD \"\"ONE\"")
    #expect(try unnamedFiles(fixture).remove() == 1)
  }

  @Test func aFolderThatAnotherStoreMayUseIsLeftAlone() throws {
    let (fixture, name) = try fixture()
    let unnamed = try put(in: fixture)
    try fixture.store.close()
    let other = fixture.folder.appendingPathComponent("Test.db")
    try Data().write(to: other)
    #expect(try unnamedFiles(fixture).remove() == nil)
    #expect(names(fixture) == [name, unnamed])
    try FileManager.default.removeItem(at: other)
    #expect(try unnamedFiles(fixture).remove() == 1)
  }

  @Test func aDamagedFileCanStillBeOpened() throws {
    let (fixture, _) = try fixture()
    _ = try put(in: fixture)
    let url = try crashed(fixture)
    // A table whose page is none: what it names cannot be told.
    let page = try StoreFileAccess.write(url, options: StoreOptions(), doing: "be damaged") {
      try $0.execute("CREATE TABLE ZBROKEN (ZDATA BLOB)")
      return try $0.integer("SELECT rootpage FROM sqlite_master WHERE name = 'ZBROKEN'")
    }
    let file = try FileHandle(forUpdating: url)
    try file.seek(toOffset: UInt64(try #require(page) - 1) * 4096)
    try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
    try file.close()
    try Data().write(to: URL(fileURLWithPath: url.path + "-wal"))
    let names = names(at: url)
    try StoreFixture.open(url, fixture.model).close()
    #expect(names.count == 2 && self.names(at: url) == names)
    _ = try unnamedFiles(fixture).remove()
  }

  private static func items(_ names: String...) throws -> ManagedObjectModel {
    let item = EntityDescription(name: "Item")
    item.properties = names.map { name in
      let attribute = AttributeDescription(name: name, type: .binaryData)
      attribute.allowsExternalBinaryDataStorage = true
      return attribute
    }
    let model = ManagedObjectModel()
    model.entities = [item]
    try model.prepareForUse()
    return model
  }

  @Test func inPlaceMigrationRemovesWhatTheNewModelHasNoPlaceFor() throws {
    let fixture = try StoreFixture(model: Self.items("front", "back"))
    try fixture.insert([try fixture.row("Item", ["front": Self.photo, "back": Self.photo])])
    try fixture.store.close()
    let newer = try Self.items("front")
    try SQLiteStore.migrateInPlace(
      at: fixture.url, from: fixture.model, to: newer, options: StoreOptions())
    let store = try StoreFixture.open(fixture.url, newer)
    defer { try? store.close() }
    #expect(names(fixture).count == 1)
    let entity = try #require(newer.entitiesByName["Item"])
    let rows = try #require(try store.fetch(StoreFetchRequest(entity: entity)).snapshots)
    #expect(rows.map(\.values) == [[Self.photo]])
  }

  // MARK: Others

  /// What `remove()` gave in the middle of something.
  private final class Answer: Sendable {
    private let state = Mutex<[Int?]>([])
    func add(_ answer: Int?) { state.withLock { $0.append(answer) } }
    var all: [Int?] { state.withLock { $0 } }
  }

  @Test(arguments: [[:], [StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]]])
  func theFilesOfASaveThatIsUnderWayStay(options: [String: [String: String]]) throws {
    let fixture = try StoreFixture(options: options)
    let answer = Answer()
    let files = WatchedFiles { [path = fixture.url.path] _ in
      answer.add(try UnnamedFiles(path: path, options: StoreOptions()).remove())
    }
    let saving = try fixture.another(
      options: (options as [AnyHashable: Any]).merging([StoreOptions.fileOperationsKey: files]) {
        $1
      })
    defer { try? saving.close() }
    let row = try fixture.row("Employee", ["photo": Self.photo])
    var request = SaveChangesRequest()
    request.insertions = [.init(snapshot: row)]
    _ = try fixture.receipt(saving.save(request))
    #expect(answer.all == [nil])
    #expect(try fixture.fetch("Employee").map { fixture.value($0, "photo") } == [Self.photo])
  }

  @Test func whatAnOlderGenerationNamesStays() throws {
    let (fixture, _) = try fixture()
    var generation = try fixture.store.currentGeneration()
    let row = try #require(try fixture.fetch("Employee").first)
    var request = SaveChangesRequest()
    request.updates = [fixture.update(row, ["photo": .data(Data(repeating: 8, count: 150_000))])]
    _ = try fixture.receipt(fixture.store.save(request))
    let other = try fixture.another(options: [StoreOptionKey.sqliteManualVacuum: false])
    #expect(try unnamedFiles(fixture).remove() == nil)
    try other.close()
    let old = try generation?.snapshots(for: [row.objectID])
    #expect(old?.map { $0.map { fixture.value($0, "photo") } } == [Self.photo])
    generation = nil
    #expect(names(fixture).count == 1)
    #expect(try unnamedFiles(fixture).remove() == 0)
  }

  @Test func theFilesOfACopyThatIsBeingMadeStay() throws {
    let (source, _) = try fixture()
    let (target, _) = try fixture()
    try target.store.close()
    let answer = Answer()
    let files = WatchedFiles { [path = target.url.path] _ in
      answer.add(try UnnamedFiles(path: path, options: StoreOptions()).remove())
    }
    try SQLiteStoreKind().replace(
      at: target.url, withStoreAt: source.url,
      options: StoreOptions([StoreOptions.fileOperationsKey: files]))
    #expect(answer.all == [nil, nil])
    let copy = try target.another()
    defer { try? copy.close() }
    #expect(names(target) == names(source))
    #expect(try unnamedFiles(target).remove() == 0)
  }

  // MARK: Another process

  /// Saves a large value; when its file is written, calls back.
  private static func save(at path: String, _ didWrite: @escaping @Sendable () -> Void) throws {
    let store = try StoreFixture.open(
      URL(fileURLWithPath: path), SampleModel.make(),
      [StoreOptions.fileOperationsKey: WatchedFiles { _ in didWrite() }])
    let entity = try #require(store.managedObjectModel.entitiesByName["Employee"])
    let id = try store.obtainPermanentIDs(for: [entity])[0]
    let slots = entity.layout.slots.map { $0.name == "photo" ? photo : AttributeValue.null }
    var request = SaveChangesRequest()
    request.insertions = [
      .init(snapshot: RowSnapshot.make(objectID: id, version: 0, values: slots))
    ]
    _ = try store.save(request)
    try store.close()
  }

  @Test(.timeLimit(.minutes(10)))
  func theFilesOfAnotherProcessThatIsSavingStay() async throws {
    let fixture = try StoreFixture()
    let meeting = try Rendezvous(in: fixture.folder)
    let (path, ready, go) = (fixture.url.path, meeting.ready, meeting.go)
    // Only the thread uses it until that has ended.
    nonisolated(unsafe) let own = fixture
    let work = meeting.whileOtherHolds {
      #expect(self.names(own).count == 1)
      #expect(try self.unnamedFiles(own).remove() == nil)
      try own.another().close()
    }
    await #expect(processExitsWith: .success) {
      [path = path as String, ready = ready as String, go = go as String] in
      try Self.save(at: path) { Rendezvous.hold(ready, go) }
    }
    try await work.finished()
    #expect(try fixture.fetch("Employee").map { fixture.value($0, "photo") } == [Self.photo])
  }

  @Test func theFilesOfAProcessThatDiedAsItSavedGo() async throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    await #expect(processExitsWith: .exitCode(7)) { [path = fixture.url.path as String] in
      try Self.save(at: path) { _exit(7) }
    }
    #expect(names(fixture).count == 1)
    let store = try fixture.another()
    #expect(names(fixture) == [])
    try store.close()
  }
}
