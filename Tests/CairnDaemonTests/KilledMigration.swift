// A migration by `cairnctl migrate` that is killed wherever it is.
import CairnPlatform
import CairnTesting
import Foundation
import Testing

/// Migrates one file again and again, and kills that later and later, until it has come to its end a few times,
/// however fast the machine is.
struct KilledMigration {
  /// The file; what lies beside it and has its name goes before each attempt.
  let store: String
  /// What follows the file on the command line; no copy is kept.
  let arguments: [String]
  /// How many milliseconds later the next one is killed at least.
  var step = 60

  /// - Parameters:
  ///   - times: How often it is to come to its end.
  ///   - check: Says what the file is then, and checks that it is whole; gets the milliseconds for messages.
  ///   - new: What the file is at the end.
  /// - Returns: How often the file was what.
  func run(
    until new: String = "new", times: Int, check: (_ delay: Int) async throws -> String
  ) async throws -> [String: Int] {
    let whole = try Data(contentsOf: URL(fileURLWithPath: store))
    var ends: [String: Int] = [:]
    var delay = 15
    while ends[new, default: 0] < times, delay < 20_000 {
      defer { delay += step + delay / 10 }
      try removeFiles()
      try whole.write(to: URL(fileURLWithPath: store))
      try await kill(after: delay)
      ends[try await check(delay), default: 0] += 1
    }
    #expect(ends[new, default: 0] == times, "\(ends)")
    return ends
  }

  private var folder: URL { URL(fileURLWithPath: store).deletingLastPathComponent() }

  private func removeFiles() throws {
    let name = URL(fileURLWithPath: store).lastPathComponent
    for entry in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where entry.contains(name) {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(entry))
    }
  }

  private func kill(after delay: Int) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Project.program("cairnctl")))
    process.arguments = ["migrate", store] + arguments + ["--no-backup"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    _ = await eventually(within: .milliseconds(delay)) { false }
    ProcessConduct.send(signal: 9, to: process.processIdentifier)
    process.waitUntilExit()
  }

  /// Checks that nothing of an attempt lies about once one has come to its end.
  func checkNothingIsLeft() throws {
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.hasSuffix(".migrating") }, "\(left)")
  }
}
