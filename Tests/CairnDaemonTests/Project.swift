// Where the project's files and its built programs are.
import CairnTesting
import Foundation
import Synchronization
import TestSupport

enum Project {
  /// A file of the project, from its root.
  static func file(_ path: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent(path).path
  }

  /// The folder of the programs that are tried: `CAIRN_PROGRAMS`, such as that of an unpacked package, else the one
  /// that the tests themselves were built into.
  static var products: URL? {
    ProcessInfo.processInfo.environment["CAIRN_PROGRAMS"].map { URL(fileURLWithPath: $0) } ?? built
  }

  private static var built: URL? {
    var candidates = [URL(fileURLWithPath: CommandLine.arguments.first ?? "")]
    candidates += CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
      .map { URL(fileURLWithPath: $0) }
    candidates.append(Bundle.main.bundleURL)
    for candidate in candidates {
      var folder = candidate
      for _ in 0..<4 {
        if FileManager.default.isExecutableFile(
          atPath: folder.appendingPathComponent("cairnd").path)
        {
          return folder
        }
        folder = folder.deletingLastPathComponent()
      }
    }
    return nil
  }

  static func program(_ name: String) -> String? {
    // No package has the generator of classes.
    (name == "cairn-modelgen" ? built : products)?.appendingPathComponent(name).path
  }
}

/// What a program wrote and how it ended.
struct Outcome: Sendable {
  let code: Int32
  let output: String
  let errors: String
}

/// Runs a program to its end.
func run(
  _ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]
) async throws -> Outcome {
  try await offPool {
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let (output, errors, source) = (Pipe(), Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = source
    try process.run()
    try? source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try source.fileHandleForWriting.close()
    // One pipe after the other would wait for a program that fills the second one.
    let complaints = Mutex(Data())
    let reading = DispatchGroup()
    DispatchQueue.global().async(group: reading) {
      let data = readToEnd(errors)
      complaints.withLock { $0 = data }
    }
    let text = readToEnd(output)
    reading.wait()
    let complaint = complaints.withLock { $0 }
    process.waitUntilExit()
    return Outcome(
      code: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: complaint, as: UTF8.self))
  }
}

/// What comes out of a pipe until its other end is closed.
///
/// Foundation's own reading traps when a signal interrupts it.
private func readToEnd(_ pipe: Pipe) -> Data {
  var data = Data()
  var bytes = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = read(pipe.fileHandleForReading.fileDescriptor, &bytes, bytes.count)
    if count > 0 {
      data.append(contentsOf: bytes[..<count])
    } else if count == 0 || errno != EINTR {
      return data
    }
  }
}
