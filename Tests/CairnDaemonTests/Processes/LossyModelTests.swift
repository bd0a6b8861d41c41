// The model of a daemon changes, and loses something that its stores have.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

/// What the page ModelChanged of the operator's guide says.
@Suite struct LossyModelTests {
  private let folder: TemporaryFolder
  private var package: String { folder.file("Shop.xcdatamodeld") }
  private var replica: String { folder.file("nas.sqlite") }

  /// The package, whose second version is not the current one yet.
  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.copyItem(
      atPath: Project.file("Tests/CairnDaemonTests/Golden/Models/Shop.xcdatamodeld"),
      toPath: package)
    try edit(
      "Shop 2.xcdatamodel/contents", #"name="origin" attributeType"#,
      #"name="origin" optional="YES" attributeType"#)
    try edit(".xccurrentversion", "Shop 2.xcdatamodel", "Shop.xcdatamodel")
  }

  private func edit(_ file: String, _ old: String, _ new: String) throws {
    let url = URL(fileURLWithPath: "\(package)/\(file)")
    let text = try String(contentsOf: url, encoding: .utf8)
    try text.replacingOccurrences(of: old, with: new)
      .write(to: url, atomically: true, encoding: .utf8)
  }

  /// A daemon that has stopped with stores of the first version, of which the second, current by now, would drop something.
  private func stoppedDaemon() async throws -> Daemon {
    let daemon = try Daemon(in: folder, .init(model: package, replicas: [("nas", replica)]))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "label=nut", "weight=2").code == 0)
    #expect(try await daemon.ctl("insert", "Note", "text=hello").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(await daemon.stop() == 0)
    try edit(".xccurrentversion", "Shop.xcdatamodel", "Shop 2.xcdatamodel")
    return daemon
  }

  /// A replica may be of the new version before the local store is, which waits for a person.
  @Test func noReplicaGoesBackToTheVersionThatTheLocalStoreStaysAt() async throws {
    let daemon = try await stoppedDaemon()
    let migrated = try await daemon.ctl("migrate", replica, "--to", package, "--allow-drop")
    #expect(migrated.code == 0, "\(migrated.errors)")
    try await daemon.start()
    #expect(
      try await eventually {
        try daemon.status().replicas.first?.problem?.message.contains(
          "nas is at Shop 2 of the model, and the local store stays at Shop:") == true
      })
    let refused = try await daemon.ctl("store", "migrate", "nas", "--allow-drop")
    #expect(refused.code == 1 && refused.errors.contains("the local store comes first"))
    #expect(try await daemon.ctl("store", "migrate", "local", "--allow-drop").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(try daemon.status().problems.isEmpty)
    #expect(await daemon.stop() == 0)
  }

  @Test func whatAModelLacksIsDroppedByCommandAndTheGroupGoesOn() async throws {
    let daemon = try await stoppedDaemon()
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
