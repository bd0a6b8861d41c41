// cairnctl model diff
import ArgumentParser
import CairnControl
import CairnRecords
import Foundation

struct ModelDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two versions of a model, and say how stores get from one to the other.",
    discussion: """
      Reads model files and packages, or the models that SQLite stores keep inside; of a package the current \
      version, unless another is named. Shows what is added, removed, renamed and changed, whether a \
      lightweight migration can follow, and what it would drop. Needs no daemon.
      Example: cairnctl model diff Library.xcdatamodeld Library.xcdatamodeld --old-version Library
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: ArgumentHelp("The old model.", valueName: "old"), completion: .file())
  var oldPath: String

  @Argument(help: ArgumentHelp("The new model.", valueName: "new"), completion: .file())
  var newPath: String

  @Option(
    help: ArgumentHelp("The version of the old model's package.", valueName: "name"))
  var oldVersion: String?

  @Option(
    help: ArgumentHelp("The version of the new model's package.", valueName: "name"))
  var newVersion: String?

  func run() throws {
    let old = try ModelFileVersion(oldPath, version: oldVersion, timeout: shared.timeout)
    let new = try ModelFileVersion(newPath, version: newVersion, timeout: shared.timeout)
    let mapping =
      new.file.mapping(from: old.model, to: new.model)
      ?? old.file.mapping(from: old.model, to: new.model)
    let comparison = ModelComparison(
      old.side, old.model, new.side, new.model, mapping: mapping?.url)
    if shared.json { return try Output.json(comparison) }
    ModelDiffText.lines(comparison).forEach(Output.line)
  }
}

/// A comparison as text.
enum ModelDiffText {
  static func lines(_ comparison: ModelComparison, style: TerminalStyle = .output) -> [String] {
    var lines = [
      TerminalText.oneLine("old  \(comparison.old.version), \(comparison.old.checksum)"),
      TerminalText.oneLine("new  \(comparison.new.version), \(comparison.new.checksum)"),
    ]
    for entity in comparison.entities {
      lines.append("")
      lines += part(
        mark: entity.change, name: entity.name, was: entity.was, details: entity.details,
        remark: nil, indent: "", style)
      for property in entity.properties {
        lines += part(
          mark: property.change, name: property.name, was: property.was,
          details: property.details, remark: property.isStored ? nil : "not in version hashes",
          indent: "  ", style)
      }
    }
    lines.append("")
    return lines + way(comparison)
  }

  private static func part(
    mark: ModelComparison.Change, name: String, was: String?, details: [String], remark: String?,
    indent: String, _ style: TerminalStyle
  ) -> [String] {
    let (sign, tone): (String, TerminalStyle.Tone) =
      switch mark {
      case .added: ("+", .good)
      case .removed: ("-", .bad)
      case .renamed, .changed: ("~", .warning)
      }
    var rest = details
    if let was { rest.insert("was \(was)", at: 0) }
    if let remark, mark == .changed { rest.append(remark) }
    let head = "\(indent)\(style(sign, tone)) \(TerminalText.oneLine(name))"
    guard !rest.isEmpty else { return [head] }
    let text = TerminalText.oneLine(rest.joined(separator: "; "))
    if TextTable.width("\(indent)\(sign) \(name)  \(text)") <= TerminalText.columns {
      return ["\(head)  \(text)"]
    }
    return [head] + TerminalText.wrapped(text, indent: indent + "    ")
  }

  /// How stores get from the old version to the new one, and what that costs.
  static func way(_ comparison: ModelComparison) -> [String] {
    var lines: [String] = []
    switch comparison.way {
    case .none: lines.append("stores fit both: nothing has to be migrated")
    case .lightweight where comparison.needsValues.isEmpty:
      lines.append("stores can follow by lightweight migration")
    case .lightweight:
      lines += TerminalText.wrapped(
        "stores can follow by lightweight migration if they have no rows there: these must have a value, "
          + "and get none: \(comparison.needsValues.joined(separator: ", "))")
    case .mapping:
      lines += TerminalText.wrapped(
        "stores follow by the mapping model \(comparison.mapping ?? "")", indent: "")
    case .missing:
      lines.append("stores need a mapping model, and none is in the packages or beside them:")
    }
    func list(_ label: String, _ items: [String]) {
      guard !items.isEmpty else { return }
      lines += TerminalText.wrapped("\(label): \(items.joined(separator: ", "))")
    }
    if comparison.way != .mapping {
      for refusal in comparison.refusals {
        lines += TerminalText.wrapped("\(refusal.place): \(refusal.reason)", indent: "  ")
      }
      list("dropped with their values", comparison.drops)
      list("names and renaming identifiers say different things of", comparison.uncertain)
    }
    return lines
  }
}
