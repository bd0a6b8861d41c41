// Other programs that a case runs, and what they cost.

import Foundation

/// A program that has been started.
struct Program {
  let process: Process
  var id: Int32 { process.processIdentifier }

  /// Starts the program; what it says goes to `log`, or nowhere.
  init(
    _ executable: String, _ arguments: [String], log: URL? = nil
  ) throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [executable] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    if let log {
      try Data().write(to: log)
      process.standardOutput = try FileHandle(forWritingTo: log)
      process.standardError = process.standardOutput
    }
    try process.run()
  }

  /// Runs a program to its end and returns its output.
  ///
  /// - Throws: ``RawError`` with what it said, when it ends with an error.
  @discardableResult
  static func run(_ executable: String, _ arguments: [String]) throws -> String {
    let output = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-benchmarks-output-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: output) }
    let program = try Program(executable, arguments, log: output)
    program.process.waitUntilExit()
    let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
    guard program.process.terminationStatus == 0 else {
      throw RawError(
        description: "\(executable) \(arguments.joined(separator: " ")): \(text.suffix(2000))")
    }
    return text
  }
}

/// What the kernel says of a process.
struct ProcessFigures {
  let id: Int32

  /// Processor time of all threads, also of those that have ended, in seconds.
  var processorSeconds: Double {
    // The name in parentheses may hold spaces; utime and stime are the 12th and 13th after it.
    let fields = text("stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Memory in use now, in MB (10^6 bytes).
  var memory: Double { kilobytes("VmRSS") * 1024 / 1e6 }

  /// The most memory in use since ``forgetPeak()``, in MB.
  var peakMemory: Double { kilobytes("VmHWM") * 1024 / 1e6 }

  var threadCount: Int { threads.count }

  /// Lets ``peakMemory`` begin anew.
  func forgetPeak() throws {
    try "5".write(toFile: "/proc/\(id)/clear_refs", atomically: false, encoding: .utf8)
  }

  /// How often its threads slept and woke during so many seconds, a second.
  ///
  /// The kernel counts for each thread, and forgets that with the thread: so they are looked at every
  /// few milliseconds.
  func wakeUps(during seconds: Double) -> Double {
    var first: [String: Double] = [:]
    var last: [String: Double] = [:]
    let known = Set(threads)
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      for thread in threads {
        guard let count = field("voluntary_ctxt_switches", in: text("task/\(thread)/status"))
        else { continue }
        if first[thread] == nil { first[thread] = known.contains(thread) ? count : 0 }
        last[thread] = count
      }
      usleep(20_000)
    }
    return last.reduce(0) { $0 + $1.value - (first[$1.key] ?? 0) } / seconds
  }

  private var threads: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
  }

  private func kilobytes(_ name: String) -> Double { field(name, in: text("status")) ?? 0 }

  private func field(_ name: String, in text: String) -> Double? {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") })
    else { return nil }
    return line.split(whereSeparator: { " \t:".contains($0) }).dropFirst().first.flatMap {
      Double($0)
    }
  }

  private func text(_ file: String) -> String {
    (try? String(contentsOfFile: "/proc/\(id)/\(file)", encoding: .utf8)) ?? ""
  }
}

/// The seconds that a block takes, of the wall's clock or of processors: then those of this process,
/// of programs that it ran to their end, and of `daemon`.
func timed(with daemon: RunningDaemon?, _ block: () throws -> Void) rethrows -> Double {
  guard BenchmarkClock.countsProcessorTime else { return try timed(block) }
  let start = finishedProgramsSeconds() + (daemon?.figures.processorSeconds ?? 0)
  let own = try timed(block)
  return own + finishedProgramsSeconds() + (daemon?.figures.processorSeconds ?? 0) - start
}

private func finishedProgramsSeconds() -> Double {
  var usage = rusage()
  getrusage(RUSAGE_CHILDREN.rawValue, &usage)
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
