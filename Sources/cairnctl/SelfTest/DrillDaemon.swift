// The daemon that the self-test kills.
import CairnControl
import CairnPlatform
import Foundation
import Synchronization

/// A child cairnd that names each step of sync, and is killed at one of them or at any time.
///
/// Mutable state: the running process and what it has reached, inside the mutex. The thread that reads its
/// standard output decides at each step whether it goes on.
final class DrillDaemon: Sendable {
  private struct State {
    var process: Process?
    var input: FileHandle?
    /// At which steps it is killed, and how often the next of them is passed before.
    var targets: Set<String> = []
    var passes = 0
    /// Where it was killed.
    var killedAt: String?
    var isKilled = false
  }

  /// A daemon that ended by itself.
  struct UnexpectedEnd: Error {
    let code: Int32
  }

  let socket: String
  private let program: String
  private let configuration: String
  private let log: String
  private let state = Mutex(State())

  init(program: String, configuration: String, socket: String, log: String) {
    self.program = program
    self.configuration = configuration
    self.socket = socket
    self.log = log
  }

  /// All steps that a daemon of this program names, in no order.
  static func steps(of program: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["--list-steps"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw CommandFailure(
        message: "\(program) cannot be started: \(error.localizedDescription)",
        hint: "check its mode, and that its file system is not mounted noexec")
    }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let steps = text.split(separator: "\n").map(String.init)
    guard process.terminationStatus == 0, !steps.isEmpty else {
      throw CommandFailure(
        message: "\(program) does not name its steps: it is of another version",
        hint: "install cairnd and cairnctl of one version; this one is \(CairnVersion.text)")
    }
    return steps
  }

  /// Starts it; the next step among `targets` is its last.
  func start() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["--config", configuration, "--pause-at-steps"]
    let (output, input) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardInput = input
    if !FileManager.default.fileExists(atPath: log) {
      _ = FileManager.default.createFile(atPath: log, contents: nil)
    }
    let errors = FileHandle(forWritingAtPath: log)
    _ = try errors?.seekToEnd()
    process.standardError = errors ?? FileHandle.nullDevice
    state.withLock {
      $0 = State(
        process: process, input: input.fileHandleForWriting, targets: $0.targets, passes: $0.passes)
    }
    try process.run()
    try? errors?.close()
    let reader = Thread { self.read(output.fileHandleForReading) }
    reader.name = "drill.steps"
    reader.start()
  }

  private func read(_ output: FileHandle) {
    var rest = Data()
    while true {
      let data = output.availableData
      if data.isEmpty { return }
      rest.append(data)
      while let end = rest.firstIndex(of: 10) {
        take(String(decoding: rest[..<end], as: UTF8.self))
        rest = Data(rest[(end + 1)...])
      }
    }
  }

  /// It waits at a step: for its end, or to go on.
  private func take(_ step: String) {
    state.withLock { state in
      if state.isKilled { return }
      if state.targets.contains(step) {
        if state.passes == 0 {
          state.killedAt = step
          Self.kill(&state)
          return
        }
        state.passes -= 1
      }
      try? state.input?.write(contentsOf: Data("\n".utf8))
    }
  }

  private static func kill(_ state: inout State) {
    guard let process = state.process, process.isRunning else { return }
    state.isKilled = true
    ProcessConduct.send(signal: 9, to: process.processIdentifier)
  }

  // MARK: Its end

  /// Kills it at the next of these steps, after it has passed so many of them.
  func arm(_ targets: Set<String>, passes: Int = 0) {
    state.withLock {
      $0.targets = targets
      $0.passes = passes
    }
  }

  /// Kills it now.
  func kill() { state.withLock { Self.kill(&$0) } }

  /// It may end by itself from now on, which is no failure.
  func expectEnd() { state.withLock { $0.isKilled = true } }

  var isRunning: Bool { state.withLock { $0.process?.isRunning ?? false } }

  /// The step at which it was killed; nil where that was at no step.
  var killedAt: String? { state.withLock(\.killedAt) }

  /// Waits for its end.
  ///
  /// - Returns: False where it goes on.
  /// - Throws: ``UnexpectedEnd`` where the daemon ended by itself.
  func ends(within seconds: Double, meanwhile: () -> Void = {}) throws -> Bool {
    let end = MonotonicClock.nanoseconds + UInt64(seconds * 1e9)
    while isRunning {
      guard MonotonicClock.nanoseconds < end else { return false }
      meanwhile()
      Thread.sleep(forTimeInterval: 0.002)
    }
    try checkKilled()
    return true
  }

  /// - Throws: ``UnexpectedEnd`` where it has ended and the drill did not kill it.
  func checkKilled() throws {
    let code = state.withLock { state -> Int32? in
      guard let process = state.process, !process.isRunning, !state.isKilled else { return nil }
      return process.terminationStatus
    }
    if let code { throw UnexpectedEnd(code: code) }
  }

  /// Stops it as a service manager would.
  ///
  /// - Returns: Its exit code; nil where it did not end and was killed.
  func stop() -> Int32? {
    arm([])
    guard let process = state.withLock(\.process), process.isRunning else { return nil }
    process.terminate()
    let end = MonotonicClock.nanoseconds + 60_000_000_000
    while process.isRunning {
      guard MonotonicClock.nanoseconds < end else {
        kill()
        return nil
      }
      Thread.sleep(forTimeInterval: 0.005)
    }
    return process.terminationStatus
  }

  /// The last lines that it wrote.
  var lastWords: String {
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").suffix(3).joined(separator: "\n")
  }
}
