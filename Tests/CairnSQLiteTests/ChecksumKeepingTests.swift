// How sums are kept up to date: what a store may remember between commits, and their records.

import CairnModel
import CairnPlatform
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSQLite

/// Specification: operations.md 3.4; Cairn's own table `CAIRNSUMS`.
@Suite struct ChecksumKeepingTests {
  private let options: [AnyHashable: Any] = [StoreOptionKey.rowChecksums: true]

  private func execute(_ sql: String, in fixture: StoreFixture) throws {
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be written") {
      try $0.execute(sql)
    }
  }

  private func progress(_ store: SQLiteStore) throws -> SumProgress {
    try store.readConsistently {
      try ChecksumTable([], $0.connection, files: store.files).progress()
    }
  }

  /// The keys of an entity that have sums.
  private func keys(_ fixture: StoreFixture, _ entity: String) throws -> [Int64] {
    let number = Int64(try fixture.entity(entity).layout.number)
    return try fixture.store.readConsistently { lookup in
      var sums = try StoredSums(of: number, lookup.connection)
      defer { sums.end() }
      var keys: [Int64] = []
      while let (key, _) = try sums.nextSum() { keys.append(key) }
      return keys
    }
  }

  /// New rows with IDs that were reserved before, so that nothing but saves counts.
  private func projects(_ count: Int, _ fixture: StoreFixture) throws -> [RowSnapshot] {
    let entity = try fixture.entity("Project")
    return try fixture.store.obtainPermanentIDs(for: Array(repeating: entity, count: count)).map {
      try fixture.row("Project", ["title": .string("t")], id: $0)
    }
  }

  // MARK: Records

  @Test func sumsFollowAnyMixtureOfRows() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var numbers = SeededNumbers(seed: seed)
    let fixture = try StoreFixture(options: options)
    for round in 0..<25 {
      let stored = try fixture.fetch("Project")
      var request = SaveChangesRequest()
      request.insertions = try projects(Int.random(in: 0...90, using: &numbers), fixture).map {
        .init(snapshot: $0)
      }
      // Some that lie apart, some in a row.
      let odds = Int.random(in: 2...12, using: &numbers)
      let from = Int.random(in: 0...max(stored.count, 1), using: &numbers)
      let many = from..<from + Int.random(in: 0...80, using: &numbers)
      let keepsRun = Bool.random(using: &numbers)
      for (place, row) in stored.enumerated() {
        if many.contains(place) ? !keepsRun : Int.random(in: 0..<20, using: &numbers) == 0 {
          request.deletions.append(.init(snapshot: row))
        } else if many.contains(place) || Int.random(in: 0..<odds, using: &numbers) == 0 {
          request.updates.append(fixture.update(row, ["title": .string("round \(round)")]))
        }
      }
      _ = try fixture.receipt(fixture.store.save(request))
      let present = try fixture.column("SELECT Z_PK FROM ZPROJECT ORDER BY Z_PK")
      #expect(try keys(fixture, "Project").map { "\($0)" } == present, "seed \(seed), \(round)")
      let findings = try fixture.store.verifyIntegrity()
      #expect(findings.isEmpty, "seed \(seed), round \(round): \(findings)")
    }
  }

  @Test func deletingAllRowsLeavesNoRecords() throws {
    let fixture = try StoreFixture(options: options)
    try fixture.insert(projects(100, fixture))
    var request = SaveChangesRequest()
    request.deletions = try fixture.fetch("Project").map { .init(snapshot: $0) }
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try fixture.column("SELECT COUNT(*) FROM CAIRNSUMS WHERE E <> 0") == ["0"])
  }

  @Test func sumsOfNegativeAndGreatKeysAreKept() throws {
    let fixture = try StoreFixture(options: options)
    fixture.isDamagedOnPurpose = true
    let keys: [Int64] = [.min, -33, -32, -1, 0, 31, 32, .max]
    let schema = try fixture.store.schema
    let number = try fixture.entity("Project").layout.number
    let found = try fixture.store.database.writeWithoutTransaction { database -> [Int64] in
      let connection = SQLiteConnection(database: database)
      for key in keys {
        try connection.execute(
          "INSERT INTO ZPROJECT (Z_PK, Z_ENT, Z_OPT) VALUES (\(key), \(number), 1)")
      }
      let tables = try ChecksumTable.tables(of: schema, connection)
      let project = try #require(tables.first { $0.name == "ZPROJECT" })
      let sums = ChecksumTable(tables, connection, files: fixture.store.files)
      try sums.sum(KeyRuns(keys), of: project, hasDeletions: true)
      try connection.execute("DELETE FROM ZPROJECT WHERE Z_PK IN (-33, 31)")
      try sums.sum(KeyRuns(merging: [-33 ... -33, 31...31]), of: project, hasDeletions: true)
      var stored = try StoredSums(of: project.number, connection)
      defer { stored.end() }
      var found: [Int64] = []
      while let (key, _) = try stored.nextSum() { found.append(key) }
      return found
    }
    #expect(found == keys.filter { $0 != -33 && $0 != 31 })
  }

  @Test func sumsOfFilesGoWithTheFiles() throws {
    let fixture = try StoreFixture(options: options)
    func count() throws -> String {
      try fixture.column("SELECT COUNT(*) FROM CAIRNSUMS WHERE E = -1")[0]
    }
    func photo(_ byte: UInt8) -> [String: AttributeValue] {
      ["photo": .data(Data(repeating: byte, count: 200_000))]
    }
    try fixture.insert(try (1...3).map { try fixture.row("Employee", photo($0)) })
    #expect(try count() == "3")
    var request = SaveChangesRequest()
    let rows = try fixture.fetch("Employee")
    request.updates = [fixture.update(rows[0], photo(9))]
    request.deletions = [.init(snapshot: rows[1])]
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try count() == "2")
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    _ = try fixture.store.executeBatch(
      .delete(StoreFetchRequest(entity: try fixture.entity("Employee"))), author: nil,
      contextName: nil)
    #expect(try count() == "0")
  }

  // MARK: Between commits

  @Test(arguments: ["WAL", "DELETE"])
  func storesThatWriteInTurnsCountTheirCommitsTogether(journal: String) throws {
    var options = options
    options[StoreOptionKey.sqlitePragmas] = ["journal_mode": journal]
    let fixture = try StoreFixture(options: options)
    let other = try fixture.another(options: options)
    let rows = try projects(60, fixture)
    let before = try progress(other).commits
    for place in 0..<6 {
      var request = SaveChangesRequest()
      // Rows of both in one record.
      request.insertions = rows[place * 10..<place * 10 + 10].map { .init(snapshot: $0) }
      let store = place % 3 == 1 ? other : fixture.store
      _ = try fixture.receipt(store.save(request))
    }
    #expect(try progress(other).commits == before + 6)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    #expect(try keys(fixture, "Project").count == 60)
    try other.close()
  }

  /// Another program's transaction between two saves of ours, whose sums we have not looked at.
  @Test(arguments: ["WAL", "DELETE"])
  func anotherProgramsTransactionIsTakenOverBetweenTwoSaves(journal: String) throws {
    let fixture = try StoreFixture(options: [
      StoreOptionKey.rowChecksums: true, StoreOptionKey.historyTracking: true,
      StoreOptionKey.sqlitePragmas: ["journal_mode": journal],
    ])
    let rows = try projects(3, fixture)
    try fixture.insert([rows[0]])
    try fixture.insert([rows[1]])
    let number = try fixture.store.lastTransactionNumber() + 1
    let change = try fixture.column("SELECT MAX(Z_PK) + 1 FROM ACHANGE")[0]
    let entity = try fixture.entity("Project").layout.number
    try execute(
      """
      UPDATE ZPROJECT SET ZTITLE = 'apple', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1;
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (\(number), 16002, 1.0);
      INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
        VALUES (\(change), 16001, 1, \(entity), 1, \(number));
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(number) WHERE Z_NAME = 'TRANSACTION';
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(change) WHERE Z_NAME = 'CHANGE';
      """, in: fixture)
    try fixture.insert([rows[2]])
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    #expect(try progress(fixture.store).transaction == number + 1)
  }

  @Test func reservedIDsAreNoCommitsToMiss() throws {
    let fixture = try StoreFixture(options: options)
    let rows = try projects(2, fixture)
    let before = try progress(fixture.store).commits
    _ = try projects(3, fixture)
    #expect(try progress(fixture.store).commits == before)
    try fixture.insert([rows[0]])
    #expect(try progress(fixture.store).commits == before + 1)
    _ = try projects(3, fixture)
    try fixture.insert([rows[1]])
    #expect(try progress(fixture.store).commits == before + 2)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
  }

  @Test func aSaveThatCameToNothingLeavesNoTrace() throws {
    let fixture = try StoreFixture(options: options)
    let stored = try fixture.insert(projects(40, fixture))
    let before = try progress(fixture.store)
    var stale = SaveChangesRequest()
    stale.updates = [
      fixture.update(stored[0], ["title": .string("first")]),
      fixture.update(
        .make(objectID: stored[1].objectID, version: 7, values: stored[1].values),
        ["title": .string("second")]),
    ]
    guard case .conflicts = try fixture.store.save(stale) else {
      Issue.record("The save did not conflict.")
      return
    }
    #expect(try progress(fixture.store) == before)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    var request = SaveChangesRequest()
    request.updates = [fixture.update(stored[2], ["title": .string("third")])]
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try progress(fixture.store).commits == before.commits + 1)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
  }

  @Test func theLastCommitIsNotedOutsideTheLog() throws {
    let fixture = try StoreFixture(options: options)
    for row in try projects(3, fixture) { try fixture.insert([row]) }
    let noted = AcknowledgedCommits(
      store: fixture.url.path, identifier: fixture.store.identifier ?? "")
    #expect(try noted.read() == progress(fixture.store).commits)
    #expect(AcknowledgedCommits(store: fixture.url.path, identifier: "another").read() == 0)
  }

  /// Whatever a process lets others do with the files that it makes.
  @Test func theNoteIsForThoseWhoMayWriteTheStore() throws {
    let fixture = try StoreFixture(options: options)
    try fixture.insert(projects(1, fixture))
    let files = FileManager.default
    let note = AcknowledgedCommits.path(besides: fixture.url.path)
    for mode in [0o600, 0o640, 0o664] {
      try files.removeItem(atPath: note)
      try files.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.url.path)
      AcknowledgedCommits(store: fixture.url.path, identifier: "any").write(1)
      let made = try files.attributesOfItem(atPath: note)[.posixPermissions] as? Int
      #expect(made == mode)
    }
  }

  @Test(.enabled(if: HostIdentity.effectiveUser == 0, "only root may give files away"))
  func theNoteThatRootMakesIsTheStoresOwners() throws {
    let fixture = try StoreFixture(options: options)
    try fixture.insert(projects(1, fixture))
    let files = FileManager.default
    let note = AcknowledgedCommits.path(besides: fixture.url.path)
    try files.removeItem(atPath: note)
    try files.setAttributes(
      [.ownerAccountID: 65534, .groupOwnerAccountID: 65533], ofItemAtPath: fixture.url.path)
    AcknowledgedCommits(store: fixture.url.path, identifier: "any").write(1)
    let made = try files.attributesOfItem(atPath: note)
    #expect(made[.ownerAccountID] as? Int == 65534 && made[.groupOwnerAccountID] as? Int == 65533)
  }

  /// A link that somebody put there leads a root daemon to no file of others.
  @Test func theNoteIsNotMadeThroughASymbolicLink() throws {
    let fixture = try StoreFixture(options: options)
    try fixture.insert(projects(1, fixture))
    let note = AcknowledgedCommits.path(besides: fixture.url.path)
    let elsewhere = fixture.url.path + ".elsewhere"
    try FileManager.default.removeItem(atPath: note)
    try FileManager.default.createSymbolicLink(atPath: note, withDestinationPath: elsewhere)
    AcknowledgedCommits(store: fixture.url.path, identifier: "any").write(1)
    #expect(!FileManager.default.fileExists(atPath: elsewhere))
  }
}
