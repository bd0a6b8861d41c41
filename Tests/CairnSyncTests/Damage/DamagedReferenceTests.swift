import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 2, "Isolation of trouble": one damaged reference delays no other record.
struct DamagedReferenceTests {
  /// A daemon with items `i0` to `i2`, each with a label of its own, and a replica `nas`.
  private func pair(in scratch: Scratch) async throws -> (SyncEngineTests.Daemon, URL) {
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.site.write { context in
      for number in 0..<3 {
        let item = try daemon.site.insert("Item", ["key": "i\(number)"], in: context)
        let tag = try daemon.site.insert("Tag", ["name": "t\(number)"], in: context)
        item.setValue(tag, forKey: "label")
      }
    }
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await daemon.engine.wait(timeout: .patience)
    return (daemon, url)
  }

  /// A program breaks a reference with SQL of its own.
  private func damage(_ url: URL, _ sql: String) async throws {
    let queue = try DatabaseQueue(patient: url.path)
    try await queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  @Test(
    arguments: [true, false],
    [
      "UPDATE ZITEM SET ZLABEL = 9999 WHERE ZKEY = 'i1'",
      "UPDATE ZTAG SET ZLABELLED = 9999 WHERE ZNAME = 't1'",
    ])
  func aDamagedOneToOneReferenceStopsNoLinkAndIsRepaired(isLocal: Bool, sql: String) async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await pair(in: scratch)
    let local = scratch.url.appendingPathComponent("local.sqlite")
    try await damage(isLocal ? local : url, sql)
    #expect(
      try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual
        == sql.contains("ZTAG SET"))
    _ = try await daemon.engine.repair(
      name: "nas", preferring: isLocal ? .replica : .local, timeout: .patience)
    try daemon.insert(["after"])
    try await daemon.engine.link("nas").completePass(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    #expect(try daemon.engine.status().replicas.first?.lastError == nil)
    try await daemon.close()
    let there = try SyncEngineTests.Daemon("nas", in: scratch)
    #expect(try there.site.picture().contains("label of i1 t1"))
    #expect(try there.site.picture().contains { $0.hasPrefix("item after") })
    try await there.close()
  }

  /// A program gives the item another label: the change comes over the damaged one.
  @Test func aWriteOverADamagedReferenceArrives() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await pair(in: scratch)
    try await damage(url, "UPDATE ZITEM SET ZLABEL = 9999 WHERE ZKEY = 'i1'")
    try daemon.site.write { context in
      let tag = try daemon.site.insert("Tag", ["name": "new"], in: context)
      try daemon.site.find("Item", "i1", in: context)?.setValue(tag, forKey: "label")
    }
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.close()
    let there = try SyncEngineTests.Daemon("nas", in: scratch)
    #expect(try there.site.picture().contains("label of i1 new"))
    try await there.close()
  }

  /// The delete takes the reference along by its rule, and there is nothing at its end.
  @Test(
    arguments: [true, false],
    [
      "UPDATE ZITEM SET ZLABEL = 9999 WHERE ZKEY = 'i1'",
      "UPDATE ZTAG SET ZLABELLED = 9999 WHERE ZNAME = 't1'",
    ])
  func aDeleteOfARowWithADamagedReferenceArrives(isLocal: Bool, sql: String) async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await pair(in: scratch)
    try await daemon.engine.rest()
    try await damage(isLocal ? scratch.url.appendingPathComponent("local.sqlite") : url, sql)
    try daemon.site.write { context in
      for (entity, key) in [("Item", "i1"), ("Tag", "t1")] {
        try daemon.site.find(entity, key, in: context).map(context.delete)
      }
    }
    try daemon.engine.resume()
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 4, "\(report)")
    try await daemon.close()
  }
}
