// Starts the engine, again and again if need be, and stops it in the end.
import CairnControl
import Logging
import ServiceLifecycle

/// Runs the engine inside the service group.
struct EngineService: Service {
  let configuration: DaemonConfiguration
  let host: EngineHost
  let conductor: DaemonConductor
  let logger: Logger

  func run() async throws {
    let (retries, continuation) = AsyncStream.makeStream(
      of: Duration.self, bufferingPolicy: .bufferingNewest(1))
    await conductor.connect(retry: { continuation.yield($0) })
    await cancelWhenGracefulShutdown {
      if await startOnce() { return await untilShutdown() }
      for await delay in retries {
        try? await Task.sleep(for: delay)
        if Task.isCancelled { return }
        if await startOnce() { return await untilShutdown() }
      }
    }
    let engine = await host.withdraw(state: "draining", reason: "the daemon is stopping")
    await engine?.stop()
    await conductor.handle(.engineStopped)
  }

  /// Tries to start an engine.
  ///
  /// - Returns: whether one runs now.
  private func startOnce() async -> Bool {
    // A new engine for each attempt.
    let engine = GroupEngine(configuration: configuration, logger: logger)
    do {
      try await engine.start(reporter: reporter())
      await host.install(engine)
      await conductor.handle(.engineStarted)
      return true
    } catch {
      await engine.stop()
      guard !Task.isCancelled else { return false }
      let failure = Self.failure(of: error)
      _ = await host.withdraw(state: "degraded", reason: failure.reason)
      await conductor.handle(
        .engineFailed(
          StatusProblem(code: failure.code, message: failure.reason),
          isTransient: failure.isTransient))
      return false
    }
  }

  private func untilShutdown() async {
    // Ends by the cancellation that graceful shutdown brings.
    let (stream, _) = AsyncStream.makeStream(of: Never.self)
    for await _ in stream {}
  }

  private func reporter() -> EngineReporter {
    // One order for all reports: a summary must not overtake an older one.
    let (events, continuation) = AsyncStream.makeStream(
      of: DaemonLifecycle.Event.self, bufferingPolicy: .bufferingNewest(64))
    let conductor = conductor
    Task { for await event in events { await conductor.handle(event) } }
    return EngineReporter(
      onProgress: { continuation.yield(.progress($0)) },
      onSummary: { continuation.yield(.summary($0, problems: $1)) })
  }

  private static func failure(of error: any Error) -> EngineFailure {
    if let failure = error as? EngineFailure { return failure }
    if let error = error as? ControlError {
      return EngineFailure(code: error.name, reason: error.description, isTransient: true)
    }
    return EngineFailure(
      code: "unexpected", reason: String(describing: error), isTransient: true)
  }
}
