// Every command of README and the operator's guide is run, or at least understood.
import CairnTesting
import Foundation
import TestSupport
import Testing

/// What people are told to type is understood.
///
/// Blocks marked `sh` are run, each line as it is, against a daemon with a replica `nas`. Of blocks marked
/// `shell`, which need root, systemd or a name of the reader's, and of code in running text, subcommand and
/// options are understood: `cairnctl` says that the daemon is not reachable, and not how it is used.
@Suite struct DocumentedCommandTests {
  private static let pages =
    ["README.md", "Sources/Cairn/Cairn.docc/OperatingSync.md"]
    + DocumentedPage.guide

  /// Programs of the system that the guide tells to type; they are not run.
  private static let system: Set<String> = [
    "systemctl", "journalctl", "runuser", "usermod", "df", "du", "mkdir", "mv", "cp", "id", "ls",
    "systemd-analyze",
  ]

  /// What names and values in capitals stand for, so that options are understood.
  private static let placeholders = [
    "ID": "0190C3A4-7B12-7C3D-8000-A1B2C3D4E5F6", "T": "2h", "NAME": "nas", "NAME|all": "nas",
    "FILE.sqlite": "/no/such/store.sqlite", "OUT.xcdatamodeld": "/no/such/out.xcdatamodeld",
    "REVISION": "1", "[PROPERTY]": "name",
  ]

  @Test func theGuideHasAPageForEachSymptomAndEachEndsInACommand() throws {
    #expect(DocumentedPage.guide.count == 11)
    let index = try String(
      contentsOfFile: Project.file("Sources/Cairn/Cairn.docc/Operating/OperatorsGuide.md"),
      encoding: .utf8)
    for path in DocumentedPage.guide where !path.hasSuffix("OperatorsGuide.md") {
      let page = try DocumentedPage(path)
      let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
      #expect(index.contains("| <doc:\(name)> |"), "\(name) stands in no line of the table")
      #expect(page.endsWithBlock, "\(path) does not end in a command")
      #expect(page.blocks.allSatisfy { ["sh", "shell"].contains($0) }, "\(path): \(page.blocks)")
      #expect(page.commands.last?.words.first == "cairnctl", "\(path)")
    }
  }

  @Test func whatCanBeRunAsItIsIsRun() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder, .init(replicas: [("nas", folder.file("nas.sqlite"))]))
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Package", "name=apt").code == 0)
    let program = try #require(Project.program("cairnctl"))
    var count = 0
    for path in DocumentedPage.guide {
      for command in try DocumentedPage(path).commands where command.isRun {
        #expect(command.words.first == "cairnctl", "\(command) is run, and is not cairnctl")
        let arguments = command.words.dropFirst().map {
          $0.hasPrefix("Config/") ? Project.file($0) : $0
        }
        let outcome = try await run(
          program, arguments, environment: ["CAIRN_SOCKET": daemon.socket])
        #expect(outcome.code == 0, "\(command): \(outcome.output)\(outcome.errors)")
        count += 1
      }
    }
    #expect(count > 15, "the pages are read wrongly")
    #expect(await daemon.stop() == 0)
  }

  @Test func everySubcommandAndOptionIsUnderstood() async throws {
    let program = try #require(Project.program("cairnctl"))
    let makefile = try String(contentsOfFile: Project.file("Makefile"), encoding: .utf8)
    var count = 0
    for path in Self.pages {
      for command in try DocumentedPage(path).commands {
        var words = command.words
        switch words.first {
        case "make":
          for target in words.dropFirst() where !target.contains("=") {
            #expect(makefile.contains("\n\(target):"), "\(command)")
          }
          continue
        case "runuser":
          // What comes after it is of cairnctl, or of the system.
          guard let dashes = words.firstIndex(of: "--") else { continue }
          words = Array(words[(dashes + 1)...])
        default: break
        }
        guard words.first == "cairnctl" || words.first == "ctl", words.count > 1 else { continue }
        if words.contains("|") || words.contains(where: { $0.contains("$") }) { continue }
        let outcome = try await understood(Array(words.dropFirst()), by: program)
        #expect(
          outcome.code != 64 && !outcome.errors.contains("Usage:"), "\(command): \(outcome.errors)")
        count += 1
      }
    }
    #expect(count > 80, "the pages are read wrongly: \(count)")
  }

  /// Runs a command where no daemon is.
  private func understood(_ words: [String], by program: String) async throws -> Outcome {
    var arguments = words.compactMap { word -> String? in
      if word == "…" || word == "SOURCES…" { return word == "…" ? nil : "/no/such/source" }
      return Self.placeholders[word]
        ?? word.replacingOccurrences(of: "[", with: "")
        .replacingOccurrences(of: "]", with: "")
    }
    // These would serve, or look for ever.
    if ["page", "browse"].contains(arguments[0]) {
      if arguments.count == 1, arguments[0] == "browse" { arguments.append("/no/such/file") }
      arguments += ["--listen", "/no/such/folder/socket"]
    }
    // A minute of its own, for which `SelfTestTests` waits.
    if arguments[0] == "self-test", !arguments.contains("--folder") {
      arguments += ["--folder", "/no/such/folder"]
    }
    return try await run(
      program, arguments, environment: ["CAIRN_SOCKET": "/no/such/folder/control"])
  }

  /// Moves the files of a store away, as the pages say.
  private func move(_ store: String, in folder: TemporaryFolder, to name: String) throws {
    let target = folder.file(name)
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    let prefix = URL(fileURLWithPath: store).lastPathComponent
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where file.hasPrefix(prefix) {
      try FileManager.default.moveItem(atPath: folder.file(file), toPath: "\(target)/\(file)")
    }
  }

  @Test func aCopyPutInPlaceByHandAndStoresMadeAnewEndInAGroupThatIsEqual() async throws {
    let folder = try TemporaryFolder()
    let nas = folder.file("nas.sqlite")
    let daemon = try Daemon(in: folder, .init(replicas: [("nas", nas)]))
    func isWhole(_ names: [String]) async throws {
      try await daemon.start()
      #expect(try await daemon.ctl("wait", "--for", "all", "--timeout", "60").code == 0)
      let verified = try await daemon.ctl("verify")
      #expect(verified.code == 0, "\(verified.output)\(verified.errors)")
      #expect(try daemon.status().problems.isEmpty)
      #expect(try await daemon.values("Package", "name") == names)
    }
    try await daemon.start()
    try await daemon.ctl("insert", "Package", "name=a")
    #expect(try await daemon.ctl("backup", "--as", "one").code == 0)
    try await daemon.ctl("insert", "Package", "name=b")
    #expect(try await daemon.ctl("wait", "--for", "nas").code == 0)
    #expect(await daemon.stop() == 0)
    try move(daemon.localPath, in: folder, to: "before")
    let copied = try await run("/bin/cp", ["-a", folder.file("backups/one/."), folder.path])
    #expect(copied.code == 0, "\(copied.errors)")
    // What the copy lacks comes back from the replica.
    try await isWhole(["a", "b"])
    #expect(await daemon.stop() == 0)
    try move(nas, in: folder, to: "damaged-replica")
    try await isWhole(["a", "b"])
    #expect(await daemon.stop() == 0)
    try move(daemon.localPath, in: folder, to: "damaged")
    try await isWhole(["a", "b"])
    #expect(await daemon.stop() == 0)
  }

  @Test func commandsOfTheSystemAreThoseThatAreMeant() throws {
    let known = Self.system.union(["cairnctl", "make"])
    for path in DocumentedPage.guide {
      let page = try DocumentedPage(path)
      let text = try String(contentsOfFile: Project.file(path), encoding: .utf8)
      var isInside = false
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("```") {
          isInside.toggle()
        } else if isInside, let program = line.split(separator: " ").first {
          #expect(known.contains(String(program)), "\(path): \(line)")
        }
      }
      #expect(!page.commands.isEmpty)
    }
  }

  @Test func theFiveMinutesOfTheReadmeWork() async throws {
    let text = try String(contentsOfFile: Project.file("README.md"), encoding: .utf8)
    let section = try #require(text.components(separatedBy: "## Five minutes with the daemon").last)
    let block = try #require(section.components(separatedBy: "```sh\n").dropFirst().first)
    let script = try #require(block.components(separatedBy: "```").first)
    let products = try #require(Project.products, "build the products first")
    // Building is done already, and elsewhere.
    let lines = script.split(separator: "\n").filter {
      !$0.hasPrefix("make build") && !$0.hasPrefix("bin=")
    }
    #expect(lines.count > 8)
    let outcome = try await run(
      "/bin/bash",
      [
        "-c",
        "set -eum\ncd '\(Project.file(""))'\nbin='\(products.path)'\n"
          + lines.joined(separator: "\n")
          + "\nwait\nrm -r \"$demo\"\n",
      ])
    #expect(outcome.code == 0, "\(outcome.output.suffix(2000))\(outcome.errors.suffix(2000))")
    #expect(outcome.output.contains("second  equal"), "\(outcome.output.suffix(500))")
  }
}
