// The daemon as it changes, for those who look on, with the real daemon.
import CairnControl
import CairnTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct MonitorTests {
  private func daemon() async throws -> Daemon {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("near", folder.file("near.sqlite"))]))
    try await daemon.start()
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    return daemon
  }

  /// What a stream has brought.
  private final class Received: Sendable {
    let replies = Mutex<[MonitorDaemon.Reply]>([])
    let error = Mutex<(any Error)?>(nil)

    func read(after: Int? = nil, from daemon: Daemon) {
      Task {
        do {
          try await offPool {
            try daemon.client().stream(MonitorDaemon.self, .init(after: after)) { reply in
              self.replies.withLock { $0.append(reply) }
            }
          }
        } catch {
          self.error.withLock { $0 = error }
        }
      }
    }

    var events: [MonitorDaemon.Event] { replies.withLock { $0.compactMap(\.event) } }
    var sequences: [Int] { replies.withLock { $0.map(\.sequence) } }
  }

  @Test func theStateComesFirstAndThenWhatHappens() async throws {
    let daemon = try await daemon()
    let received = Received()
    received.read(from: daemon)
    #expect(await eventually { !received.sequences.isEmpty })
    let first = try #require(received.replies.withLock { $0.first })
    #expect(first.status?.state == .serving && first.event == nil)
    try await daemon.ctl("insert", "Section", "name=a")
    #expect(
      await eventually { received.events.contains { $0.kind == .pass && $0.pushed ?? 0 > 0 } })
    let pass = try #require(received.events.first { $0.kind == .pass && $0.pushed ?? 0 > 0 })
    #expect(pass.replica == "near" && pass.milliseconds != nil)
    try await daemon.ctl("pause", "near")
    #expect(await eventually { received.events.contains { $0.state == "paused" } })
    let sequences = received.sequences
    #expect(sequences == Array(first.sequence..<(first.sequence + sequences.count)))
    #expect(await daemon.stop() == 0)
    #expect(await eventually { received.error.withLock { $0 != nil } })
    let end = received.error.withLock { ($0 as? ControlError)?.name }
    #expect(end == "io.cairn.Daemon.NotReady", "the end says why")
  }

  @Test func aReaderGoesOnBehindTheLastNumberItHas() async throws {
    let daemon = try await daemon()
    let first = Received()
    first.read(from: daemon)
    #expect(await eventually { !first.sequences.isEmpty })
    for index in 0..<3 {
      try await daemon.ctl("insert", "Section", "name=s\(index)")
      try await daemon.ctl("wait", "--timeout", "60")
    }
    #expect(await eventually { first.events.count(where: { $0.kind == .pass }) >= 3 })
    let known = first.replies.withLock { $0 }
    let second = Received()
    second.read(after: known[2].sequence, from: daemon)
    #expect(await eventually { second.sequences.count >= known.count - 3 })
    let again = second.replies.withLock { $0 }
    #expect(again.allSatisfy { $0.status == nil })
    #expect(Array(again.prefix(known.count - 3)) == Array(known.dropFirst(3)))
    // Numbers that are not known any more, or were never given, get the state.
    for after in [0, -1, Int.max, known[0].sequence + 1_000_000] {
      let lost = Received()
      lost.read(after: after, from: daemon)
      #expect(await eventually { !lost.sequences.isEmpty })
      #expect(lost.replies.withLock { $0.first?.status } != nil, "\(after)")
    }
    // Not those of the daemon that was there before, either.
    #expect(await daemon.stop() == 0)
    try await daemon.start()
    let next = Received()
    next.read(after: known.last?.sequence, from: daemon)
    #expect(await eventually { !next.sequences.isEmpty })
    #expect(next.replies.withLock { $0.first?.status } != nil)
    #expect(try #require(next.sequences.first) > (known.last?.sequence ?? 0))
    #expect(await daemon.stop() == 0)
  }

  @Test func whatIsNotKeptAnyMoreIsAGap() {
    let feed = EventFeed(start: 100, capacity: 4)
    func event(_ number: Int) -> MonitorDaemon.Event {
      .init(date: .now, kind: .state, text: "\(number)")
    }
    for number in 101...104 { feed.add(event(number)) }
    #expect(feed.events(after: 100)?.map(\.sequence) == [101, 102, 103, 104])
    #expect(feed.events(after: 103)?.map(\.event.text) == ["104"])
    #expect(feed.events(after: 104)?.isEmpty == true)
    #expect(feed.events(after: 105) == nil && feed.events(after: 99) == nil)
    for number in 105...120 { feed.add(event(number)) }
    #expect(feed.events(after: 100) == nil)
    #expect(feed.events(after: 116)?.map(\.event.text) == ["117", "118", "119", "120"])
  }

  @Test func topWritesLinesForMachinesAndOneScreenWhereNobodyLooks() async throws {
    let daemon = try await daemon()
    let lines = try await daemon.ctl("top", "--json", "--count", "2", "--interval", "0.3")
    #expect(lines.code == 0 && lines.output.split(separator: "\n").count == 2, "\(lines.errors)")
    #expect(lines.output.contains("\"changesPerSecond\":0"))
    let screen = try await daemon.ctl("top", "--interval", "0.3")
    #expect(screen.code == 0 && screen.output.contains("near"), "\(screen.errors)")
    #expect(!screen.output.contains("\u{1B}"))
    for line in screen.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    #expect(await daemon.stop() == 0)
  }

  /// On a terminal of its own, which it gives back as it was.
  @Test func topEndsWithAKeyAndGivesTheTerminalBack() async throws {
    let daemon = try await daemon()
    let program = try #require(Project.program("cairnctl"))
    let shown = try await run(
      "/usr/bin/script",
      [
        "-qec",
        "stty -a > \(daemon.folder.file("before")); '\(program)' --socket \(daemon.socket) top --interval 0.2; stty -a > \(daemon.folder.file("after"))",
        "/dev/null",
      ],
      input: "q")
    #expect(shown.code == 0, "\(shown.output)")
    #expect(shown.output.contains("\u{1B}[?1049h") && shown.output.contains("\u{1B}[?1049l"))
    #expect(shown.output.contains("\u{1B}[?25h"))
    let before = try String(contentsOfFile: daemon.folder.file("before"), encoding: .utf8)
    #expect(try String(contentsOfFile: daemon.folder.file("after"), encoding: .utf8) == before)
    #expect(await daemon.stop() == 0)
  }
}
