import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// A write-ahead log of another database beside a store: an error that names the log, or an answer.
///
/// Specification: issue "Reliability" – another file's log.
@Suite struct LeftLogTests {
  /// A store with some projects, closed, in one file.
  private func store(
    projects: Int, notes: Int = 0, options: [AnyHashable: Any] = [:]
  ) throws -> StoreFixture {
    let fixture = try StoreFixture(options: options)
    fixture.isDamagedOnPurpose = true
    try fixture.insert(
      (0..<projects).map { try fixture.row("Project", ["title": .string("\(projects) \($0)")]) }
        + (0..<notes).map { try fixture.row("Note", ["text": .string("\(notes) \($0)")]) })
    try fixture.store.close()
    return fixture
  }

  /// The log that a store has while it is open, after `body`.
  private func log(
    of fixture: StoreFixture, options: [AnyHashable: Any] = [:],
    _ body: (SQLiteStore) throws -> Void
  ) throws -> Data {
    let store = try fixture.another(options: options)
    try body(store)
    let log = try Data(contentsOf: URL(fileURLWithPath: fixture.url.path + "-wal"))
    try store.close()
    return log
  }

  private func put(_ log: Data, beside fixture: StoreFixture) throws {
    try log.write(to: URL(fileURLWithPath: fixture.url.path + "-wal"))
  }

  private func failure(_ body: () throws -> Void) -> CoreDataError? {
    do {
      try body()
      return nil
    } catch { return error as? CoreDataError }
  }

  /// SQLite makes them so beside a file that nobody may write at the moment.
  @Test func aLogThatIsReadOnlyBesideAFileThatIsNotIsMadeWritable() throws {
    let fixture = try store(projects: 3)
    let files = FileManager.default
    let names = ["-wal", "-shm"].map { fixture.url.path + $0 }
    func permissions(_ path: String) throws -> Int {
      try #require(files.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }
    func set(_ permissions: Int, of path: String) throws {
      try files.setAttributes([.posixPermissions: NSNumber(value: permissions)], ofItemAtPath: path)
    }
    for name in names { #expect(files.createFile(atPath: name, contents: Data())) }
    for mode in [0o440, 0o640] {
      try set(mode, of: fixture.url.path)
      for name in names { try set(0o440, of: name) }
      LogPermissions.follow(databaseAt: fixture.url.path)
      for name in names { #expect(try permissions(name) == mode) }
    }
    let opened = try fixture.another()
    #expect(try permissions(names[1]) == 0o640)
    try opened.close()
  }

  @Test func aLogThatMakesAnotherStoreOfTheFileIsRefusedByName() throws {
    let (mine, other) = (try store(projects: 300), try store(projects: 3))
    let log = try log(of: other) { store in
      store.metadata["changed"] = true
      _ = try other.receipt(store.save(SaveChangesRequest()))
    }
    let before = try Data(contentsOf: mine.url)
    try put(log, beside: mine)
    let opening = failure { try StoreFixture.open(mine.url, mine.model).close() }
    #expect(opening?.code == .persistentStoreOpen)
    #expect(
      opening?.message.contains("Test.sqlite-wal does not belong to the store") == true,
      "\(opening?.message ?? "opened")")
    let metadata = failure {
      _ = try SQLiteStoreKind().metadata(at: mine.url, options: StoreOptions())
    }
    #expect(metadata?.message.contains("does not belong") == true)
    let inspection = failure { _ = try StoreInspection(contentsOf: mine.url) }
    #expect(inspection?.message.contains("does not belong") == true)
    // The file is as it was, and opens when the log has been moved away as the error says.
    #expect(try Data(contentsOf: mine.url) == before)
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: mine.url.path + suffix)
    }
    #expect(try mine.column("SELECT COUNT(*) FROM ZPROJECT") == ["300"])
    #expect(try StoreInspection(contentsOf: mine.url).damage == [])
  }

  /// As a kill leaves a log and its index, and someone puts another file in the store's place.
  @Test func damageThatCameWithALogIsThatOfTheLog() throws {
    let (mine, other) = (try store(projects: 300), try store(projects: 3))
    var index = Data()
    let log = try log(of: other) { store in
      store.metadata["changed"] = true
      _ = try other.receipt(store.save(SaveChangesRequest()))
      index = try Data(contentsOf: URL(fileURLWithPath: other.url.path + "-shm"))
    }
    try put(log, beside: mine)
    try index.write(to: URL(fileURLWithPath: mine.url.path + "-shm"))
    let damage = try SQLiteStoreKind().damage(
      at: mine.url, options: StoreOptions(), within: .seconds(60))
    #expect(
      damage?.contains("Test.sqlite-wal does not belong to the store") == true,
      "\(damage ?? "none")")
  }

  @Test func aWholeStoreInALogIsThatStore() throws {
    let mine = try store(projects: 3)
    // Everything of a new store is in its log where that is not moved until it is closed.
    let other = try StoreFixture(
      options: [StoreOptionKey.sqlitePragmas: ["wal_autocheckpoint": "0"]])
    try other.insert([try other.row("Project", ["title": .string("other")])])
    let log = try Data(contentsOf: URL(fileURLWithPath: other.url.path + "-wal"))
    try put(log, beside: mine)
    let store = try StoreFixture.open(mine.url, mine.model)
    #expect(store.identifier == other.store.identifier)
    guard
      case .snapshots(let rows) = try store.fetch(
        StoreFetchRequest(entity: mine.entity("Project")))
    else { return }
    #expect(rows.map { mine.value($0, "title") } == [.string("other")])
    #expect(try store.verifyIntegrity() == [])
    try store.close()
  }

  /// What fits by chance only the sums of rows tell.
  @Test func aLogWithSomeonesPagesIsAnErrorOrFoundByACheck() throws {
    let options: [AnyHashable: Any] = [StoreOptionKey.rowChecksums: true]
    for (projects, notes) in [(300, 0), (2, 0), (2, 400), (900, 900)] {
      let mine = try store(projects: projects, notes: notes, options: options)
      let other = try store(projects: 120, notes: 40, options: options)
      let log = try log(of: other, options: options) { store in
        let entity = try other.entity("Project")
        var request = SaveChangesRequest()
        request.insertions = try store.obtainPermanentIDs(
          for: Array(repeating: entity, count: 50)
        ).map {
          .init(
            snapshot: try other.row("Project", ["title": .string("from the other")], id: $0))
        }
        _ = try other.receipt(store.save(request))
      }
      try put(log, beside: mine)
      var damage: [StoreFinding] = []
      let inspection = failure { damage = try StoreInspection(contentsOf: mine.url).damage }
      #expect(inspection != nil || !damage.isEmpty, "\(projects) projects, \(notes) notes")
      let use = failure {
        let store = try StoreFixture.open(mine.url, mine.model, options)
        defer { try? store.close() }
        for name in ["Project", "Note", "Employee"] {
          _ = try store.fetch(StoreFetchRequest(entity: mine.entity(name)))
        }
        #expect(try !store.verifyIntegrity().isEmpty)
      }
      if let use { #expect(!use.message.isEmpty) }
    }
  }

  @Test func aStoreWhoseIdentifierChangedInItsOwnLogOpens() throws {
    let mine = try store(projects: 30)
    let identifier = UUID().uuidString
    // As a crash leaves it: the file before, and the log after.
    let file = try Data(contentsOf: mine.url)
    let log = try log(of: mine) { store in
      store.metadata["NSStoreUUID"] = identifier
      _ = try mine.receipt(store.save(SaveChangesRequest()))
    }
    try file.write(to: mine.url)
    try put(log, beside: mine)
    let store = try StoreFixture.open(mine.url, mine.model)
    #expect(store.identifier == identifier)
    #expect(try store.verifyIntegrity() == [])
    try store.close()
  }
}
