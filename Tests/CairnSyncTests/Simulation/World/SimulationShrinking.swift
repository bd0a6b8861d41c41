import Foundation

@testable import CairnSync

/// Runs simulations in folders of their own, and finds the shortest list of steps that still fails.
enum Simulation {
  /// In memory where there is such a folder, since every commit is synced: no temporary folder of
  /// the test-support target, which lies on the disk.
  static func folder() throws -> URL {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let parent =
      FileManager.default.isWritableFile(atPath: memory.path)
      ? memory : FileManager.default.temporaryDirectory
    let url = parent.appendingPathComponent("cairn-simulation-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  static let stepsPerSeed = 120
  /// CAIRN_SIMULATION_WILD=1: clocks jump by minutes and years.
  static let isWild =
    ProcessInfo.processInfo.environment["CAIRN_SIMULATION_WILD"] != nil

  /// Whether hubs are stores in a PostgreSQL database.
  @TaskLocal static var hasDatabase =
    ProcessInfo.processInfo.environment["CAIRN_SIMULATION_DATABASE"] != nil

  /// What some links lead to instead of stores.
  @TaskLocal static var member = ProcessInfo.processInfo.environment["CAIRN_SIMULATION_MEMBER"]
    .flatMap(SimulatedMember.Kind.init)

  static func run(
    seed: UInt64, steps: [SimulationStep]? = nil, keepsTrace: Bool = false
  ) async -> SimulationRun.Outcome {
    do {
      let folder = try folder()
      defer { try? FileManager.default.removeItem(at: folder) }
      let run = try SimulationRun(
        seed: seed, in: folder, isWild: isWild, hasDatabase: hasDatabase, member: member,
        keepsTrace: keepsTrace)
      return await run.run(steps ?? SimulationStep.plan(seed: seed, count: stepsPerSeed))
    } catch {
      return SimulationRun.Outcome(faults: ["failed: \(error)"])
    }
  }

  /// Leaves out steps, first many, then few, as long as the same kind of fault is found.
  static func shrink(seed: UInt64, kind: String, within seconds: Double) async -> [SimulationStep] {
    var steps = SimulationStep.plan(seed: seed, count: stepsPerSeed)
    let end = Date().addingTimeInterval(seconds)
    var size = steps.count / 2
    while size >= 1, Date() < end {
      var start = 0
      let before = steps.count
      while start < steps.count, Date() < end {
        var shorter = steps
        shorter.removeSubrange(start..<min(start + size, steps.count))
        if await run(seed: seed, steps: shorter).kind == kind {
          steps = shorter
        } else {
          start += size
        }
      }
      // Single steps again as long as that helps.
      if size > 1 { size /= 2 } else if steps.count == before { break }
    }
    return steps
  }

  /// What a person needs who looks for the cause.
  static func report(
    seed: UInt64, _ outcome: SimulationRun.Outcome, shrinking seconds: Double
  ) async -> String {
    let kind = outcome.kind ?? ""
    let steps = await shrink(seed: seed, kind: kind, within: seconds)
    let short = await run(seed: seed, steps: steps, keepsTrace: true)
    let setting =
      (hasDatabase ? "CAIRN_SIMULATION_DATABASE=1 " : "")
      + (member.map { "CAIRN_SIMULATION_MEMBER=\($0) " } ?? "")
    return """
      seed \(seed): \(outcome.faults.prefix(4).joined(separator: "\n  "))
      replay: \(setting)make simulate SEED=\(seed)
      \(steps.count) of \(stepsPerSeed) steps are enough for:
        \(short.faults.prefix(6).joined(separator: "\n  "))
      \(short.trace.joined(separator: "\n"))
      """
  }
}
