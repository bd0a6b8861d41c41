import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 4, "Delete rules", where a model with another rule reaches one daemon after the other.
struct DeleteRuleChangeTests {
  private func model(_ rule: DeleteRule) -> ManagedObjectModel {
    let model = SampleModel.make()
    model.entitiesByName["Item"]?.relationshipsByName["parts"]?.deleteRule = rule
    return model
  }

  /// One deletes an item to which the other, which has another rule, adds a part.
  @Test(arguments: [DeleteRule.cascade, .deny], [true, false])
  func storesAreEqualOnceAllHaveTheSameRule(_ rule: DeleteRule, isNewRuleKept: Bool) async throws {
    let scratch = try Scratch()
    let nas = ReplicaConfiguration(
      name: "nas", url: scratch.url.appendingPathComponent("nas.sqlite"))
    func open(_ name: String, _ rule: DeleteRule) async throws -> SyncEngineTests.Daemon {
      let daemon = try SyncEngineTests.Daemon(name, in: scratch, model: model(rule))
      try daemon.engine.addReplica(nas)
      return daemon
    }
    var old = try await open("old", .nullify)
    try old.site.write { _ = try old.site.insert("Item", ["key": "i"], in: $0) }
    try await old.engine.wait(timeout: .patience)
    var new = try await open("new", rule)
    try await new.engine.wait(timeout: .patience)
    for daemon in [old, new] { try daemon.engine.pause() }
    try old.site.write { context in
      let part = try old.site.insert("Part", ["key": "p"], in: context)
      part.setValue(try old.site.find("Item", "i", in: context), forKey: "item")
    }
    try new.site.delete("i")
    for daemon in [old, new, old, new] {
      try daemon.engine.resume()
      try await daemon.engine.completeForTests("nas")
    }

    if isNewRuleKept {
      try await old.close()
      old = try await open("old", rule)
    } else {
      try await new.close()
      new = try await open("new", .nullify)
    }
    for daemon in [old, new, old, new] { try await daemon.engine.completeForTests("nas") }
    let picture = try old.site.picture()
    #expect(try new.site.picture() == picture)
    let expected =
      !isNewRuleKept ? ["part p of - at -1"] : rule == .cascade ? [] : ["part p of i at 0"]
    #expect(picture.filter { $0.hasPrefix("part") } == expected)
    for daemon in [old, new] {
      // A delete that is denied waits.
      if isNewRuleKept, rule == .deny {
        let waiting = try await daemon.engine.quarantine().items
        #expect(!waiting.isEmpty)
      } else {
        try await daemon.engine.wait(timeout: .patience)
        let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
        #expect(report.isEqual, "\(report)")
      }
      try await daemon.close()
    }
  }
}
