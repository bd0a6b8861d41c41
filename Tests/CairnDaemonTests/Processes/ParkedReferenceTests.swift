// What an operator sees and does about references to records that do not come, with the real programs.
import Cairn
import CairnControl
import CairnSync
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: sync.md 4, "Dangling references", and 5, "In step means in step".
@Suite struct ParkedReferenceTests {
  private static func model(in folder: TemporaryFolder) throws -> String {
    try TestModel.write(
      "Boxes", in: folder,
      contents: """
        <entity name="Box" representedClassName="Box" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"/>
          <relationship name="parts" optional="YES" toMany="YES" deletionRule="Nullify"
            destinationEntity="Part" inverseName="box" inverseEntity="Part"/>
        </entity>
        <entity name="Part" representedClassName="Part" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"/>
          <relationship name="box" optional="YES" maxCount="1" deletionRule="Nullify"
            destinationEntity="Box" inverseName="parts" inverseEntity="Box"/>
        </entity>
        """)
  }

  /// Another machine, which gives the replica the entities of these names; nil for all.
  private static func exchange(
    _ application: ApplicationStore, _ path: String, _ names: Set<String>?
  )
    async throws
  {
    let engine = try SyncEngine(coordinator: application.coordinator, local: application.store)
    try engine.addReplica(
      ReplicaConfiguration(name: "near", url: URL(fileURLWithPath: path), entities: names))
    try await engine.wait(timeout: .patience)
    await engine.stop()
  }

  @Test func whatWaitsForARecordThatDoesNotComeIsShownAndAbandoned() async throws {
    let folder = try TemporaryFolder()
    let (model, near) = (try Self.model(in: folder), folder.file("near.sqlite"))
    let application = try ApplicationStore(model: model, path: folder.file("elsewhere.sqlite"))
    try application.context.performAndWait {
      let context = application.context
      let box = EntityDescription.insertNewObject(forEntityName: "Box", into: context)
      box.setValue("crate", forKey: "name")
      for name in ["bolt", "nut"] {
        let part = EntityDescription.insertNewObject(forEntityName: "Part", into: context)
        part.setValue(name, forKey: "name")
        part.setValue(box, forKey: "box")
      }
      try context.save()
    }
    try await Self.exchange(application, near, ["Part"])
    let daemon = try Daemon(
      in: folder, Daemon.Setup(model: model, replicas: [("near", near)], extra: ""))
    try await daemon.start()

    let refused = try await daemon.ctl("wait", "--timeout", "30")
    #expect(refused.code == 1 && refused.errors.contains("Part.box"), "\(refused.errors)")
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("`cairnctl parked`"), "\(status.output)")
    #expect(status.output.contains("references wait"), "\(status.output)")
    let listed = try await daemon.ctl("--json", "parked", "--store", "local")
    let page = try JSONValueDecoder.decode(
      ListParked.Reply.self, from: try JSONParser.parse(Array(listed.output.utf8.dropLast())))
    #expect(page.entries.map(\.property) == ["box", "box"] && page.next == nil)
    let awaited = try #require(page.entries.first?.awaited)
    let text = try await daemon.ctl("parked", "--limit", "1")
    #expect(text.output.contains(awaited) && text.errors.contains("there is more"))

    let other = "01950700-1A2B-7C3D-8E4F-5A6B7C8D9E0F"
    let unknown = try await daemon.ctl("parked", "abandon", awaited, other)
    #expect(unknown.code == 1 && unknown.errors.contains(other), "\(unknown.errors)")
    #expect(unknown.errors.contains("`cairnctl parked`"), "\(unknown.errors)")
    let abandoned = try await daemon.ctl("parked", "abandon", awaited)
    #expect(abandoned.code == 0, "\(abandoned.errors)")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.ctl("parked").output == "no reference waits\n")
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(try await daemon.ctl("parked", "abandon", "--all").output == "no reference waited\n")

    // It comes after all.
    try await Self.exchange(application, near, nil)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let found = try await daemon.ctl(
      "fetch", "Part", "--where", "box.name == 'crate'", "--properties", "name", "--format", "csv")
    #expect(found.output.contains("bolt") && found.output.contains("nut"), "\(found.output)")
    #expect(await daemon.stop() == 0)
  }
}
