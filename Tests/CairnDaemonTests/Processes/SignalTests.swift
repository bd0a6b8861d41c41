// What each signal does to a running daemon.
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct SignalTests {
  @Test func theStateIsWrittenToTheLogOnSIGUSR1AndNothingElseHappens() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("copy", folder.file("copy.sqlite"))]))
    try await daemon.start()
    let pid = daemon.pid
    ProcessConduct.send(signal: SIGUSR1, to: pid)
    #expect(await daemon.logs("copy: "), "\(daemon.log(last: 10))")
    let lines = daemon.logText.split(separator: "\n").filter { $0.contains("stateReported") }
    #expect(lines.count == 3, "the daemon, the local store and one replica: \(lines)")
    #expect(lines.contains { $0.contains("serving, started 20") && $0.contains("pid=\(pid)") })
    #expect(
      lines.contains { $0.contains(/copy: .*, (1 pass|[02-9] passes|[1-9][0-9]+ passes)"/) },
      "\(lines)")
    #expect(lines.contains { $0.contains("local: open, \(daemon.localPath)") }, "\(lines)")
    #expect(try daemon.status().pid == Int(pid))
    #expect(await daemon.stop() == 0)
  }

  @Test(arguments: [SIGUSR2, SIGPIPE, SIGHUP])
  func othersDoNotEndIt(_ signal: Int32) async throws {
    let daemon = try Daemon(in: TemporaryFolder())
    try await daemon.start()
    for _ in 0..<20 { ProcessConduct.send(signal: signal, to: daemon.pid) }
    // Answered after the signals: they were there before the call.
    #expect(try daemon.status().pid == Int(daemon.pid))
    #expect(await daemon.stop() == 0)
  }

  @Test func oneThatComesBeforeTheDaemonIsUpDoesNotEndItEither() async throws {
    let program = try #require(Project.program("cairnd"), "build the products first")
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["--config", daemon.configPath]
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer { if process.isRunning { ProcessConduct.send(signal: 9, to: process.processIdentifier) } }
    // From the program's first lines on; before, no process can help it.
    let isIgnored = await eventually {
      let status = try? String(
        contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("SigIgn:") }
      let mask = line.flatMap { UInt64($0.dropFirst(8), radix: 16) } ?? 0
      return mask & (1 << UInt64(SIGUSR2 - 1)) != 0
    }
    #expect(isIgnored)
    for signal in [SIGUSR1, SIGUSR2, SIGHUP] {
      ProcessConduct.send(signal: signal, to: process.processIdentifier)
    }
    #expect(await eventually { (try? daemon.status().state) == .serving })
    #expect(process.isRunning)
  }
}
