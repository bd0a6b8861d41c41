// cairnctl top
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation

struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Watch changes, lag and latency as they are.",
    discussion: """
      CHANGES is records a second that passes brought, LAG the transactions that a replica lacks, TOOK \
      how long the last pass took. q or Ctrl-C ends it. Where standard output is no terminal, one screen \
      is written; with --json a line each interval, until interrupted or as often as --count says.
      """)

  @OptionGroup var shared: SharedOptions

  @Option(name: .long, help: "Seconds from one look to the next, 1 when left out.")
  var interval: Double = 1

  @Option(name: .long, help: "Look so often, then end.")
  var count: Int?

  func validate() throws {
    guard (0.1...3600).contains(interval) else {
      throw ValidationError("--interval is a number of seconds from 0.1 to 3600.")
    }
    if let count, count < 1 { throw ValidationError("--count is at least 1.") }
  }

  func run() throws {
    let (events, calls) = (try shared.connect(), try shared.connect())
    try events.send(MonitorDaemon.self, .init())
    var view = TopView()
    let isLive = StandardStream.output.isTerminal && !shared.json
    let terminal = isLive ? RawTerminal() : nil
    defer { terminal?.restore() }
    var left = count ?? (isLive || shared.json ? .max : 1)
    let clock = ContinuousClock()
    var last = clock.now
    while left > 0 {
      let next = last + .seconds(interval)
      guard try collect(from: events, until: next, terminal, &view) else { return }
      let now = clock.now
      let seconds = last.duration(to: now) / .seconds(1)
      last = now
      let sample = view.sample(try calls.call(GetStatus.self, NoValues()).status, over: seconds)
      left -= 1
      if shared.json {
        try Output.json(sample)
      } else if let terminal {
        terminal.draw(view.lines(sample))
      } else {
        view.lines(sample).forEach(Output.line)
      }
    }
  }

  /// Takes what happens; false when the person has seen enough.
  private func collect(
    from client: ControlClient, until end: ContinuousClock.Instant, _ terminal: RawTerminal?,
    _ view: inout TopView
  ) throws -> Bool {
    while ContinuousClock.now < end {
      if let terminal {
        if terminal.isInterrupted { return false }
        if let key = terminal.key(within: 0), [0x71, 0x51, 0x1B].contains(key) { return false }
      }
      do {
        let rest = min(.milliseconds(100), ContinuousClock.now.duration(to: end))
        let answer = try client.receive(MonitorDaemon.self, timeout: max(rest, .milliseconds(1)))
        if let event = answer.reply.event { view.take(event) }
      } catch ControlClientError.timedOut {
        continue
      }
    }
    return terminal?.isInterrupted != true
  }
}

/// What is shown, and what was before.
struct TopView {
  /// One look.
  struct Sample: Encodable {
    let date: WireDate
    let state: DaemonStatus.State
    let changesPerSecond: Double
    let replicas: [Replica]

    struct Replica: Encodable {
      let name: String
      let state: ReplicaStatus.State
      let changesPerSecond: Double
      let lagTransactions: Int?
      let lagSeconds: Double?
      /// Of the last pass that was seen.
      let passMilliseconds: Int?
    }
  }

  private static let length = 13
  /// Changes since the last look, by replica.
  private var changes: [String: Int] = [:]
  private var took: [String: Int] = [:]
  private var all = Sparkline(length: 40)
  private var rates: [String: Sparkline] = [:]
  private var lags: [String: Sparkline] = [:]

  mutating func take(_ event: MonitorDaemon.Event) {
    guard event.kind == .pass, let replica = event.replica else { return }
    changes[replica, default: 0] += (event.pulled ?? 0) + (event.pushed ?? 0)
    took[replica] = event.milliseconds
  }

  /// Ends an interval.
  mutating func sample(_ status: DaemonStatus, over seconds: Double) -> Sample {
    func rate(_ count: Int) -> Double { (Double(count) / max(seconds, 0.001) * 10).rounded() / 10 }
    let total = rate(changes.values.reduce(0, +))
    all.add(total)
    let replicas = status.replicas.map { replica in
      let own = rate(changes[replica.name] ?? 0)
      rates[replica.name, default: Sparkline(length: Self.length)].add(own)
      lags[replica.name, default: Sparkline(length: Self.length)].add(
        Double(replica.lagTransactions ?? 0))
      return Sample.Replica(
        name: replica.name, state: replica.state, changesPerSecond: own,
        lagTransactions: replica.lagTransactions, lagSeconds: replica.lagSeconds,
        passMilliseconds: took[replica.name])
    }
    changes = [:]
    return Sample(
      date: .now, state: status.state, changesPerSecond: total, replicas: replicas)
  }

  /// A screen of 80 columns.
  func lines(_ sample: Sample, style: TerminalStyle = .output) -> [String] {
    var lines = [
      "cairnd \(style(sample.state.rawValue, sample.state == .serving ? .good : .bad)), "
        + Readable.moment(sample.date),
      "changes/s \(Self.number(sample.changesPerSecond, 9))  \(all.text())", "",
    ]
    let head =
      TerminalText.padded("REPLICA", to: 14) + TerminalText.padded("STATE", to: 12) + "CHANGES/S"
      + String(repeating: " ", count: Self.length + 3) + "    LAG"
    lines.append(
      style(head + String(repeating: " ", count: Self.length + 2) + "   TOOK", .strong))
    for replica in sample.replicas {
      let name = TerminalText.padded(TerminalText.cut(replica.name, to: 13), to: 14)
      let state = TerminalText.padded(replica.state.rawValue, to: 11)
      let lag = replica.lagTransactions.map { Self.number(Double($0), 7) } ?? "      -"
      let took = replica.passMilliseconds.map { "\($0) ms" } ?? "-"
      lines.append(
        "\(name)\(state)\(Self.number(replica.changesPerSecond, 9)) "
          + "\(rates[replica.name]?.text() ?? "")\(lag) \(lags[replica.name]?.text() ?? "")"
          + String(repeating: " ", count: max(1, 9 - took.count)) + took)
    }
    if sample.replicas.isEmpty { lines.append("no replicas") }
    return lines
  }

  private static func number(_ value: Double, _ width: Int) -> String {
    let text =
      value >= 10_000
      ? "\(Int(value / 1000))k"
      : value == value.rounded()
        ? "\(Int(value))" : String(format: "%.1f", value)
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
