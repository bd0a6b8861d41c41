// A hub is brought to a version of the model that drops what it has.
import Cairn
import CairnControl
import CairnTesting
import Foundation
import TestServers
import TestSupport
import Testing

/// Specification: sync.md 6: a destructive difference stops the link, until an operator decides.
@Suite(.needsServer) struct HubMigrationTests {
  private let hub: HubDaemons
  private let package: WrittenPackage

  /// The other version drops the label and adds a value; the late one renames it twice, by way of the one between.
  init() throws {
    hub = try HubDaemons()
    package = try WrittenPackage(
      hub.folder.file("Box.xcdatamodeld"), current: "First",
      [
        ("First", WrittenPackage.item("label", "kind")),
        ("Other", WrittenPackage.item("kind", "more")), ("Bare", WrittenPackage.item("kind")),
        ("Between", WrittenPackage.item("title=label", "kind")),
        ("Late", WrittenPackage.item("heading=title", "kind")),
      ])
  }

  /// A daemon that has a record in its store and in the hub, and was started anew with another version.
  private func daemon(of version: String) async throws -> Daemon {
    let daemon = try hub.make("a", model: package.path)
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Item", "label=a", "kind=k").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(await daemon.stop() == 0)
    try package.makeCurrent(version)
    try await daemon.start()
    return daemon
  }

  private init(_ hub: HubDaemons, _ package: WrittenPackage) {
    self.hub = hub
    self.package = package
  }

  /// The copies of the hub that were kept.
  private func copies() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: hub.folder.path)
      .filter { $0.contains("hub-before-migration") && $0.hasSuffix(".sqlite") }
  }

  private func columns() throws -> String {
    try hub.sql(
      "SELECT string_agg(column_name, ' ' ORDER BY column_name) FROM information_schema.columns "
        + "WHERE table_schema = '\(hub.schema)' AND table_name = 'item' AND column_name IN "
        + "('label', 'kind', 'more', 'title', 'heading')")
  }

  @Test func whatTheModelLacksIsDroppedByCommandAndACopyIsKept() async throws {
    let daemon = try await daemon(of: "Other")
    let early = try await daemon.ctl("store", "migrate", "hub", "--allow-drop")
    #expect(early.code == 1 && early.errors.contains("the local store comes first"), "\(early)")
    #expect(try await daemon.ctl("store", "migrate", "local", "--allow-drop").code == 0)
    #expect(
      await eventually { (try? daemon.replica("hub")?.problem?.code) == "incompatible-model" })
    let words = "Other would drop Item.label (1 row)"
    #expect(
      await eventually {
        (try? daemon.replica("hub")?.problem?.message.contains(words)) == true
      })
    let problem = try #require(try daemon.replica("hub")?.problem).message
    #expect(problem.contains("also for other programs that share the database"), "\(problem)")
    let refused = try await daemon.ctl("store", "migrate", "hub")
    #expect(refused.code == 1 && refused.errors.contains("nothing was done"), "\(refused)")
    #expect(try columns() == "kind label")

    let done = try await daemon.ctl("store", "migrate", "hub", "--allow-drop")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    #expect(try columns() == "kind more")
    let waited = try await daemon.ctl("wait", "--timeout", "60")
    #expect(waited.code == 0, "\(waited.errors)")
    #expect(try await daemon.ctl("insert", "Item", "kind=later").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try hub.sql("SELECT kind FROM @item ORDER BY 1") == "k\nlater")
    let verified = try await daemon.ctl("verify", "hub")
    #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    let copy = hub.folder.file(try #require(try copies().first))
    #expect(done.output.contains(copy), "\(done.output)")
    let labels = try package.withStore(copy, "First") { context in
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
        .compactMap { $0.value(forKey: "label") as? String }
    }
    #expect(labels == ["a"])
    #expect(await daemon.stop() == 0)
  }

  @Test func whatIsWrittenUntilTheValuesAreDroppedIsInTheCopy() async throws {
    let daemon = try await daemon(of: "Other")
    #expect(try await daemon.ctl("store", "migrate", "local", "--allow-drop").code == 0)
    async let writing = offPool { [hub] in
      var last = 0
      // Until there is no such column.
      while (try? hub.sql("UPDATE @item SET label = 'w\(last + 1)'")) != nil { last += 1 }
      return last
    }
    #expect(await eventually { (try? hub.sql("SELECT label FROM @item"))?.first == "w" })
    let done = try await daemon.ctl("store", "migrate", "hub", "--allow-drop")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    let last = try await writing
    let copy = hub.folder.file(try #require(try copies().first))
    let labels = try package.withStore(copy, "First") { context in
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
        .compactMap { $0.value(forKey: "label") as? String }
    }
    #expect(labels == ["w\(last)"])
    #expect(await daemon.stop() == 0)
  }

  /// It takes the hub along again, which loses nothing by that.
  @Test func aDaemonThatHasTheOlderModelKeepsItsValuesAndBringsThemBack() async throws {
    let old = try hub.make("old", model: "\(package.path)/First.xcdatamodel")
    try await old.start()
    let daemon = try await daemon(of: "Bare")
    #expect(try await old.ctl("wait", "--timeout", "60").code == 0)
    let done = try await daemon.ctl("store", "migrate", "local", "--allow-drop")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    // The hub has all of this version, and stays as others use it; a person may want it otherwise.
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try columns() == "kind label")
    let bare = try await daemon.ctl("store", "migrate", "hub", "--allow-drop")
    #expect(bare.code == 0, "\(bare.output)\(bare.errors)")
    #expect(try await old.ctl("insert", "Item", "label=own", "kind=own").code == 0)
    for daemon in [old, daemon, old] {
      let waited = try await daemon.ctl("wait", "--timeout", "60")
      #expect(waited.code == 0, "\(waited.errors)")
    }
    #expect(try hub.sql("SELECT label FROM @item ORDER BY 1") == "a\nown")
    let verified = try await old.ctl("verify", "hub")
    #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
    #expect(try await old.values("Item", "label") == ["a", "own"])
    #expect(try await daemon.values("Item", "kind") == ["k", "own"])
    for daemon in [daemon, old] { #expect(await daemon.stop() == 0) }
  }

  @Test func aWayThroughOtherVersionsIsTakenWithoutBeingAsked() async throws {
    let daemon = try await daemon(of: "Late")
    #expect(await eventually { (try? columns()) == "heading kind" })
    #expect(await eventually { (try? daemon.replica("hub")?.state) == .inSync })
    #expect(try hub.sql("SELECT heading FROM @item") == "a")
    #expect(try await daemon.values("Item", "heading") == ["a"])
    #expect(await daemon.stop() == 0)
  }

  @Test func whereTheServerRefusesItNothingIsDone() async throws {
    let hub = try HubDaemons(PostgreSQLServer())
    let tests = Self(hub, package)
    let daemon = try await tests.daemon(of: "Other")
    #expect(try await daemon.ctl("store", "migrate", "local", "--allow-drop").code == 0)
    _ = try hub.server.query(
      "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS "
        + "$$ BEGIN RAISE EXCEPTION 'not today'; END $$; "
        + "CREATE EVENT TRIGGER refusal ON ddl_command_start EXECUTE FUNCTION refuse()")
    let failed = try await daemon.ctl("store", "migrate", "hub", "--allow-drop")
    #expect(failed.code == 1 && failed.errors.contains("not today"), "\(failed)")
    #expect(try tests.columns() == "kind label" && hub.sql("SELECT label FROM @item") == "a")
    #expect(try tests.copies().isEmpty, "it is of no use")
    #expect(
      await eventually { (try? daemon.replica("hub")?.problem?.code) == "incompatible-model" })
    _ = try hub.server.query("DROP EVENT TRIGGER refusal")
    let done = try await daemon.ctl("store", "migrate", "hub", "--allow-drop")
    #expect(done.code == 0, "\(done.output)\(done.errors)")
    #expect(try tests.columns() == "kind more")
    #expect(await daemon.stop() == 0)
  }
}
