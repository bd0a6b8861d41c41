// Sums of rows beside other programs that know nothing of them.

import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import GRDB
import Testing

@testable import CairnSQLite

/// Specification: operations.md 3.4; Cairn's own table `CAIRNSUMS`.
@Suite struct ChecksumTests {
  private let options: [AnyHashable: Any] = [
    StoreOptionKey.rowChecksums: true, StoreOptionKey.historyTracking: true,
  ]

  /// Runs SQL as another program would.
  private func execute(_ sql: String, in fixture: StoreFixture) throws {
    try StoreFileAccess.write(fixture.url, options: StoreOptions(), doing: "be written") {
      try $0.execute(sql)
    }
  }

  /// How many rows have a sum, of entities or of links.
  private func sums(_ fixture: StoreFixture, ofLinks: Bool = false) throws -> Int {
    try fixture.store.readConsistently { lookup in
      let tables = try ChecksumTable.tables(of: lookup.schema, lookup.connection)
      return try tables.filter { ($0.root == nil) == ofLinks }.reduce(into: 0) { count, table in
        var sums = try StoredSums(of: table.number, lookup.connection)
        defer { sums.end() }
        while try sums.nextSum() != nil { count += 1 }
      }
    }
  }

  private func filled() throws -> StoreFixture {
    let fixture = try StoreFixture(options: options)
    try fixture.insert(
      (0..<10).map {
        try fixture.row("Employee", ["name": .string("e\($0)"), "age": .integer(Int64($0))])
      } + [try fixture.row("Manager", ["name": .string("boss"), "level": .integer(3)])])
    return fixture
  }

  @Test func aRowThatIsGoneIsNamedUntilItIsTakenForDeleted() throws {
    let fixture = try filled()
    let rows = try fixture.fetch("Employee")
    let store = fixture.store
    let number = { (index: Int) -> Int64 in
      guard case .row(let key) = rows[index].objectID.key else { return 0 }
      return key
    }
    try execute(
      "DELETE FROM ZEMPLOYEE WHERE Z_PK IN (\(number(2)), \(number(5))); "
        + "UPDATE ZEMPLOYEE SET ZAGE = ZAGE + 90 WHERE Z_PK = \(number(3))", in: fixture)
    #expect(try Set(store.lostRows().map(\.key)) == [rows[2].objectID.key, rows[5].objectID.key])
    // Of one that is there, nothing is accepted.
    try store.acceptLostRows(of: [rows[2].objectID, rows[3].objectID])
    #expect(try store.lostRows().map(\.key) == [rows[5].objectID.key])
    #expect(try store.verifyIntegrity().count == 2)
    try store.acceptLostRows(of: nil)
    #expect(try store.lostRows().isEmpty)
    let left = try store.verifyIntegrity()
    #expect(left.count == 1 && left[0].contains("is not stored as it was saved"), "\(left)")
    #expect(try sums(fixture) == 9)
    // Of one that is gone, nothing is accepted.
    try execute("DELETE FROM ZEMPLOYEE WHERE Z_PK = \(number(7))", in: fixture)
    try store.acceptChangedRows(of: [rows[3].objectID, rows[7].objectID])
    #expect(try store.changedRows().isEmpty)
    #expect(try store.lostRows().map(\.key) == [rows[7].objectID.key])
    try store.acceptLostRows(of: nil)
    #expect(try store.verifyIntegrity().isEmpty)
  }

  @Test func sumsFollowEveryKindOfWrite() throws {
    let fixture = try filled()
    #expect(try sums(fixture) == 11)
    let rows = try fixture.fetch("Employee")
    var request = SaveChangesRequest()
    request.updates = [fixture.update(rows[0], ["name": .string("new")])]
    request.deletions = [.init(snapshot: rows[1])]
    request.links = [
      .init(
        relationship: try fixture.relationship("Employee", "reports"), owner: rows[2].objectID,
        added: [rows[3].objectID])
    ]
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    let employee = try fixture.entity("Employee")
    _ = try fixture.store.executeBatch(
      .update(
        entity: employee, includesSubentities: true, predicate: ObjectPredicate(format: "age > 4"),
        values: ["age": ObjectExpression(forConstantValue: 40)]), author: nil, contextName: nil)
    _ = try fixture.store.executeBatch(
      .delete(
        StoreFetchRequest(entity: employee, predicate: ObjectPredicate(format: "name == 'e9'"))),
      author: nil, contextName: nil)
    _ = try fixture.store.executeBatch(
      .insert(entity: employee, rows: [["name": .string("batch")]]), author: nil, contextName: nil)
    _ = try fixture.store.purgeHistory(before: nil, date: .distantFuture)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    #expect(try sums(fixture) == 10)
  }

  @Test func aRowThatChangedWithoutATraceIsNamed() throws {
    let fixture = try filled()
    fixture.isDamagedOnPurpose = true
    try execute("UPDATE ZEMPLOYEE SET ZNAME = 'x' WHERE Z_PK = 4", in: fixture)
    let changed = try fixture.store.verifyIntegrity()
    #expect(changed.count == 1 && changed[0].contains("/Employee/p4"), "\(changed)")
    try execute("DELETE FROM ZEMPLOYEE WHERE Z_PK = 5", in: fixture)
    #expect(try fixture.store.verifyIntegrity().contains { $0.contains("/Employee/p5") })
  }

  @Test func whatAnotherProgramSavedWithHistoryIsTakenOver() throws {
    let fixture = try filled()
    fixture.isDamagedOnPurpose = true
    let number = try fixture.store.lastTransactionNumber() + 1
    let change = try fixture.column("SELECT MAX(Z_PK) + 1 FROM ACHANGE")[0]
    let entity = try fixture.entity("Manager").layout.number
    // As Apple's framework does it: rows, history, counters.
    try execute(
      """
      UPDATE ZEMPLOYEE SET ZNAME = 'apple', Z_OPT = Z_OPT + 1 WHERE Z_PK = 11;
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (\(number), 16002, 1.0);
      INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID)
        VALUES (\(change), 16001, 1, \(entity), 11, \(number));
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(number) WHERE Z_NAME = 'TRANSACTION';
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(change) WHERE Z_NAME = 'CHANGE';
      """, in: fixture)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    try fixture.insert([try fixture.row("Employee", ["name": .string("after")])])
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    // From here on it is as good as saved by us.
    try execute("UPDATE ZEMPLOYEE SET ZNAME = 'y' WHERE Z_PK = 11", in: fixture)
    #expect(try fixture.store.verifyIntegrity().count == 1)
  }

  @Test func sumsAreMadeForAStoreThatHasNoneAndKeptWithoutTheOption() throws {
    let plain = try StoreFixture()
    try plain.insert([try plain.row("Company", ["name": .string("c")])])
    #expect(
      try plain.column("SELECT COUNT(*) FROM sqlite_master WHERE name = 'CAIRNSUMS'") == ["0"])
    try plain.another(options: options).close()
    #expect(try sums(plain) == 1)
    let without = try plain.another()
    var request = SaveChangesRequest()
    request.updates = [
      plain.update(try #require(plain.fetch("Company").first), ["name": .string("d")])
    ]
    _ = try plain.receipt(without.save(request))
    #expect(try without.verifyIntegrity().isEmpty)
    try without.close()
  }

  // MARK: Links

  /// Employees 1 to 3 are members of project 1, 4 and 5 of project 2.
  private func linked() throws -> (fixture: StoreFixture, table: String) {
    let fixture = try filled()
    try fixture.insert((0..<2).map { _ in try fixture.row("Project") })
    var request = SaveChangesRequest()
    let (people, projects) = (try fixture.fetch("Employee"), try fixture.fetch("Project"))
    request.links = try [(0, 0..<3), (1, 3..<5)].map { project, members in
      .init(
        relationship: try fixture.relationship("Project", "members"),
        owner: projects[project].objectID, added: people[members].map(\.objectID))
    }
    _ = try fixture.receipt(fixture.store.save(request))
    let schema = try fixture.store.schema
    let project = schema.entity(try fixture.entity("Project"))
    return (fixture, try #require(schema.joinColumns(of: project).first?.table))
  }

  @Test func aLinkThatChangedWithoutATraceIsNamed() throws {
    let (fixture, table) = try linked()
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    #expect(try sums(fixture, ofLinks: true) == 5)
    let schema = try fixture.store.schema
    let employee = schema.entity(try fixture.entity("Employee"))
    let member = try #require(
      schema.joinColumns(of: employee).first { $0.table == table }?.column)
    fixture.isDamagedOnPurpose = true
    // Another employee, who is there as well: the format has nothing against it.
    try execute("UPDATE \(table) SET \(member) = 9 WHERE \(member) = 2", in: fixture)
    let changed = try fixture.store.verifyIntegrity()
    #expect(changed.count == 1, "\(changed)")
    #expect(changed.first?.contains("/Employee/p9") == true, "\(changed)")
    #expect(changed.first?.contains("/Project/p1") == true, "\(changed)")
    try execute("DELETE FROM \(table) WHERE \(member) = 9", in: fixture)
    let lost = try fixture.store.verifyIntegrity()
    #expect(lost.count == 1 && lost[0].contains("not stored any more: 1"), "\(lost)")
  }

  @Test func sumsOfLinksFollowSavesDeletionsAndVacuum() throws {
    let (fixture, _) = try linked()
    let (people, projects) = (try fixture.fetch("Employee"), try fixture.fetch("Project"))
    var request = SaveChangesRequest()
    request.links = [
      .init(
        relationship: try fixture.relationship("Project", "members"),
        owner: projects[0].objectID, added: [people[7].objectID], removed: [people[0].objectID])
    ]
    _ = try fixture.receipt(fixture.store.save(request))
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    _ = try fixture.store.executeBatch(
      .delete(
        StoreFetchRequest(
          entity: try fixture.entity("Employee"), predicate: ObjectPredicate(format: "name == 'e1'")
        )
      ), author: nil, contextName: nil)
    #expect(try fixture.store.verifyIntegrity().isEmpty)
    #expect(try sums(fixture, ofLinks: true) == 4)
    // Another program closes the gaps; a table with an index keeps the numbers of its rows.
    try execute("INSERT INTO Z_METADATA (Z_VERSION) VALUES (9)", in: fixture)
    try execute("DELETE FROM Z_METADATA WHERE Z_VERSION = 9", in: fixture)
    try fixture.store.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    #expect(try fixture.store.verifyIntegrity().isEmpty)
  }

  @Test func aFileWithTheSumsOfAnEarlierVersionGetsThemAnewAndCountsOn() throws {
    let (fixture, table) = try linked()
    try fixture.store.close()
    // One record for each row, and where the commits were counted.
    try execute(
      """
      DROP TABLE CAIRNSUMS;
      CREATE TABLE CAIRNSUM (E INTEGER, K INTEGER, S INTEGER, PRIMARY KEY (E, K)) WITHOUT ROWID;
      INSERT INTO CAIRNSUM VALUES (0, 0, 3), (0, 1, 1000), (0, 2, 1), (1, 1, 17);
      """, in: fixture)
    let store = try fixture.another()
    #expect(store.findings.isEmpty)
    #expect(try store.verifyIntegrity().isEmpty)
    #expect(
      try fixture.column("SELECT name FROM sqlite_master WHERE name LIKE 'CAIRNSUM%'")
        == ["CAIRNSUMS"])
    let progress = try store.readConsistently {
      try ChecksumTable([], $0.connection, files: store.files).progress()
    }
    #expect(progress.commits == 1000)
    fixture.isDamagedOnPurpose = true
    try execute("DELETE FROM \(table)", in: fixture)
    #expect(try store.verifyIntegrity().count == 1)
    try store.close()
  }
}
