// cairnctl quarantine
import ArgumentParser
import CairnControl

struct QuarantineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quarantine", abstract: "See what arrived and cannot be made visible.",
    subcommands: [
      QuarantineListCommand.self, QuarantineShowCommand.self, QuarantineRetryCommand.self,
      QuarantineDiscardCommand.self,
    ],
    defaultSubcommand: QuarantineListCommand.self)
}

struct QuarantineListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List what waits, and why.")

  @OptionGroup var shared: SharedOptions

  @OptionGroup var list: WaitingOptions

  func run() throws {
    let count = try QuarantineText.list(shared, list, reason: nil)
    if shared.json { return }
    if count == 0 { return Output.line("nothing waits") }
    Output.line("")
    Output.line("`cairnctl quarantine retry` tries all of it now;")
    Output.line("`cairnctl quarantine show ID` tells what discarding would do")
  }
}

struct QuarantineShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one thing that waits.")

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The ID, as `cairnctl quarantine` lists it.", completion: .quarantined)
  var id: String

  func run() throws {
    let entry = try shared.connect().call(GetQuarantined.self, .init(id: id)).entry
    if shared.json { return try Output.json(entry) }
    QuarantineText.lines(entry).forEach(Output.line)
    TerminalText.wrapped("discarding it: \(entry.discard)", indent: "  ").forEach(Output.line)
    Output.line("")
    if entry.reason == .clockSkew, let record = entry.record {
      Output.line("`cairnctl held accept --record \(record)` believes it")
      return
    }
    Output.line("`cairnctl quarantine retry ID` tries it now")
    if entry.canDiscard { Output.line("`cairnctl quarantine discard ID` gives it up") }
  }
}

struct QuarantineRetryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Try now what waits, instead of with the next pass.")

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: "IDs, as `cairnctl quarantine` lists them; all when left out.", completion: .quarantined)
  var ids: [String] = []

  @Option(name: .long, help: "All that waits in this store.", completion: .stores)
  var store: String?

  func validate() throws {
    if !ids.isEmpty, store != nil { throw ValidationError("Give IDs or --store, not both.") }
  }

  func run() throws {
    let reply = try shared.connect().call(
      RetryQuarantine.self, .init(ids: ids.isEmpty ? nil : ids, name: store))
    if shared.json { return try Output.json(reply) }
    for entry in reply.waiting {
      QuarantineText.lines(entry).forEach(Output.line)
      Output.line("")
    }
    Output.line(
      "\(Readable.count(reply.released, "is", "are")) visible now, "
        + "\(Readable.count(reply.waiting.count, "waits", "wait")) still")
  }
}

struct QuarantineDiscardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discard",
    abstract: "Give up what waits: the store's own values stay, everywhere.",
    discussion: """
      Without --revision it says what would happen and the command that makes it happen. What is lost \
      is in the conflict journal, from where `cairnctl conflicts restore` brings it back.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The ID, as `cairnctl quarantine` lists it.", completion: .quarantined)
  var id: String

  @Option(
    name: .long,
    help: "The consent: the revision that was shown. A change since then is noticed.")
  var revision: String?

  func run() throws {
    let client = try shared.connect()
    guard let revision else {
      let entry = try client.call(GetQuarantined.self, .init(id: id)).entry
      guard entry.canDiscard else {
        throw CommandFailure(
          message: "\(id) cannot be discarded: \(entry.discard)",
          hint: entry.reason == .clockSkew
            ? "`cairnctl held` shows what to do"
            : "`cairnctl quarantine show \(id)` says what it waits for")
      }
      throw CommandFailure(
        message: "nothing was discarded yet; this would happen: \(entry.discard)",
        hint: "`cairnctl quarantine discard \(id) --revision \(entry.revision)` does it")
    }
    let reply = try client.call(DiscardQuarantine.self, .init(id: id, revision: revision))
    if shared.json { return try Output.json(reply) }
    Output.line("discarded \(id)")
    if reply.lost > 0 {
      let those = Readable.count(reply.lost, "value is", "values are")
      Output.line("\(those) in the journal: `cairnctl conflicts --rule discarded`")
    }
  }
}

struct HeldCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "held", abstract: "See what waits because it was written in the future.",
    subcommands: [HeldListCommand.self, HeldAcceptCommand.self],
    defaultSubcommand: HeldListCommand.self)
}

struct HeldListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List what waits for time, who wrote it and how far ahead.")

  @OptionGroup var shared: SharedOptions

  @OptionGroup var list: WaitingOptions

  func run() throws {
    let count = try QuarantineText.list(shared, list, reason: .clockSkew)
    if shared.json { return }
    if count == 0 { return Output.line("nothing is held") }
    Output.line("")
    Output.line("If this machine's clock is wrong, set it: what is held goes on by itself.")
    Output.line("If it is right, `cairnctl held accept` believes what was written.")
  }
}

struct HeldAcceptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept", abstract: "Believe what was written in the future.",
    discussion: """
      It is merged at once, with the times that its writers gave: it wins over everything written here \
      until then. Later writes that are as far ahead wait again, unless they replace what was accepted.
      """)

  @OptionGroup var shared: SharedOptions

  @Option(name: .long, help: "Only what waits in this store.", completion: .stores)
  var store: String?

  @Option(name: .long, help: "Only what this store wrote, by the name or UUID in the list.")
  var writer: String?

  @Option(name: .long, help: "Only the record with this ID.")
  var record: EntryID?

  func validate() throws {
    if writer != nil, record != nil {
      throw ValidationError("Give --writer or --record, not both.")
    }
  }

  func run() throws {
    let reply = try shared.connect().call(
      AcceptHeld.self, .init(name: store, writer: writer, record: record?.text))
    if shared.json { return try Output.json(reply) }
    Output.line(
      reply.accepted == 0
        ? "nothing was held" : "accepted \(Readable.count(reply.accepted, "change"))")
  }
}

/// What waits, as text.
enum QuarantineText {
  /// Lists what waits; returns how many there were.
  static func list(
    _ shared: SharedOptions, _ options: WaitingOptions, reason: QuarantinedEntry.Reason?
  ) throws -> Int {
    let client = try shared.connect()
    let list = PagedList<ListQuarantine.Reply, QuarantinedEntry>(
      limit: options.limit, isJSON: shared.json, entries: \.entries, next: \.next, lines: lines,
      note: { Block.note(away: $0.away, damaged: $0.damaged) })
    let (count, isMore) = try list.show {
      try client.call(
        ListQuarantine.self, .init(name: options.store, reason: reason, after: $1, limit: $0))
    }
    if isMore { Output.note("there is more: --limit \(options.limit * 10)") }
    return count
  }

  static func lines(_ entry: QuarantinedEntry) -> [String] {
    var what = entry.isDelete ? "a delete of \(entry.entity)" : entry.entity
    if !entry.properties.isEmpty, !entry.isDelete {
      what += ": \(entry.properties.joined(separator: ", "))"
    }
    var lines = [TerminalText.oneLine(entry.id)]
    lines += TerminalText.wrapped(what, indent: "  ")
    lines += TerminalText.wrapped(
      "waits in \(entry.store) since \(Readable.moment(entry.since)), from \(entry.source)",
      indent: "  ")
    if let ahead = entry.ahead {
      lines += TerminalText.wrapped(
        "written \(Readable.seconds(ahead)) ahead of this machine's clock by "
          + entry.writers.joined(separator: ", "), indent: "  ")
    } else {
      lines += TerminalText.wrapped(entry.message, indent: "  ")
    }
    return lines
  }
}
