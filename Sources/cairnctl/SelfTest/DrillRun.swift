// The self-test: kills, restarts, comparisons.
import Cairn
import CairnControl
import CairnPlatform
import Foundation

/// Kills a daemon with two replicas again and again, and compares the stores after each time.
///
/// On one thread; writers run beside it.
final class DrillRun {
  /// Something was lost, or is not the same in two stores.
  struct Broken: Error {
    let text: String
  }

  let daemon: DrillDaemon
  let folder: DrillFolder
  private let steps: [String]
  /// How long the stores may differ without coming nearer to each other, in seconds.
  private let patience: Double
  let model: ManagedObjectModel
  let progress: (String) -> Void
  let isInterrupted: () -> Bool
  var report: DrillReport
  private var kills: [String: Int] = [:]
  var dice: DrillDice
  var writing = DrillWriting()
  /// What may lose its power; nil where nothing may.
  private let power: DrillPower?
  var paths: [String] { ["local", "near", "far"].map { "\(stores)/\($0).sqlite" } }
  var stores: String { "\(folder.path)/stores" }

  init(
    program: String, folder: DrillFolder, power: DrillPower?, seed: UInt64, patience: Double,
    progress: @escaping (String) -> Void, isInterrupted: @escaping () -> Bool
  ) throws {
    self.folder = folder
    self.power = power
    self.patience = patience
    self.progress = progress
    self.isInterrupted = isInterrupted
    steps = try DrillDaemon.steps(of: program)
    dice = DrillDice(state: seed)
    let modelPath = try DrillModel.write(into: folder.path)
    model = try ManagedObjectModel.load(contentsOf: URL(fileURLWithPath: modelPath))
    let socket = "\(folder.socketFolder)/control"
    let configuration = "\(folder.path)/cairnd.yaml"
    let stores = "\(folder.path)/stores"
    // JSON is YAML, and quotes what a path may hold.
    func quoted(_ text: String) -> String { JSONValue.string(text).text }
    let text = """
      model: \(quoted(modelPath))
      control: {socket: \(quoted(socket))}
      local: {path: \(quoted("\(stores)/local.sqlite"))}
      log: {level: info, format: logfmt}
      sync: {pollInterval: 1s, maxRetryDelay: 1s, verify: {every: 0s}}
      replicas:
        - {name: near, type: sqlite, path: \(quoted("\(stores)/near.sqlite"))}
        - {name: far, type: sqlite, path: \(quoted("\(stores)/far.sqlite"))}

      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: configuration))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: configuration)
    daemon = DrillDaemon(
      program: program, configuration: configuration, socket: socket,
      log: "\(folder.path)/cairnd.log")
    report = DrillReport(
      folder: folder.path, disk: DrillDisk(folder: folder.path), seed: seed)
  }

  /// Kills at each step once, cuts the power where it may, and goes on until the time is over.
  ///
  /// - Throws: ``Broken``, ``DrillDaemon/UnexpectedEnd``, or what the files say.
  func run(seconds: Double) throws {
    let start = MonotonicClock.nanoseconds
    func elapsed() -> Double { Double(MonotonicClock.nanoseconds - start) / 1e9 }
    defer {
      writing.end()
      daemon.kill()
      report.seconds = elapsed()
      report.steps = steps.map { .init(step: $0, kills: kills[$0] ?? 0) }
    }
    // Each step once, however long that takes. Some come once in the life of a store: those that are left
    // when nothing comes any more take new stores.
    var left = Set(steps)
    while !left.isEmpty, !isInterrupted() {
      let reached = try round(left, mostPasses: 0) { false }
      if reached.isEmpty { break }
      left.subtract(reached)
    }
    if let power, !isInterrupted() { try cutRound(power) { false } }
    while !isInterrupted(), elapsed() < seconds {
      try round(Set(steps), mostPasses: 5) { elapsed() >= seconds }
      if let power, !isInterrupted(), elapsed() < seconds {
        try cutRound(power) { elapsed() >= seconds }
      }
    }
    report.isInterrupted = isInterrupted()
  }

  /// New stores, and a kill at each of the steps in the order in which they are reached, with kills at any
  /// time between.
  ///
  /// - Parameter mostPasses: How often steps are passed at most before one of them is the last.
  /// - Returns: The steps at which there was one.
  @discardableResult
  private func round(
    _ targets: Set<String>, mostPasses: UInt64, isOver: () -> Bool
  ) throws -> Set<String> {
    try makeStoreFolder()
    try begin()
    defer { count() }
    var left = targets
    var attempt = 0
    while !left.isEmpty, !isInterrupted(), !isOver() {
      try DrillFolder.checkRoom(in: folder.path)
      attempt += 1
      if attempt % 3 == 0 {
        try killAtAnyTime()
      } else {
        let passes = Int(dice.next(below: mostPasses + 1))
        guard let step = try kill(at: left, passes: passes) else { break }
        left.remove(step)
      }
      try recover()
    }
    writing.pause()
    if !isInterrupted() {
      try recover()
      try finish()
    }
    writing.end()
    return targets.subtracting(left)
  }

  /// Adds what the writers of a round were told.
  func count() {
    report.acknowledged += writing.promises.acknowledgedCount
    report.unanswered += writing.refused
  }

  /// A new folder for stores, with nothing in it.
  func makeStoreFolder() throws {
    DrillFolder.remove(stores)
    try FileManager.default.createDirectory(
      atPath: stores, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
  }

  /// Stores with rows from before sync, a daemon and its writers.
  ///
  /// - Returns: The store that a writer has open.
  @discardableResult
  func begin() throws -> DrillStore {
    report.rounds += 1
    for (index, path) in paths.enumerated() {
      let store = try DrillStore(path: path, model: model, hasHistory: false)
      try store.save { notes in
        for number in 0..<40 {
          try notes.set(
            "old-\(index)-\(number)", count: number, text: "from before", group: "old-\(number % 3)"
          )
        }
      }
      try store.close()
    }
    writing = DrillWriting()
    DrillWriter.throughDaemon(daemon.socket, writing)
    let open = try DrillWriter.toFile(paths[1], model: model, writing)
    daemon.arm([])
    return open
  }

  // MARK: Kills

  /// - Returns: The step at which it was killed; nil where none of them was reached.
  private func kill(at targets: Set<String>, passes: Int) throws -> String? {
    daemon.arm(targets, passes: passes)
    if !daemon.isRunning { try daemon.start() }
    writing.resume()
    defer { writing.pause() }
    var lastNudge = MonotonicClock.nanoseconds
    let hasEnded = try daemon.ends(within: 5) {
      guard MonotonicClock.nanoseconds - lastNudge > 300_000_000 else { return }
      nudge()
      lastNudge = MonotonicClock.nanoseconds
    }
    daemon.arm([])
    // It may have been killed in this very moment.
    guard hasEnded || !daemon.isRunning, let step = daemon.killedAt else { return nil }
    kills[step, default: 0] += 1
    progress("killed at \(step)")
    return step
  }

  private func killAtAnyTime() throws {
    daemon.arm([])
    if !daemon.isRunning { try daemon.start() }
    writing.resume()
    defer { writing.pause() }
    let ended = try daemon.ends(within: Double(dice.next(below: 900) + 20) / 1000)
    if !ended {
      daemon.kill()
      _ = try daemon.ends(within: 30)
    }
    report.randomKills += 1
    progress("killed at any time")
  }

  /// Has the daemon do what it does seldom: remove history that all stores have taken up.
  private func nudge() {
    guard let client = try? ControlClient(socket: daemon.socket, timeout: .seconds(5)) else {
      return
    }
    _ = try? client.call(PurgeHistory.self, PurgeHistory.Parameters(olderThan: 0))
  }

  // MARK: Afterwards

  /// Starts the daemon again and compares the stores.
  func recover() throws {
    daemon.arm([])
    if !daemon.isRunning { try daemon.start() }
    try waitUntilServing()
    try settle()
  }

  func waitUntilServing() throws {
    let end = MonotonicClock.nanoseconds + 60_000_000_000
    while true {
      try daemon.checkKilled()
      let client = try? ControlClient(socket: daemon.socket, timeout: .seconds(10))
      let status = try? client?.call(GetStatus.self, NoValues()).status
      if status?.state == .serving { return }
      guard MonotonicClock.nanoseconds < end else {
        let problem = status?.problems.first.map { ": \($0.message)" } ?? ""
        throw Broken(text: "the daemon does not serve again 60 s after a kill\(problem)")
      }
      Thread.sleep(forTimeInterval: 0.01)
    }
  }

  /// Waits until the three stores are the same, and holds them against what was acknowledged.
  ///
  /// A slow machine breaks no store: the time runs out only while the stores come no nearer.
  private func settle() throws {
    var fewest = Int.max
    var end = UInt64.max
    while true {
      try daemon.checkKilled()
      if let client = try? ControlClient(socket: daemon.socket, timeout: .seconds(30)) {
        _ = try? client.call(WaitForSync.self, WaitForSync.Parameters(timeout: min(20, patience)))
      }
      guard let trouble = try compare() else { return }
      let now = MonotonicClock.nanoseconds
      if trouble.differing < fewest {
        fewest = trouble.differing
        end = now + UInt64(patience * 1e9)
      }
      guard now < end else { throw Broken(text: trouble.text) }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  /// What is not as it must be.
  private struct Trouble {
    let text: String
    /// How many rows of all stores differ from the local one's, where that is the trouble.
    var differing = 0
  }

  /// - Returns: The first trouble; nil when all is as it must be.
  private func compare() throws -> Trouble? {
    let pictures = try paths.map { try DrillRows(path: $0, model: model) }
    var trouble: String?
    var differing = 0
    for (path, picture) in zip(paths, pictures) {
      let name = URL(fileURLWithPath: path).lastPathComponent
      if let twice = picture.twice.first {
        return Trouble(text: "\(name): \(twice) is there twice")
      }
      let names = picture.differences(from: pictures[0])
      differing += names.count
      guard trouble == nil, !names.isEmpty else { continue }
      trouble =
        "\(name) and local.sqlite differ in \(Readable.count(names.count, "row")): "
        + names.prefix(5).joined(separator: ", ")
    }
    if let trouble { return Trouble(text: trouble, differing: differing) }
    let broken = writing.promises.broken(in: pictures[0].counts)
    if let first = broken.first {
      let others = broken.count > 1 ? ", and \(broken.count - 1) more like it" : ""
      return Trouble(text: first + others)
    }
    for number in 0..<paths.count * 40
    where pictures[0].notes["old-\(number / 40)-\(number % 40)"] == nil {
      return Trouble(
        text: "old-\(number / 40)-\(number % 40), which was there from the start, is gone")
    }
    report.comparisons += 1
    report.rowsCompared += pictures.map(\.count).reduce(0, +)
    let sizes = paths.map { (try? FileFacts(path: $0).size).map(Int.init) ?? 0 }
    report.largestStore = max(report.largestStore, sizes.max() ?? 0)
    return nil
  }

  /// Stops the daemon in an orderly way, and looks at the files once more, and inside them.
  func finish() throws {
    let code = daemon.stop()
    guard code == 0 else {
      throw Broken(
        text: "the daemon does not stop in order: exit code \(code.map(String.init) ?? "none")")
    }
    if let trouble = try compare() {
      throw Broken(text: "after the daemon has stopped: \(trouble.text)")
    }
    for path in paths {
      let store = try StoreInspection(
        contentsOf: URL(fileURLWithPath: path), model: model, checks: true, timeout: 30)
      if let damage = store.damage.first { throw Broken(text: "\(path) is damaged: \(damage)") }
    }
  }

  /// What went wrong, in words.
  func describe(_ error: any Error) -> String {
    switch error {
    case let error as Broken: error.text
    case let error as DrillDaemon.UnexpectedEnd:
      "cairnd ended by itself with exit code \(error.code): \(daemon.lastWords)"
    case let error as CommandFailure: error.message
    case let error as DrillPower.Fault: error.text
    case let error as CoreDataError: error.message
    default: "\(error)"
    }
  }
}

/// Random numbers that a seed repeats (SplitMix64).
struct DrillDice {
  var state: UInt64

  mutating func next(below limit: UInt64) -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return (mixed ^ (mixed >> 31)) % limit
  }
}
