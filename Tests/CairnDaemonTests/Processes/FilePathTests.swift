// Each command and each call that names a file, where something else has that name.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

/// Specification: operations.md 4, "path traversal".
@Suite struct FilePathTests {
  /// What has the name of a file and is none.
  enum Thing: String, CaseIterable {
    case folder, pipe, device, linkToPipe

    func make(at path: String) throws {
      let manager = FileManager.default
      switch self {
      case .folder:
        try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
      case .pipe: try #require(mkfifo(path, 0o600) == 0)
      case .device: try manager.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
      case .linkToPipe:
        try #require(mkfifo("\(path).pipe", 0o600) == 0)
        try manager.createSymbolicLink(atPath: path, withDestinationPath: "\(path).pipe")
      }
    }
  }

  /// What `cairnctl` reads without a daemon; `?` stands for the path.
  private static let readers: [[String]] = [
    ["inspect", "?"], ["inspect", "--model", "?", "/no/such/store"],
    ["fetch", "Item", "--file", "?"], ["fetch", "Item", "--file", "STORE", "--model", "?"],
    ["export", "--file", "?"], ["migrate", "?", "--to", "MODEL"],
    ["migrate", "?", "--to", "MODEL", "--dry-run"], ["migrate", "STORE", "--to", "?"],
    ["model", "show", "--file", "?"], ["model", "check", "?"], ["model", "diff", "?", "MODEL"],
    ["model", "diff", "MODEL", "?"], ["model", "convert", "?", "Out.mom"], ["model", "graph", "?"],
    ["config", "check", "?"],
  ]

  /// The files of cairnctl's sources whose commands take a file, and where it is tried.
  private static let takers: [String: String] = [
    "SharedOptions.swift": "--socket: a socket, which is no file to read or write",
    "SourceOptions.swift": "fetch, export", "ModelShowCommand.swift": "model show",
    "ModelCheckCommand.swift": "model check, convert, graph",
    "ModelDiffCommand.swift": "model diff",
    "InspectCommand.swift": "inspect", "MigrateCommand.swift": "migrate",
    "ConfigCommand.swift": "config check", "StoreAddCommand.swift": "PathRuleTests",
    "ImportCommand.swift": "a pipe and a device are as good as a file; BadInputTests",
    "SupportBundleCommand.swift": "whatIsWrittenTakesNothingElsesPlace",
    "MetricsCommand.swift": "whatIsWrittenTakesNothingElsesPlace",
    "SelfTestCommand.swift": "a folder; SelfTestTests try one that is none, and another user's",
  ]

  @Test func noOtherCommandTakesAFile() throws {
    let root = Project.file("Sources/cairnctl")
    let all = FileManager.default.enumerator(atPath: root)?.allObjects.compactMap { $0 as? String }
    let found = try (all ?? []).filter { $0.hasSuffix(".swift") }.filter {
      let text = try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8)
      return text.contains("completion: .file(") || text.contains("completion: .directory")
    }
    #expect(
      Set(found.map { ($0 as NSString).lastPathComponent }) == Set(Self.takers.keys),
      "a command takes a file: try it here, then list it")
  }

  @Test func noOtherParameterOfACallNamesAFile() {
    let words = [
      "path", "file", "folder", "location", "backup", "label", "directory", "destination",
    ]
    let found = ServiceDescription(methods: GoldenReplay.methods).interfaces.flatMap { interface in
      interface.methods.flatMap { method in
        method.parameters.filter { parameter in
          words.contains { parameter.name.lowercased().contains($0) }
        }.map { "\(interface.name).\(method.name) \($0.name)" }
      }
    }
    // PathRuleTests, BackupTests and RestoreTests try them.
    #expect(
      Set(found) == [
        "io.cairn.Store.Add location", "io.cairn.Store.Backup label",
        "io.cairn.Store.Restore backup",
      ])
  }

  @Test(.timeLimit(.minutes(5)), arguments: Thing.allCases)
  func whatIsNoFileIsRefusedAndNobodyWaitsForIt(_ thing: Thing) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("it")
    try thing.make(at: path)
    let daemon = try await Daemon.withStock(hasReplica: false)
    #expect(try await daemon.ctl("insert", "Item", "name=nut").code == 0)
    #expect(await daemon.stop() == 0)
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for words in Self.readers {
      let arguments = words.map { word in
        switch word {
        case "?": path
        case "STORE": daemon.localPath
        case "MODEL": daemon.setup.model
        case "Out.mom": folder.file("Out.mom")
        default: word
        }
      }
      let outcome = try await run(
        "/usr/bin/timeout", ["60", program] + arguments,
        environment: ["CAIRN_SOCKET": "/no/such/socket"])
      #expect(outcome.code == 1 || outcome.code == 64, "\(words): \(outcome)")
      #expect(!outcome.errors.isEmpty || !outcome.output.isEmpty)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
  }

  @Test(.timeLimit(.minutes(5)), arguments: Thing.allCases)
  func whatIsWrittenTakesNothingElsesPlace(_ thing: Thing) async throws {
    let daemon = try await Daemon.withStock(hasReplica: false)
    let path = daemon.folder.file("it")
    try thing.make(at: path)
    var before = stat()
    try #require(lstat(path, &before) == 0)
    let program = try #require(Project.program("cairnctl"), "build the products first")
    for words in [["support-bundle", path], ["metrics", "--textfile", path]] {
      let outcome = try await run(
        "/usr/bin/timeout", ["60", program] + words, environment: ["CAIRN_SOCKET": daemon.socket])
      #expect(outcome.code == 1 || outcome.code == 64, "\(words): \(outcome)")
      var after = stat()
      #expect(lstat(path, &after) == 0)
      #expect(after.st_ino == before.st_ino && after.st_mode == before.st_mode, "\(words)")
    }
    #expect(await daemon.stop() == 0)
  }
}
