// cairnctl plan
import ArgumentParser
import CairnControl

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Show what the next pass of a link would do; nothing is done.",
    discussion: """
      Each direction is planned on what both stores hold now. The link may be paused, or wait for an \
      approval; its replica must be open.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The replica.", completion: .replicas)
  var name: String

  @Option(name: .long, help: "How many records, conflicts and waits to name in each direction.")
  var limit = 20

  func validate() throws {
    guard (0...1000).contains(limit) else { throw ValidationError("--limit is 0 to 1000.") }
  }

  func run() throws {
    let client = try shared.connect(for: "planning the next pass")
    if shared.timeout == nil { client.timeout = .seconds(3600) }
    let reply = try client.call(PlanPass.self, .init(name: name, limit: limit == 20 ? nil : limit))
    if shared.json { return try Output.json(reply) }
    for (index, direction) in [reply.pull, reply.push].compactMap({ $0 }).enumerated() {
      if index > 0 { Output.line("") }
      PlanText(direction: direction, name: name).lines.forEach(Output.line)
    }
  }
}

/// What one store would get from another, as text.
struct PlanText {
  let direction: PlanPass.Direction
  /// The replica.
  let name: String

  var lines: [String] {
    let head = TerminalText.oneLine("from \(direction.source) to \(direction.destination)")
    var rest = direction.entities.map(Self.line)
    if direction.links > 0 { rest.append("  \(Readable.count(direction.links, "link"))") }
    if direction.rowsNotTakenUp > 0 {
      rest += TerminalText.wrapped(
        Readable.count(direction.rowsNotTakenUp, "row") + " that sync has not taken up yet",
        indent: "  ")
    }
    if let approval = direction.approval {
      rest += TerminalText.wrapped(
        "stops before: \(approval); `cairnctl approve \(name)`", indent: "  ")
    }
    if !direction.isComplete { rest.append("  and more: only the first part was looked at") }
    rest += changes + conflicts + waits
    return rest.isEmpty ? ["\(head): nothing to do"] : [head] + rest
  }

  private static func line(_ counts: PlanPass.Counts) -> String {
    let parts = [
      (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.deleted, "deleted"),
      (counts.cascaded, "deleted along with others"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return TerminalText.oneLine("  \(counts.entity)  \(parts.joined(separator: ", "))")
  }

  private var changes: [String] {
    let total = direction.entities.reduce(0) {
      $0 + $1.inserted + $1.updated + $1.deleted + $1.cascaded
    }
    return block(
      direction.changes.map(Self.lines), title: "records", count: total)
  }

  private static func lines(_ change: PlanPass.Change) -> [String] {
    let verb =
      switch change.kind {
      case .insert: "insert"
      case .update: "update"
      case .delete: "delete"
      case .unite: "unite"
      case .cascade: "delete along"
      }
    let into = change.into.map { " with \($0)" } ?? ""
    let head = TerminalText.oneLine("  \(verb) \(change.entity) \(change.record)\(into)")
    if change.kind == .delete || change.kind == .cascade { return [head] }
    return [head]
      + change.values.map { value in
        let name = TerminalText.oneLine(value.name)
        let width = TerminalText.columns - 6 - TextTable.width(name)
        let after = value.after?.text ?? "no value"
        guard change.kind == .update else {
          return "    \(name)  \(TerminalText.cut(after, to: max(8, width)))"
        }
        let room = max(8, (width - 4) / 2)
        let before = TerminalText.cut(value.before?.text ?? "no value", to: room)
        return "    \(name)  \(before) -> \(TerminalText.cut(after, to: room))"
      }
  }

  private var conflicts: [String] {
    let lines = direction.conflicts.map { loss in
      let head = TerminalText.oneLine(
        ["  \(loss.entity) \(loss.record)", loss.property].compactMap { $0 }.joined(separator: " "))
      guard loss.property != nil else { return [head] }
      let room = max(8, (TerminalText.columns - 16) / 2)
      let lost = TerminalText.cut(loss.lost?.text ?? "no value", to: room)
      return [
        head, "    \(lost) loses to \(TerminalText.cut(loss.won?.text ?? "no value", to: room))",
      ]
    }
    return block(lines, title: "conflicts", count: direction.conflictCount)
  }

  private var waits: [String] {
    let lines = direction.waits.map { wait in
      [TerminalText.oneLine("  \(wait.entity) \(wait.record)")]
        + TerminalText.wrapped(wait.reason, indent: "    ")
    }
    return block(lines, title: "to quarantine", count: direction.waitCount)
  }

  /// Named things under a title that says how many there are when not all are named.
  private func block(_ items: [[String]], title: String, count: Int) -> [String] {
    guard count > 0 else { return [] }
    let all = items.count < count ? ", the first \(items.count) of \(count)" : ""
    return [items.isEmpty ? "\(title): \(count)" : "\(title)\(all):"] + items.flatMap { $0 }
  }
}
