// What the engine tells the daemon about itself.
import CairnControl

/// The engine's part of the status.
struct EngineStatus: Sendable, Hashable {
  var model: String?
  var local: StoreStatus?
  var replicas: [ReplicaStatus] = []
  /// What is wrong although the engine runs.
  var problems: [StatusProblem] = []
  /// Whether an engine is there to be asked.
  var isRunning = true
}

/// Why an engine cannot start.
struct EngineFailure: Error, Sendable, CustomStringConvertible {
  /// The code where another daemon serves the local store.
  static let storeTaken = "store-taken"

  /// A stable code: `store-locked`, `model-missing` and so on.
  let code: String
  /// What is wrong and what to do, for people.
  let reason: String
  /// Whether trying again without any change may help.
  let isTransient: Bool

  var description: String { "\(reason) (\(code))" }
}

/// How the engine tells the daemon about itself.
struct EngineReporter: Sendable {
  private let onProgress: @Sendable (String, Duration) -> Void
  private let onSummary: @Sendable (String, [StatusProblem]) -> Void
  private let onReopening: @Sendable () -> Void

  init(
    onProgress: @escaping @Sendable (String, Duration) -> Void,
    onSummary: @escaping @Sendable (String, [StatusProblem]) -> Void,
    onReopening: @escaping @Sendable () -> Void = {}
  ) {
    self.onProgress = onProgress
    self.onSummary = onSummary
    self.onReopening = onReopening
  }

  /// A long start or stop is getting on: "Migrating local store, 40 %".
  ///
  /// Buys more time.
  func progress(_ text: String) { onProgress(text, DaemonLifecycle.extensionStep) }

  /// SQLite is about to read the log that a killed program left, in one step: it says nothing until it is
  /// done.
  ///
  /// - Parameter log: The size of the log, in bytes.
  func recovering(log: Int64) {
    let megabytes = log / 1_000_000
    // A second for each is a very slow disk.
    onProgress(
      "Reading the log of the local store, \(megabytes) MB",
      DaemonLifecycle.extensionStep + .seconds(megabytes))
  }

  /// One line on how things are ("3 replicas, 1 behind"), and what is wrong; none means all well.
  func summary(_ text: String, problems: [StatusProblem] = []) { onSummary(text, problems) }

  /// Another engine is needed: the disk of the local store, which is written no more since it failed, takes
  /// writing again.
  ///
  /// Said again for as long as that is so.
  func reopening() { onReopening() }
}
