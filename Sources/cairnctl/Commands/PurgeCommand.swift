// cairnctl purge
import ArgumentParser
import CairnControl

struct PurgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Remove history and leftovers that no replica needs any more.",
    discussion: """
      The daemon does this by itself for what is older than sync.retention. What a live replica has \
      not acknowledged stays in any case, and so do all records, and what waits in quarantine.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One store; all that are open when left out.", completion: .stores)
  var name: String?

  @Option(
    name: .long, help: "Remove what is older than this, such as 7d, instead of the retention.")
  var olderThan: Age?

  @Flag(name: .long, help: "Only count what would go.")
  var dryRun = false

  func run() throws {
    let client = try shared.connect(for: "removing what no replica needs any more")
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let reply = try client.call(
      PurgeHistory.self,
      .init(name: name, olderThan: olderThan?.seconds, dryRun: dryRun ? true : nil))
    if shared.json { try Output.json(reply) } else { show(reply) }
    let unfinished = reply.stores.filter { $0.problem != nil }.map(\.store)
    if !unfinished.isEmpty {
      throw CommandFailure(
        message: "not complete: \(unfinished.joined(separator: ", "))",
        hint: "`cairnctl status` shows what is wrong; what was removed stays removed")
    }
  }

  private func show(_ reply: PurgeHistory.Reply) {
    for (index, store) in reply.stores.enumerated() {
      if index > 0 { Output.line("") }
      lines(store).forEach(Output.line)
    }
    if reply.stores.isEmpty { return Output.line("no store is open") }
    if dryRun, reply.stores.contains(where: { $0.count > 0 }) {
      Output.line("")
      Output.line("nothing was removed; the same without --dry-run does it")
    }
  }

  private func lines(_ store: PurgeHistory.StoreReport) -> [String] {
    let parts = [
      (store.transactions, "transaction of history", "transactions of history"),
      (store.records, "deleted record", "deleted records"),
      (store.links, "removed link", "removed links"), (store.marks, "mark", "marks"),
      (store.conflicts, "conflict", "conflicts"), (store.leftovers, "leftover", "leftovers"),
    ].filter { $0.0 > 0 }.map { Readable.count($0.0, $0.1, $0.2) }
    let name = TerminalText.oneLine(store.store)
    var lines = TerminalText.wrapped(
      parts.isEmpty
        ? "\(name): nothing to remove"
        : "\(name): \(dryRun ? "would remove" : "removed") \(parts.joined(separator: ", "))")
    if store.freedBytes > 0 {
      let what =
        store.waitsForReaders == true
        ? "to give back: a program reads in the file, and the next purge after it has ended cuts it"
        : "given back"
      lines += TerminalText.wrapped("\(Readable.bytes(store.freedBytes)) \(what)", indent: "  ")
    }
    if store.postponed > 0 {
      lines += TerminalText.wrapped(
        "\(Readable.count(store.postponed, "deleted record stays", "deleted records stay")): "
          + "something refers to them", indent: "  ")
    }
    if let problem = store.problem {
      lines += TerminalText.wrapped("\(problem.message) (\(problem.code))", indent: "  ")
    }
    for reader in store.readers where reader.isExpired || reader.holdsBack {
      let seen = reader.lastSeen.map { "was here last \(Readable.moment($0))" }
      let end = seen.map { "\($0) and is expired" } ?? "was removed"
      lines += TerminalText.wrapped(
        reader.isExpired
          ? "\(reader.name) \(end): nothing is kept for it, it comes back by comparison"
          : "kept for \(reader.name), which \(seen ?? "was never here") and lacks "
            + Readable.count(reader.behind, "change"), indent: "  ")
    }
    return lines
  }
}
