// cairnctl conflicts
import ArgumentParser
import CairnControl

struct ConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts", abstract: "See what merging decided against, and take it back.",
    subcommands: [
      ConflictListCommand.self, ConflictShowCommand.self, ConflictRestoreCommand.self,
    ],
    defaultSubcommand: ConflictListCommand.self)
}

struct ConflictListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List concurrent values that lost, oldest first.",
    discussion: """
      Times are dates (2026-03-14), times (2026-03-14T15:09, UTC unless they say otherwise) or ages \
      (90m, 12h, 7d).
      """)

  @OptionGroup var shared: SharedOptions

  @Option(name: .long, help: "Merged at this time or later: 2026-03-14, 2026-03-14T15:09 or 12h.")
  var since: Moment?

  @Option(name: .long, help: "Merged before this time: 2026-03-14, 2026-03-14T15:09 or 12h.")
  var until: Moment?

  @Option(name: .long, help: "Only of this entity.", completion: .entities)
  var entity: String?

  @Option(name: .long, help: "Only of the record with this ID.")
  var record: EntryID?

  @Option(name: .long, help: "Only of this property.", completion: .properties)
  var property: String?

  @Option(
    name: .long,
    help:
      "Only decided by this rule: lastWriter, deleteWon, writeWon, united, contradiction, discarded, reverted."
  )
  var rule: [JournaledConflictEntry.Rule] = []

  @Option(name: .long, help: "Only in the journal of this store.", completion: .stores)
  var store: String?

  @OptionGroup var length: LengthOption

  func run() throws {
    let client = try shared.connect()
    var parameters = ListConflicts.Parameters(
      name: store, since: since?.date, until: until?.date, entity: entity, record: record?.text,
      property: property, rules: rule.isEmpty ? nil : rule)
    let list = PagedList<ListConflicts.Reply, JournaledConflictEntry>(
      limit: length.limit, isJSON: shared.json, entries: \.conflicts, next: \.next,
      lines: { ConflictText.lines($0) },
      note: { Block.note(away: $0.away, damaged: $0.damaged) })
    let (count, isMore) = try list.show {
      parameters.limit = $0
      parameters.after = $1
      return try client.call(ListConflicts.self, parameters)
    }
    if shared.json { return }
    if count == 0 { return Output.line("no conflicts") }
    Output.line("")
    Output.line(
      Readable.count(count, "conflict") + (isMore ? ", and more: --limit \(length.limit * 10)" : "")
        + "; `cairnctl conflicts restore ID` writes a losing value back")
  }
}

struct ConflictShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one conflict, with its values in full.")

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: "The conflict's ID, as `cairnctl conflicts` lists it.", completion: .conflicts)
  var id: EntryID

  func run() throws {
    let reply = try shared.connect().call(GetConflict.self, .init(id: id.text))
    if shared.json { return try Output.json(reply.conflict) }
    ConflictText.lines(reply.conflict, isFull: true).forEach(Output.line)
  }
}

struct ConflictRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Write a losing value back, as a new change.",
    discussion: """
      The value is written in the local store by an ordinary save and travels to all replicas. What it \
      replaces is no conflict. A deleted record comes back with what the stores still know of it.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: "The conflict's ID, as `cairnctl conflicts` lists it.", completion: .conflicts)
  var id: EntryID

  @Option(name: .long, help: "The author in the history (cairn.restore when left out).")
  var author: String?

  func run() throws {
    let reply = try shared.connect().call(
      RestoreConflict.self, .init(id: id.text, author: author))
    if shared.json { return try Output.json(reply) }
    let conflict = reply.conflict
    let place = "\(conflict.entity) \(reply.record)"
    guard reply.changed else { return Output.line("\(place) is so already; nothing was written") }
    let what =
      switch (conflict.property, conflict.isPlace) {
      case (nil, _): "is deleted again"
      case (let name?, true): "has its place in \(name) again"
      case (let name?, false):
        "has \(name) \(TerminalText.cut(conflict.lost.text, to: 60)) again"
      }
    TerminalText.wrapped(
      "\(place) \(reply.revived && conflict.property != nil ? "is back and " : "")\(what)"
    ).forEach(Output.line)
  }
}

extension JournaledConflictEntry.Rule: ExpressibleByArgument {}

/// A conflict as text.
enum ConflictText {
  static func lines(_ conflict: JournaledConflictEntry, isFull: Bool = false) -> [String] {
    var head = "  \(conflict.entity) \(conflict.record)"
    if let property = conflict.property { head += "  \(property)" }
    var lines = [
      "\(conflict.id)  \(Readable.moment(conflict.at))", TerminalText.oneLine(head),
    ]
    if let member = conflict.member {
      lines.append("  \(conflict.isPlace ? "place of" : "link with") \(member)")
    }
    if isFull {
      lines +=
        full("lost", conflict.lost, conflict.losingText)
        + full("won", conflict.won, conflict.winningText)
      lines.append("  rule  \(conflict.rule.words)")
      lines += TerminalText.wrapped(
        "noted in \(conflict.journals.joined(separator: ", "))", indent: "  ")
      lines.append("")
      lines.append("`cairnctl conflicts restore \(conflict.id)`")
      lines.append("writes the losing value back")
    } else {
      let text = [conflict.losingText, conflict.winningText]
      let ends = [
        "\(Readable.moment(conflict.lost.at))  \(conflict.lost.store)",
        "\(Readable.moment(conflict.won.at))  \(conflict.won.store)",
      ]
      let room = max(8, TerminalText.columns - 10 - (ends.map(TextTable.width).max() ?? 0))
      let values = text.map { TerminalText.cut($0, to: room) }
      let width = values.map(TextTable.width).max() ?? 0
      for (label, index) in [("lost", 0), ("won ", 1)] {
        lines.append(
          "  \(label)  \(TerminalText.padded(values[index], to: width))  "
            + TerminalText.oneLine(ends[index]))
      }
      lines.append("  \(conflict.rule.words)")
    }
    return lines
  }

  /// The value that lost, when and where it was written, and the rule.
  static func losing(_ conflict: JournaledConflictEntry) -> [String] {
    let end = "\(Readable.moment(conflict.lost.at))  \(TerminalText.oneLine(conflict.lost.store))"
    let room = max(8, TerminalText.columns - 6 - TextTable.width(end))
    return [
      TerminalText.cut(conflict.losingText, to: room) + "  " + end
    ]
  }

  private static func full(
    _ label: String, _ written: WrittenValue, _ text: String
  ) -> [String] {
    let label = TerminalText.padded(label, to: 4)
    return [
      "  \(label)  \(TerminalText.oneLine(text))",
      "        written \(Readable.moment(written.at)) in \(TerminalText.oneLine(written.store))",
    ]
  }
}
