// cairnctl revert
import ArgumentParser
import CairnControl

struct RevertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revert", abstract: "Take back what an author or a store wrote, as a new change.",
    discussion: """
      What others wrote since stays. Inserted records are deleted unless others need them, deleted \
      ones come back with what is still known of them. All is done in one transaction, and can be \
      reverted itself. Times are dates (2026-03-14), times (2026-03-14T15:09) or ages (90m, 12h, 7d).
      """)

  @OptionGroup var shared: SharedOptions

  @Option(name: .long, help: "What this author wrote, by its name in the history.")
  var author: String?

  @Option(
    name: .long, help: "All that this store wrote, by its name or UUID.", completion: .stores)
  var store: String?

  @Option(name: .long, help: "Written at this time or later: 2026-03-14, 2026-03-14T15:09 or 12h.")
  var since: Moment

  @Option(name: .long, help: "Written before this time: 2026-03-14, 2026-03-14T15:09 or 12h.")
  var until: Moment?

  @Flag(name: .long, help: "Only show what would be done.")
  var dryRun = false

  @Option(name: .long, help: "Do it only if it is what this dry run showed.")
  var plan: String?

  @Option(name: .long, help: "The author of the change (cairn.revert when left out).")
  var by: String?

  func validate() throws {
    if (author == nil) == (store == nil) {
      throw ValidationError("Give --author or --store, one of the two.")
    }
    if let until, until.date <= since.date { throw ValidationError("--until is after --since.") }
    if dryRun, plan != nil { throw ValidationError("--plan goes without --dry-run.") }
  }

  func run() throws {
    let client = try shared.connect(for: "looking through the history")
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let reply = try client.call(
      RevertAuthor.self,
      .init(
        author: author, store: store, since: since.date, until: until?.date, plan: plan,
        dryRun: dryRun ? true : nil, by: by))
    if shared.json { return try Output.json(reply) }
    for step in reply.steps { Self.lines(step).forEach(Output.line) }
    if !reply.kept.isEmpty {
      if !reply.steps.isEmpty { Output.line("") }
      Output.line(dryRun ? "would stay:" : "stays:")
      for kept in reply.kept { Self.lines(kept).forEach(Output.line) }
    }
    Block.note(away: reply.away, damaged: 0)
    if !reply.withoutHistory.isEmpty {
      TerminalText.wrapped(
        "the history does not reach back to that time in "
          + reply.withoutHistory.joined(separator: ", ") + ": what was written before is not found"
      ).forEach(Output.note)
    }
    end(reply)
  }

  private func end(_ reply: RevertAuthor.Reply) {
    guard !reply.steps.isEmpty else { return Output.line("nothing to take back") }
    Output.line("")
    let count = Readable.count(reply.steps.count, "change")
    guard dryRun else { return Output.line("took back \(count)") }
    Output.line("\(count), nothing written yet; this does it:")
    let origin =
      author.map { "--author \(ShellWord.quoted($0))" } ?? store.map { "--store \($0)" } ?? ""
    // An age would mean another time by then.
    var command = "cairnctl revert \(origin) --since \(Self.text(since))"
    if let until { command += " --until \(Self.text(until))" }
    if let plan = reply.plan { command += " --plan \(plan)" }
    Output.line("`\(TerminalText.oneLine(command))`")
  }

  private static func text(_ moment: Moment) -> String { WireDate.text(moment.date.date) ?? "" }

  private static func lines(_ step: RevertAuthor.Step) -> [String] {
    let head = "\(step.entity) \(step.record)"
    let property = TerminalText.oneLine(step.property ?? "")
    switch step.kind {
    case .set:
      let room = max(8, (TerminalText.columns - 8 - TextTable.width(property)) / 2)
      let old = TerminalText.cut(step.old?.text ?? "no value", to: room)
      let new = TerminalText.cut(step.new?.text ?? "no value", to: room)
      return [head, "  \(property)  \(old) -> \(new)"]
    case .link:
      return [
        head,
        "  \(property)  \(step.isMember ?? false ? "has" : "no longer has") \(step.member ?? "")",
      ]
    case .delete: return [head, "  is deleted: it was inserted"]
    case .bringBack:
      let missing = step.missing ?? []
      return [head]
        + TerminalText.wrapped(
          "comes back"
            + (missing.isEmpty ? "" : ", without \(missing.joined(separator: ", ")): not known"),
          indent: "  ")
    }
  }

  private static func lines(_ kept: RevertAuthor.Kept) -> [String] {
    ["\(kept.entity) \(kept.record)"]
      + TerminalText.wrapped(
        (kept.property.map { "\($0): " } ?? "") + kept.reason, indent: "  ")
  }
}
