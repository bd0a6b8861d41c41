import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

/// The real program, without systemd: this test stands in for the service manager.
@Suite struct CairndProcessTests {
  @Test func aWrongConfigurationEndsWith78AndNamesFileLineAndKey() async throws {
    let program = try #require(Project.program("cairnd"), "build the products first")
    let folder = try TemporaryFolder()
    let path = folder.file("c.yaml")
    try "model: /m.mom\nlog: {levl: info}\n".write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    for arguments in [["--config", path, "--check-config"], ["--config", path]] {
      let outcome = try await run(program, arguments)
      #expect(outcome.code == 78)
      #expect(outcome.errors.contains("\(path):2:7: log.levl: unknown key"))
    }
    #expect(try await run(program, ["--nonsense"]).code == 64)
    let help = try await run(program, ["--help"])
    let text = help.output.split { $0.isWhitespace }.joined(separator: " ")
    #expect(text.contains("SIGHUP takes the configuration on disk over"), "\(help.output)")
  }

  @Test func theCheckNamesWhatTheModelDoesNotHaveWithItsLine() async throws {
    let program = try #require(Project.program("cairnd"), "build the products first")
    let folder = try TemporaryFolder()
    let path = folder.file("c.yaml")
    let demo = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    for (model, problems) in [
      (
        demo,
        [
          "\(path):5:16: replicas.nas.entities: the model has no entity \"Pakage\"; did you mean \"Package\"?",
          "\(path):6:39: sync.conflict.entities.Sectoin: the model has no entity \"Sectoin\"; did you mean "
            + "\"Section\"?",
        ]
      ),
      (folder.file("missing.xcdatamodeld"), ["\(path):1:8: model: "]),
    ] {
      let text = """
        model: \(model)
        local: {path: \(folder.file("local.sqlite"))}
        replicas:
          - {name: nas, type: sqlite, path: \(folder.file("nas.sqlite")),
             entities: [Section, Pakage]}
        sync: {conflict: {entities: {Sectoin: writeWins}}}
        control: {socket: \(folder.file("control"))}
        """
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      let outcome = try await run(program, ["--config", path, "--check-config"])
      #expect(outcome.code == 78, "\(outcome)")
      for problem in problems { #expect(outcome.errors.contains(problem), "\(outcome.errors)") }
    }
  }

  @Test func theDaemonReportsReadyStatusAndStoppingAndLeavesNothing() async throws {
    let program = try #require(Project.program("cairnd"))
    let folder = try TemporaryFolder()
    let path = folder.file("c.yaml")
    let text = """
      model: \(folder.file("missing.xcdatamodeld"))
      control: {socket: \(folder.file("control"))}
      local: {path: \(folder.file("local.sqlite"))}
      """
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let manager = try ReceivingSocket(at: folder.file("notify"))
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["--config", path]
    process.environment = ProcessInfo.processInfo.environment.merging([
      "NOTIFY_SOCKET": folder.file("notify"), "WATCHDOG_USEC": "300000",
    ]) { $1 }
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer { if process.isRunning { process.terminate() } }

    let control = folder.file("control")
    let number = process.processIdentifier
    try await offPool {
      let messages = try Self.collect(manager, until: "STATUS=Degraded")
      #expect(messages.contains("READY=1"))
      _ = try Self.collect(manager, until: "WATCHDOG=1")
      let client = try ControlClient(socket: control)
      let status = try client.call(GetStatus.self, NoValues()).status
      #expect(status.state == .degraded)
      #expect(status.pid == Int(number))
      #expect(throws: ControlError.self) { try client.call(ListStores.self, NoValues()) }
      ProcessConduct.send(signal: 15, to: number)
      #expect(try Self.collect(manager, until: "STATUS=Stopped").contains("STOPPING=1"))
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(!FileManager.default.fileExists(atPath: control))
  }

  private static func collect(_ manager: ReceivingSocket, until last: String) throws -> [String] {
    var messages: [String] = []
    while messages.last?.hasPrefix(last) != true {
      guard let bytes = try manager.receive(timeout: .patience) else {
        Issue.record("no \(last) came, only \(messages)")
        return messages
      }
      messages += String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    return messages
  }
}
