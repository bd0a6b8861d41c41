// cairnctl model check
import ArgumentParser
import CairnControl
import CairnRecords

struct ModelCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Say what is wrong with a model, and where.",
    discussion: """
      Reads every version of a .xcdatamodeld or .momd, a .xcdatamodel, a .mom, or the model that a SQLite \
      store keeps inside. Errors keep stores from being opened; remarks are rarely meant: relationships \
      without an inverse, versions that are the same, old versions that stores cannot leave. Ends with 1 when \
      there are errors, with --strict also when there are remarks. Needs no daemon.
      Example: cairnctl model check Library.xcdatamodeld
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: ArgumentHelp("A model file or package, or a SQLite store.", valueName: "file"),
    completion: .file())
  var path: String

  @Flag(help: "Remarks are errors, too.")
  var strict = false

  func run() throws {
    let check = ModelCheck(try InspectedFile.modelVersions(path, timeout: shared.timeout))
    if shared.json {
      try Output.json(check)
    } else {
      Self.lines(check).forEach(Output.line)
    }
    if check.hasErrors || strict && !check.findings.isEmpty { throw ExitCode(1) }
  }

  private static func lines(_ check: ModelCheck, style: TerminalStyle = .output) -> [String] {
    var lines: [String] = []
    for version in check.versions {
      var text = version.name
      if check.versions.count > 1, version.name == check.current { text += " (current)" }
      if let entities = version.entities, let checksum = version.checksum {
        text += ", \(Readable.count(entities, "entity", "entities")), \(checksum)"
      } else {
        text += ", cannot be read"
      }
      lines.append(TerminalText.oneLine(text))
    }
    for finding in check.findings {
      lines.append("")
      let label = style(finding.severity.rawValue, finding.severity == .error ? .bad : .warning)
      let place = finding.place ?? finding.line.map { "line \($0)" }
      let head = [finding.version, place].compactMap { $0 }.joined(separator: ": ")
      lines.append("\(label)  \(TerminalText.oneLine(head)) (\(finding.code))")
      lines += TerminalText.wrapped(finding.message, indent: "  ")
    }
    if check.findings.isEmpty { lines.append("nothing is wrong") }
    return lines
  }
}
