// Sums in files that are damaged, or that an attacker made to do harm.

import CairnModel
import CairnStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CairnSQLite

/// Specification: operations.md 3.4; Cairn's own table `CAIRNSUMS`.
@Suite struct ChecksumDamageTests {
  private let options: [AnyHashable: Any] = [
    StoreOptionKey.rowChecksums: true, StoreOptionKey.historyTracking: true,
    StoreOptionKey.timeout: 0.2,
  ]

  private func execute(_ sql: String, in fixture: StoreFixture) throws {
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be written") {
      try $0.execute(sql)
    }
  }

  private func filled(_ count: Int = 40) throws -> StoreFixture {
    let fixture = try StoreFixture(options: options)
    fixture.isDamagedOnPurpose = true
    try fixture.insert((0..<count).map { _ in try fixture.row("Project", ["title": .string("t")]) })
    return fixture
  }

  private func projects(of store: SQLiteStore, _ fixture: StoreFixture) throws -> [RowSnapshot] {
    let request = StoreFetchRequest(entity: try fixture.entity("Project"))
    return try #require(try store.fetch(request).snapshots)
  }

  private func save(_ title: String, of rows: [RowSnapshot], in store: SQLiteStore) throws {
    let slot = try #require(rows.first?.objectID.entity.layout.slotByName["title"])
    var request = SaveChangesRequest()
    request.updates = rows.map { row in
      var values = row.values
      values[slot] = .string(title)
      return .init(
        snapshot: .make(objectID: row.objectID, version: row.version, values: values),
        changedSlots: [slot])
    }
    guard case .saved = try store.save(request) else { throw NotSaved(outcome: "conflict") }
  }

  /// Closes the store and leaves it with the sums of an earlier version, which has counted commits.
  private func leaveEarlierSums(commits: Int64, in fixture: StoreFixture) throws {
    try fixture.store.close()
    try execute(
      """
      DROP TABLE CAIRNSUMS;
      CREATE TABLE CAIRNSUM (E INTEGER, K INTEGER, S INTEGER, PRIMARY KEY (E, K)) WITHOUT ROWID;
      INSERT INTO CAIRNSUM VALUES (0, 1, \(commits));
      """, in: fixture)
  }

  // MARK: Records

  @Test(arguments: ["substr(S, 1, 12)", "NULL", "'text'", "zeroblob(5000)"])
  func aDamagedRecordIsNamedAndMendedBySavingOneOfItsRows(damage: String) throws {
    let fixture = try filled()
    let number = try fixture.entity("Project").layout.number
    try execute("UPDATE CAIRNSUMS SET S = \(damage) WHERE E = \(number)", in: fixture)
    // The rows themselves are not accused.
    let found = try fixture.store.verifyIntegrity()
    #expect(found.count == 2 && found.allSatisfy { $0.contains("sums") }, "\(found)")
    let rows = try fixture.fetch("Project", sort: "title")
    try save("new", of: [try #require(rows.first { $0.objectID.rowKey == 3 })], in: fixture.store)
    #expect(try fixture.store.verifyIntegrity().count == 1)
    var request = SaveChangesRequest()
    request.deletions = rows.filter { $0.objectID.rowKey == 35 }.map { .init(snapshot: $0) }
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try fixture.store.verifyIntegrity().isEmpty)
  }

  @Test func aDamagedRecordDoesNotHideWhatItsNeighboursTell() throws {
    let fixture = try filled(100)
    let number = try fixture.entity("Project").layout.number
    try execute(
      """
      UPDATE CAIRNSUMS SET S = NULL WHERE E = \(number) AND K IN (0, 1);
      UPDATE ZPROJECT SET ZTITLE = 'x' WHERE Z_PK = 70;
      """, in: fixture)
    let found = try fixture.store.verifyIntegrity()
    #expect(found.count == 3 && found[0].contains("/Project/p70"), "\(found)")
  }

  @Test(arguments: ["FFFFFFFFFFFFFF7F", "FFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFF7E"], [true, false])
  func aNumberThatNobodyCanHaveCountedToIsNone(bytes: String, isCommit: Bool) throws {
    let fixture = try filled()
    try fixture.store.close()
    let zeros = "0000000000000000"
    let value = isCommit ? zeros + bytes : bytes + zeros
    try execute("UPDATE CAIRNSUMS SET S = x'\(value)' WHERE E = 0", in: fixture)
    let store = try fixture.another(options: options)
    try save("new", of: try projects(of: store, fixture), in: store)
    #expect(try store.verifyIntegrity().filter { $0.contains("/Project/") }.isEmpty)
    try store.close()
  }

  @Test func anEarlierVersionsImpossibleNumberIsNone() throws {
    let fixture = try filled()
    try leaveEarlierSums(commits: .max, in: fixture)
    let store = try fixture.another(options: options)
    // What was acknowledged before is more than that.
    #expect(store.findings.count == 1)
    try save("new", of: try projects(of: store, fixture), in: store)
    #expect(try store.verifyIntegrity().filter { $0.contains("/Project/") }.isEmpty)
    try store.close()
  }

  // MARK: Harm

  @Test func anEndlessTriggerOnTheSumsEndsWithAnError() throws {
    let fixture = try filled()
    try fixture.store.close()
    try execute(
      """
      CREATE TRIGGER endless AFTER INSERT ON CAIRNSUMS BEGIN
        SELECT COUNT(*) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
          SELECT i FROM n);
      END
      """, in: fixture)
    let store = try fixture.another(options: options)
    let rows = try projects(of: store, fixture)
    #expect(throws: CoreDataError.self) { try save("new", of: rows, in: store) }
    #expect(try fixture.column("SELECT COUNT(*) FROM ZPROJECT WHERE ZTITLE = 'new'") == ["0"])
    try store.close()
  }

  @Test func columnsMayHaveAnyNames() throws {
    let fixture = try filled()
    try fixture.store.close()
    try execute("ALTER TABLE ZPROJECT ADD COLUMN \"a\"\"b\"", in: fixture)
    let store = try fixture.another(options: options)
    try save("new", of: try projects(of: store, fixture), in: store)
    #expect(try store.verifyIntegrity().isEmpty)
    try store.close()
  }

  @Test func keysAtTheEndOfWhatThereIsDoNotEndTheCheck() throws {
    let fixture = try filled()
    try execute(
      "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (\(Int64.max), 16002, 1.0)",
      in: fixture)
    let found = try StoreInspection(contentsOf: fixture.url).damage
    #expect(found.map(\.rule) == [.keyCounter], "\(found)")
    #expect(try fixture.store.verifyIntegrity().count == 1)
  }

  // MARK: Other programs

  @Test func rowsThatChangeWithOthersAreNotAccused() throws {
    let fixture = try StoreFixture(options: options)
    fixture.isDamagedOnPurpose = true
    let people = try fixture.insert((0..<3).map { _ in try fixture.row("Employee") })
    let companies = try fixture.insert([try fixture.row("Company")])
    var request = SaveChangesRequest()
    request.links = [
      .init(
        relationship: try fixture.relationship("Company", "employees"),
        owner: companies[0].objectID, order: people.map(\.objectID))
    ]
    request.updates = people.map {
      fixture.update($0, ["company": .object(companies[0].objectID)])
    }
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    // Another program changes the order: history tells of the company.
    let order = try #require(
      try fixture.column("SELECT name FROM pragma_table_info('ZEMPLOYEE')")
        .first { $0.hasPrefix("Z_FOK_") })
    let entity = try fixture.entity("Company").layout.number
    let number = try fixture.store.lastTransactionNumber() + 1
    try execute(
      """
      UPDATE ZEMPLOYEE SET \(order) = \(order) + 7;
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (\(number), 16002, 1.0);
      INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
        VALUES (1000, 16001, 1, \(entity), 1, \(number));
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(number) WHERE Z_NAME = 'TRANSACTION';
      UPDATE Z_PRIMARYKEY SET Z_MAX = 1000 WHERE Z_NAME = 'CHANGE';
      """, in: fixture)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    try fixture.insert([try fixture.row("Project")])
    #expect(try fixture.store.verifyIntegrity().isEmpty)
  }

  @Test func whatHistoryNoLongerTellsAccusesNobody() throws {
    let fixture = try filled()
    let number = try fixture.store.lastTransactionNumber() + 1
    // Another program saves, and purges history with its own transaction.
    try execute(
      """
      UPDATE ZPROJECT SET ZTITLE = 'apple', Z_OPT = Z_OPT + 1 WHERE Z_PK = 3;
      DELETE FROM ATRANSACTION;
      DELETE FROM ACHANGE;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(number) WHERE Z_NAME = 'TRANSACTION';
      """, in: fixture)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    try fixture.insert([try fixture.row("Project")])
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    try execute("UPDATE ZPROJECT SET ZTITLE = 'x' WHERE Z_PK = 3", in: fixture)
    #expect(try fixture.store.verifyIntegrity().count == 1)
  }

  @Test func storesThatAreOpenedAtOnceReplaceEarlierSumsOnce() throws {
    let fixture = try filled(3000)
    try leaveEarlierSums(commits: 1000, in: fixture)
    let stores = Mutex<[Result<SQLiteStore, any Error>]>([])
    // Two opens at once is what this is about; the fixture only says where and with which model.
    nonisolated(unsafe) let opened = fixture
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      let store = Result { try opened.another(options: [StoreOptionKey.timeout: 30.0]) }
      stores.withLock { $0.append(store) }
    }
    for store in try stores.withLock({ try $0.map { try $0.get() } }) {
      #expect(store.findings.isEmpty)
      #expect(try store.verifyIntegrity().isEmpty)
      try store.close()
    }
  }

  // MARK: Files

  /// An employee whose photo is in a file, and the file.
  private func pictured(_ options: [AnyHashable: Any]) throws -> (fixture: StoreFixture, file: URL)
  {
    let fixture = try StoreFixture(options: options)
    fixture.isDamagedOnPurpose = true
    try fixture.insert([
      try fixture.row("Employee", ["photo": .data(Data(repeating: 7, count: 200_000))])
    ])
    let folder = fixture.store.files.folder
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    return (fixture, folder.appendingPathComponent(name))
  }

  @Test func aFileThatCannotBeReadKeepsNoStoreFromHavingSums() throws {
    let (fixture, file) = try pictured([:])
    try fixture.store.close()
    try FileManager.default.removeItem(at: file)
    // The user who runs the tests may read everything, but no folder is a file.
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    let store = try fixture.another(options: options)
    #expect(try store.verifyIntegrity().contains { $0.contains("cannot be read") })
    try store.close()
  }

  @Test func sumsThatAreMadeAnewKeepThoseOfFiles() throws {
    let (fixture, file) = try pictured(options)
    let number = try fixture.store.lastTransactionNumber() + 1
    try Data(repeating: 8, count: 200_000).write(to: file)
    try execute(
      """
      DELETE FROM ATRANSACTION;
      DELETE FROM ACHANGE;
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(number) WHERE Z_NAME = 'TRANSACTION';
      """, in: fixture)
    try fixture.insert([try fixture.row("Project")])
    let found = try fixture.store.verifyIntegrity()
    #expect(found.count == 1 && found[0].contains("is not as it was saved"), "\(found)")
  }
}
