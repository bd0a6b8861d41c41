import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "Purge", with real files and the real clock.
struct PurgeEngineTests {
  private func bytes(_ name: String, in scratch: Scratch) -> Int {
    ["", "-wal"].reduce(0) { sum, suffix in
      let path = scratch.url.appendingPathComponent(name + ".sqlite" + suffix).path
      let facts = try? FileManager.default.attributesOfItem(atPath: path)
      return sum + ((facts?[.size] as? NSNumber)?.intValue ?? 0)
    }
  }

  /// Purges until no reader keeps a file from having its size; links read now and then.
  private func settle(_ daemon: SyncEngineTests.Daemon) async throws {
    var reports: [PurgeReport] = []
    for _ in 0..<100 {
      reports = try await daemon.engine.purge(olderThan: .zero)
      if !reports.contains(where: { $0.waitsForReaders || $0.problem != nil }) { return }
    }
    Issue.record("readers do not end: \(reports)")
  }

  /// How many updates; a full run is `CAIRN_PURGE_UPDATES=1000000`, of 1,000 records.
  private static let updates =
    ProcessInfo.processInfo.environment["CAIRN_PURGE_UPDATES"].flatMap(Int.init) ?? 20_000

  @Test func manyUpdatesOfFewRecordsLeaveFilesLikeFreshCopies() async throws {
    let records = min(1000, Self.updates / 200)
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try daemon.insert((0..<records).map { "k\($0)" })
    let rounds = Self.updates / records
    for round in 0..<rounds {
      try daemon.site.write { context in
        for item in try daemon.site.all("Item", in: context) {
          item.setValue("\(round)", forKey: "value")
        }
      }
      if round % 20 == 0 { try await daemon.engine.wait(timeout: .patience) }
    }
    try await daemon.engine.wait(timeout: .patience)
    let before = bytes("local", in: scratch)
    let reports = try await daemon.engine.purge(olderThan: .zero)
    #expect(reports.map(\.store) == ["local", "nas"])
    #expect(reports.map(\.problem) == [nil, nil])
    let report = try #require(reports.first)
    #expect(report.transactions > rounds && report.marks > 0 && report.freedBytes > 0, "\(report)")
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "fresh", url: scratch.url.appendingPathComponent("fresh.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await settle(daemon)
    let fresh = bytes("fresh", in: scratch)
    #expect(before > 3 * fresh, "\(before) bytes before, \(fresh) of a fresh copy")
    for name in ["local", "nas"] {
      #expect(
        bytes(name, in: scratch) <= 3 * fresh, "\(name): \(bytes(name, in: scratch)), \(fresh)")
    }
    try await daemon.close()
  }

  @Test func historyYoungerThanTheRetentionStaysForProgramsAndTheirTokens() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.insert(["k"])
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    let history = try #require(daemon.site.store.capabilities.history)
    let count = try history.readHistory(HistoryReadRequest()).count
    #expect(try await daemon.engine.purge().first?.transactions == 0)
    #expect(
      try await daemon.engine.purge(olderThan: .zero, isPlan: true).first?.transactions == count)
    #expect(try history.readHistory(HistoryReadRequest()).count == count && count > 0)
    try await daemon.engine.purge(olderThan: .zero)
    #expect(try history.readHistory(HistoryReadRequest()).isEmpty)
    // Nothing is taken for lost.
    try daemon.insert(["l"])
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.site.access.ledger().head.gap == .none)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 2)
    try await daemon.close()
  }

  @Test func aPurgeSaysThatReadersKeepTheFileAndTheNextOneCutsIt() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.site.write { context in
      for key in 0..<500 {
        _ = try daemon.site.insert(
          "Leaf", ["key": "l\(key)", "data": Data(repeating: 7, count: 3000)], in: context)
      }
    }
    try daemon.site.write { context in
      for leaf in try daemon.site.all("Leaf", in: context) { context.delete(leaf) }
    }
    let reader = try DatabaseQueue(patient: scratch.url.appendingPathComponent("local.sqlite").path)
    for sql in ["BEGIN", "SELECT COUNT(*) FROM ZITEM"] {
      try await reader.writeWithoutTransaction { try $0.execute(sql: sql) }
    }
    let held = try #require(try await daemon.engine.purge(olderThan: .zero).first)
    #expect(held.waitsForReaders && held.freedBytes > 0 && held.problem == nil, "\(held)")
    let before = bytes("local", in: scratch)
    try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    let done = try #require(try await daemon.engine.purge(olderThan: .zero).first)
    #expect(!done.waitsForReaders && done.problem == nil, "\(done)")
    #expect(bytes("local", in: scratch) < before)
    try reader.close()
    try await daemon.close()
  }

  @Test func aNameThatNoReplicaHasIsAnErrorAndAReplicaThatIsNotOpenHasNoReport() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.purge(names: ["local", "nas"])
    }
    #expect(error?.code == .noSuchReplica)
    let away = scratch.url.appendingPathComponent("unmounted/nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: away))
    #expect(try await daemon.engine.purge().map(\.store) == ["local"])
    try await daemon.close()
  }

  @Test func aSilentReplicaIsDeclaredExpiredLoudlyAndOnce() async throws {
    let scratch = try Scratch()
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    let events = daemon.engine.events()
    try daemon.insert(["k"])
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.engine.rest()
    // As if it had been 40 days ago.
    let ledger = try daemon.site.access.ledger()
    for (id, note) in try daemon.site.access.readers() {
      var note = note
      note.heard -= 40 * 86_400_000
      ledger.put(SyncKey.reader(id), note.encoded)
    }
    #expect(try daemon.site.access.commit(ledger))
    #expect(try daemon.engine.status().replicas.first?.expiredSince != nil)
    for _ in 0..<2 { try await daemon.engine.purge(names: ["local"]) }
    try daemon.engine.resume()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try daemon.engine.status().replicas.first?.expiredSince == nil)
    try await daemon.close()
    var expired: [String] = []
    for await event in events {
      if case .expired(_, _, let reader) = event { expired.append(reader) }
    }
    #expect(expired == ["nas"])
  }
}
