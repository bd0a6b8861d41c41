// Store files with a schema that means harm: views and triggers, and files that belong elsewhere.

import CFaultVFS
import Cairn
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: issue "Reliability" – malicious triggers and views, another file's log and
/// truncated files are an error or a right answer, never a crash or a hang.
@Suite(.timeLimit(.minutes(10))) struct HostileSchemaTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A filled store that SQL has been let loose on.
  ///
  /// - Returns: What opens it.
  private func store(
    _ sql: String, options: [String: Any] = [:]
  ) throws -> () throws -> HostileStore {
    let model = try HostileStore.model(in: folder.url)
    let whole = try HostileStore(in: folder.url, model: model)
    try whole.fill(items: 20)
    try whole.close()
    try #require(cfault_execute(HostileStore.url(in: folder.url).path, sql) == 0)
    return { try HostileStore(in: folder.url, model: model, options: options) }
  }

  /// The code of what a piece of work throws; nil when it throws nothing.
  private func code(_ work: () throws -> Void) -> CoreDataError.Code? {
    do {
      try work()
      return nil
    } catch {
      return (error as? CoreDataError)?.code ?? CoreDataError.Code(rawValue: -1)
    }
  }

  private static let endless =
    "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"

  @Test func aViewInPlaceOfATableIsRefused() throws {
    let open = try store(
      "DROP TABLE ZBOX; CREATE VIEW ZBOX (Z_PK, Z_ENT, Z_OPT, ZNAME) AS "
        + "SELECT x, 4, 1, 'x' FROM (\(Self.endless))")
    #expect(code { _ = try open() } == .persistentStoreOpen)
  }

  @Test func aMissingTableIsRefused() throws {
    let open = try store("DROP TABLE ZPART")
    #expect(code { _ = try open() } == .persistentStoreOpen)
  }

  @Test(arguments: [
    // Without end, at once or by way of a view.
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN "
      + "INSERT INTO Z_METADATA (Z_VERSION) SELECT COUNT(*) FROM (\(endless)); END",
    "CREATE VIEW long AS \(endless); CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN "
      + "UPDATE ZBOX SET ZNAME = (SELECT MAX(x) FROM long); END",
    // Changes what it must not.
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN DELETE FROM ZBOX WHERE Z_PK = NEW.Z_PK; END",
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN DELETE FROM Z_PRIMARYKEY; END",
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN UPDATE ZBOX SET Z_ENT = 99; END",
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN UPDATE ZBOX SET Z_OPT = -9223372036854775808; "
      + "END",
    "CREATE TRIGGER bad BEFORE INSERT ON ZBOX BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER bad BEFORE INSERT ON ZBOX BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER bad BEFORE INSERT ON ZBOX BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN SELECT load_extension('/bin/ls'); END",
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN INSERT INTO ZBOX (ZNAME) VALUES ('more'); END; "
      + "CREATE TRIGGER worse AFTER INSERT ON ZBOX BEGIN INSERT INTO ZBOX (ZNAME) "
      + "VALUES (NEW.ZNAME || 'x'); END",
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN INSERT INTO ZBOX (ZNAME) "
      + "VALUES (CairnCall('nosuch', zeroblob(1000000))); END",
    // What only predicates call, with numbers that they never have.
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN SELECT CairnFold('a', -1); END",
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN SELECT CairnCompare('a', -1, 'b', -1); END",
    // A regular expression that works without end, inside one call.
    "CREATE TRIGGER bad AFTER INSERT ON ZBOX BEGIN "
      + "SELECT CairnCompare('\(String(repeating: "a", count: 60))b', 6, '(a|a)*c', 0); END",
  ])
  func aTriggerThatMeansHarmEndsInAnErrorOrAnAnswer(sql: String) throws {
    let open = try store(sql, options: [StoreOptionKey.timeout: 1])
    let store = try open()
    defer { try? store.close() }
    let context = store.context
    context.performAndWait {
      let tag = EntityDescription.insertNewObject(forEntityName: "Box", into: context)
      tag.setValue("new", forKey: "name")
      let code = code { try context.save() }
      if sql.contains("RECURSIVE") { #expect(code == .persistentStoreTimeout) }
      // Whatever it was, reading gives errors or objects, and objects of what it did not touch.
      for entity in ["Tag", "Item", "Box"] {
        let objects = try? context.fetch(FetchRequest<ManagedObject>(entityName: entity))
        for object in objects ?? [] { _ = object.value(forKey: "name") }
        if entity != "Box" { #expect(objects?.isEmpty == false, "\(entity)") }
      }
    }
  }

  /// A name that ends where it stands in quotes, and goes on as a query without end.
  @Test func entityNamesInTheFileAreNoSQL() throws {
    let name =
      "A\" JOIN (WITH RECURSIVE N(X) AS (SELECT 1 UNION ALL SELECT X+1 FROM N) "
      + "SELECT X FROM N)--"
    let quoted = "Z" + name.replacingOccurrences(of: "\"", with: "\"\"")
    _ = try store(
      "DROP TABLE Z_MODELCACHE; CREATE TABLE \"\(quoted)\" (Z_PK, Z_ENT); "
        + "CREATE TABLE ZA (Z_PK, Z_ENT); INSERT INTO ZA VALUES (1, 77); "
        + "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (77, '\(name)', 0, 0)")
    let inspection = try StoreInspection(contentsOf: HostileStore.url(in: folder.url))
    #expect(inspection.entities.first { $0.name == name }?.count == 0)
  }

  @Test func anotherFilesLogIsAnErrorOrAnAnswer() throws {
    let seed = TestSeed.get("another file's log")
    var numbers = SeededNumbers(seed: seed)
    _ = try store("SELECT 1")
    let url = HostileStore.url(in: folder.url)
    let model = try HostileStore.model(in: folder.url)
    // The log of a store that is open, taken away from under it.
    let other = try TemporaryFolder()
    let busy = try HostileStore(in: other.url, model: model)
    try busy.fill(items: 30)
    let log = try Data(
      contentsOf: URL(fileURLWithPath: HostileStore.url(in: other.url).path + "-wal"))
    try busy.close()
    let bytes = try Data(contentsOf: url)
    var counts = (opened: 0, read: 0)
    for _ in 0..<40 {
      try bytes.write(to: url)
      let count = Int.random(in: 0...log.count, using: &numbers)
      try log.prefix(Bool.random(using: &numbers) ? count : log.count)
        .write(to: URL(fileURLWithPath: url.path + "-wal"))
      try? FileManager.default.removeItem(atPath: url.path + "-shm")
      guard let store = try? HostileStore(in: folder.url, model: model) else { continue }
      counts.opened += 1
      if Self.use(store) { counts.read += 1 }
      try? store.close()
    }
    // The logs are of a store of the same model: what a whole one holds is an answer.
    #expect(counts.opened > 20 && counts.read > 20, "seed \(seed): \(counts)")
  }

  @Test func filesCutAnywhereAreAnErrorOrAnAnswer() throws {
    let seed = TestSeed.get("cut files")
    var numbers = SeededNumbers(seed: seed)
    _ = try store("SELECT 1")
    let url = HostileStore.url(in: folder.url)
    let model = try HostileStore.model(in: folder.url)
    let bytes = try Data(contentsOf: url)
    var counts = (opened: 0, read: 0)
    for round in 0..<60 {
      for suffix in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: url.path + suffix)
      }
      // The first is whole.
      let whole = bytes.count / 4096
      let pages = round == 0 ? whole : Int.random(in: 0...whole, using: &numbers)
      let rest = round % 2 == 0 ? 0 : Int.random(in: 0..<4096, using: &numbers)
      try bytes.prefix(pages * 4096 + rest).write(to: url)
      guard let store = try? HostileStore(in: folder.url, model: model) else { continue }
      counts.opened += 1
      if Self.use(store) { counts.read += 1 }
      try? store.close()
    }
    #expect((1..<30).contains(counts.opened) && counts.read > 0, "seed \(seed): \(counts)")
  }

  /// Reads everything and writes something.
  ///
  /// - Returns: Whether all entities could be read.
  private static func use(_ store: HostileStore) -> Bool {
    let context = store.context
    return context.performAndWait {
      var isRead = true
      for entity in ["Item", "Tag", "Box", "Part"] {
        do {
          for object in try context.fetch(FetchRequest<ManagedObject>(entityName: entity)) {
            for name in object.entity.propertiesByName.keys { _ = object.value(forKey: name) }
          }
        } catch {
          isRead = false
        }
      }
      let tag = EntityDescription.insertNewObject(forEntityName: "Box", into: context)
      tag.setValue("new", forKey: "name")
      try? context.save()
      return isRead
    }
  }
}
