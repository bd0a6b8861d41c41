// Who gets a connection when others hold all there are, with the real daemon.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Specification: operations.md 4, "too many connections".
@Suite struct ConnectionPlaceTests {
  /// `cairnctl status --watch` of another user, which holds a connection until it is ended.
  private final class Holder {
    private let process = ChildProcess()

    init(user: UInt32, socket: String) throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
      process.arguments = [
        "--reuid=\(user)", "--regid=1", "--clear-groups",
        try #require(Project.program("cairnctl"), "build the products first"),
        "status", "--watch", "--socket", socket,
      ]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      // It has its place once it has shown a status; before, another could take it.
      _ = output.fileHandleForReading.availableData
    }

    var isRunning: Bool { process.isRunning }

    deinit {
      ProcessConduct.send(signal: 9, to: process.processIdentifier)
      process.waitUntilExit()
    }
  }

  @Test(.enabled(if: HostIdentity.effectiveUser == 0, "only root can be other users"))
  func rootIsServedWhenOthersHoldAllConnections() async throws {
    let folder = try TemporaryFolder()
    // Others get to the socket, and to the program that was built.
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    let groups = try String(contentsOfFile: "/etc/group", encoding: .utf8).split(separator: "\n")
    let entry = groups.map { $0.split(separator: ":") }.first { $0.dropFirst(2).first == "1" }
    let group = try #require(entry?.first)
    let daemon = try Daemon(in: folder)
    let settings = "{socket: \(daemon.socket), statusGroup: \(group), maxConnections: 4}"
    let text = try String(contentsOfFile: daemon.configPath, encoding: .utf8)
      .replacingOccurrences(of: "control: {socket: \(daemon.socket)}", with: "control: \(settings)")
    try text.write(toFile: daemon.configPath, atomically: false, encoding: .utf8)
    try await daemon.start()
    let holders = try (0..<4).map { try Holder(user: 61_300 + $0, socket: daemon.socket) }
    // A fifth user finds no place, once the four have theirs.
    var late = ""
    for _ in 0..<200 where !late.contains("too many connections") {
      late = try await run(
        "/usr/bin/setpriv",
        [
          "--reuid=61310", "--regid=1", "--clear-groups",
          try #require(Project.program("cairnctl")), "status", "--socket", daemon.socket,
        ]
      ).errors
    }
    #expect(late.contains("too many connections"), "\(late)")
    #expect(holders.allSatisfy { $0.isRunning })
    // Root does, and can do something about it.
    let clients = try (0..<8).map { _ in try daemon.client() }
    for client in clients {
      #expect(try client.call(GetStatus.self, NoValues()).status.state == .serving)
    }
    #expect(await daemon.stop() == 0)
  }
}
