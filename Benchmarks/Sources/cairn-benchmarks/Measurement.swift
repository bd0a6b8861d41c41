// Timing: interleaved rounds, medians, ratios within the same round.

import Foundation

/// The figures of one case: seconds per round, for each contestant.
struct CaseResult: Sendable {
  let name: String
  /// How many units of work one round did (rows, lookups).
  let units: Int
  /// Contestant to seconds, one entry a round.
  var seconds: [String: [Double]] = [:]
  /// The largest ratio to raw that is acceptable, and the one aimed at; nil without a target.
  ///
  /// Without raw SQLite among the contestants both are amounts of ``unit``.
  let must: Double?
  let aim: Double?
  /// What one unit of work costs is counted in: nanoseconds, or bytes for memory.
  var unit = "ns"
  /// The contestant that the others are compared with.
  var base = "raw"

  func median(_ contestant: String) -> Double? { seconds[contestant].map(Self.median) }

  /// The median of the ratios to raw SQLite, or to what else is the base, round by round.
  func ratio(_ contestant: String) -> Double? {
    guard let own = seconds[contestant], let base = seconds[base], !own.isEmpty else { return nil }
    return Self.median(zip(own, base).map { $0 / $1 })
  }

  /// What is held against the targets: a ratio, or what one unit of work costs.
  var figure: Double? {
    if let ratio = ratio("Cairn") { return ratio }
    guard let median = median("Cairn") else { return nil }
    return median / Double(max(units, 1)) * (unit == "ns" ? 1e9 : 1)
  }

  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
  }
}

/// What a contestant does in one case: returns the seconds of the timed part only.
struct Contestant {
  let name: String
  let run: () throws -> Double
}

/// Runs the contestants in turn, so that a machine that slows down slows all of them.
func measure(
  _ name: String, units: Int, rounds: Int, must: Double? = nil, aim: Double? = nil,
  unit: String = "ns", base: String = "raw", _ contestants: [Contestant]
) throws -> CaseResult {
  var result = CaseResult(name: name, units: units, must: must, aim: aim)
  result.unit = unit
  result.base = base
  for round in 0...rounds {
    for contestant in contestants {
      let seconds = try contestant.run()
      // The first round warms caches and is not counted.
      if round > 0 { result.seconds[contestant.name, default: []].append(seconds) }
    }
  }
  return result
}

/// Which clock ``timed(_:)`` reads.
enum BenchmarkClock {
  /// Set once, before anything is measured: the time of this process's threads instead of the
  /// wall's, which others on the machine stretch.
  nonisolated(unsafe) static var countsProcessorTime = false
}

/// The seconds a block takes.
func timed(_ block: () throws -> Void) rethrows -> Double {
  if BenchmarkClock.countsProcessorTime {
    let start = processorSeconds()
    try block()
    return processorSeconds() - start
  }
  let start = ContinuousClock.now
  try block()
  let elapsed = ContinuousClock.now - start
  return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
}

/// The time that all threads of the process have used.
func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Keeps a value alive past the clock, so that freeing it is not measured.
@inline(never) func keep<T>(_ value: T) { withExtendedLifetime(value) {} }

/// A folder for one run's databases.
final class Workspace {
  let folder: URL
  private var counter = 0
  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }
  func newFile() -> URL {
    counter += 1
    return folder.appendingPathComponent("store-\(counter).sqlite")
  }
  func remove(_ file: URL) {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: file.path + suffix)
    }
  }
  deinit { try? FileManager.default.removeItem(at: folder) }
}
