// cairnctl self-test
import ArgumentParser
import CairnControl
import CairnPlatform
import Foundation
import Synchronization

struct SelfTestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "self-test",
    abstract: "Kill a daemon of throw-away stores again and again, and see that nothing is lost.",
    discussion: """
      Makes three stores in a folder of its own on the disk to be tried, and runs the cairnd beside this \
      program over them while programs write through it and past it. Kills it at each step of sync and at \
      any time, starts it again, and compares the stores row by row, with each other and with what was \
      acknowledged; --timeout is how long they may differ without coming nearer to each other, 60 seconds \
      when left out. As root it also cuts the power under the stores, which then lie on a file system of \
      their own in a file on that disk. Says what was proven, and what was not. Neither needs nor touches a \
      daemon that runs. Takes its folder away in the end, unless something was wrong. Ctrl-C ends it early.
      Example: cairnctl self-test --minutes 10 --folder /srv/data
      """)

  @OptionGroup var shared: SharedOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long; at least once at each step, which takes about one.", valueName: "minutes"))
  var minutes = 1.0

  @Option(
    help: ArgumentHelp(
      "A folder on the disk to be tried; the current one when left out.", valueName: "folder"),
    completion: .directory)
  var folder = "."

  @Option(
    help: ArgumentHelp(
      "The number that random times come of, from an earlier report.", valueName: "number"))
  var seed: UInt64?

  func validate() throws {
    guard minutes >= 0, minutes <= 10_080 else {
      throw ValidationError("--minutes is a number from 0 to 10080, which is a week.")
    }
  }

  func run() throws {
    let hasOwnMounts = DrillPower.takeOwnMounts()
    let program = try Self.daemon()
    let folder = try DrillFolder(in: folder)
    let interruption = Interruption()
    let bar = ProgressBar(isShown: !shared.json && ProgressBar.canBeSeen)
    let start = MonotonicClock.nanoseconds
    let limit = minutes * 60
    var count = 0
    let drill: DrillRun
    let (power, obstacle) = Self.power(in: folder, hasOwnMounts)
    do {
      drill = try DrillRun(
        program: program, folder: folder, power: power,
        seed: seed ?? UInt64.random(in: 0..<1 << 32), patience: shared.timeout ?? 60,
        progress: { text in
          count += 1
          let elapsed = Double(MonotonicClock.nanoseconds - start) / 1e9
          bar.show(limit > 0 ? elapsed / limit : nil, "\(Readable.count(count, "kill")), \(text)")
        }, isInterrupted: { interruption.hasCome })
    } catch {
      folder.remove()
      throw error
    }
    var failure: String?
    do {
      try drill.run(seconds: limit)
    } catch {
      // A terminal's Ctrl-C reaches the daemon as well.
      if !interruption.hasCome { failure = drill.describe(error) }
    }
    bar.clear()
    try report(drill.report, failure, folder, obstacle)
  }

  /// What may lose its power, or why nothing may.
  private static func power(
    in folder: DrillFolder, _ hasOwnMounts: Bool
  ) -> (power: DrillPower?, obstacle: String?) {
    do {
      return (try DrillPower(in: folder, hasOwnMounts: hasOwnMounts), nil)
    } catch {
      return (nil, error.text)
    }
  }

  private func report(
    _ figures: DrillReport, _ failure: String?, _ folder: DrillFolder, _ obstacle: String?
  ) throws {
    var report = figures
    report.failure = failure
    if failure == nil {
      folder.remove()
    } else {
      folder.removeSocketFolder()
      report.kept = folder.path
    }
    report.notProven = report.disk.notProven
    if let obstacle {
      report.notProven.append("a file system that loses its power: none was cut, \(obstacle)")
    } else if report.powerCuts > report.powerCutsThatShow {
      report.notProven.append(
        "\(report.powerCuts - report.powerCutsThatShow) of the \(report.powerCuts) cuts of a file system: what was not "
          + "flushed outlived them")
    }
    let missing = report.steps.filter { $0.kills == 0 }.map(\.step)
    if !missing.isEmpty {
      report.notProven.append(
        "kills at \(missing.joined(separator: ", ")): not reached in this time")
    }
    report.notProven.append(
      "other versions of SQLite, other file systems, stores of other models and sizes")
    if shared.json { try Output.json(report) } else { report.lines.forEach(Output.line) }
    if failure != nil { throw ExitCode(1) }
  }

  /// The cairnd that was installed with this program.
  private static func daemon() throws -> String {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let path = own.deletingLastPathComponent().appendingPathComponent("cairnd").path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw CommandFailure(
        message: "there is no cairnd beside this program, at \(path)",
        hint: "install both: the package cairn has them")
    }
    return path
  }
}

/// Whether a signal has asked this program to end.
private final class Interruption {
  private final class Flag: Sendable {
    let isSet = Mutex(false)
  }

  private let flag = Flag()
  private let sources: [any DispatchSourceSignal]

  init() {
    let queue = DispatchQueue(label: "cairnctl.interruption")
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    for source in sources {
      source.setEventHandler { [flag] in flag.isSet.withLock { $0 = true } }
      source.resume()
    }
  }

  var hasCome: Bool { flag.isSet.withLock(\.self) }
}
