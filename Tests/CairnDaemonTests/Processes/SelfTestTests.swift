// The crash drill, with the real programs.
import CairnControl
import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct SelfTestTests {
  private struct Report: Decodable {
    struct Step: Decodable {
      let step: String
      let kills: Int
    }
    let steps: [Step]
    let randomKills: Int
    let powerCuts: Int
    let powerCutsThatShow: Int
    let comparisons: Int
    let acknowledged: Int
    let isInterrupted: Bool
    let failure: String?
    let kept: String?
    let notProven: [String]
  }

  private func decoded(_ outcome: Outcome) throws -> Report {
    let value = try JSONParser.parse(Array(outcome.output.utf8.dropLast()))
    return try JSONValueDecoder.decode(Report.self, from: value)
  }

  private func selfTest(_ arguments: String..., program: String? = nil) async throws -> Outcome {
    try await selfTest(arguments, program: program)
  }

  private func selfTest(_ arguments: [String], program: String?) async throws -> Outcome {
    let program = try #require(program ?? Project.program("cairnctl"), "build the products first")
    return try await run(program, ["self-test", "--minutes", "0"] + arguments)
  }

  /// A cairnctl with another cairnd, or none, beside it.
  private func installed(_ folder: TemporaryFolder, cairnd script: String?) throws -> String {
    let path = folder.file("cairnctl")
    let own = try #require(Project.program("cairnctl"))
    do {
      try FileManager.default.linkItem(atPath: own, toPath: path)
    } catch {
      try FileManager.default.copyItem(atPath: own, toPath: path)
    }
    if let script {
      try Data("#!/bin/sh\n\(script)\n".utf8).write(
        to: URL(fileURLWithPath: folder.file("cairnd")))
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: folder.file("cairnd"))
    }
    return path
  }

  private func entries(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  @Test func theDaemonIsKilledAtEachStepAndNothingIsLost() async throws {
    let folder = try TemporaryFolder()
    let outcome = try await selfTest("--folder", folder.path, "--json")
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let report = try decoded(outcome)
    #expect(report.failure == nil)
    #expect(report.steps.count >= 13)
    for step in report.steps { #expect(step.kills > 0, "not killed at \(step.step)") }
    #expect(report.randomKills > 2)
    #expect(report.comparisons >= report.randomKills + report.steps.count)
    #expect(report.acknowledged > 100)
    #expect(
      report.notProven.contains { $0.hasPrefix("loss of power") || $0.hasPrefix("durability") })
    #expect(try entries(folder).isEmpty, "it leaves nothing behind")
    let obstacle = report.notProven.first { $0.contains("none was cut") }
    #expect((report.powerCuts > 0) == (obstacle == nil))
    // Another flush may have taken a witness along at times, which the report says.
    #expect((report.powerCutsThatShow > 0) == (report.powerCuts > 0))
    let isTold = report.notProven.contains { $0.contains("outlived them") }
    #expect((report.powerCutsThatShow < report.powerCuts) == isTold)
    if HostIdentity.effectiveUser != 0 { #expect(obstacle?.hasSuffix("it takes root") == true) }
    if let obstacle { print("power cuts: left out; \(obstacle)") }
    // Nothing of its mounts is seen outside.
    let mounts = try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)
    #expect(!mounts.contains(folder.path))
  }

  /// A daemon whose flushes do nothing loses what it has acknowledged.
  @Test(.enabled(if: HostIdentity.effectiveUser == 0), .timeLimit(.minutes(10)))
  func aDaemonThatDoesNotFlushIsFoundByCutsOfThePower() async throws {
    let (folder, disk) = (try TemporaryFolder(), try TemporaryFolder())
    let source = folder.file("no-flush.c")
    try Data("int fsync(int file) { return 0; }\nint fdatasync(int file) { return 0; }\n".utf8)
      .write(to: URL(fileURLWithPath: source))
    let library = folder.file("no-flush.so")
    let compiled = try await run(
      "/usr/bin/env", ["cc", "-shared", "-fPIC", "-o", library, source])
    try #require(compiled.code == 0, "\(compiled.errors)")
    let real = try #require(Project.program("cairnd"))
    // One step to be killed at is enough: a kill takes nothing with it that was not flushed.
    let program = try installed(
      folder,
      cairnd: """
        if [ "$1" = --list-steps ]; then echo beforeCapture; exit; fi
        LD_PRELOAD=\(library) exec \(real) "$@"
        """)
    // What is lost does not come back however long it waits.
    let arguments = ["--folder", disk.path, "--json", "--timeout", "8"]
    var outcome = try await selfTest(arguments, program: program)
    var report = try decoded(outcome)
    if let obstacle = report.notProven.first(where: { $0.contains("none was cut") }) {
      return print("power cuts: left out; \(obstacle)")
    }
    // A cut may come when everything is on the disk, which the kernel sees to at times.
    for _ in 0..<4 where outcome.code == 0 {
      outcome = try await selfTest(arguments, program: program)
      report = try decoded(outcome)
    }
    #expect(outcome.code == 1, "\(outcome.output)")
    #expect(report.failure != nil && report.powerCuts > 0)
    let kept = try #require(report.kept)
    for name in ["local", "near", "far"] {
      let path = "\(kept)/stores-after-cut/\(name).sqlite"
      #expect(FileManager.default.fileExists(atPath: path), "\(report.failure ?? "no failure")")
    }
  }

  @Test func aRowThatADaemonLosesIsFoundAndTheStoresAreKept() async throws {
    let (folder, disk) = (try TemporaryFolder(), try TemporaryFolder())
    let real = try #require(Project.program("cairnd"))
    let count = folder.file("count")
    let program = try installed(
      folder,
      cairnd: """
        if [ "$1" != --list-steps ]; then
          echo >> \(count)
          [ "$(wc -l < \(count))" = 3 ] && python3 - \(disk.path)/*/stores/local.sqlite <<'END'
        import sqlite3, sys
        file = sqlite3.connect(sys.argv[1])
        file.execute("UPDATE ZNOTE SET ZCOUNT = 4711 WHERE ZNAME = 'old-0-7'")
        file.commit()
        END
        fi
        exec \(real) "$@"
        """)
    let outcome = try await selfTest(
      "--folder", disk.path, "--timeout", "8", "--json", program: program)
    #expect(outcome.code == 1, "\(outcome.output)\(outcome.errors)")
    let report = try decoded(outcome)
    #expect(report.failure?.contains("old-0-7") == true, "\(report.failure ?? "no failure")")
    let kept = try #require(report.kept)
    #expect(FileManager.default.fileExists(atPath: "\(kept)/stores/local.sqlite"))
    #expect(FileManager.default.fileExists(atPath: "\(kept)/cairnd.log"))
  }

  @Test func aDaemonThatEndsByItselfIsReportedWithItsLastWords() async throws {
    let (folder, disk) = (try TemporaryFolder(), try TemporaryFolder())
    let program = try installed(
      folder,
      cairnd: """
        if [ "$1" = --list-steps ]; then echo oneStep; exit 0; fi
        echo 'cannot go on' >&2; exit 3
        """)
    let outcome = try await selfTest("--folder", disk.path, program: program)
    #expect(outcome.code == 1)
    #expect(outcome.output.contains("exit code 3"), "\(outcome.output)")
    #expect(outcome.output.contains("cannot go on"))
  }

  @Test func whatCannotBeginSaysWhyAndLeavesNothing() async throws {
    let folder = try TemporaryFolder()
    let lonely = try installed(folder, cairnd: nil)
    let alone = try await selfTest("--folder", folder.path, program: lonely)
    #expect(alone.code == 1 && alone.errors.contains("no cairnd beside"), "\(alone.errors)")

    let other = try TemporaryFolder()
    let stranger = try await selfTest(
      "--folder", other.path, program: try installed(other, cairnd: "exit 64"))
    #expect(stranger.code == 1 && stranger.errors.contains("another version"), "\(stranger.errors)")
    #expect(try entries(other).sorted() == ["cairnctl", "cairnd"])

    let missing = try await selfTest("--folder", folder.file("missing"))
    #expect(missing.code == 1 && missing.errors.contains("no folder"), "\(missing.errors)")
    let file = try await selfTest("--folder", lonely)
    #expect(file.code == 1 && file.errors.contains("is no folder"), "\(file.errors)")
    // Nothing is free there.
    let full = try await selfTest("--folder", "/proc")
    #expect(full.code == 1 && full.errors.contains("are free"), "\(full.errors)")
    let negative = try await selfTest("--minutes=-1")
    #expect(negative.code == 64, "\(negative.errors)")
  }

  @Test(.enabled(if: HostIdentity.effectiveUser == 0)) func aFolderOfAnotherIsRefused() async throws
  {
    let folder = try TemporaryFolder()
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    let program = try #require(Project.program("cairnctl"))
    let outcome = try await run(
      "/usr/bin/setpriv",
      [
        "--reuid=61234", "--regid=61234", "--clear-groups", program, "self-test", "--folder",
        folder.path,
      ])
    #expect(outcome.code == 1)
    #expect(outcome.errors.contains("cannot be made"), "\(outcome.errors)")
    #expect(outcome.errors.contains("--folder"))
  }

  @Test(.enabled(if: HostIdentity.effectiveUser == 0))
  func theUserThatStandsForAllStrangersCanRunItAndIsToldWhatItCannotShow() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755, .ownerAccountID: 65534, .groupOwnerAccountID: 65534],
      ofItemAtPath: folder.path)
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
    process.arguments = [
      "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/env", "TMPDIR=\(folder.path)",
      try #require(Project.program("cairnctl")), "self-test", "--folder", folder.path, "--json",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // What was killed first has been compared before the third daemon is started.
    let hasCompared = await eventually { !process.isRunning || starts(in: folder) > 3 }
    ProcessConduct.send(signal: 2, to: process.processIdentifier)
    let hasEnded = await eventually { !process.isRunning }
    try #require(hasCompared && hasEnded)
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(process.terminationStatus == 0, "\(text)")
    let report = try decoded(Outcome(code: 0, output: text, errors: ""))
    #expect(report.failure == nil && report.isInterrupted)
    #expect(report.comparisons > 0 && report.acknowledged > 0)
    #expect(report.notProven.contains { $0.contains("it takes root") }, "\(report.notProven)")
  }

  /// How often the daemon of a drill in a folder has been started.
  private func starts(in folder: TemporaryFolder) -> Int {
    // Beside it lies the one of its socket.
    guard
      let drill = try? entries(folder).first(where: {
        $0.hasPrefix("cairn-self-test-") && !$0.hasSuffix("-socket")
      }), let log = try? String(contentsOfFile: folder.file("\(drill)/cairnd.log"), encoding: .utf8)
    else { return 0 }
    return log.split(separator: "\n").count { $0.contains("event=started") }
  }

  /// Starts a drill without end and waits until its daemon runs.
  private func started(in folder: TemporaryFolder) async throws -> (ChildProcess, daemon: Int32) {
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: try #require(Project.program("cairnctl")))
    process.arguments = ["self-test", "--minutes", "60", "--folder", folder.path]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let found = await eventually { self.daemon(of: folder) != nil }
    #expect(found, "no daemon was started")
    return (process, try #require(daemon(of: folder)))
  }

  /// The daemon that was started with a configuration in the folder.
  private func daemon(of folder: TemporaryFolder) -> Int32? {
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.compactMap { Int32($0) }.first { number in
      guard let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") else {
        return false
      }
      let words = String(decoding: line, as: UTF8.self)
      return words.contains(folder.path) && words.contains("--pause-at-steps")
    }
  }

  @Test func anInterruptionEndsItAndLeavesNothing() async throws {
    let folder = try TemporaryFolder()
    let (process, _) = try await started(in: folder)
    ProcessConduct.send(signal: 2, to: process.processIdentifier)
    let ended = await eventually { !process.isRunning }
    #expect(ended && process.terminationStatus == 0)
    #expect(daemon(of: folder) == nil)
    #expect(try entries(folder).isEmpty)
  }

  @Test func theDaemonEndsWithTheDrillThatIsKilled() async throws {
    let folder = try TemporaryFolder()
    let (process, _) = try await started(in: folder)
    ProcessConduct.send(signal: 9, to: process.processIdentifier)
    let ended = await eventually { !process.isRunning && self.daemon(of: folder) == nil }
    #expect(ended, "the daemon outlives the program that drives it")
  }
}
