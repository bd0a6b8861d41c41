// A program on a terminal of its own, of a size that the test chooses.
import CairnControl
import CairnTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A running `cairnctl` that has a terminal; it is ended with the object, if not before.
///
/// Mutable state: what was written so far, inside the mutex.
final class TerminalSession: Sendable {
  private let process: Mutex<ChildProcess>
  private let keys = Pipe()
  private let written = Mutex(Data())
  private let reading = DispatchGroup()

  /// - Parameter environment: More than the socket and a terminal with all characters.
  init(
    _ arguments: [String], columns: Int, rows: Int = 24, socket: String,
    environment: [String: String] = [:]
  ) throws {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let quoted = ([program] + arguments).map { ShellWord.path($0) }.joined(separator: " ")
    let started = ChildProcess()
    started.executableURL = URL(fileURLWithPath: "/usr/bin/script")
    started.arguments = [
      "-qec", "stty cols \(columns) rows \(rows); \(quoted)", "/dev/null",
    ]
    let own = ["CAIRN_SOCKET": socket, "LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": ""]
    started.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
      .merging(environment) { $1 }
    let output = Pipe()
    started.standardOutput = output
    started.standardError = output
    started.standardInput = keys
    try started.run()
    process = Mutex(started)
    DispatchQueue.global().async(group: reading) { [self] in
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(output.fileHandleForReading.fileDescriptor, &bytes, bytes.count)
        if count > 0 { written.withLock { $0.append(contentsOf: bytes[..<count]) } }
        if count == 0 || count < 0 && errno != EINTR { return }
      }
    }
  }

  deinit {
    process.withLock { if $0.isRunning { $0.terminate() } }
  }

  /// All that the program has written, with what moves the cursor.
  var text: String { written.withLock { String(decoding: $0, as: UTF8.self) } }

  func press(_ key: String) throws {
    try keys.fileHandleForWriting.write(contentsOf: Data(key.utf8))
  }

  /// Waits until the program has ended, and returns its exit code.
  func end() async throws -> Int32 {
    #expect(await eventually { !self.process.withLock { $0.isRunning } }, "\(text.suffix(400))")
    return try await offPool {
      self.reading.wait()
      return self.process.withLock { $0.isRunning ? -1 : $0.terminationStatus }
    }
  }

  /// The screens that were drawn one over the other, as lines.
  var screens: [[String]] {
    text.components(separatedBy: "\u{1B}[H").dropFirst().map { Self.lines($0) }
  }

  /// Lines without what colours them and moves the cursor.
  static func lines(_ text: String) -> [String] {
    let plain = text.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "")
    // With the end of a line it is one character.
    let scalars = plain.unicodeScalars.filter { $0 != "\r" }
    return String(String.UnicodeScalarView(scalars))
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }
}
