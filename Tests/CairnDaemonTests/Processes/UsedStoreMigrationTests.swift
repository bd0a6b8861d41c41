// Migrations of stores that other processes have open.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct UsedStoreMigrationTests {
  private let folder: TemporaryFolder
  private let package: WrittenPackage
  private var replica: String { folder.file("nas.sqlite") }
  /// The first version alone, as programs have it that were not updated.
  private var old: String { "\(package.path)/First.xcdatamodel" }
  private var pid: Int32 { ProcessInfo.processInfo.processIdentifier }

  /// The bare version drops the label, the wide one adds a value.
  init() throws {
    folder = try TemporaryFolder()
    package = try WrittenPackage(
      folder.file("Box.xcdatamodeld"), current: "First",
      [
        ("First", WrittenPackage.item("label", "kind")), ("Bare", WrittenPackage.item("kind")),
        ("Wide", WrittenPackage.item("label", "kind", "more")),
      ])
  }

  /// A daemon with a replica, both filled, that has been started anew with another version.
  private func daemon(of version: String) async throws -> Daemon {
    let daemon = try Daemon(in: folder, .init(model: package.path, replicas: [("nas", replica)]))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "label=a", "kind=k").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(await daemon.stop() == 0)
    try package.makeCurrent(version)
    try await daemon.start()
    return daemon
  }

  private func labels(_ path: String) throws -> [String] {
    try ApplicationStore(model: old, path: path, isReadOnly: true).values("Item", "label")
  }

  @Test func valuesAreNotDroppedWhileAnApplicationHasTheLocalStoreOpen() async throws {
    let daemon = try await daemon(of: "Bare")
    var application: ApplicationStore? = try ApplicationStore(model: old, path: daemon.localPath)
    let dry = try await daemon.ctl("store", "migrate", "--dry-run")
    #expect(dry.code == 0 && dry.output.contains("open in: process \(pid)"), "\(dry)")
    let refused = try await daemon.ctl("store", "migrate", "--allow-drop")
    #expect(refused.code == 1, "\(refused.output)")
    #expect(refused.errors.contains("process \(pid)"), "\(refused.errors)")
    #expect(refused.errors.contains("cairnctl store migrate local --allow-drop"))
    // Nothing was done, and both go on.
    try application?.insert("Item", ["label": "b"])
    #expect(try await daemon.ctl("insert", "Item", "label=c").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(try await daemon.values("Item", "label", store: "nas") == ["a", "b", "c"])
    application = nil
    let done = try await daemon.ctl("store", "migrate", "--allow-drop")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    #expect(await daemon.stop() == 0)
  }

  @Test func valuesAreNotDroppedWhileAnotherDaemonHasTheReplicaOpen() async throws {
    let daemon = try await daemon(of: "Bare")
    let other = try Daemon(
      in: folder, .init(name: "other", model: old, replicas: [("hub", replica)]))
    try await other.start()
    #expect(try await other.ctl("wait", "--for", "hub").code == 0)
    let refused = try await daemon.ctl("store", "migrate", "--allow-drop")
    #expect(refused.code == 1, "\(refused.output)")
    #expect(refused.errors.contains("process \(other.pid)"), "\(refused.errors)")
    #expect(refused.errors.contains("nas (\(replica)) open"), "\(refused.errors)")
    #expect(try await daemon.values("Item", "label") == ["a"], "not even the local store")
    #expect(await other.stop() == 0)
    let done = try await daemon.ctl("store", "migrate", "--allow-drop")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    #expect(done.output.contains("nas: migrated to Bare"), "\(done.output)")
    #expect(await daemon.stop() == 0)
  }

  @Test func theOwnerOfALocalStoreThatIsAReplicaElsewhereIsNamed() async throws {
    let daemon = try await daemon(of: "Bare")
    #expect(await daemon.stop() == 0)
    // The replica is the local store of another daemon.
    let owner = try Daemon(in: folder, .init(name: "owner", model: old, local: replica))
    try await owner.start()
    try await daemon.start()
    let refused = try await daemon.ctl("store", "migrate", "--allow-drop")
    #expect(refused.code == 1, "\(refused.output)")
    #expect(refused.errors.contains("process \(owner.pid)"), "\(refused.errors)")
    #expect(await owner.stop() == 0)
    #expect(try labels(replica) == ["a"])
    #expect(await daemon.stop() == 0)
  }

  /// A program that has the store open is kept from writing rows of the old version into the new tables.
  @Test func whatLosesNothingIsDoneAndOthersNoticeBeforeTheyWrite() async throws {
    let daemon = try await daemon(of: "First")
    let application = try ApplicationStore(model: old, path: daemon.localPath)
    try application.insert("Item", ["label": "b"])
    try package.makeCurrent("Wide")
    #expect(await daemon.stop() == 0)
    try await daemon.start()
    let isDone = await eventually { (try? daemon.status().local?.state) == .open }
    #expect(isDone, "\(daemon.log(last: 8))")
    #expect(throws: (any Error).self) { try application.insert("Item", ["label": "c"]) }
    #expect(try await daemon.values("Item", "label") == ["a", "b"], "nothing is lost")
    #expect(try await daemon.ctl("insert", "Item", "label=d", "more=m").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func checkingWhoHasTheStoreKeepsTheDaemonsOwnLocks() async throws {
    let daemon = try await daemon(of: "Bare")
    #expect(try await daemon.holdsIndex(of: daemon.localPath))
    #expect(try await daemon.ctl("store", "migrate", "--dry-run").code == 0)
    #expect(
      try await daemon.holdsIndex(of: daemon.localPath),
      "a closed descriptor of the index gives locks up")
    #expect(await daemon.stop() == 0)
  }
}
