// What the daemon says of its configuration and its log's level, as an operator asks.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct ConfigCommandTests {
  private func settings(_ daemon: Daemon) async throws -> [String: GetConfiguration.Setting] {
    let reply = try await offPool {
      try daemon.client().call(GetConfiguration.self, NoValues())
    }
    return Dictionary(uniqueKeysWithValues: reply.settings.map { ($0.key, $0) })
  }

  @Test func eachValueIsShownWithItsPlace() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        replicas: [("near", folder.file("near.sqlite"))],
        extra: "sync:\n  conflict: {entities: {Package: writeWins}}\n  retention: 7d"))
    try FileManager.default.createDirectory(
      atPath: daemon.configPath + ".d", withIntermediateDirectories: true)
    try "sync: {pollInterval: 2s}\n".write(
      toFile: daemon.configPath + ".d/a.yaml", atomically: true, encoding: .utf8)
    try await daemon.start()
    let found = try await settings(daemon)
    let lines = try String(contentsOfFile: daemon.configPath, encoding: .utf8).split(
      separator: "\n")
    func line(_ text: String) -> Int? { lines.firstIndex { $0.contains(text) }.map { $0 + 1 } }
    #expect(found["sync.retention"]?.value == "7d")
    #expect(found["sync.retention"]?.source == daemon.configPath)
    #expect(found["sync.retention"]?.line == line("retention"))
    #expect(found["sync.conflict.entities.Package"]?.value == "writeWins")
    #expect(found["replicas.near.path"]?.value == folder.file("near.sqlite"))
    #expect(found["replicas.near.path"]?.line == line("name: near"))
    #expect(found["replicas.near.required"]?.source == "default")
    #expect(found["sync.pollInterval"]?.source == daemon.configPath + ".d/a.yaml")
    #expect(
      found["local.durability"] == .init(key: "local.durability", value: "full", source: "default"))
    let shown = try await daemon.ctl("config", "cat", "sync")
    #expect(shown.output.contains("sync.retention") && !shown.output.contains("local.path"))
    let unknown = try await daemon.ctl("config", "cat", "sync.retentoin")
    #expect(
      unknown.code == 1 && unknown.errors.contains("did you mean \"sync.retention\""),
      "\(unknown.errors)")
    // What is in use, not what the file says by now.
    try daemon.replaceInConfiguration("retention: 7d", with: "retention: 8d")
    #expect(try await settings(daemon)["sync.retention"]?.value == "7d")
    #expect(try await daemon.ctl("reload").code == 0)
    #expect(try await settings(daemon)["sync.retention"]?.value == "8d")
    #expect(await daemon.stop() == 0)
  }

  @Test func aLevelLastsUntilTheNextReload() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try daemon.replaceInConfiguration("level: debug", with: "level: info")
    try await daemon.start()
    #expect(try await daemon.ctl("log-level").output == "info, as configured\n")
    #expect(!daemon.logText.contains("level=debug"))
    let set = try await daemon.ctl("log-level", "debug")
    #expect(set.output.hasPrefix("debug until the next reload"), "\(set.output)\(set.errors)")
    _ = try await daemon.ctl("store", "remove", "nobody")
    #expect(await daemon.logs("level=debug"))
    #expect(await daemon.logs("event=logLevelSet"))
    #expect(try await settings(daemon)["log.level"]?.source == "SetLogLevel")
    #expect(try await daemon.ctl("config", "cat", "log").output.contains("cairnctl log-level"))
    #expect(try await daemon.ctl("reload").code == 0)
    #expect(try await daemon.ctl("log-level").output == "info, as configured\n")
    #expect(try await settings(daemon)["log.level"]?.source == daemon.configPath)
    // Quiet, too, and the way there is in the log.
    #expect(try await daemon.ctl("log-level", "error").code == 0)
    #expect(
      await eventually {
        daemon.logText.components(separatedBy: "event=logLevelSet").count == 3
      })
    let nonsense = try await daemon.ctl("log-level", "loud")
    #expect(nonsense.code == 64 && nonsense.errors.contains("critical"), "\(nonsense.errors)")
    #expect(await daemon.stop() == 0)
  }

  @Test func aConfigurationIsCheckedWithoutADaemonInTheDaemonsWords() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    let good = try await daemon.ctl("config", "check", daemon.configPath)
    #expect(good.code == 0 && good.output == "\(daemon.configPath) is in order\n", "\(good.errors)")
    try daemon.replaceInConfiguration("level: debug", with: "levle: debug")
    let bad = try await daemon.ctl("config", "check", daemon.configPath)
    let program = try #require(Project.program("cairnd"))
    let own = try await run(program, ["--check-config", "--config", daemon.configPath])
    #expect(own.code == 78 && bad.code == 1)
    for line in own.errors.split(separator: "\n") { #expect(bad.errors.contains(line)) }
    #expect(bad.errors.contains("did you mean \"level\"?"))
    let json = try await daemon.ctl("config", "check", daemon.configPath, "--json")
    #expect(json.code == 1 && json.output.contains("\"problems\":[\""), "\(json.output)")
    let set = try await daemon.ctl("config", "check", daemon.configPath, "--set", "log.format=x")
    #expect(set.code == 1 && set.errors.contains("--set: log.format"), "\(set.errors)")
    let missing = try await daemon.ctl("config", "check", folder.file("nothing.yaml"))
    #expect(missing.code == 1 && missing.errors.contains("cannot read the file"))
    #expect(!missing.errors.contains("is not reachable"), "no daemon is asked")
  }

  /// The keys of the example are all keys that there are.
  @Test func everyKeyOfTheConfigurationIsShown() throws {
    let path = Project.file("Config/cairnd.yaml")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    func keys(_ node: ConfigurationNode, _ path: String) -> [String] {
      switch node.content {
      case .mapping(let entries) where !entries.isEmpty:
        entries.flatMap { keys($0.value, path.isEmpty ? $0.key : "\(path).\($0.key)") }
      case .sequence(let members):
        members.flatMap { keys($0, "\(path).\($0["name"]?.scalarText ?? "")") }
      default: [path]
      }
    }
    let written = try keys(ConfigurationNode(yaml: text, source: path), "")
    let folder = try TemporaryFolder()
    try text.write(toFile: folder.file("c.yaml"), atomically: true, encoding: .utf8)
    let loaded = try ConfigurationLoader(
      path: folder.file("c.yaml"), environment: [:], groups: { _ in 1 }
    ).loadSettings()
    #expect(loaded.settings.map(\.key).sorted() == written.sorted())
    #expect(written.count > 25)
  }
}

extension Daemon {
  fileprivate func replaceInConfiguration(_ text: String, with other: String) throws {
    let old = try String(contentsOfFile: configPath, encoding: .utf8)
    try old.replacingOccurrences(of: text, with: other).write(
      toFile: configPath, atomically: true, encoding: .utf8)
  }
}
