import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Specification: sync.md 4: transient properties do not travel; derived attributes are recomputed, never sent.
struct ComputedAttributeTests {
  /// - Parameter isDerived: Whether `folded` is; else programs write it.
  private static func model(isDerived: Bool = true) -> ManagedObjectModel {
    let note = EntityDescription(name: "Note")
    let derived = DerivedAttributeDescription()
    derived.name = "folded"
    derived.attributeType = .string
    derived.derivationExpression = ObjectExpression(format: "canonical:(title)")
    let folded = isDerived ? derived : AttributeDescription(name: "folded", type: .string)
    let passing = AttributeDescription(name: "passing", type: .string)
    passing.isTransient = true
    note.properties = [
      AttributeDescription(name: "key", type: .string),
      AttributeDescription(name: "title", type: .string), folded, passing,
    ]
    let model = ManagedObjectModel()
    model.entities = [note]
    return model
  }

  private func value(_ name: String, _ daemon: SyncEngineTests.Daemon) throws -> String? {
    try daemon.site.write {
      try daemon.site.find("Note", "k", in: $0)?.value(forKey: name) as? String
    }
  }

  @Test func derivedAttributesAreComputedWhereTheyAreAndTransientOnesStay() async throws {
    let scratch = try Scratch()
    let hub = FileHub.replica(in: scratch)
    let (a, b) = (
      try SyncEngineTests.Daemon("a", in: scratch, model: Self.model()),
      try SyncEngineTests.Daemon("b", in: scratch, model: Self.model())
    )
    for title in ["Crème", "Éclair"] {
      try a.site.write { context in
        let note =
          try a.site.find("Note", "k", in: context)
          ?? a.site.insert("Note", ["key": "k"], in: context)
        note.setValue(title, forKey: "title")
        note.setValue("only here", forKey: "passing")
      }
      for daemon in [a, b] {
        if try daemon.engine.status().replicas.isEmpty { try daemon.engine.addReplica(hub) }
        try await daemon.engine.wait(timeout: .patience)
      }
      let folded = title == "Crème" ? "creme" : "eclair"
      #expect(try value("title", b) == title && value("folded", b) == folded)
      #expect(try value("passing", b) == nil)
      let id = try a.record("Note", "k")
      for daemon in [a, b] {
        let exporter = ChangeExporter(
          access: daemon.site.access, destination: StoreID(high: 9, low: 9))
        let sent = try #require(try exporter.states(of: [id]).records.first)
        #expect(Set(sent.registers.names) == ["key", "title"])
      }
      #expect(try await b.engine.verify(name: "hub", timeout: .patience).isEqual)
    }
    try await a.close()
    try await b.close()
  }

  /// Specification: sync.md 6: what an older version derives itself it keeps beside the row, and shows when it is
  /// upgraded.
  @Test func whatIsNoLongerDerivedIsAsItWasWrittenInAStoreThatIsUpgradedLater() async throws {
    let scratch = try Scratch()
    let hub = FileHub.replica(in: scratch)
    func daemon(_ name: String, isDerived: Bool) async throws -> SyncEngineTests.Daemon {
      let daemon = try SyncEngineTests.Daemon(
        name, in: scratch, model: Self.model(isDerived: isDerived))
      try daemon.engine.addReplica(hub)
      try await daemon.engine.wait(timeout: .patience)
      return daemon
    }
    let former = try await daemon("a", isDerived: true)
    try former.site.write {
      _ = try former.site.insert("Note", ["key": "k", "title": "Crème"], in: $0)
    }
    try await former.engine.wait(timeout: .patience)
    let old = try await daemon("b", isDerived: true)
    try await former.close()
    let new = try await daemon("a", isDerived: false)
    try new.site.write {
      try new.site.find("Note", "k", in: $0)?.setValue("custom", forKey: "folded")
    }
    try await new.engine.wait(timeout: .patience)
    try await old.engine.wait(timeout: .patience)
    #expect(try value("folded", old) == "creme")
    try await old.close()
    let upgraded = try await daemon("b", isDerived: false)
    for daemon in [new, upgraded] {
      try await daemon.engine.wait(timeout: .patience)
      #expect(try value("folded", daemon) == "custom")
      #expect(try await daemon.engine.verify(name: "hub", timeout: .patience).isEqual)
    }
    try await new.close()
    try await upgraded.close()
  }
}
