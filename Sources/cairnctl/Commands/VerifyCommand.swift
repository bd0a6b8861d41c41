// cairnctl verify
import ArgumentParser
import CairnControl

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check the stores and compare the replicas.",
    discussion: """
      The exit code is 1 when any store differs or is damaged. What a link of one direction leaves where it \
      is, is counted, but is no difference.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: "One replica, or local for the local file alone; all of them when left out.",
    completion: .stores)
  var name: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "full, unless said otherwise, reads every value of every row and every page of the local file; "
        + "quick compares digests of what was written."))
  var level: VerifyStores.Level?

  func run() throws {
    let client = try shared.connect()
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let bar = ProgressBar(isShown: !shared.json && ProgressBar.canBeSeen)
    var summary: VerifyStores.Summary?
    /// Whether a repair may help: what is wrong with the tables of a hub it leaves.
    var hasDifferences = false
    try client.stream(VerifyStores.self, VerifyStores.Parameters(name: name, level: level)) {
      reply in
      if shared.json { try Output.json(reply) }
      if let progress = reply.progress {
        let fraction = progress.total.map { $0 == 0 ? 1 : Double(progress.done) / Double($0) }
        bar.show(fraction, "\(progress.store) \(progress.entity)")
      }
      if let difference = reply.difference {
        if difference.kind != .damage { hasDifferences = true }
        if !shared.json {
          bar.clear()
          Output.line(VerifyText.line(difference))
        }
      }
      if let store = reply.store, !shared.json {
        bar.clear()
        Self.lines(store).forEach(Output.line)
      }
      if let result = reply.summary { summary = result }
    }
    bar.clear()
    guard let summary else {
      throw ControlClientError.misunderstood("the verification ended without a summary")
    }
    let isInOrder = summary.stores.allSatisfy { $0.problem == nil && $0.differences == 0 }
    if summary.isEqual || isInOrder { return }
    let unread = summary.stores.filter { $0.problem != nil }.map(\.store)
    let unequal = summary.stores.filter { $0.differences > 0 }.map(\.store)
    if unequal.isEmpty {
      throw CommandFailure(
        message: "not all stores could be compared: \(unread.joined(separator: ", "))",
        hint: "`cairnctl status` shows what is wrong with them")
    }
    throw CommandFailure(
      message: unequal == ["local"]
        ? "the local store is damaged" : "not equal: \(unequal.joined(separator: ", "))",
      hint: unequal.contains("local")
        ? "`cairnctl status` shows how to go on; `cairnctl restore BACKUP` goes back to a backup"
        : summary.stores.contains { $0.held != nil }
          ? HeldHint.text
          : hasDifferences
            ? "`cairnctl repair --dry-run` shows what would make them equal"
            : "another program has changed the tables of the hub: its administrator puts them right"
    )
  }

  /// The result of one store.
  private static func lines(_ store: VerifyStores.StoreSummary) -> [String] {
    let name = TerminalText.oneLine(store.store)
    if let problem = store.problem {
      return [name + "  " + TerminalStyle.output("not compared", .bad)]
        + TerminalText.wrapped("\(problem.message) (\(problem.code))", indent: "  ")
    }
    if store.store == "local" {
      let result =
        store.differences == 0
        ? TerminalStyle.output("whole", .good) : TerminalStyle.output("damaged", .bad)
      return ["\(name)  \(result)"]
    }
    let records = Readable.count(store.records, "record")
    let left = store.leftOut.map {
      ", \(Readable.count($0, "record")) left out by the link's direction"
    }
    let equal = left == nil ? "equal" : "in step as far as the link goes"
    let result =
      store.differences == 0
      ? TerminalStyle.output(equal, .good) + ", \(records)"
      : TerminalStyle.output("differs", .bad)
        + ", \(records), \(Readable.count(store.differences, "difference"))"
    let level = store.level == .quick ? ", by digests" : ""
    return [
      "\(name)  \(result)\(left ?? "")\(level)\(store.digest.map { ", digest \($0.prefix(16))" } ?? "")"
    ]
  }
}

extension VerifyStores.Level: ExpressibleByArgument {}

/// What to do where stores differ because a clock was wrong.
enum HeldHint {
  static let text =
    "`cairnctl held` lists what was written in the future by this machine's clock, and accepts it; no repair "
    + "brings that"
}

/// Differences as text.
enum VerifyText {
  static func line(_ difference: VerifyStores.Difference) -> String {
    let place = [difference.entity, difference.record, difference.property].compactMap { $0 }
      .joined(separator: " ")
    return TerminalText.oneLine(
      "\(difference.store): \(difference.kind.rawValue) \(place): \(difference.detail)")
  }
}
