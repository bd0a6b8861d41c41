// cairnctl history
import ArgumentParser
import CairnControl
import CairnRecords
import Foundation

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Show what was changed, when and by which program.",
    discussion: """
      The newest 20 transactions, or those since a time or a token. The last line gives the token to go \
      on from later. With --json each line is a transaction with the token behind it; of one with more \
      than 500 changes the lines but the last say "continues", and give the token before it. The last \
      line has a token only. With --follow it goes on where it was once the daemon is back after a restart.

      Examples: cairnctl history --since 2h --entity Package --follow; \
      cairnctl history --since TOKEN --json
      """)

  /// Where to begin: a token, or a time.
  enum Start: ExpressibleByArgument {
    case token(HistoryPosition)
    case time(Moment)

    init?(argument: String) {
      if let token = HistoryPosition(argument) {
        self = .token(token)
      } else if let time = Moment(argument: argument) {
        self = .time(time)
      } else {
        return nil
      }
    }
  }

  @OptionGroup var shared: SharedOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Begin behind this token, or at this time: 2026-03-14, 2026-03-14T15:09Z, 90m, 7d.",
      valueName: "token or time"))
  var since: Start?

  @Option(
    name: .long, help: "Only changes of this entity and its subentities.", completion: .entities)
  var entity: String?

  @Option(name: .long, help: "Only transactions of this author; '' for those without one.")
  var author: String?

  @Option(
    name: .long, parsing: .unconditional,
    help:
      "At most so many transactions: the first behind --since, else the newest (20 when left out); 0 for all, or for none before what --follow brings."
  )
  var limit: Int?

  @Flag(name: .long, help: "Go on with what is committed from now on, until interrupted.")
  var follow = false

  @OptionGroup var source: SourceOptions

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative.") }
    if follow, source.file != nil {
      throw ValidationError("--follow needs the daemon; leave --file or --follow out.")
    }
    if follow, limit != nil, since != nil {
      throw ValidationError("--follow goes on after --limit; leave --limit or --since out.")
    }
  }

  /// Who follows with no limit at all wants what is to come.
  private var wantsAll: Bool { limit == 0 && !follow }

  func run() throws {
    var parameters = GetHistory.Parameters(
      name: source.store, entity: entity, author: author, limit: wantsAll ? nil : limit,
      follow: follow ? true : nil)
    switch since {
    case .token(let token): parameters.after = token.description
    case .time(let time): parameters.since = time.date
    // Without a limit it is the newest that are read, but for a beginning.
    case nil: if wantsAll { parameters.since = WireDate(milliseconds: 0) }
    }
    let writer = HistoryPrinter(isJSON: shared.json)
    if let opened = try source.open() {
      try opened.history(parameters) { try writer.write($0) }
    } else if follow {
      try self.follow(parameters, writer)
    } else {
      try shared.connect().stream(GetHistory.self, parameters) { try writer.write($0) }
    }
    try writer.end(source: source)
  }

  /// Reads on from one connection to the next, without a gap.
  private func follow(_ start: GetHistory.Parameters, _ writer: HistoryPrinter) throws {
    // The next commit may be a day away.
    let connection = try KeptConnection(shared) { $0.timeout = nil }
    var parameters = start
    func read(_ client: ControlClient) throws {
      try client.stream(GetHistory.self, parameters) { reply in
        try writer.write(reply)
        parameters = .init(
          name: start.name, after: reply.token, entity: start.entity, author: start.author,
          follow: true)
      }
    }
    while try connection.ask(read) == nil, let reason = connection.absence?.reason {
      // Who gets no answer to begin with may have asked in vain.
      guard writer.hasRead else { throw reason }
      if writer.interrupt() {
        TerminalText.wrapped("note: \(reason); it is asked again until it answers")
          .forEach(Output.note)
      }
      Thread.sleep(forTimeInterval: 1)
    }
  }
}

/// Writes transactions as they come.
///
/// Confined to the thread of the command.
private final class HistoryPrinter {
  /// The changes of one transaction that a person reads.
  private static let shown = 20

  private struct TokenLine: Encodable {
    let token: String
  }

  private let isJSON: Bool
  private var count = 0
  private var token = ""
  /// Changes of the transaction that is being written.
  private var changes = 0
  private var isInterrupted = false

  init(isJSON: Bool) { self.isJSON = isJSON }

  var hasRead: Bool { !token.isEmpty }

  /// Prepares for a stream that begins where this one ended, which gives a transaction that came in part once more.
  ///
  /// - Returns: Whether something was read since the last time.
  func interrupt() -> Bool {
    defer { isInterrupted = true }
    changes = 0
    return !isInterrupted
  }

  func write(_ reply: GetHistory.Reply) throws {
    token = reply.token
    isInterrupted = false
    if let kept = reply.keptSince {
      Output.note("note: what was before \(Readable.moment(kept)) has been purged")
    }
    for transaction in reply.transactions {
      count += 1
      if isJSON { try Output.json(transaction) } else { show(transaction) }
    }
  }

  /// Says where to go on.
  func end(source: SourceOptions) throws {
    if isJSON { return try Output.json(TokenLine(token: token)) }
    if count == 0 { Output.line("no such transactions") }
    let place = source.file.map { " --file \($0)" } ?? source.store.map { " --store \($0)" } ?? ""
    Output.line(
      TerminalStyle.output(
        "next: cairnctl history\(TerminalText.oneLine(place)) --since \(token)", .faint))
  }

  private func show(_ transaction: GetHistory.Transaction) {
    if changes == 0 {
      let origin = [
        transaction.author.map { "by \($0)" }, transaction.context.map { "context \($0)" },
        transaction.program,
      ].compactMap { $0 }
      let head = "\(Readable.moment(transaction.date))  transaction \(transaction.number)"
      let lines = TerminalText.wrapped(([head] + origin).joined(separator: ", "))
      Output.line(TerminalStyle.output(lines.first ?? "", .strong))
      for line in lines.dropFirst() { Output.line("    \(line)") }
    }
    for change in transaction.changes.prefix(max(0, Self.shown - changes)) {
      var text = "\(change.kind.rawValue) \(change.entity) \(change.id)"
      if let names = change.properties, !names.isEmpty {
        text += ": \(names.joined(separator: ", "))"
      }
      TerminalText.wrapped(text, indent: "  ").forEach(Output.line)
    }
    changes += transaction.changes.count
    if transaction.continues { return }
    if changes > Self.shown {
      Output.line(
        "  ... and \(Readable.count(changes - Self.shown, "change")) more; --json shows all")
    }
    changes = 0
  }
}
