// cairnctl config
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Check and show the daemon's configuration.",
    subcommands: [ConfigCheckCommand.self, ConfigCatCommand.self])
}

struct ConfigCatCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cat",
    abstract: "Show the configuration in use, and where each value comes from.",
    discussion: """
      What was written into the files since the daemon's start or its last reload is not in it: \
      cairnctl config check looks at them, cairnctl reload takes them over.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "Only this key, or the keys of this group, such as sync or replicas.nas.")
  var key: String?

  func run() throws {
    var reply = try shared.connect().call(GetConfiguration.self, NoValues())
    if let key {
      let all = reply.settings
      reply.settings = all.filter { $0.key == key || $0.key.hasPrefix("\(key).") }
      if reply.settings.isEmpty {
        let nearest = NearestName.find(key, among: all.map(\.key))
        throw CommandFailure(
          message: "the configuration has no key \"\(key)\""
            + (nearest.map { "; did you mean \"\($0)\"?" } ?? ""),
          hint: "`cairnctl config cat` lists them")
      }
    }
    if shared.json { return try Output.json(reply) }
    var table = TextTable(["KEY", "VALUE", "FROM"])
    for setting in reply.settings {
      table.add([
        .init(setting.key), .init(setting.value ?? "-"), .init(Self.source(of: setting)),
      ])
    }
    table.lines().forEach(Output.line)
  }

  private static func source(of setting: GetConfiguration.Setting) -> String {
    if setting.source == GetConfiguration.Setting.commandSource { return "cairnctl log-level" }
    return setting.source + (setting.line.map { ":\($0)" } ?? "")
  }
}

struct ConfigCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a configuration, without the daemon.",
    discussion: """
      Reports what `cairnd --check-config` does: all problems at once, each with file, line and key. \
      Nothing is changed. Run it as a user that may read the files.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: "The configuration file; /etc/cairn/cairnd.yaml when left out.",
    completion: .file(extensions: ["yaml"]))
  var file: String?

  @Option(
    name: .customLong("set"), parsing: .singleValue,
    help: ArgumentHelp("Override one key, as with cairnd.", valueName: "key=value"))
  var settings: [String] = []

  private struct Report: Encodable {
    let file: String
    let problems: [String]
  }

  func run() throws {
    // The daemon's own word: a second reader of the files might see them in another way.
    let path = file ?? "/etc/cairn/cairnd.yaml"
    let daemon = Process()
    daemon.executableURL = try Self.program()
    daemon.arguments =
      ["--check-config", "--config", path] + settings.flatMap { ["--set", $0] }
    let errors = Pipe()
    daemon.standardError = errors
    daemon.standardInput = FileHandle.nullDevice
    do {
      try daemon.run()
    } catch {
      throw CommandFailure(
        message: "cairnd cannot be run: \(error.localizedDescription)",
        hint: "it belongs beside cairnctl: \(Self.folder.path)")
    }
    let text = String(
      decoding: (try? errors.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
    daemon.waitUntilExit()
    let isValid = daemon.terminationReason == .exit && daemon.terminationStatus == 0
    let problems = text.split(separator: "\n").map(String.init)
    if shared.json {
      try Output.json(Report(file: path, problems: isValid ? [] : problems))
      if isValid { return }
      throw ExitCode(1)
    }
    guard isValid else {
      let isKnown = daemon.terminationReason == .exit && daemon.terminationStatus == 78
      throw CommandFailure(
        message: isKnown
          ? "\(Readable.count(problems.count, "problem")) in the configuration:\n"
            + problems.map { "  \($0)" }.joined(separator: "\n")
          : "cairnd ended with \(daemon.terminationStatus): \(text)",
        hint: isKnown
          ? "correct the lines named, then: cairnctl config check \(ShellWord.path(path))"
          : "see what it says by itself: cairnd --check-config --config \(ShellWord.path(path))")
    }
    Output.line("\(TerminalText.oneLine(path)) is in order")
  }

  private static var folder: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
  }

  /// The daemon's program of the same installation.
  private static func program() throws -> URL {
    let beside = folder.appendingPathComponent("cairnd")
    guard FileManager.default.isExecutableFile(atPath: beside.path) else {
      throw CommandFailure(
        message: "there is no cairnd in \(folder.path)", hint: "install both programs together")
    }
    return beside
  }
}
