// What cairnctl shows on terminals of different widths.
import CairnControl
import CairnTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CairnDaemon

/// Specification: control.md 2.
@Suite struct TerminalTests {
  private static let id = "01950700-1A2B-7C3D-8E4F-5A6B7C8D9E0F"
  private static let text = "日本語の長い説明 and e\u{301}ach word of a far too long line"

  private static let fetch = ControlHandler(FetchRecords.self) { _, _ in
    .init(
      properties: ["name", "homepage", "size", "description"],
      rows: (1...3).map { row in
        [
          "id": .string(id), "name": "libboost-program-options1.74-dev",
          "size": .integer(1_234_567),
          "description": .string("\(row) \(text)"), "homepage": .null,
        ]
      })
  }

  private static func status(replicas: Int) -> DaemonStatus {
    DaemonStatus(
      version: "1.2.3", pid: 4711, startedAt: WireDate(Date(timeIntervalSince1970: 1_700_000_000)),
      state: .serving,
      local: StoreStatus(
        name: "local", type: "sqlite", location: "/var/lib/cairn/local.sqlite", state: .open,
        lastTransaction: 12, records: 345, bytes: 6_789_012),
      replicas: (1...replicas).map { number in
        ReplicaStatus(
          name: number == 1 ? "a-replica-with-a-rather-long-name" : "r\(number)", type: "sqlite",
          location: "/mnt/r\(number).sqlite", direction: .both, state: .inSync, lagTransactions: 7,
          lagSeconds: 3, lastPass: WireDate(Date(timeIntervalSince1970: 1_700_000_000)),
          waits: [
            StatusWait(
              kind: .quarantine, count: 2, reason: "2 records in quarantine, first one that is old",
              command: "cairnctl quarantine")
          ])
      })
  }

  private static func daemon(replicas: Int) -> [ControlHandler] {
    let status = status(replicas: replicas)
    return [
      fetch, ControlHandler(GetStatus.self) { _, _ in .init(status: status) },
      ControlHandler(MonitorDaemon.self) { _, send in
        try await send(.init(sequence: 1, status: status))
        for number in 2... {
          try await send(
            .init(
              sequence: number,
              event: .init(
                date: .now, kind: .pass, replica: "r2", pulled: 1, pushed: 2,
                milliseconds: 1000 + number % 7)))
          // Until the caller ends it.
          try await Task.sleep(for: .milliseconds(20))
        }
        throw FakeFault()
      },
    ]
  }

  private func shown(
    _ arguments: [String], columns: Int, rows: Int = 24, replicas: Int = 3
  ) async throws -> TerminalSession {
    let server = try await RunningServer(handlers: Self.daemon(replicas: replicas))
    let session = try TerminalSession(
      arguments + ["--timeout", "120"], columns: columns, rows: rows, socket: server.socket)
    #expect(try await session.end() == 0, "\(session.text)")
    return session
  }

  private func expectFits(
    _ lines: [String], _ columns: Int, place: SourceLocation = #_sourceLocation
  ) {
    for line in lines {
      #expect(DisplayWidth.columns(line) <= columns, "\(columns): \(line)", sourceLocation: place)
    }
  }

  @Test(arguments: [20, 40, 80, 120, 300])
  func aTableFitsTheTerminal(_ columns: Int) async throws {
    let session = try await shown(["fetch", "Package"], columns: columns)
    let lines = TerminalSession.lines(session.text)
    expectFits(lines, columns)
    let all = lines.joined(separator: "\n")
    #expect(!all.contains("homepage") == (columns < 300), "an empty column makes room for others")
    // What has room for it as a whole is whole.
    #expect(all.contains(Self.id) == (columns >= 40), "\(all)")
    #expect(all.contains("…") == (columns == 80 || columns == 120), "\(all)")
    // Where columns have no room, each record is a block.
    #expect((lines.count { $0.hasPrefix("size") } == 3) == (columns < 80), "\(all)")
    #expect(all.contains("1234567"))
  }

  @Test func aTableIsAsItIsWhereThereIsNoTerminal() async throws {
    let server = try await RunningServer(handlers: Self.daemon(replicas: 3))
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let outcome = try await run(
      program, ["fetch", "Package"], environment: ["CAIRN_SOCKET": server.socket])
    let lines = outcome.output.split(separator: "\n")
    #expect(
      lines.count == 4 && lines.dropFirst().allSatisfy { $0.count > 120 }, "\(outcome.output)")
    #expect(outcome.output.contains("homepage"))
  }

  @Test(arguments: [40, 80, 120])
  func theStatusFitsTheTerminal(_ columns: Int) async throws {
    let session = try await shown(["status"], columns: columns)
    let lines = TerminalSession.lines(session.text)
    expectFits(lines, columns)
    let all = lines.joined(separator: "\n")
    #expect(all.contains("a-replica-with-a-rather-long-name") && all.contains("in sync"))
    #expect(all.contains("`cairnctl quarantine`"), "\(all)")
  }

  @Test(arguments: [20, 40, 80, 120])
  func theLiveViewFitsTheTerminal(_ columns: Int) async throws {
    let session = try await shown(
      ["top", "--interval", "0.2", "--count", "4"], columns: columns, replicas: 29)
    let screens = session.screens
    #expect(screens.count >= 4)
    for screen in screens {
      expectFits(screen, columns)
      #expect(screen.count <= 24, "\(screen)")
      #expect(screen.last == "… and 10 more", "\(screen)")
    }
    let screen = try #require(screens.last)
    let heading = try #require(screen.first { $0.hasPrefix("REPLICA") })
    let row = try #require(screen.first { $0.hasPrefix("r2 ") })
    #expect(row.contains("in sync"))
    // Numbers end where their headings do.
    let bars = row.contains { "▂▃▄▅▆▇█".contains($0) }
    for (title, number) in [("CHANGES/S", /[0-9.]+(?= |$)/), ("LAG", /7(?= |$)/)] {
      guard let place = heading.range(of: title) else {
        #expect(columns < 80, "\(heading)")
        continue
      }
      let end = heading.distance(from: heading.startIndex, to: place.upperBound)
      let start = row.index(row.startIndex, offsetBy: max(0, end - title.count))
      let cell = row[start...].prefix(title.count)
      #expect(cell.contains(number) && cell.last != " ", "\(heading)\n\(row)")
    }
    // Courses give way before numbers: of changes, of the lag, and of what passes took.
    #expect(bars == (columns >= 80), "\(row)")
    let courses = row.split { !"·▁▂▃▄▅▆▇█".contains($0) }
    #expect(courses.count == (columns >= 80 ? 3 : 0), "\(row)")
    #expect(columns < 80 || courses.last?.contains { "▂▃▄▅▆▇█".contains($0) } == true, "\(row)")
  }

  @Test(arguments: ["status --watch", "top --interval 0.2"])
  func whatWatchesGoesOnOverARestart(_ command: String) async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    let session = try TerminalSession(
      command.split(separator: " ").map(String.init), columns: 80, socket: daemon.socket)
    #expect(await eventually { session.text.contains("serving") })
    #expect(await daemon.stop() == 0)
    #expect(
      await eventually { session.text.contains("cairnd is not reachable since ") },
      "\(session.text.suffix(400))")
    try await daemon.start()
    #expect(
      await eventually {
        let parts = session.text.components(separatedBy: "not reachable since ")
        return parts.last?.contains("serving") == true
      }, "\(session.text.suffix(400))")
    try session.press("q")
    #expect(try await session.end() == 0)
    // The other screen, and the one that was there before.
    #expect(session.text.contains("\u{1B}[?1049h") && session.text.contains("\u{1B}[?1049l"))
    #expect(await daemon.stop() == 0)
  }

  @Test func aCallThatTakesLongSaysHowLong() async throws {
    let isReleased = Atomic(false)
    let handler = ControlHandler(BackupStore.self) { _, _ in
      _ = await eventually { isReleased.load(ordering: .relaxed) }
      return .init(store: "local", path: "/backups/local", bytes: 4096, records: 3)
    }
    let server = try await RunningServer(handlers: [handler])
    let session = try TerminalSession(["backup"], columns: 80, socket: server.socket)
    let words = "copying the store and checking the copy, "
    #expect(
      await eventually { session.text.contains(/copying the store and checking the copy, \d+ s/) },
      "\(session.text)")
    isReleased.store(true, ordering: .relaxed)
    #expect(try await session.end() == 0)
    let rest = try #require(session.text.components(separatedBy: words).last)
    #expect(rest.contains("\r\u{1B}[K/backups/local"), "the line is gone: \(rest)")
  }

  @Test func aCopySaysHowFarItIs() async throws {
    let isCopied = Atomic(false)
    let isChecked = Atomic(false)
    let handler = ControlHandler(BackupStore.self) { _, send in
      var reply = BackupStore.Reply(store: "local", path: "/backups/local", bytes: 0, records: 0)
      reply.progress = .init(.copying, done: 0, total: 2_000_000)
      try await send(reply)
      // Too soon after the line before to be drawn at once.
      reply.progress = .init(.copying, done: 500_000, total: 2_000_000)
      try await send(reply)
      _ = await eventually { isCopied.load(ordering: .relaxed) }
      reply.progress = .init(.checking)
      try await send(reply)
      _ = await eventually { isChecked.load(ordering: .relaxed) }
      return .init(store: "local", path: "/backups/local", bytes: 4096, records: 3)
    }
    let server = try await RunningServer(handlers: [handler])
    let session = try TerminalSession(["backup"], columns: 80, socket: server.socket)
    #expect(
      await eventually {
        session.text.contains(/\[#{9}\.{29}\]  25% copying, 500.0 kB of 2.0 MB, \d s/)
      }, "\(session.text)")
    isCopied.store(true, ordering: .relaxed)
    #expect(await eventually { session.text.contains(/\x1B\[Kchecking the copy, \d+ s/) })
    isChecked.store(true, ordering: .relaxed)
    #expect(try await session.end() == 0)
    let rest = try #require(session.text.components(separatedBy: "checking the copy").last)
    #expect(rest.contains("\r\u{1B}[K/backups/local"), "the line is gone: \(rest)")
  }

  @Test func aWatchWithoutATerminalSaysItOnStandardError() async throws {
    let outcome = try await run(
      try #require(Project.program("cairnctl")), ["--socket", "/no/such", "status", "--watch"])
    #expect(outcome.code == 69, "a daemon that is not there to begin with is an error")
  }
}
