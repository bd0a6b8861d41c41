// A migration by `cairnctl migrate` that is killed wherever it is.
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

/// Migrates one file again and again, and kills that later and later, in parts of the time that it takes.
struct KilledMigration {
  /// The file; what lies beside it and has its name goes before each attempt.
  let store: String
  /// What follows the file on the command line; no copy is kept.
  let arguments: [String]

  /// - Parameters:
  ///   - parts: Into how many parts the time is divided; after each but the last a migration is killed, and the
  ///     last one comes to its end.
  ///   - new: What the file is at the end.
  ///   - check: Says what the file is after a kill, and checks that it is whole; gets the milliseconds for messages.
  /// - Returns: How often the file was what.
  func run(
    parts: Int = 6, until new: String = "new", check: (_ delay: Int) async throws -> String
  ) async throws -> [String: Int] {
    let whole = try Data(contentsOf: URL(fileURLWithPath: store))
    var ends: [String: Int] = [:]
    func attempt(_ delay: Int) async throws {
      try removeFiles()
      try whole.write(to: URL(fileURLWithPath: store))
      try await kill(after: delay)
      ends[try await check(delay), default: 0] += 1
    }
    var time = try await undisturbed()
    var early = time / parts
    for part in 1..<parts { try await attempt(max(1, time * part / parts)) }
    // The machine may have become slower since.
    while ends[new] == nil, time < 60_000 {
      time *= 2
      try await attempt(time)
    }
    // Or quicker, since it was busy when the time was taken.
    while ends.count < 2, early > 1 {
      early /= 2
      try await attempt(early)
    }
    #expect(ends[new] != nil && ends.count > 1, "\(ends)")
    return ends
  }

  /// How long one takes that nothing kills, in milliseconds.
  private func undisturbed() async throws -> Int {
    let start = ContinuousClock.now
    let process = try begin()
    #expect(await eventually { !process.isRunning } && process.terminationStatus == 0)
    return Int((ContinuousClock.now - start) / .milliseconds(1))
  }

  private var folder: URL { URL(fileURLWithPath: store).deletingLastPathComponent() }

  private func removeFiles() throws {
    let name = URL(fileURLWithPath: store).lastPathComponent
    for entry in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where entry.contains(name) {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(entry))
    }
  }

  private func begin() throws -> ChildProcess {
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: try #require(Project.program("cairnctl")))
    process.arguments = ["migrate", store] + arguments + ["--no-backup"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func kill(after delay: Int) async throws {
    let process = try begin()
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
