// The engine as the daemon starts, watches and stops it.
import CairnControl
import Logging

/// What does the daemon's actual work.
public protocol DaemonEngine: DaemonServices {
  /// Opens the local store (and required replicas) and begins to serve and to sync.
  ///
  /// Returns when the daemon may call itself ready; other replicas go on opening by themselves.
  /// Long work calls ``EngineReporter/progress(_:)`` at least every ten seconds.
  /// - Throws: ``EngineFailure`` when it cannot start now; the daemon stays up, degraded, and tries
  ///   again with a new engine if that may help.
  func start(reporter: EngineReporter) async throws

  /// Finishes what runs, closes the stores. Called once, also after a failed start.
  ///
  /// Cancelled when the daemon must stop at once: roll back and return.
  func stop() async

  /// Completes a small piece of real work through the same queues and stores as any caller's:
  /// its return feeds the watchdog.
  func probe() async
}

/// Makes an engine for a configuration.
///
/// Called again for each attempt to start.
public typealias EngineFactory =
  @Sendable (_ configuration: DaemonConfiguration, _ logger: Logger) async throws ->
  any DaemonEngine

/// Why an engine cannot start.
public struct EngineFailure: Error, Sendable, CustomStringConvertible {
  /// A stable code: `store-locked`, `model-missing` and so on.
  public let code: String
  /// What is wrong and what to do, for people.
  public let reason: String
  /// Whether trying again without any change may help.
  public let isTransient: Bool

  public init(code: String, reason: String, isTransient: Bool) {
    self.code = code
    self.reason = reason
    self.isTransient = isTransient
  }

  public var description: String { "\(reason) (\(code))" }
}

/// How the engine tells the daemon about itself.
public struct EngineReporter: Sendable {
  private let onProgress: @Sendable (String) -> Void
  private let onSummary: @Sendable (String, [StatusProblem]) -> Void

  public init(
    onProgress: @escaping @Sendable (String) -> Void,
    onSummary: @escaping @Sendable (String, [StatusProblem]) -> Void
  ) {
    self.onProgress = onProgress
    self.onSummary = onSummary
  }

  /// A long start or stop is getting on: "Migrating local store, 40 %".
  ///
  /// Buys more time.
  public func progress(_ text: String) { onProgress(text) }

  /// One line on how things are ("3 replicas, 1 behind"), and what is wrong; none means all well.
  public func summary(_ text: String, problems: [StatusProblem] = []) { onSummary(text, problems) }
}
