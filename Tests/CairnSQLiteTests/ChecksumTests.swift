// Sums of rows beside other programs that know nothing of them.

import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnSQLite

/// Specification: operations.md 3.4; Cairn's own table `CAIRNSUM`.
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

  private func filled() throws -> StoreFixture {
    let fixture = try StoreFixture(options: options)
    try fixture.insert(
      (0..<10).map {
        try fixture.row("Employee", ["name": .string("e\($0)"), "age": .integer(Int64($0))])
      } + [try fixture.row("Manager", ["name": .string("boss"), "level": .integer(3)])])
    return fixture
  }

  @Test func sumsFollowEveryKindOfWrite() throws {
    let fixture = try filled()
    #expect(try fixture.column("SELECT COUNT(*) FROM CAIRNSUM WHERE E > 0") == ["11"])
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
    #expect(try fixture.column("SELECT COUNT(*) FROM CAIRNSUM WHERE E > 0") == ["10"])
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
    #expect(try plain.column("SELECT COUNT(*) FROM sqlite_master WHERE name = 'CAIRNSUM'") == ["0"])
    try plain.another(options: options).close()
    #expect(try plain.column("SELECT COUNT(*) FROM CAIRNSUM WHERE E > 0") == ["1"])
    let without = try plain.another()
    var request = SaveChangesRequest()
    request.updates = [
      plain.update(try #require(plain.fetch("Company").first), ["name": .string("d")])
    ]
    _ = try plain.receipt(without.save(request))
    #expect(try without.verifyIntegrity().isEmpty)
    try without.close()
  }
}
