// What can be a store's or a model's path, and what happens where something else lies there.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct PathRuleTests {
  /// Things that are no files.
  enum Thing: String, CaseIterable {
    case folder, pipe, device

    func make(at path: String) throws {
      switch self {
      case .folder:
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      case .pipe: try #require(mkfifo(path, 0o600) == 0)
      case .device:
        try FileManager.default.createSymbolicLink(
          atPath: path, withDestinationPath: "/dev/zero")
      }
    }
  }

  private func check(_ daemon: Daemon) async throws -> Outcome {
    let program = try #require(Project.program("cairnd"), "build the products first")
    return try await run(program, ["--config", daemon.configPath, "--check-config"])
  }

  @Test(arguments: Thing.allCases)
  func aLocalStoreThatIsNoFileIsRefusedAndTheDaemonCanBeAskedAndStopped(_ thing: Thing)
    async throws
  {
    let daemon = try Daemon(in: TemporaryFolder())
    try thing.make(at: daemon.localPath)
    let checked = try await check(daemon)
    #expect(checked.code == 78 && checked.errors.contains("local.path: \(daemon.localPath) is a"))
    try await daemon.start()
    let problem = try #require(try daemon.status().problems.first)
    #expect(problem.code == "not-a-store" && problem.message.contains(daemon.localPath))
    #expect(await daemon.stop() == 0)
  }

  @Test(arguments: Thing.allCases)
  func aReplicaThatIsNoFileIsRefusedAndDelaysNobody(_ thing: Thing) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("copy.sqlite")
    try thing.make(at: path)
    let daemon = try Daemon(in: folder, Daemon.Setup(replicas: [("copy", path)]))
    let checked = try await check(daemon)
    #expect(checked.code == 78 && checked.errors.contains("replicas.copy.path: \(path) is a"))
    try await daemon.start()
    #expect(
      try await eventually { try daemon.replica("copy")?.problem?.message.contains(path) == true })
    try await daemon.ctl("insert", "Package", "name=nut")
    #expect(try await daemon.values("Package", "name") == ["nut"])
    #expect(await daemon.stop() == 0)
  }

  @Test(arguments: Thing.allCases)
  func soIsOneThatIsAddedByCommand(_ thing: Thing) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("copy.sqlite")
    try thing.make(at: path)
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    let outcome = try await daemon.ctl("store", "add", "copy", "sqlite", path)
    #expect(outcome.code == 1 && outcome.errors.contains(path), "\(outcome)")
    #expect(try daemon.status().replicas.isEmpty)
    #expect(await daemon.stop() == 0)
  }

  /// Each of the two would refuse the other, and both their links would be stopped.
  @Test func oneFileUnderTwoPathsIsRefusedAsASecondReplica() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("disk"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: folder.file("disk"))
    let (path, other) = (folder.file("disk/near.sqlite"), folder.file("link/near.sqlite"))
    let daemon = try Daemon(in: folder, Daemon.Setup(replicas: [("near", path)]))
    #expect(try await check(daemon).code == 0)
    try await daemon.start()
    let added = try await daemon.ctl("store", "add", "far", "sqlite", other)
    #expect(added.code == 1 && added.errors.contains("the file of the replica near"), "\(added)")
    let text = try String(contentsOfFile: daemon.configPath, encoding: .utf8)
    let item = try #require(text.split(separator: "\n").first { $0.contains("near.sqlite") })
    let second = item.replacing("near", with: "far").replacing("disk/far", with: "link/near")
    let both = text.replacing(item, with: "\(item)\n\(second)")
    try Data(both.utf8).write(to: URL(fileURLWithPath: daemon.configPath))
    let checked = try await check(daemon)
    #expect(
      checked.code == 78 && checked.errors.contains("replicas.far.path: \(other) is the file of"),
      "\(checked)\n\(both)")
    let reloaded = try await daemon.ctl("reload")
    #expect(reloaded.code != 0 && reloaded.errors.contains(other), "\(reloaded)")
    #expect(try daemon.status().replicas.map(\.name) == ["near"])
    #expect(await daemon.stop() == 0)
  }

  @Test func pathsThatLeadAstrayAreRefusedInTheConfigurationAndByCommand() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try await daemon.start()
    let cases = [
      ("\(folder.path)/a/../b.sqlite", "\"..\""),
      ("\(folder.path)/a\nb.sqlite", "control character"),
      ("\(folder.path)/a\u{7}.sqlite", "control character"), ("\(folder.path)/a/", "file"),
      ("\(daemon.localPath)-wal", "beside stores"),
      ("\(daemon.localPath)-journal", "beside stores"),
    ]
    for (path, words) in cases {
      let added = try await daemon.ctl("store", "add", "copy", "sqlite", path)
      #expect(added.code == 1 && added.errors.contains(words), "\(path): \(added.errors)")
      let quoted = path.replacingOccurrences(of: "\n", with: "\\n")
        .replacingOccurrences(of: "\u{7}", with: "\\a")
      let other = try Daemon(
        in: folder, Daemon.Setup(name: "other", extra: "replicas: [{name: c, path: \"\(quoted)\"}]")
      )
      let checked = try await check(other)
      #expect(checked.code == 78 && checked.errors.contains(words), "\(path): \(checked.errors)")
    }
    #expect(await daemon.stop() == 0)
  }

  @Test func aCheckOfTheConfigurationFailsOnAModelThatCannotBeUsed() async throws {
    let folder = try TemporaryFolder()
    func outcome(_ model: String) async throws -> Outcome {
      try await check(Daemon(in: folder, Daemon.Setup(model: model)))
    }
    let missing = try await outcome(folder.file("None.mom"))
    #expect(missing.code == 78)
    #expect(missing.errors.contains("model: the model \(folder.file("None.mom"))"), "\(missing)")
    try Data("no model".utf8).write(to: URL(fileURLWithPath: folder.file("Wrong.mom")))
    #expect(try await outcome(folder.file("Wrong.mom")).code == 78)
    try Thing.pipe.make(at: folder.file("Pipe.mom"))
    let pipe = try await outcome(folder.file("Pipe.mom"))
    #expect(pipe.code == 78 && pipe.errors.contains("pipe"), "\(pipe)")
    #expect(try await outcome("from-store").code == 78, "there is no store yet")
    let right = try await check(Daemon(in: folder))
    #expect(right.code == 0 && right.errors.isEmpty, "\(right)")
  }
}
