import CairnContext
import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 6: a newer model gives a name that it has taken from a property to another one, while
/// daemons of both models share a replica.
struct ReusedNameTests {
  private typealias Daemon = SyncEngineTests.Daemon

  /// What has become of the attribute `value`: it is called `text`, and there may be a new `value`.
  private static func model(reusing: Bool) -> ManagedObjectModel {
    let model = SampleModel.make()
    let item = model.entitiesByName["Item"]
    let value = item?.propertiesByName["value"]
    value?.name = "text"
    value?.renamingIdentifier = "value"
    if reusing { item?.properties.append(AttributeDescription(name: "value", type: .string)) }
    return model
  }

  /// The new `value` was renamed as well, and there is another one.
  private static var modelReusingTwice: ManagedObjectModel {
    let model = Self.model(reusing: true)
    let item = model.entitiesByName["Item"]
    let value = item?.propertiesByName["value"]
    value?.name = "words"
    value?.renamingIdentifier = "value"
    item?.properties.append(AttributeDescription(name: "value", type: .string))
    return model
  }

  private func settle(_ daemons: Daemon...) async throws {
    for _ in 0..<2 { for daemon in daemons { try await daemon.engine.wait(timeout: .patience) } }
  }

  private func set(_ values: [String: String], by daemon: Daemon) throws {
    try daemon.site.write { context in
      let item = try #require(try daemon.site.find("Item", "a", in: context))
      for (name, value) in values { item.setValue(value, forKey: name) }
    }
  }

  private func value(_ name: String, _ daemon: Daemon) throws -> String? {
    try daemon.site.write { context in
      try daemon.site.find("Item", "a", in: context)?.value(forKey: name) as? String
    }
  }

  private func expect(
    _ values: [String: String], afterUpgradeOf old: Daemon, of hub: FileHub, beside new: Daemon
  ) async throws {
    try await old.close()
    let upgraded = try hub.daemon("old", model: Self.model(reusing: true))
    try await settle(upgraded, new)
    for (name, expected) in values { #expect(try value(name, upgraded) == expected, "\(name)") }
    for daemon in [upgraded, new] { try await daemon.close() }
  }

  @Test func aNewPropertyUnderAFormerNameIsAnotherOneForTheOlderDaemon() async throws {
    let hub = try FileHub()
    let old = try hub.daemon("old")
    try old.insert(["a"])
    try await settle(old)
    let new = try hub.daemon("new", model: Self.model(reusing: true))
    try await settle(new, old)
    try set(["value": "new"], by: new)
    try await settle(new, old)
    #expect(try value("value", old) == "a")
    try set(["value": "from old"], by: old)
    try await settle(old, new)
    #expect(try value("text", new) == "from old")
    #expect(try value("value", new) == "new")
    try await expect(
      ["text": "from old", "value": "new"], afterUpgradeOf: old, of: hub, beside: new)
  }

  @Test func whatIsWrittenUnderANameThatIsFreeAgainIsThereAfterTheUpgrade() async throws {
    let hub = try FileHub()
    let old = try hub.daemon("old", model: Self.model(reusing: false))
    try old.site.write { _ = try old.site.insert("Item", ["key": "a", "text": "t"], in: $0) }
    try await settle(old)
    let new = try hub.daemon("new", model: Self.model(reusing: true))
    try await settle(new, old)
    try set(["value": "new"], by: new)
    try await settle(new, old)
    #expect(try value("text", old) == "t")
    try await expect(["text": "t", "value": "new"], afterUpgradeOf: old, of: hub, beside: new)
  }

  @Test func whatWasWrittenUnderEachMeaningOfANameStaysWhereItIsGivenAwayTwice() async throws {
    let hub = try FileHub()
    var daemon = try hub.daemon("a")
    try daemon.insert(["a"])
    try await settle(daemon)
    try await daemon.close()
    daemon = try hub.daemon("a", model: Self.model(reusing: true))
    try set(["value": "second"], by: daemon)
    try await settle(daemon)
    try await daemon.close()
    daemon = try hub.daemon("a", model: Self.modelReusingTwice)
    try set(["value": "third"], by: daemon)
    try await settle(daemon)
    for (name, expected) in ["text": "a", "words": "second", "value": "third"] {
      #expect(try value(name, daemon) == expected, "\(name)")
    }
    let report = try await daemon.engine.verify(name: "hub", timeout: .patience)
    #expect(report.isEqual, "\(report.differences)")
    try await daemon.close()
  }
}
