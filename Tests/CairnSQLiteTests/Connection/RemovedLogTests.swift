import CairnStore
import CairnTesting
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

/// A write-ahead log that was removed while programs have it open: no other log is begun beside it, and none is moved
/// into a file that has another one.
struct RemovedLogTests {
  private static func row(_ fixture: StoreFixture, _ name: String) throws {
    _ = try fixture.insert([try fixture.row("Company", ["name": .string(name)])])
  }

  private static func removeLog(of url: URL) throws {
    for ending in ["-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: url.path + ending)
    }
  }

  private static func companies(in store: SQLiteStore) throws -> Int64? {
    try store.readConsistently { try $0.connection.integer("SELECT count(*) FROM ZCOMPANY") }
  }

  /// As by who puts a backup in its place: there is more to do than to open the store again.
  @Test func whereTheFileWasReplacedTooTheErrorSaysSo() throws {
    let fixture = try StoreFixture()
    try Self.row(fixture, "kept")
    let aside = fixture.url.path + ".aside"
    try FileManager.default.moveItem(atPath: fixture.url.path, toPath: aside)
    try FileManager.default.copyItem(atPath: aside, toPath: fixture.url.path)
    try Self.removeLog(of: fixture.url)
    let looks: [() throws -> Void] = [
      { _ = try Self.companies(in: fixture.store) }, { try Self.row(fixture, "lost") },
    ]
    for look in looks {
      let error = #expect(throws: CoreDataError.self) { try look() }
      #expect(error?.message.contains("Put that file back") == true, "\(error?.message ?? "")")
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func theStoreIsNotOpenedWhileAnotherProgramGoesOnInIt() async throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    let meeting = try Rendezvous(in: fixture.folder)
    let (path, ready, go) = (fixture.url.path, meeting.ready, meeting.go)
    // Only the thread uses it until that has ended.
    nonisolated(unsafe) let own = fixture
    let work = meeting.whileOtherHolds {
      try Self.removeLog(of: own.url)
      let kind = SQLiteStoreKind()
      let options = StoreOptions([StoreOptionKey.timeout: 0.05])
      let looks: [() throws -> Void] = [
        { try own.another(options: [StoreOptionKey.timeout: 0.05]).close() },
        { _ = try kind.metadata(at: own.url, options: options) },
        { _ = try kind.damage(at: own.url, options: options, within: .seconds(5)) },
      ]
      for look in looks {
        let error = #expect(throws: CoreDataError.self) { try look() }
        #expect(error?.message.contains("which goes on in it") == true, "\(error?.message ?? "")")
      }
      #expect(!FileManager.default.fileExists(atPath: own.url.path + "-wal"))
      meeting.letGo()
      // One that comes while the other puts its log into the file waits for it.
      let next = try own.another(options: [StoreOptionKey.timeout: 60])
      #expect(try Self.companies(in: next) == 1)
      try next.close()
    }
    await #expect(processExitsWith: .success) {
      [path = path as String, ready = ready as String, go = go as String] in
      let store = try StoreFixture.open(
        URL(fileURLWithPath: path), try SampleModel.make(), [:])
      _ = try store.write(doing: "be written to") { lookup -> Bool? in
        try lookup.connection.execute("INSERT INTO ZCOMPANY (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)")
        try lookup.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Company'")
        return true
      }
      Rendezvous.hold(ready, go)
      // What it does before each save.
      #expect(throws: CoreDataError.self) { try store.checkFilePlace() }
      try store.close()
    }
    try await work.finished()
  }

  @Test(.timeLimit(.minutes(10)))
  func itIsNotMovedIntoAFileThatAnotherProgramHasOpenedAnew() async throws {
    let fixture = try StoreFixture(options: [StoreOptionKey.timeout: 0.1])
    try fixture.store.checkpoint()
    try Self.row(fixture, "saved last")
    try Self.removeLog(of: fixture.url)
    let meeting = try Rendezvous(in: fixture.folder)
    let (path, ready, go) = (fixture.url.path, meeting.ready, meeting.go)
    // Only the thread uses it until that has ended.
    nonisolated(unsafe) let own = fixture
    let work = meeting.whileOtherHolds {
      let file = try Data(contentsOf: own.url)
      let error = #expect(throws: CoreDataError.self) { try own.store.checkFilePlace() }
      #expect(error?.message.contains("may be lost") == true)
      try own.store.close()
      #expect(try Data(contentsOf: own.url) == file)
      meeting.letGo()
    }
    await #expect(processExitsWith: .success) {
      [path = path as String, ready = ready as String, go = go as String] in
      let queue = try DatabaseQueue(path: path)
      _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZCOMPANY") }
      Rendezvous.hold(ready, go)
      try queue.close()
    }
    try await work.finished()
  }

  @Test func itIsNotMovedByACommitThatWasUnderWay() throws {
    let fixture = try StoreFixture()
    try fixture.store.checkpoint()
    // Its size is set at each commit.
    func content() throws -> Data { try Data(contentsOf: fixture.url).prefix(4096) }
    let file = try content()
    _ = try fixture.store.write(doing: "be written to") { lookup -> Bool? in
      try Self.removeLog(of: fixture.url)
      // More than what has a log moved.
      try lookup.connection.execute(
        "CREATE TABLE OTHER AS SELECT randomblob(8000000) AS BYTES")
      try lookup.connection.execute("DROP TABLE OTHER")
      return true
    }
    #expect(try content() == file)
    #expect(throws: CoreDataError.self) { try fixture.store.checkFilePlace() }
    try fixture.store.close()
  }

  @Test func connectionsThatAreOpenedLaterReadNoOtherLog() throws {
    let fixture = try StoreFixture()
    try Self.row(fixture, "saved last")
    let settings = fixture.store.settings(isReadOnly: true)
    try settings.openGenerationReader().close()
    try Self.removeLog(of: fixture.url)
    #expect(throws: CoreDataError.self) { try settings.openGenerationReader().close() }
    #expect(throws: CoreDataError.self) { try settings.openHeldReader() }
    #expect(throws: CoreDataError.self) { try fixture.store.checkFilePlace() }
    try fixture.store.close()
  }

  /// The index that both have would lead the reader to pages that the other has written, in its own log.
  @Test func nothingIsReadOfAStoreWhoseLogWasRemoved() throws {
    let fixture = try StoreFixture()
    try Self.row(fixture, "saved last")
    #expect(try Self.companies(in: fixture.store) == 1)
    try FileManager.default.removeItem(atPath: fixture.url.path + "-wal")
    for _ in 0..<2 {
      #expect(throws: CoreDataError.self) { try Self.companies(in: fixture.store) }
      #expect(throws: CoreDataError.self) { try fixture.fetch("Company") }
    }
    try fixture.store.close()
  }

  @Test(arguments: ["-wal", "-shm"])
  func itIsMissedAlsoWhereItWasRemovedAsTheStoreWasOpened(_ ending: String) throws {
    let fixture = try StoreFixture()
    let path = fixture.url.path
    try fixture.store.close()
    let pool = try DatabasePool(path: path)
    #expect(throws: Never.self) {
      try pool.unsafeReentrantRead { _ = try FilePlace(of: path, openIn: $0) }
    }
    try FileManager.default.removeItem(atPath: path + ending)
    _ = FileManager.default.createFile(atPath: path + ending, contents: nil)
    #expect(throws: CoreDataError.self) {
      try pool.unsafeReentrantRead { _ = try FilePlace(of: path, openIn: $0) }
    }
    try pool.close()
  }

  /// Tests and programs that delete a store's files by hand leave the old store open behind.
  @Test func aStoreWhoseFilesAreAllRemovedIsInNobodysWay() throws {
    let fixture = try StoreFixture()
    try Self.row(fixture, "old")
    try Self.removeLog(of: fixture.url)
    try FileManager.default.removeItem(at: fixture.url)
    let new = try fixture.another(options: [StoreOptionKey.timeout: 0])
    #expect(try Self.companies(in: new) == 0)
    try new.close()
    try fixture.store.close()
  }
}
