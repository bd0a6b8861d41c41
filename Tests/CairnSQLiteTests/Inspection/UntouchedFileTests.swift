import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Inspecting a store: all that was committed is seen, and nothing in its folder is made, changed
/// or removed.
@Suite struct UntouchedFileTests {
  /// Names, sizes, contents and times of what is in a folder.
  private func traces(_ folder: URL) throws -> [String: String] {
    var result: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let path = folder.appendingPathComponent(name).path
      let facts = try FileManager.default.attributesOfItem(atPath: path)
      let content = (try? Data(contentsOf: URL(fileURLWithPath: path)))?.hashValue ?? 0
      result[name] = "\(facts[.size] ?? 0) \(facts[.modificationDate] ?? 0) \(content)"
    }
    return result
  }

  private func copy(_ fixture: StoreFixture, _ suffixes: [String]) throws -> URL {
    let folder = fixture.folder.appendingPathComponent("copy \(UUID().uuidString) ?#%é")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("Test.sqlite")
    for suffix in suffixes {
      try FileManager.default.copyItem(atPath: fixture.url.path + suffix, toPath: url.path + suffix)
    }
    return url
  }

  private func projects(_ url: URL) throws -> Int? {
    try StoreInspection(contentsOf: url).entities.first { $0.name == "Project" }?.count
  }

  @Test func aClosedStoreIsReadWithoutATrace() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project")])
    try fixture.store.checkpoint()
    try fixture.store.close()
    let url = try copy(fixture, [""])
    let before = try traces(url.deletingLastPathComponent())
    #expect(try projects(url) == 1)
    #expect(try traces(url.deletingLastPathComponent()) == before)
    #expect(before.count == 1)
  }

  @Test func theLogOfAnOpenStoreIsReadWithoutATrace() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project"), try fixture.row("Project")])
    let before = try traces(fixture.folder)
    #expect(before.keys.contains("Test.sqlite-wal"))
    #expect(try projects(fixture.url) == 2)
    #expect(try traces(fixture.folder) == before)
    // And the store goes on.
    try fixture.insert([try fixture.row("Project")])
    #expect(try projects(fixture.url) == 3)
  }

  @Test(arguments: [["", "-wal", "-shm"], ["", "-wal"]])
  func theLogOfAStoreThatNobodyHasOpenIsReadWithoutATrace(_ suffixes: [String]) throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project"), try fixture.row("Project")])
    let url = try copy(fixture, suffixes)
    let before = try traces(url.deletingLastPathComponent())
    #expect(before.count == suffixes.count)
    #expect(try projects(url) == 2)
    #expect(try traces(url.deletingLastPathComponent()) == before)
    let log = try StoreInspection(contentsOf: url).logSize
    #expect(log > 0)
  }

  /// Copies take as long as the file is large, and room that there may not be.
  @Test(arguments: [["", "-wal", "-shm"], ["", "-wal"]])
  func aLookForDamageAtALogIsAtTheFileItselfAndNotAtACopy(_ suffixes: [String]) throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project")])
    let url = try copy(fixture, suffixes)
    let before = try traces(url.deletingLastPathComponent())
    #expect(
      try SQLiteStoreKind().damage(at: url, options: StoreOptions([:]), within: .seconds(10)) == nil
    )
    #expect(try traces(url.deletingLastPathComponent()) == before)
    var file = try UntouchedFile(path: url.path, timeout: 1)
    file.copies = false
    if suffixes.count == 2 {
      #expect(throws: UntouchedFile.NeedsCopy.self) { try file.read { _ in true } }
    }
  }

  /// Closing a file gives up all locks that a process has on it.
  @Test func aFileThatThisProcessHasOpenIsNotCopied() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project")])
    fixture.isDamagedOnPurpose = true
    let facts = try FileManager.default.attributesOfItem(atPath: fixture.url.path)
    let inode = try #require(facts[.systemFileNumber] as? Int)
    func locks() throws -> Int {
      try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").count {
        $0.contains(":\(inode) ")
      }
    }
    let before = try locks()
    try FileManager.default.removeItem(atPath: fixture.url.path + "-shm")
    let error = #expect(throws: CoreDataError.self) { try projects(fixture.url) }
    #expect(error?.message.contains("this program has it open") == true, "\(error?.message ?? "")")
    #expect(try locks() == before && before > 0)
  }

  @Test func aLogWhoseIndexAnotherKeepsUnfinishedIsReadWithoutATrace() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project"), try fixture.row("Project")])
    let url = try copy(fixture, ["", "-wal", "-shm"])
    let index = url.path + "-shm"
    try Data(count: 32768).write(to: URL(fileURLWithPath: index))
    // SQLite's locks of one who has the index open, and of one who writes it.
    let descriptor = open(index, O_RDWR)
    defer { close(descriptor) }
    for (kind, place) in [(F_RDLCK, off_t(128)), (F_WRLCK, off_t(120))] {
      var lock = flock(
        l_type: Int16(kind), l_whence: Int16(SEEK_SET), l_start: place, l_len: 1, l_pid: 0)
      // A lock of the descriptor: it stands in the way of this process, too.
      try #require(fcntl(descriptor, Self.setDescriptorLock, &lock) == 0)
    }
    let before = try traces(url.deletingLastPathComponent())
    #expect(try projects(url) == 2)
    #expect(try traces(url.deletingLastPathComponent()) == before)
  }

  /// `F_OFD_SETLK`, which Swift does not import.
  private static let setDescriptorLock: Int32 = 37

  @Test func aStoreWithARollbackJournalIsReadWithoutATrace() throws {
    let fixture = try StoreFixture(
      options: [StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]])
    try fixture.insert([try fixture.row("Project")])
    let before = try traces(fixture.folder)
    let store = try StoreInspection(contentsOf: fixture.url)
    #expect(store.journalMode == "delete")
    #expect(store.entities.first { $0.name == "Project" }?.count == 1)
    #expect(try traces(fixture.folder) == before)
  }

  /// What a program that was killed in a transaction leaves: pages of it are in the file, and only its
  /// journal knows what they were.
  @Test func aTransactionThatWasBrokenOffIsNotSeenAndItsJournalStays() throws {
    let fixture = try StoreFixture(
      options: [StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]])
    var left: URL?
    _ = try fixture.store.write(doing: "leave a journal") { lookup -> Bool? in
      try lookup.connection.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
      try lookup.connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
          + "INSERT INTO ZPROJECT (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 5, 1, 'title' FROM n")
      try lookup.connection.execute(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 5000 WHERE Z_NAME = 'Project'")
      return true
    }
    _ = try fixture.store.write(doing: "leave a journal") { lookup -> Bool? in
      try lookup.connection.execute("DELETE FROM ZPROJECT WHERE Z_PK % 2 = 0")
      left = try copy(fixture, ["", "-journal"])
      return nil
    }
    let url = try #require(left)
    let before = try traces(url.deletingLastPathComponent())
    #expect(try projects(url) == 5000)
    #expect(try traces(url.deletingLastPathComponent()) == before)
    #expect(before.count == 2)
  }

  @Test func aLinkLeadsToTheFileAndItsLog() throws {
    let fixture = try StoreFixture()
    try fixture.insert([try fixture.row("Project")])
    let link = fixture.folder.appendingPathComponent("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.url)
    #expect(try projects(link) == 1)
  }

  @Test func commitsWhileItIsReadAreNoDamage() throws {
    let fixture = try StoreFixture()
    let requests = try (0..<60).map { _ in
      var request = SaveChangesRequest()
      request.insertions = [.init(snapshot: try fixture.row("Project", ["title": .string("x")]))]
      return request
    }
    let (store, done) = (fixture.store, DispatchSemaphore(value: 0))
    let writer = Thread {
      for request in requests { _ = try? store.save(request) }
      done.signal()
    }
    writer.start()
    repeat {
      #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
    } while done.wait(timeout: .now()) == .timedOut
    #expect(try projects(fixture.url) == 60)
  }

  // MARK: What is refused

  private func refusal(_ url: URL) -> CoreDataError? {
    do {
      _ = try StoreInspection(contentsOf: url)
      return nil
    } catch { return error as? CoreDataError }
  }

  @Test func whatIsNoStoreIsRefusedWithTheReason() throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    func file(_ name: String, _ data: Data) throws -> URL {
      let url = fixture.folder.appendingPathComponent(name)
      try data.write(to: url)
      return url
    }
    let other = fixture.folder.appendingPathComponent("other.sqlite")
    try StoreFileAccess.write(other, options: StoreOptions(), doing: "be made") {
      try $0.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    }
    let whole = try Data(contentsOf: fixture.url)
    let cases: [(URL, CoreDataError.Code, String)] = [
      (fixture.folder.appendingPathComponent("none"), .persistentStoreOpen, "There is no store"),
      (fixture.folder, .persistentStoreOpen, "is a folder"),
      (try file("empty", Data()), .persistentStoreInvalidType, "is empty"),
      (
        try file("text", Data("hello, this is text".utf8)), .persistentStoreInvalidType,
        "is not an SQLite database"
      ),
      (try file("short", whole.prefix(60)), .persistentStoreInvalidType, "not"),
      (
        try file("random", Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })),
        .persistentStoreInvalidType, "is not an SQLite database, or an encrypted one"
      ),
      (
        try file("newer", whole.prefix(18) + Data([3, 3]) + whole.dropFirst(20)),
        .persistentStoreInvalidType, "was written by a newer SQLite"
      ),
      (other, .persistentStoreInvalidType, "database of another application"),
    ]
    for (url, code, text) in cases {
      let error = refusal(url)
      #expect(error?.code == code, "\(url.lastPathComponent)")
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "nothing")")
      #expect(error?.message.contains(url.path) == true)
    }
    let half = refusal(try file("half", whole.prefix(whole.count / 2)))
    let found = try? StoreInspection(contentsOf: fixture.folder.appendingPathComponent("half"))
    #expect(half != nil || found?.damage.isEmpty == false)
  }

  @Test func aNewerFileAndAnEncryptedOneAreNotOpenedAndNotChanged() throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    var newer = try Data(contentsOf: fixture.url)
    newer.replaceSubrange(18..<20, with: [3, 3])
    for (bytes, text) in [
      (newer, "newer SQLite"), (Data((0..<4096).map { UInt8($0 * 31 % 251) }), "encrypted"),
    ] {
      let url = fixture.folder.appendingPathComponent("strange.sqlite")
      try bytes.write(to: url)
      let error = #expect(throws: CoreDataError.self) {
        _ = try StoreFixture.open(url, fixture.model)
      }
      #expect(error?.code == .persistentStoreInvalidType)
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
      #expect(try Data(contentsOf: url) == bytes)
    }
  }

  @Test func aFileThatIsLockedForLongerThanTheTimeoutIsATimeout() throws {
    let fixture = try StoreFixture(
      options: [StoreOptionKey.sqlitePragmas: ["journal_mode": "DELETE"]])
    _ = try fixture.store.write(doing: "hold the lock") { lookup -> Bool? in
      // A rollback journal locks readers out when its pages go to the file.
      try lookup.connection.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
      try lookup.connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
          + "INSERT INTO ZPROJECT (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT i, 5, 1, 'title' FROM n")
      let error = #expect(throws: CoreDataError.self) {
        _ = try StoreInspection(contentsOf: fixture.url, timeout: 0.1)
      }
      #expect(error?.code == .persistentStoreTimeout)
      #expect(error?.message.contains(fixture.url.path) == true)
      return nil
    }
    #expect(try StoreInspection(contentsOf: fixture.url).findings == [])
  }

  @Test func aFileThatMayNotBeReadIsRefused() throws {
    let fixture = try StoreFixture()
    try fixture.store.close()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0], ofItemAtPath: fixture.url.path)
    defer {
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: fixture.url.path)
    }
    // Root may read everything.
    if FileManager.default.isReadableFile(atPath: fixture.url.path) { return }
    let error = refusal(fixture.url)
    #expect(error?.code == .persistentStoreOpen)
    #expect(error?.message.contains("may not be read by this user") == true)
  }
}
