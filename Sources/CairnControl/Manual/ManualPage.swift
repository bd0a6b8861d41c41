// Manual pages from what a command line says of itself.

/// A manual page for `man`, made of a program's own description of its command line.
public struct ManualPage: Sendable {
  /// A part that the command line does not tell.
  public struct Part: Sendable {
    let title: String
    let text: String
    let entries: [(term: String, text: String)]

    public init(_ title: String, text: String = "", entries: [(String, String)] = []) {
      self.title = title
      self.text = text
      self.entries = entries
    }
  }

  private let section: Int
  private let command: HelpCommand
  private let rest: [Part]

  /// - Parameters:
  ///   - section: Of the manual, such as 8 for programs of administrators.
  ///   - description: What ArgumentParser writes for `--experimental-dump-help`.
  ///   - rest: What follows, in this order.
  /// - Throws: `JSONProblem` or a `DecodingError` for a description that cannot be read.
  public init(section: Int, describedBy description: String, rest: [Part]) throws {
    self.section = section
    let value = try JSONParser.parse(Array(description.utf8))
    command = try JSONValueDecoder.decode(HelpDump.self, from: value).command
    self.rest = rest
  }

  /// The page in the language of `troff`, with the macros of `man`.
  public var text: String {
    var page = Troff()
    let name = command.commandName
    page.macro(
      "TH", [name.uppercased(), "\(section)", "", "Cairn \(CairnVersion.text)", "Cairn"])
    page.macro("SH", ["Name"])
    page.line("\(name) - \(command.abstract ?? "")")
    page.macro("SH", ["Synopsis"])
    page.synopsis(of: command, path: name)
    page.macro("SH", ["Description"])
    page.paragraph(command.abstract)
    page.paragraph(command.discussion)
    page.macro("SH", ["Options"])
    let shared = Set(command.shownArguments.map(\.key))
    page.arguments(command.shownArguments)
    let commands = command.shownCommands
    if !commands.isEmpty {
      page.macro("SH", ["Commands"])
      if !shared.isEmpty { page.line("Each takes the options above, too.") }
      for inner in commands { page.section(of: inner, path: name, without: shared) }
    }
    for part in rest {
      page.macro("SH", [part.title])
      page.paragraph(part.text)
      for entry in part.entries { page.entry(entry.term, entry.text) }
    }
    return page.text
  }
}

/// The outermost object of a description.
private struct HelpDump: Decodable {
  let command: HelpCommand
}

/// A command as ArgumentParser describes it.
private struct HelpCommand: Decodable {
  let commandName: String
  let abstract: String?
  let discussion: String?
  let shouldDisplay: Bool
  let subcommands: [HelpCommand]?
  let arguments: [HelpArgument]?

  var shownArguments: [HelpArgument] { (arguments ?? []).filter(\.shouldDisplay) }
  /// ArgumentParser's own `help` says nothing that the page does not.
  var shownCommands: [HelpCommand] {
    (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
  }
}

/// An argument, option or flag.
private struct HelpArgument: Decodable {
  struct Name: Decodable {
    let kind: String
    let name: String
    var spelling: String { (kind == "long" ? "--" : "-") + name }
  }

  let kind: String
  let shouldDisplay: Bool
  let isOptional: Bool
  let isRepeating: Bool
  let names: [Name]?
  let valueName: String?
  let defaultValue: String?
  let abstract: String?
  let discussion: String?

  /// Tells one from another in different commands.
  var key: String { (names ?? []).map(\.spelling).joined(separator: ",") + (abstract ?? "") }

  private var value: String { "<\(valueName ?? "value")>" }

  /// As in a synopsis.
  var usage: String {
    let spelled = names?.first { $0.kind == "long" } ?? names?.first
    let dots = isRepeating ? "..." : ""
    switch kind {
    case "flag": return "[\(spelled?.spelling ?? "")]"
    case "option":
      let text = "\(spelled?.spelling ?? "") \(value)"
      return isOptional ? "[\(text)]\(dots)" : text + dots
    default: return isOptional ? "[\(value)\(dots)]" : value + dots
    }
  }

  /// As before its explanation.
  var term: String {
    guard let names, !names.isEmpty else { return value }
    return names.map(\.spelling).joined(separator: ", ") + (kind == "option" ? " \(value)" : "")
  }

  var explanation: String {
    var text = [abstract, discussion].compactMap { $0 }.joined(separator: " ")
    if let defaultValue, kind != "flag" {
      text += text.isEmpty ? "Default: \(defaultValue)." : " Default: \(defaultValue)."
    }
    return text
  }
}

extension Troff {
  fileprivate mutating func arguments(_ arguments: [HelpArgument]) {
    for argument in arguments { entry(argument.term, argument.explanation) }
  }

  fileprivate mutating func synopsis(of command: HelpCommand, path: String) {
    let words =
      command.shownArguments.filter { ($0.names ?? []).allSatisfy { $0.name != "help" } }
      .map(\.usage) + (command.shownCommands.isEmpty ? [] : ["<command>"])
    usage(path, words.joined(separator: " "))
  }

  /// A command and those within it.
  fileprivate mutating func section(
    of command: HelpCommand, path: String, without shared: Set<String>
  ) {
    let path = "\(path) \(command.commandName)"
    let own = command.shownArguments.filter {
      !shared.contains($0.key) && ($0.names ?? []).allSatisfy { $0.name != "help" }
    }
    macro("SS", [([path] + own.map(\.usage)).joined(separator: " ")])
    paragraph(command.abstract)
    paragraph(command.discussion)
    arguments(own)
    for inner in command.shownCommands { section(of: inner, path: path, without: shared) }
  }
}
