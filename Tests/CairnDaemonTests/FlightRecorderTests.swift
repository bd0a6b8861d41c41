// What the daemon did last, over the ends of its runs.
import CairnControl
import CairnTesting
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct FlightRecorderTests {
  private func line(_ text: String) -> [UInt8] { Array("\(text)\n".utf8) }

  @Test func linesOutliveTheRun() throws {
    let folder = try TemporaryFolder()
    do {
      let first = FlightRecorder(folder: folder.path)
      first.add(line("one"))
    }
    let second = FlightRecorder(folder: folder.path)
    second.add(line("two"))
    #expect(second.text == "one\ntwo\n")
    let mode = try FileManager.default.attributesOfItem(atPath: folder.file("flight-recorder"))
    #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func theOldestGoAndTheNewestStay() throws {
    let folder = try TemporaryFolder()
    let recorder = FlightRecorder(folder: folder.path, capacity: 100)
    for number in 0..<1000 { recorder.add(line("line \(number)")) }
    let lines = recorder.text.split(separator: "\n").map(String.init)
    #expect(recorder.text.utf8.count <= 200 && recorder.text.utf8.count > 90)
    #expect(lines == (1000 - lines.count..<1000).map { "line \($0)" })
  }

  @Test(arguments: [nil, "not/there"])
  func whereNoFileCanBeItKeepsLinesInMemory(_ name: String?) throws {
    let folder = try TemporaryFolder()
    let recorder = FlightRecorder(folder: name.map { folder.file($0) })
    for number in 0..<2000 { recorder.add(line("\(number)")) }
    let lines = recorder.text.split(separator: "\n").map(String.init)
    #expect(lines == (1500..<2000).map(String.init))
  }

  @Test func aSymbolicLinkInItsPlaceIsNotFollowed() throws {
    let folder = try TemporaryFolder()
    try Data("theirs".utf8).write(to: URL(fileURLWithPath: folder.file("other")))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("flight-recorder"), withDestinationPath: folder.file("other"))
    FlightRecorder(folder: folder.path).add(line("ours"))
    #expect(try String(contentsOfFile: folder.file("other"), encoding: .utf8) == "theirs")
  }

  /// Keeps the messages that it gets.
  private struct ListHandler: LogHandler {
    let list: @Sendable (String) -> Void
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { list(event.message.description) }
  }

  @Test func theRecorderGetsDebugWhateverTheLogGetsAndNeverTrace() {
    let logged = Mutex<[String]>([])
    let recorded = Mutex<[String]>([])
    let shared = SharedLogLevel(.warning)
    let logger = Logger(label: "test") { _ in
      LeveledLogHandler(
        ListHandler { text in logged.withLock { $0.append(text) } },
        ListHandler { text in recorded.withLock { $0.append(text) } }, shared)
    }
    func say() {
      for level in Logger.Level.allCases { logger.log(level: level, "\(level)") }
    }
    say()
    #expect(logged.withLock { $0 } == ["warning", "error", "critical"])
    let all = ["debug", "info", "notice", "warning", "error", "critical"]
    #expect(recorded.withLock { $0 } == all)
    shared.set(.trace)
    say()
    #expect(logged.withLock { $0.count } == 3 + 7)
    #expect(recorded.withLock { $0 } == all + all)
  }

  @Test func aBundleTellsWhatARunDidThatWasKilled() async throws {
    let folder = try TemporaryFolder()
    let runtime = folder.file("run")
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: false)
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(environment: ["RUNTIME_DIRECTORY": "\(runtime):/other"]))
    try daemon.reconfigure { $0.replacing("level: debug", with: "level: error") }
    try await daemon.start()
    let killed = try daemon.status().pid
    #expect(
      try await daemon.ctl("store", "add", "near", "sqlite", folder.file("near.sqlite")).code == 0)
    try await daemon.ctl("insert", "Section", "name=s")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    daemon.kill()
    try await daemon.start()
    #expect(try daemon.status().pid != killed)
    let file = folder.file("bundle.tar")
    #expect(try await daemon.ctl("support-bundle", file).code == 0)
    let log = try await run("/bin/sh", ["-c", "tar -xOf '\(file)' --wildcards '*/log.txt'"]).output
    #expect(log.contains("replica near added"), "\(log)")
    #expect(log.contains("level=debug msg=\"pass with near completed"), "\(log)")
    #expect(log.components(separatedBy: "event=started").count == 3, "\(log)")
    #expect(await daemon.stop() == 0)
  }
}
