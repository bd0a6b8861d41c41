import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "It covers what is in the tables": of what entity a row is, too.
struct EntityRepairTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon

  init() async throws {
    scratch = try Scratch()
    daemon = try SyncEngineTests.Daemon("local", in: scratch, model: SubentityModel.make())
    try daemon.site.write { [daemon] context in
      _ = try daemon.site.insert("Node", ["key": "a", "note": "node"], in: context)
      _ = try daemon.site.insert(
        "Leaf", ["key": "b", "note": "leaf", "shape": "oval"], in: context)
    }
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
  }

  /// As a program with SQL of its own writes, past history.
  private func exchangeEntity(ofRow key: String, in name: String) async throws {
    try await scratch.sql(
      name,
      """
      UPDATE ZNODE SET Z_ENT = (SELECT Z_ENT FROM ZNODE WHERE ZKEY <> '\(key)') \
      WHERE ZKEY = '\(key)'
      """)
  }

  private func entities(_ name: String) async throws -> Int {
    let file = try DatabaseQueue(patient: scratch.url.appendingPathComponent(name + ".sqlite").path)
    defer { try? file.close() }
    return try await file.read {
      try Int.fetchOne($0, sql: "SELECT count(DISTINCT Z_ENT) FROM ZNODE") ?? 0
    }
  }

  @Test(arguments: ["a", "b"], ["local", "nas"])
  func aRowOfAnotherEntityIsADifferenceAndRepairGivesItBackItsOwn(
    key: String, store: String
  ) async throws {
    let id = try daemon.record("Node", key)
    try await exchangeEntity(ofRow: key, in: store)
    #expect(try await entities(store) == 1)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.map(\.kind) == [.entity])
    #expect(report.differences.map(\.record) == [id])
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .recordsHeld)
    let repaired = try await daemon.engine.repair(
      name: "nas", preferring: store == "nas" ? .local : .replica, timeout: .patience)
    #expect(repaired.actions.map(\.kind) == [.written])
    #expect(repaired.remaining.isEmpty, "\(repaired.remaining)")
    #expect(try await entities(store) == 2)
    try await daemon.engine.wait(timeout: .patience)
    await daemon.engine.stop()
  }
}
