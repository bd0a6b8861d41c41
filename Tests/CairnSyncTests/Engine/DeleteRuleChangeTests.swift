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

  struct Course: Sendable {
    /// What the new model has instead of `nullify`.
    let rule: DeleteRule
    let isNewRuleKept: Bool
    /// Whether the daemon with the new model deletes.
    let newDeletes: Bool

    static let all = [DeleteRule.cascade, .deny].flatMap { rule in
      [true, false].flatMap { isKept in
        [true, false].map { Self(rule: rule, isNewRuleKept: isKept, newDeletes: $0) }
      }
    }
  }

  /// One deletes an item to which the other, which has another rule, adds a part.
  @Test(arguments: Course.all)
  func storesAreEqualOnceAllHaveTheSameRule(_ course: Course) async throws {
    let (rule, isNewRuleKept) = (course.rule, course.isNewRuleKept)
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
    let (deleter, writer) = course.newDeletes ? (new, old) : (old, new)
    try writer.site.write { context in
      let part = try writer.site.insert("Part", ["key": "p"], in: context)
      part.setValue(try writer.site.find("Item", "i", in: context), forKey: "item")
    }
    try deleter.site.delete("i")
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
