// cairnctl repair
import ArgumentParser
import CairnControl

struct RepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair", abstract: "Make replicas equal to the local store where they differ.",
    discussion: """
      For what verify finds in stores that are in step: rows that a program added or took away without \
      history, values that it changed with SQL of its own. A row that checksums show not to \
      be as it was saved gets the other store's value; where nothing tells which side is right, the local store's \
      value is taken. --prefer decides otherwise, and `cairnctl conflicts` lists what was replaced. A row that is gone is made again from \
      the other store; `cairnctl repair local` takes those that are gone from the local store for deleted instead, and those that were added \
      there for inserted. With --prefer local it also takes rows that are not as they were saved for written now: after a program \
      changed them, not a disk.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One replica, or local; all replicas when left out.", completion: .stores)
  var name: String?

  @Option(name: .long, help: "Whose value is taken, whatever checksums tell: local or replica.")
  var prefer: RepairStores.Preference?

  @Flag(name: .long, help: "Only show what would be done.")
  var dryRun = false

  func run() throws {
    let client = try shared.connect(for: "comparing the stores")
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    var results: [RepairStores.RepairResult] = []
    try client.stream(
      RepairStores.self, .init(name: name, prefer: prefer, dryRun: dryRun ? true : nil)
    ) { reply in
      if let result = reply.result { results.append(result) }
      if shared.json {
        if reply != RepairStores.Reply() { try Output.json(reply) }
        return
      }
      if let action = reply.action { Self.lines(action).forEach(Output.line) }
      if let remaining = reply.remaining {
        Output.line("still " + VerifyText.line(remaining))
      }
      if let result = reply.result { lines(result).forEach(Output.line) }
    }
    if !shared.json {
      if results.isEmpty { Output.line("no replica to repair") }
      if dryRun, results.contains(where: { $0.actions > 0 }) {
        Output.line("")
        let target = name.map { " \($0)" } ?? ""
        let side = prefer.map { " --prefer \($0.rawValue)" } ?? ""
        Output.line("nothing was changed; `cairnctl repair\(target)\(side)` does it")
      }
    }
    let unread = results.filter { $0.problem != nil }.map(\.store)
    if !unread.isEmpty {
      throw CommandFailure(
        message: "could not be repaired: \(unread.joined(separator: ", "))",
        hint: "`cairnctl status` shows what is wrong")
    }
    let unequal = results.filter { $0.remaining > 0 }.map(\.store)
    if !unequal.isEmpty {
      throw CommandFailure(
        message: "still not equal: \(unequal.joined(separator: ", "))",
        hint: unequal == ["local"]
          ? "`cairnctl verify local` shows what is damaged"
          : results.contains { $0.held != nil }
            ? HeldHint.text : Self.left)
    }
  }

  private static let left =
    "`cairnctl quarantine` shows whether it waits there; a value that is damaged in both stores has to be "
    + "written anew by a program"

  private static func lines(_ action: RepairStores.Action) -> [String] {
    let what =
      switch action.kind {
      case .takenUp: "is taken up as inserted now"
      case .restored: "is made again"
      case .written: "is taken for written now"
      case .members: "gets the members of its links"
      case .deleted: "is taken for deleted now"
      case .merged: "is merged by the rules"
      }
    let difference = action.difference
    let place = [difference.entity, difference.record, difference.property].compactMap { $0 }
      .joined(separator: " ")
    let source = action.kind == .deleted ? "" : action.takenFrom.map { ", from \($0)" } ?? ""
    return TerminalText.wrapped("\(difference.store): \(place)")
      + TerminalText.wrapped("\(difference.detail): \(what)\(source)", indent: "  ")
  }

  private func lines(_ result: RepairStores.RepairResult) -> [String] {
    let name = TerminalText.oneLine(result.store)
    if let problem = result.problem {
      return [name + "  " + TerminalStyle.output("not compared", .bad)]
        + TerminalText.wrapped("\(problem.message) (\(problem.code))", indent: "  ")
    }
    if result.store == "local" { return [name + "  " + local(result)] }
    let equal =
      TerminalStyle.output(
        result.leftOut == nil ? "equal" : "in step as far as the link goes", .good)
      + (result.leftOut.map {
        ", \(Readable.count($0, "record")) left out by the link's direction"
      } ?? "")
    if result.actions == 0, result.remaining == 0 { return [name + "  " + equal] }
    let count = Readable.count(result.actions, "difference")
    if dryRun { return ["\(name)  \(count) to repair"] }
    if result.remaining == 0 {
      return [name + "  " + equal + ", \(count) repaired"]
    }
    return [
      name + "  " + TerminalStyle.output("differs", .bad) + ", \(count) repaired, "
        + "\(result.remaining) left"
    ]
  }

  private func local(_ result: RepairStores.RepairResult) -> String {
    let rows = Readable.count(result.actions, "row")
    if dryRun { return "\(rows) to repair" }
    let state =
      result.remaining == 0
      ? TerminalStyle.output("whole", .good)
      : TerminalStyle.output("damaged", .bad) + " in \(Readable.count(result.remaining, "place"))"
    return state + (result.actions == 0 ? "" : ", \(rows) repaired")
  }
}

extension RepairStores.Preference: ExpressibleByArgument {}
