// A daemon whose model changes: what it does by itself, and what it leaves to persons.
import CairnControl
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct DaemonModelChangeTests {
  private let folder: TemporaryFolder
  private let package: WrittenPackage

  private static func item(_ attributes: String) -> String {
    "<entity name=\"Item\"><attribute name=\"number\" optional=\"YES\" attributeType=\"Integer 64\"/>"
      + "\(attributes)</entity>"
  }
  private static func text(_ name: String, was old: String? = nil) -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\""
      + (old.map { " elementID=\"\($0)\"" } ?? "") + "/>"
  }

  /// The label is called title in the second version and name in the third; only the second knows both.
  ///
  /// The wide version adds a value, the bare one has no text.
  init() throws {
    folder = try TemporaryFolder()
    package = try WrittenPackage(
      folder.file("Box.xcdatamodeld"), current: "First",
      [
        ("First", Self.item(Self.text("label"))),
        ("Second", Self.item(Self.text("title", was: "label"))),
        ("Third", Self.item(Self.text("name", was: "title"))),
        ("Wide", Self.item(Self.text("label") + Self.text("more"))),
        ("Bare", Self.item("")),
      ])
  }

  private var replica: String { folder.file("nas.sqlite") }

  private func daemon() throws -> Daemon {
    try Daemon(in: folder, .init(model: package.path, replicas: [("nas", replica)]))
  }

  /// A daemon of the first version, stopped, with three items in both stores.
  private func filled() async throws -> Daemon {
    let daemon = try daemon()
    try await daemon.start()
    for label in ["a", "b"] {
      #expect(try await daemon.ctl("insert", "Item", "label=\(label)").code == 0)
    }
    #expect(try await daemon.ctl("insert", "Item", "number=1").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(await daemon.stop() == 0)
    return daemon
  }

  private func isUpright(_ daemon: Daemon) async -> Bool {
    await eventually {
      guard let status = try? daemon.status() else { return false }
      return status.state == .serving && status.local?.state == .open
        && status.replicas.map(\.state) == [.inSync]
    }
  }

  /// Another program in the midst of a transaction.
  private func writer(of path: String) async throws -> DatabaseQueue {
    let queue = try DatabaseQueue(patient: path)
    try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    return queue
  }

  private func names(_ property: String, _ daemon: Daemon) async throws {
    for store in [nil, "nas"] {
      #expect(try await daemon.values("Item", property, store: store) == ["a", "b"])
    }
  }

  @Test func whatLosesNothingIsDoneWithoutBeingAskedAlsoThroughOtherVersions() async throws {
    let daemon = try await filled()
    try package.makeCurrent("Third")
    try await daemon.start()
    #expect(await isUpright(daemon), "\(daemon.log(last: 8))")
    try await names("name", daemon)
    for store in ["local", "nas"] {
      #expect(
        await daemon.logs("\(store) was brought from First to Third of the model"),
        "\(store): \(daemon.log(last: 20))")
    }
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    #expect(try await daemon.ctl("insert", "Item", "name=c").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(try await daemon.values("Item", "name", store: "nas") == ["a", "b", "c"])
    let nothing = try await daemon.ctl("store", "migrate", "--dry-run")
    #expect(nothing.code == 0 && nothing.output.contains("nothing has to be done"))
    #expect(await daemon.stop() == 0)
  }

  @Test func aReplicaThatTheConfigurationLeavesAloneWaitsForAPerson() async throws {
    _ = try await filled()
    try package.makeCurrent("Wide")
    let daemon = try Daemon(
      in: folder,
      .init(
        model: package.path, extra: "replicas: [{name: nas, path: \(replica), migrate: false}]"))
    try await daemon.start()
    let command = "`cairnctl store migrate nas` brings it to Wide"
    #expect(
      await eventually {
        (try? daemon.status())?.problems.first?.message.contains(command) ?? false
      }, "\(daemon.log(last: 8))")
    #expect(try await daemon.ctl("insert", "Item", "label=c", "more=d").code == 0)
    let wait = try await daemon.ctl("wait", "--for", "nas", "--timeout", "5")
    #expect(wait.code != 0, "\(wait.output)")
    #expect(!daemon.logText.contains("nas was brought"))

    let done = try await daemon.ctl("store", "migrate")
    #expect(done.code == 0 && done.output.contains("nas: migrated to Wide"), "\(done)")
    #expect(await isUpright(daemon), "\(daemon.log(last: 8))")
    #expect(try await daemon.values("Item", "more", store: "nas") == ["d"])
    #expect(await daemon.stop() == 0)
  }

  @Test func whatWouldBeDroppedIsCountedAndTheGroupGoesOnUntilAPersonDecides() async throws {
    let daemon = try await filled()
    try package.makeCurrent("Bare")
    try await daemon.start()
    let problem = try #require(try daemon.status().problems.first)
    #expect(problem.code == "incompatible-model")
    #expect(
      problem.message.contains("stays at First of the model: Bare would drop Item.label (2 rows)"))
    #expect(problem.message.contains("`cairnctl store migrate local --allow-drop`"))
    #expect(try daemon.status().problems.count == 1, "one decision for the group")
    let said = "Bare would drop Item.label (2 rows)"
    #expect(await daemon.logs(said), "in the log, too")
    #expect(!daemon.logText.contains("\"a\""), "no values")

    // All goes on.
    #expect(try await daemon.ctl("insert", "Item", "label=c").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(try await daemon.values("Item", "label", store: "nas") == ["a", "b", "c"])

    let dry = try await daemon.ctl("store", "migrate", "--dry-run")
    #expect(dry.code == 0, "\(dry.errors)")
    for store in ["local", "nas"] {
      #expect(dry.output.contains("\(store): from First to Bare"), "\(dry.output)")
    }
    #expect(dry.output.contains(/Item\.label +3/), "counted anew: \(dry.output)")
    let first = try await daemon.ctl("store", "migrate", "nas", "--allow-drop")
    #expect(first.code == 1 && first.errors.contains("the local store comes first"))
    let refused = try await daemon.ctl("store", "migrate")
    #expect(refused.code == 1 && refused.errors.contains("would drop Item.label (3 rows)"))
    #expect(try await daemon.values("Item", "label") == ["a", "b", "c"], "nothing was done")

    let done = try await daemon.ctl("store", "migrate", "--allow-drop")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    #expect(done.output.contains("local: migrated to Bare"), "\(done.output)")
    #expect(done.output.contains("nas: migrated to Bare"), "\(done.output)")
    #expect(await isUpright(daemon), "\(daemon.log(last: 8))")
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    let rows = try await daemon.ctl("fetch", "Item", "--format", "jsonl").output
    #expect(!rows.contains("label"), "\(rows)")
    #expect(await daemon.stop() == 0)

    // What was dropped is in the copies.
    let copies = try FileManager.default.contentsOfDirectory(atPath: folder.file("backups"))
    #expect(copies.filter { $0.contains("before-migration") }.count == 2, "\(copies)")
    for copy in copies {
      let file = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder.file("backups/\(copy)"))
          .first { $0.hasSuffix(".sqlite") })
      let labels = try package.withStore(folder.file("backups/\(copy)/\(file)"), "First") {
        try $0.count(for: .init(entityName: "Item"))
      }
      #expect(labels == 4)
    }
  }

  @Test func theStoreIsReadWhileItIsMigratedAndOpenedAfterwards() async throws {
    let daemon = try await filled()
    try package.makeCurrent("Wide")
    // A writer that the migration has to wait for.
    let writer = try await writer(of: daemon.localPath)
    try await daemon.start()
    let status = try daemon.status()
    #expect(status.state == .degraded && status.local?.state == .migrating, "\(status)")
    #expect(status.local?.progress != nil)
    #expect(status.problems.map(\.code) == ["migrating"])
    #expect(status.problems.first?.message.contains("from First to Wide") == true)
    #expect(try await daemon.values("Item", "label") == ["a", "b"], "it is read")
    #expect(try await daemon.ctl("model", "show").output.contains("label"))
    let refused = try await daemon.ctl("insert", "Item", "label=c")
    #expect(refused.code == 1 && refused.errors.contains("is migrating"), "\(refused.errors)")
    let sync = try await daemon.ctl("sync")
    #expect(sync.code == 1 && sync.errors.contains("is migrating"), "\(sync.errors)")
    try await writer.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    try writer.close()
    #expect(await isUpright(daemon), "\(daemon.log(last: 8))")
    #expect(try await daemon.ctl("insert", "Item", "label=c", "more=d").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(try await daemon.values("Item", "more", store: "nas") == ["d"])
    #expect(await daemon.stop() == 0)
  }

  @Test func aReplicaThatIsRemovedWhileItIsMigratedDoesNotComeBack() async throws {
    _ = try await filled()
    let daemon = try Daemon(in: folder, .init(model: package.path))
    try await daemon.start()
    #expect(try await daemon.ctl("store", "add", "nas", "sqlite", replica).code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(await daemon.stop() == 0)
    try package.makeCurrent("Third")
    let writer = try await writer(of: replica)
    try await daemon.start()
    #expect(
      await eventually { (try? daemon.status().replicas.map(\.state)) == [.migrating] },
      "\(daemon.log(last: 8))")
    #expect(try await daemon.ctl("store", "remove", "nas").code == 0)
    for name in ["nas", "other"] {
      let early = try await daemon.ctl("store", "add", name, "sqlite", replica)
      #expect(
        early.code != 0 && early.errors.contains("nas is being migrated"), "\(name): \(early)")
    }
    try await writer.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    try writer.close()
    #expect(await daemon.logs("nas was brought from First to Third"), "\(daemon.log(last: 8))")
    #expect(try await daemon.ctl("store", "add", "other", "sqlite", replica).code == 0)
    #expect(try daemon.status().replicas.map(\.name) == ["other"])
    #expect(try await daemon.ctl("wait", "--for", "other").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func aMigrationThatFailsLeavesTheStoreServedAtItsVersion() async throws {
    let daemon = try await filled()
    try package.makeCurrent("Third")
    // Where the successor of the file is to be made.
    let obstacle = folder.file(".d.sqlite.migrating")
    try Data("here".utf8).write(to: URL(fileURLWithPath: obstacle))
    try await daemon.start()
    let isHeld = await eventually {
      (try? daemon.status().problems.first?.message.contains("failed")) == true
    }
    #expect(isHeld, "\(daemon.log(last: 8))")
    let problem = try #require(try daemon.status().problems.first)
    #expect(problem.message.contains("stays at First"), "\(problem.message)")
    #expect(problem.message.contains("`cairnctl store migrate local` tries again"))
    #expect(try await daemon.ctl("insert", "Item", "label=c").code == 0)
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    try FileManager.default.removeItem(atPath: obstacle)
    let done = try await daemon.ctl("store", "migrate", "local")
    #expect(done.code == 0, "\(done.errors)")
    #expect(await isUpright(daemon), "\(daemon.log(last: 8))")
    #expect(try await daemon.values("Item", "name", store: "nas") == ["a", "b", "c"])
    #expect(await daemon.stop() == 0)
  }

  @Test func aNewerStoreThanTheModelKnowsIsServedAsItIs() async throws {
    try package.makeCurrent("Wide")
    let newer = try daemon()
    try await newer.start()
    #expect(try await newer.ctl("insert", "Item", "label=a", "more=m").code == 0)
    #expect(try await newer.ctl("wait", "--for", "nas").code == 0)
    #expect(await newer.stop() == 0)
    // As on a machine that has not got the new model.
    for name in ["Wide", "Second", "Third", "Bare"] {
      try FileManager.default.removeItem(atPath: "\(package.path)/\(name).xcdatamodel")
    }
    try package.makeCurrent("First")
    let older = try daemon()
    try await older.start()
    let problem = try #require(try older.status().problems.first)
    #expect(problem.message.contains("does not have"), "\(problem.message)")
    #expect(problem.message.contains("First would drop Item.more (1 row)"), "\(problem.message)")
    #expect(problem.message.contains("put the newer model there"))
    #expect(try await older.ctl("insert", "Item", "label=b", "more=n").code == 0)
    #expect(try await older.ctl("wait", "--for", "nas").code == 0)
    #expect(try await older.values("Item", "more", store: "nas") == ["m", "n"])
    #expect(await older.stop() == 0)
  }

  /// A replica that another machine's daemon has at a version that the local store left.
  @Test func aReplicaOfAVersionThatLosesSomethingIsDecidedByItself() async throws {
    _ = try await filled()
    try package.makeCurrent("Bare")
    let alone = try Daemon(in: folder, .init(model: package.path))
    try await alone.start()
    #expect(try await alone.ctl("store", "migrate", "local", "--allow-drop").code == 0)
    #expect(await alone.stop() == 0)
    // The bare version has more here, so that the replica cannot stay as it is.
    let extra = #"<attribute name="extra" optional="YES" attributeType="Double"/>"#
    try package.add("Bare2", Self.item(extra))
    try package.makeCurrent("Bare2")
    let daemon = try daemon()
    try await daemon.start()
    let isSaid = await eventually {
      let message = try? daemon.replica("nas")?.problem?.message
      return message?.contains("Bare2 would drop Item.label (2 rows)") == true
    }
    #expect(isSaid, "\(String(describing: try? daemon.replica("nas")))")
    #expect(await daemon.logs("nas stays at First of the model"), "\(daemon.log(last: 5))")
    #expect(try await daemon.ctl("insert", "Item", "number=7").code == 0, "the local store goes on")
    let status = try await daemon.ctl("status")
    #expect(status.output.contains("cairnctl store migrate nas"), "\(status.output)")
    let done = try await daemon.ctl("store", "migrate", "--allow-drop")
    #expect(done.code == 0 && done.output.contains("nas: migrated to Bare2"), "\(done)")
    #expect(await isUpright(daemon), "\(daemon.log(last: 8))")
    #expect(try await daemon.ctl("verify").code == 0)
    #expect(await daemon.stop() == 0)
  }

  @Test func aStoreThatIsNotThereIsNamed() async throws {
    let daemon = try await filled()
    try await daemon.start()
    let unknown = try await daemon.ctl("store", "migrate", "nsa")
    #expect(unknown.code == 1, "\(unknown.output)")
    #expect(unknown.errors.contains("did you mean \"nas\""), "\(unknown.errors)")
    #expect(await daemon.stop() == 0)
  }
}
