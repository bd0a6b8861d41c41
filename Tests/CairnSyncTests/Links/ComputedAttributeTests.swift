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
  private static func model() -> ManagedObjectModel {
    let note = EntityDescription(name: "Note")
    let folded = DerivedAttributeDescription()
    folded.name = "folded"
    folded.attributeType = .string
    folded.derivationExpression = ObjectExpression(format: "canonical:(title)")
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
}
