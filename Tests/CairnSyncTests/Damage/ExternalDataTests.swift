import CairnContext
import CairnModel
import CairnStore
import CairnTesting
import Foundation
import Testing

@testable import CairnSync

/// Large values that SQLite stores keep in files of their own: they travel as any other, and one whose file is gone
/// does not travel as no value.
struct ExternalDataTests {
  private let scratch: Scratch
  private let daemon: SyncEngineTests.Daemon
  private let url: URL
  private static let large = Data(repeating: 7, count: 300_000)

  private static func model() -> ManagedObjectModel {
    let document = EntityDescription(name: "Document")
    let contents = AttributeDescription(name: "contents", type: .binaryData)
    contents.allowsExternalBinaryDataStorage = true
    document.properties = [
      AttributeDescription(name: "key", type: .string), contents,
      AttributeDescription(name: "size", type: .integer64),
    ]
    let model = ManagedObjectModel()
    model.entities = [document]
    return model
  }

  init() async throws {
    scratch = try Scratch()
    url = scratch.url.appendingPathComponent("nas.sqlite")
    daemon = try SyncEngineTests.Daemon("local", in: scratch, model: Self.model())
    try daemon.site.write { [daemon] context in
      _ = try daemon.site.insert(
        "Document", ["key": "a", "contents": Self.large, "size": 1], in: context)
    }
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await daemon.engine.wait(timeout: .patience)
  }

  private func files(_ name: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: scratch.url.appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA"),
      includingPropertiesForKeys: nil)
  }

  private func contents(_ daemon: SyncEngineTests.Daemon) throws -> Data? {
    try daemon.site.write {
      try daemon.site.find("Document", "a", in: $0)?.value(forKey: "contents") as? Data
    }
  }

  private func pass(_ daemon: SyncEngineTests.Daemon) async throws {
    try await daemon.engine.link("nas").completePass(timeout: .patience)
  }

  @Test func aLargeValueTravelsIntoAFileOfTheOtherStore() async throws {
    #expect(try files("local").count == 1 && files("nas").count == 1)
    let other = try SyncEngineTests.Daemon("other", in: scratch, model: Self.model())
    try other.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await other.engine.wait(timeout: .patience)
    #expect(try contents(other) == Self.large)
    #expect(try await other.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await other.close()
    try await daemon.close()
  }

  @Test func oneWhoseFileIsGoneIsDamageAndNotSentAsNone() async throws {
    try FileManager.default.removeItem(at: try #require(try files("nas").first))
    let other = try SyncEngineTests.Daemon("other", in: scratch, model: Self.model())
    try other.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    let error = await #expect(throws: SyncError.self) {
      try await other.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .recordsHeld)
    let report = try await other.engine.verify(name: "nas", timeout: .patience)
    #expect(report.differences.map(\.kind) == [.damagedReplica])
    #expect(report.differences.first?.property == "contents")
    let id = try other.record("Document", "a")
    let write = try other.site.access.ledger().record(id)?.write(of: "contents")
    #expect(write == PropertyWrite.filledIn, "nobody wrote that there is none")
    // A write of another property takes no value away where there is one, and that one mends the row.
    try other.site.write {
      try #require(try other.site.find("Document", "a", in: $0)).setValue(2, forKey: "size")
    }
    try await pass(other)
    try await pass(daemon)
    #expect(try contents(daemon) == Self.large)
    let repaired = try await daemon.engine.repair(name: "nas", timeout: .patience)
    #expect(repaired.remaining.isEmpty, "\(repaired.remaining)")
    try await pass(other)
    #expect(try contents(other) == Self.large)
    #expect(try await other.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await other.close()
    try await daemon.close()
  }
}
