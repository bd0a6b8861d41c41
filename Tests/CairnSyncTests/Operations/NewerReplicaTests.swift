import CairnContext
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 6 and 9: what an operator sees of a replica at a newer version of the model is
/// in the names of the local store.
struct NewerReplicaTests {
  private let hub: FileHub

  init() throws { hub = try FileHub() }

  @Test func conflictsExplanationsAndRestoreUseTheNamesOfTheLocalStore() async throws {
    let new = try SyncEngineTests.Daemon(
      "new", in: hub.scratch, model: SampleModel.make(.muchNewer))
    let old = try SyncEngineTests.Daemon("old", in: hub.scratch)
    try new.site.write { context in
      _ = try new.site.insert("Item", ["key": "k", "text": "first", "extra": "e"], in: context)
    }
    for daemon in [new, old, new, old] {
      try daemon.engine.addReplica(hub.replica)
      try await daemon.engine.wait(timeout: .patience)
    }
    for daemon in [new, old] { try await daemon.engine.rest() }
    try old.site.write {
      try old.site.find("Item", "k", in: $0)?.setValue("older", forKey: "value")
    }
    try HistoryCapture(access: old.site.access).run()
    let now = old.site.access.environment.now()
    while old.site.access.environment.now() <= now + 1 {}
    try new.site.write {
      try new.site.find("Item", "k", in: $0)?.setValue("newer", forKey: "text")
    }
    // The older daemon pushes last, so that the conflict is in the hub's journal alone.
    for daemon in [new, old] {
      try daemon.engine.resume()
      try await daemon.engine.wait(timeout: .patience)
    }
    let found = try await old.engine.conflicts().conflicts
    #expect(found.map(\.conflict.property) == ["value"])
    #expect(found.first?.conflict.losingValue == .string("older"))
    let record = try old.record("Item", "k")
    let value = try #require(
      try await old.engine.explain(record, property: "value").values.first)
    #expect(value.standings.map(\.standing) == [.inStep, .inStep])
    let extra = try #require(
      try await old.engine.explain(record, property: "extra").values.first)
    #expect(extra.value == .string("e") && extra.standings.first?.standing == .keptBeside)
    try await old.engine.restore(try #require(found.first).id)
    for daemon in [old, new] { try await daemon.engine.wait(timeout: .patience) }
    let text = try new.site.write {
      try new.site.find("Item", "k", in: $0)?.value(forKey: "text") as? String
    }
    #expect(text == "older")
    try await old.close()
    try await new.close()
  }

  @Test func anIDOfWhatWaitsTakesAnyNameOfAStore() throws {
    let (a, b) = (RecordID(high: 1, low: 2), RecordID(high: 3, low: 4))
    for store in ["nas", "a/b", "ünï cödé", "x.y-z_1", "/"] {
      let record = QuarantineID(store: store, subject: .record(a))
      #expect(QuarantineID(record.description) == record)
      let key = LinkKey(relationship: "Item.tags", owner: a, member: b)
      let link = QuarantineID(store: store, subject: .link(key))
      #expect(QuarantineID(link.description) == link)
    }
  }
}
