// A running daemon takes a changed configuration over, or refuses it as a whole.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct ReloadTests {
  /// Replaces the configuration of a daemon.
  private func configure(
    _ daemon: Daemon, _ replicas: [(String, String)] = [], level: String = "debug",
    extra: String = ""
  ) throws {
    var lines = [
      "model: \(daemon.setup.model)", "control: {socket: \(daemon.socket)}",
      "local: {path: \(daemon.localPath)}", "log: {level: \(level), format: logfmt}",
    ]
    if !replicas.isEmpty { lines.append("replicas:") }
    for (name, rest) in replicas { lines.append("  - {name: \(name), \(rest)}") }
    if !extra.isEmpty { lines.append(extra) }
    let url = URL(fileURLWithPath: daemon.configPath)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
  }

  @Test func replicasComeChangeAndGo() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    try await daemon.ctl("insert", "Package", "name=nut")
    let (one, two) = (folder.file("one.sqlite"), folder.file("two.sqlite"))
    try configure(daemon, [("one", "path: \(one)"), ("two", "path: \(two)")])
    let added = try await daemon.ctl("reload")
    #expect(added.code == 0 && added.output == "changed: replicas.one, replicas.two\n", "\(added)")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Package", "name", store: "two") == ["nut"])

    try configure(daemon, [("one", "path: \(one), direction: push")])
    let changed = try await daemon.ctl("reload")
    #expect(changed.output == "changed: replicas.one, replicas.two\n", "\(changed)")
    #expect(try daemon.status().replicas.map(\.name) == ["one"])
    #expect(try daemon.replica("one")?.direction == .push)
    try await daemon.ctl("insert", "Package", "name=bolt")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Package", "name", store: "one") == ["bolt", "nut"])
    #expect(FileManager.default.fileExists(atPath: two), "the file of a removed replica stays")
    #expect(try await daemon.ctl("reload").output == "nothing has changed\n")
    #expect(await daemon.stop() == 0)
  }

  @Test func aReplicaCanHaveAnotherNameAndThoseAddedByCommandStay() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("one.sqlite")
    let daemon = try Daemon(in: folder, Daemon.Setup(replicas: [("one", path)]))
    try await daemon.start()
    try await daemon.ctl("store", "add", "mine", "sqlite", folder.file("mine.sqlite"))
    try configure(daemon, [("uno", "path: \(path)")])
    let renamed = try await daemon.ctl("reload")
    #expect(renamed.code == 0, "\(renamed)")
    #expect(try daemon.status().replicas.map(\.name).sorted() == ["mine", "uno"])
    // The configuration takes one over that was added by command.
    try configure(
      daemon, [("uno", "path: \(path)"), ("mine", "path: \(folder.file("mine.sqlite"))")])
    #expect(try await daemon.ctl("reload").code == 0)
    let removed = try await daemon.ctl("store", "remove", "mine")
    #expect(removed.code == 1 && removed.errors.contains("the configuration names it"))
    #expect(await daemon.stop() == 0)
  }

  @Test func otherSettingsDoNotMakeAReplicaAnewWhoseDiskIsNotMounted() async throws {
    let folder = try TemporaryFolder()
    let (mount, away) = (folder.file("mount"), folder.file("away"))
    let manager = FileManager.default
    try manager.createDirectory(atPath: mount, withIntermediateDirectories: false)
    let path = "\(mount)/one.sqlite"
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        replicas: [("one", path)], extra: "sync: {maxRetryDelay: 1s, pollInterval: 1s}"))
    try await daemon.start()
    try await daemon.ctl("insert", "Package", "name=nut")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    try manager.moveItem(atPath: mount, toPath: away)
    try manager.createDirectory(atPath: mount, withIntermediateDirectories: false)
    try configure(
      daemon, [("one", "path: \(path), direction: push")],
      extra: "sync: {maxRetryDelay: 1s, pollInterval: 1s}")
    #expect(try await daemon.ctl("reload").code == 0)
    #expect(try await eventually { try daemon.replica("one")?.state == .unavailable })
    // What a person reads is broken into lines where the path happens to end.
    let problem = try #require(try daemon.replica("one")?.problem?.message)
    #expect(problem.contains("disk is not mounted"), "\(problem)")
    #expect(try manager.contentsOfDirectory(atPath: mount) == [])
    try manager.removeItem(atPath: mount)
    try manager.moveItem(atPath: away, toPath: mount)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Package", "name", store: "one") == ["nut"])
    #expect(await daemon.stop() == 0)
  }

  @Test func theLogLevelChangesAtOnce() async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    try configure(daemon, level: "error")
    #expect(try await daemon.ctl("reload").output == "changed: log.level\n")
    #expect(!daemon.logText.contains("configuration reloaded"), "it counts for that line already")
    try configure(daemon, level: "debug")
    #expect(try await daemon.ctl("reload").code == 0)
    #expect(await daemon.logs("configuration reloaded: log.level"))
    #expect(await daemon.stop() == 0)
  }

  @Test func anotherRetentionTakesEffectAndNothingIsLost() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("one", folder.file("one.sqlite"))]))
    try await daemon.start()
    try await daemon.ctl("insert", "Package", "name=nut")
    try configure(
      daemon, [("one", "path: \(folder.file("one.sqlite"))")], extra: "sync: {retention: 2h}")
    let outcome = try await daemon.ctl("reload")
    #expect(outcome.output == "changed: sync.retention\n", "\(outcome)")
    #expect(try daemon.status().state == .serving)
    try await daemon.ctl("insert", "Package", "name=bolt")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try await daemon.values("Package", "name", store: "one") == ["bolt", "nut"])
    #expect(await daemon.stop() == 0)
  }

  @Test func whatNeedsARestartIsNamedAndNothingElseChanges() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    try configure(
      daemon, [("one", "path: \(folder.file("one.sqlite"))")], level: "error",
      extra: "local: {path: \(folder.file("x.sqlite"))}")
    let text = try String(contentsOfFile: daemon.configPath, encoding: .utf8)
    let single = text.replacingOccurrences(
      of: "local: {path: \(daemon.localPath)}\n", with: "")
    try Data(single.utf8).write(to: URL(fileURLWithPath: daemon.configPath))
    let outcome = try await daemon.ctl("reload")
    #expect(outcome.code == 1 && outcome.errors.contains("local.path cannot change"), "\(outcome)")
    #expect(outcome.errors.contains("systemctl restart cairnd"), "\(outcome)")
    #expect(try daemon.status().replicas.isEmpty)
    #expect(await daemon.logs("reloadRefused"), "the level is as it was too")
    #expect(await daemon.stop() == 0)
  }

  @Test func anotherVersionOfTheModelNeedsARestartToo() async throws {
    let folder = try TemporaryFolder()
    let package = try WrittenPackage(
      folder.file("Shop.xcdatamodeld"), current: "One", [("One", WrittenPackage.item("name"))])
    let daemon = try Daemon(in: folder, Daemon.Setup(model: package.path))
    try await daemon.start()
    #expect(try await daemon.ctl("reload").output == "nothing has changed\n")
    try package.add("Two", WrittenPackage.item("name", "note"))
    #expect(try await daemon.ctl("reload").output == "nothing has changed\n", "not current yet")
    try package.makeCurrent("Two")
    let outcome = try await daemon.ctl("reload")
    #expect(outcome.code == 1 && outcome.errors.contains("model cannot change"), "\(outcome)")
    #expect(await daemon.stop() == 0)
    try await daemon.start()
    #expect(try await daemon.ctl("reload").output == "nothing has changed\n")
    #expect(await daemon.stop() == 0)
  }

  @Test(arguments: [
    ("log: {levl: info}", "levl"), ("model: /none.mom", "/none.mom"), ("replicas: [", "YAML"),
  ])
  func anInvalidConfigurationChangesNothing(_ text: String, _ words: String) async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    let old = try String(contentsOfFile: daemon.configPath, encoding: .utf8)
    let key = text.prefix { $0 != ":" }
    let kept = old.split(separator: "\n").filter { !$0.hasPrefix("\(key):") }
    let more = "replicas: [{name: one, path: \(folder.file("one.sqlite"))}]"
    let lines = kept + [text[...]] + (key == "replicas" ? [] : [more[...]])
    try Data((lines.joined(separator: "\n") + "\n").utf8)
      .write(to: URL(fileURLWithPath: daemon.configPath))
    let outcome = try await daemon.ctl("reload")
    #expect(outcome.code == 1 && outcome.errors.contains(words), "\(outcome)")
    #expect(try daemon.status().replicas.isEmpty && daemon.status().state == .serving)
    #expect(await daemon.stop() == 0)
  }

  @Test func aReplicaThatCanBeNoneKeepsTheOthersFromComingToo() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    try Data("no store".utf8).write(to: URL(fileURLWithPath: folder.file("text.sqlite")))
    try configure(
      daemon,
      [
        ("one", "path: \(folder.file("one.sqlite"))"),
        ("text", "path: \(folder.file("text.sqlite"))"),
      ])
    let outcome = try await daemon.ctl("reload")
    #expect(outcome.code == 1 && outcome.errors.contains("text.sqlite"), "\(outcome)")
    #expect(try daemon.status().replicas.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.file("one.sqlite")))
    #expect(await daemon.stop() == 0)
  }

  @Test func aSignalReloadsAndAMendedModelIsEnough() async throws {
    let folder = try TemporaryFolder()
    let model = folder.file("Model.xcdatamodeld")
    let daemon = try Daemon(in: folder, Daemon.Setup(model: model))
    try await daemon.start()
    #expect(try daemon.status().state == .degraded)
    try FileManager.default.copyItem(
      atPath: Project.file("Config/demo/DebianPackages.xcdatamodeld"), toPath: model)
    ProcessConduct.send(signal: SIGHUP, to: daemon.pid)
    #expect(await eventually { (try? daemon.status().state) == .serving }, "\(daemon.log(last: 5))")
    #expect(await daemon.stop() == 0)
  }

  @Test func manyReloadsAtOnceComeOneAfterTheOther() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    try configure(daemon, [("one", "path: \(folder.file("one.sqlite"))")])
    let codes = try await withThrowingTaskGroup(of: Int32.self) { group in
      for _ in 0..<8 { group.addTask { try await daemon.ctl("reload").code } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == Array(repeating: 0, count: 8))
    #expect(try daemon.status().replicas.map(\.name) == ["one"])
    #expect(await daemon.stop() == 0)
  }
}
