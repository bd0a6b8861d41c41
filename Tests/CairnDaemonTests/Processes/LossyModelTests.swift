// The model of a daemon changes, and loses something that its stores have.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

/// What the page ModelChanged of the operator's guide says.
@Suite struct LossyModelTests {
  @Test func whatAModelLacksIsDroppedByCommandAndTheGroupGoesOn() async throws {
    let folder = try TemporaryFolder()
    let package = folder.file("Shop.xcdatamodeld")
    try FileManager.default.copyItem(
      atPath: Project.file("Tests/CairnDaemonTests/Golden/Models/Shop.xcdatamodeld"),
      toPath: package)
    func edit(_ file: String, _ old: String, _ new: String) throws {
      let url = URL(fileURLWithPath: "\(package)/\(file)")
      let text = try String(contentsOf: url, encoding: .utf8)
      try text.replacingOccurrences(of: old, with: new)
        .write(to: url, atomically: true, encoding: .utf8)
    }
    try edit(
      "Shop 2.xcdatamodel/contents", #"name="origin" attributeType"#,
      #"name="origin" optional="YES" attributeType"#)
    try edit(".xccurrentversion", "Shop 2.xcdatamodel", "Shop.xcdatamodel")
    let replica = folder.file("nas.sqlite")
    let daemon = try Daemon(in: folder, .init(model: package, replicas: [("nas", replica)]))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "label=nut", "weight=2").code == 0)
    #expect(try await daemon.ctl("insert", "Note", "text=hello").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(await daemon.stop() == 0)
    try edit(".xccurrentversion", "Shop.xcdatamodel", "Shop 2.xcdatamodel")

    try await daemon.start()
    let problem = try #require(try daemon.status().problems.first)
    #expect(problem.code == "incompatible-model")
    #expect(
      problem.message.contains("Shop 2 would drop Item.weight (1 row), Note (1 row)"),
      "\(problem.message)")
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("cairnctl store migrate NAME"), "\(status.output)")
    let busy = try await daemon.ctl("migrate", daemon.localPath, "--to", package, "--allow-drop")
    #expect(busy.code == 1 && busy.errors.contains("process \(daemon.pid)"), "\(busy.errors)")
    #expect(await daemon.stop() == 0)

    for path in [daemon.localPath, replica] {
      let migrated = try await daemon.ctl("migrate", path, "--to", package, "--allow-drop")
      #expect(migrated.code == 0, "\(migrated.errors)")
    }
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(try daemon.status().problems.isEmpty)
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    #expect(try await daemon.values("Item", "name", store: "nas") == ["nut"], "label is name now")
    #expect(try await daemon.ctl("insert", "Item", "name=bolt", "code=1").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(try await daemon.values("Item", "name", store: "nas") == ["bolt", "nut"])
    #expect(await daemon.stop() == 0)
  }
}
