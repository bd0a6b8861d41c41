import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 2.5, 6: what a store has kept for a newer version of its model is shown with that version;
/// where its rules refuse that, it waits by itself like what comes in.
struct RefusedUpgradeTests {
  private let hub: FileHub

  init() throws { hub = try FileHub() }

  private func daemon(
    _ name: String, _ version: SampleModel.Version
  ) throws -> SyncEngineTests.Daemon {
    try hub.daemon(name, model: SampleModel.make(version))
  }

  private func titles(_ daemon: SyncEngineTests.Daemon) throws -> [String] {
    try daemon.site.write { context in
      let request = FetchRequest<ManagedObject>(entityName: "Fresh")
      request.affectedStores = [daemon.site.store]
      return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
        .sorted()
    }
  }

  @Test func whatANewerModelShowsWaitsWhereItIsRefusedAndHoldsUpNothing() async throws {
    let new = try daemon("new", .muchNewer)
    try new.site.write { context in
      for key in ["bad", "good"] {
        let item = try new.site.insert("Item", ["key": key, "text": key], in: context)
        _ = try new.site.insert("Fresh", ["title": "of \(key)", "item": item], in: context)
      }
    }
    try await new.engine.wait(timeout: .patience)
    let old = try daemon("old", .current)
    try await old.engine.wait(timeout: .patience)
    try await old.close()
    try LaxProgram.exceed("bad", in: hub.scratch.fileURL("old.sqlite"))
    let upgraded = try daemon("old", .muchNewer)
    let error = await #expect(throws: SyncError.self) {
      try await upgraded.engine.wait(timeout: .patience)
    }
    // The value in the hub, and the record that would show beside it here.
    #expect(error?.code == .recordsHeld, "\(error?.message ?? "")")
    #expect(try titles(upgraded) == ["of good"])
    let waiting = try await upgraded.engine.quarantine(in: ["local"]).items
    #expect(waiting.map(\.entity) == ["Fresh"])
    try new.site.write { _ = try new.site.insert("Item", ["key": "later"], in: $0) }
    // The hub holds the value for both.
    for daemon in [new, upgraded] {
      _ = await #expect(throws: SyncError.self) {
        try await daemon.engine.wait(timeout: .patience)
      }
    }
    #expect(try upgraded.item("later", "key") == "later")
    try upgraded.site.write { context in
      try upgraded.site.find("Item", "bad", in: context)?.setValue("short", forKey: "text")
    }
    try await upgraded.engine.wait(timeout: .patience)
    #expect(try titles(upgraded) == ["of bad", "of good"])
    #expect(try await upgraded.engine.verify(name: "hub", timeout: .patience).isEqual)
    for daemon in [upgraded, new] { try await daemon.close() }
  }
}
