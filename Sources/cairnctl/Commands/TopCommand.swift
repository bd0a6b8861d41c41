// cairnctl top
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation

struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Watch changes, lag and latency as they are.",
    discussion: """
      CHANGES/S is records a second that passes brought, LAG the transactions that a replica lacks, TOOK \
      how long the last pass took; the lines beside them show how it was before. It goes on while the daemon \
      is restarted, and says since when it is not reachable. q or Ctrl-C ends it. Where standard output is no \
      terminal, one screen is written; with --json a line each interval, until interrupted or as often as \
      --count says.
      """)

  @OptionGroup var shared: SharedOptions

  @Option(
    name: .long, parsing: .unconditional,
    help: "Seconds from one look to the next, 1 when left out.")
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
    let events = try KeptConnection(shared) { try $0.send(MonitorDaemon.self, .init()) }
    let calls = try KeptConnection(shared)
    var view = TopView()
    let isLive = StandardStream.output.isTerminal && !shared.json
    let screen = isLive ? LiveScreen() : nil
    defer { screen?.restore() }
    var left = count ?? (isLive || shared.json ? .max : 1)
    let clock = ContinuousClock()
    var last = clock.now
    while left > 0 {
      let wasThere = calls.absence == nil
      guard try collect(from: events, until: last + .seconds(interval), screen, &view) else {
        return
      }
      let now = clock.now
      let seconds = last.duration(to: now) / .seconds(1)
      last = now
      left -= 1
      guard let status = try calls.ask({ try $0.call(GetStatus.self, NoValues()).status }) else {
        if let screen { screen.draw(calls.absenceLines) }
        if screen == nil, wasThere { calls.absenceLines.forEach(Output.note) }
        continue
      }
      let sample = view.sample(status, over: seconds)
      if shared.json {
        try Output.json(sample)
      } else if let screen {
        let (columns, rows) = LiveScreen.size
        screen.draw(view.lines(sample, columns: columns, rows: rows))
      } else {
        view.lines(sample, columns: 80).forEach(Output.line)
      }
    }
  }

  /// Takes what happens; false when the person has seen enough.
  private func collect(
    from events: KeptConnection, until end: ContinuousClock.Instant, _ screen: LiveScreen?,
    _ view: inout TopView
  ) throws -> Bool {
    repeat {
      if let screen, !screen.wait(.zero) { return false }
      let rest = min(.milliseconds(100), ContinuousClock.now.duration(to: end))
      let event = try events.ask { client -> MonitorDaemon.Event? in
        do {
          return try client.receive(
            MonitorDaemon.self, timeout: max(rest, .milliseconds(1))
          ).reply.event
        } catch ControlClientError.timedOut {
          return nil
        }
      }
      if let event = event ?? nil { view.take(event) }
      if events.absence != nil { Thread.sleep(forTimeInterval: max(0, rest / .seconds(1))) }
    } while ContinuousClock.now < end
    return screen?.wait(.zero) ?? true
  }
}
