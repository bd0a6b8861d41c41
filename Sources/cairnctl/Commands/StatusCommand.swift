// cairnctl status
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the daemon, the local store and every replica.")

  @OptionGroup var shared: SharedOptions

  @Flag(name: .long, help: "Show it again every second until interrupted.")
  var watch = false

  func run() throws {
    let client = try shared.connect()
    repeat {
      let status = try client.call(GetStatus.self, NoValues()).status
      if shared.json {
        try Output.json(status)
      } else {
        if watch, StandardStream.output.isTerminal { Output.line("\u{1B}[H\u{1B}[2J") }
        for line in StatusText.lines(status) { Output.line(line) }
      }
      if watch { Thread.sleep(forTimeInterval: 1) }
    } while watch
  }
}

/// The status as a screen of text.
enum StatusText {
  static func lines(_ status: DaemonStatus, style: TerminalStyle = .output) -> [String] {
    let state = style(status.state.rawValue, tone(status.state))
    var lines = [
      "cairnd \(status.version)  \(state) since \(Readable.moment(status.startedAt)), "
        + "pid \(status.pid)"
    ]
    if let model = status.model { lines.append("model   \(TerminalText.oneLine(model))") }
    if let local = status.local { lines.append("local   \(text(local, style))") }
    for problem in status.problems {
      lines.append(
        style("problem", .bad) + " \(TerminalText.oneLine(problem.message)) (\(problem.code))")
    }
    if !status.replicas.isEmpty {
      lines.append("")
      lines += table(status.replicas).lines(style: style)
    }
    return lines
  }

  private static func text(_ local: StoreStatus, _ style: TerminalStyle) -> String {
    var parts = [local.state.rawValue]
    if let records = local.records { parts.append(Readable.count(records, "record")) }
    if let transaction = local.lastTransaction { parts.append("transaction \(transaction)") }
    if let bytes = local.bytes { parts.append(Readable.bytes(bytes)) }
    if let problem = local.problem { parts.append(TerminalText.oneLine(problem.message)) }
    return "\(TerminalText.oneLine(local.location))  \(parts.joined(separator: ", "))"
  }

  private static func table(_ replicas: [ReplicaStatus]) -> TextTable {
    var table = TextTable(["REPLICA", "STATE", "DIRECTION", "LAG", "LAST PASS", "NOTE"])
    for replica in replicas {
      table.add([
        .init(replica.name), .init(words(replica.state), tone: tone(replica.state)),
        .init(replica.direction.rawValue), .init(lag(replica)),
        .init(replica.lastPass.map(Readable.moment) ?? "-"), .init(note(replica)),
      ])
    }
    return table
  }

  private static func lag(_ replica: ReplicaStatus) -> String {
    guard let transactions = replica.lagTransactions else { return "-" }
    guard transactions > 0 else { return "0" }
    return "\(transactions) tx" + (replica.lagSeconds.map { ", \(Readable.seconds($0))" } ?? "")
  }

  private static func note(_ replica: ReplicaStatus) -> String {
    var parts: [String] = []
    if let progress = replica.progress {
      parts.append(progress.total.map { "\(progress.done) of \($0)" } ?? "\(progress.done) done")
    }
    if replica.quarantined > 0 { parts.append("\(replica.quarantined) in quarantine") }
    if let problem = replica.problem { parts.append("\(problem.message) (\(problem.code))") }
    if let next = replica.nextAttempt { parts.append("next attempt \(Readable.moment(next))") }
    return parts.joined(separator: "; ")
  }

  private static func words(_ state: ReplicaStatus.State) -> String {
    switch state {
    case .opening: "opening"
    case .migrating: "migrating"
    case .unavailable: "unavailable"
    case .firstSync: "first sync"
    case .behind: "behind"
    case .inSync: "in sync"
    case .paused: "paused"
    case .stopped: "stopped"
    }
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
