// cairnctl parked
import ArgumentParser
import CairnControl

struct ParkedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "parked", abstract: "See which references wait for records that have not arrived.",
    subcommands: [ParkedListCommand.self, ParkedAbandonCommand.self],
    defaultSubcommand: ParkedListCommand.self)
}

struct ParkedListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List what refers to which record, and who has that.")

  @OptionGroup var shared: SharedOptions

  @OptionGroup var list: WaitingOptions

  func run() throws {
    let client = try shared.connect()
    let pages = PagedList<ListParked.Reply, ParkedEntry>(
      limit: list.limit, isJSON: shared.json, entries: \.entries, next: \.next, lines: Self.lines,
      note: { Block.note(away: $0.away) })
    let (count, isMore) = try pages.show {
      try client.call(ListParked.self, .init(name: list.store, after: $1, limit: $0))
    }
    if isMore { Output.note("there is more: --limit \(list.limit * 10)") }
    if shared.json { return }
    if count == 0 { return Output.line("no reference waits") }
    Output.line("")
    Output.line("`cairnctl parked abandon ID` waits no longer for a record that is lost;")
    Output.line("should it come after all, what refers to it finds it")
  }

  private static func lines(_ entry: ParkedEntry) -> [String] {
    let what =
      entry.property.map { "referred to by \(entry.entity).\($0) of \(entry.record)" }
      ?? "united with \(entry.entity) \(entry.record)"
    let place =
      entry.isQuarantined
      ? "it waits in quarantine there: `cairnctl quarantine`"
      : entry.stores.isEmpty
        ? "no other store that is open has it"
        : "in \(entry.stores.joined(separator: ", "))"
    return [TerminalText.oneLine(entry.awaited)]
      + [what, "missing in \(entry.store); \(place)"].flatMap {
        TerminalText.wrapped($0, indent: "  ")
      }
  }
}

struct ParkedAbandonCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "abandon",
    abstract: "Wait no longer for records that are not going to come.",
    discussion: """
      For records that only a store had that is lost. Nothing is written to what refers to them: it \
      leads to nothing, as before, and holds up no wait any more. Should a record come after all, what \
      refers to it finds it.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: "IDs of the records that are missing, as `cairnctl parked` lists them.",
    completion: .parked)
  var records: [EntryID] = []

  @Flag(name: .long, help: "All records that references wait for.")
  var all = false

  func validate() throws {
    if records.isEmpty != all {
      throw ValidationError("Give the IDs of records, or --all.")
    }
  }

  func run() throws {
    let reply = try shared.connect().call(
      AbandonParked.self, .init(records: all ? nil : records.map(\.text)))
    if shared.json { return try Output.json(reply) }
    Output.line(
      reply.abandoned == 0
        ? "no reference waited"
        : "\(Readable.count(reply.abandoned, "reference waits", "references wait")) no longer")
  }
}
