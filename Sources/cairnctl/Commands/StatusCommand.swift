// cairnctl status
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the daemon, the local store and every replica.",
    discussion: """
      With --watch it goes on while the daemon is restarted, and says since when it is not reachable; on a \
      terminal q or Ctrl-C ends it.
      """)

  @OptionGroup var shared: SharedOptions

  @Flag(name: .long, help: "Show it again every second until interrupted.")
  var watch = false

  func run() throws {
    guard watch else {
      let status = try shared.connect().call(GetStatus.self, NoValues()).status
      return try write(status)
    }
    let connection = try KeptConnection(shared)
    let isLive = StandardStream.output.isTerminal && !shared.json
    let screen = isLive ? LiveScreen() : nil
    defer { screen?.restore() }
    while true {
      let wasThere = connection.absence == nil
      let status = try connection.ask { try $0.call(GetStatus.self, NoValues()).status }
      if let screen {
        screen.draw(status.map { StatusText.lines($0) } ?? connection.absenceLines)
        guard screen.wait(.seconds(1)) else { return }
      } else {
        if let status { try write(status) } else if wasThere { noteAbsence(connection) }
        Thread.sleep(forTimeInterval: 1)
      }
    }
  }

  private func write(_ status: DaemonStatus) throws {
    if shared.json { return try Output.json(status) }
    for line in StatusText.lines(status) { Output.line(line) }
  }

  private func noteAbsence(_ connection: KeptConnection) {
    connection.absenceLines.forEach(Output.note)
  }
}

/// The status as a screen of text.
enum StatusText {
  static func lines(_ status: DaemonStatus, style: TerminalStyle = .output) -> [String] {
    let (head, state) = ("cairnd \(status.version)  ", status.state.rawValue)
    let rest = "started \(Readable.moment(status.startedAt)), pid \(status.pid)"
    let isWide = TextTable.width("\(head)\(state), \(rest)") <= TerminalText.columns
    var lines = [head + style(state, tone(status.state)) + (isWide ? ", \(rest)" : "")]
    if !isWide { lines += TerminalText.wrapped(rest, indent: "        ") }
    if let model = status.model { lines.append("model   \(TerminalText.oneLine(model))") }
    if let local = status.local { lines += text(local, style) }
    for problem in status.problems {
      lines += labelled("problem", "\(problem.message) (\(problem.code))", style, .bad)
      if let hint = TroubleHint.text(problem.code) {
        lines += labelled("hint", hint, style, .faint)
      }
    }
    if !status.replicas.isEmpty {
      lines.append("")
      lines += replicas(status.replicas, style)
    }
    return lines
  }

  private static func text(_ local: StoreStatus, _ style: TerminalStyle) -> [String] {
    var parts = [local.state.rawValue]
    if let records = local.records { parts.append(Readable.count(records, "record")) }
    if let progress = local.progress { parts.append("\(progress.done) %") }
    if let transaction = local.lastTransaction { parts.append("transaction \(transaction)") }
    if let bytes = local.bytes { parts.append(Readable.bytes(bytes)) }
    if let problem = local.problem { parts.append(problem.message) }
    let location = "local   \(TerminalText.oneLine(local.location))"
    let rest = parts.joined(separator: ", ")
    if TextTable.width(location + rest) + 2 <= TerminalText.columns {
      return ["\(location)  \(TerminalText.oneLine(rest))"]
    }
    return [location] + TerminalText.wrapped(rest, indent: "        ")
  }

  /// A text with a word before its first line.
  private static func labelled(
    _ label: String, _ text: String, _ style: TerminalStyle, _ tone: TerminalStyle.Tone
  ) -> [String] {
    let indent = String(repeating: " ", count: 8)
    return TerminalText.wrapped(text, indent: indent).enumerated().map { index, line in
      index > 0
        ? line : style(label, tone) + String(line.dropFirst(label.count))
    }
  }

  /// A row a replica, and under it what is to be said of it.
  private static func replicas(_ replicas: [ReplicaStatus], _ style: TerminalStyle) -> [String] {
    var table = TextTable(["REPLICA", "STATE", "DIRECTION", "LAG", "LAST PASS"])
    for replica in replicas {
      table.add(
        [
          .init(replica.name, isWhole: true), .init(replica.stateWords, tone: tone(replica.state)),
          .init(replica.direction.rawValue), .init(replica.lagWords ?? "-"),
          .init(replica.lastPass.map(Readable.moment) ?? "-"),
        ], notes: notes(replica))
    }
    return table.lines(style: style)
  }

  /// What is to be said of a replica beside its row, with the commands that help.
  static func notes(_ replica: ReplicaStatus) -> [String] {
    var notes: [String] = []
    if let progress = replica.progress {
      let part = progress.total.map {
        $0 == 100 ? "\(progress.done) %" : "\(progress.done) of \($0)"
      }
      notes.append(part ?? "\(progress.done) done")
    }
    for wait in replica.waits {
      var note = wait.reason
      if wait.kind == .opening || wait.kind == .pass, let since = replica.since {
        note += " (since \(Readable.moment(since)))"
      }
      notes.append(note + (wait.command.map { "; `\($0)`" } ?? ""))
    }
    // What waits is said already.
    let said = ["records-held", "awaiting-approval"]
    if let problem = replica.problem, !said.contains(problem.code) || replica.waits.isEmpty {
      notes.append("\(problem.message) (\(problem.code))")
      if let next = replica.nextAttempt { notes.append("next attempt \(Readable.moment(next))") }
    }
    if replica.state == .paused {
      notes.append("`cairnctl resume \(replica.name)` lets it go on")
    }
    return notes
  }

  private static func tone(_ state: ReplicaStatus.State) -> TerminalStyle.Tone {
    switch state {
    case .inSync: .good
    case .opening, .migrating, .firstSync, .behind, .paused: .warning
    case .unavailable, .stopped: .bad
    }
  }

  private static func tone(_ state: DaemonStatus.State) -> TerminalStyle.Tone {
    switch state {
    case .serving: .good
    case .starting, .draining: .warning
    case .degraded, .stopped: .bad
    }
  }
}
