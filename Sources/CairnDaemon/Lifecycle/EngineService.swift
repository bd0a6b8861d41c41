// Has the engine started, again and again if need be, and stopped in the end.
import ServiceLifecycle

/// Runs the engine inside the service group.
struct EngineService: Service {
  let keeper: EngineKeeper
  let conductor: DaemonConductor

  func run() async throws {
    let (retries, continuation) = AsyncStream.makeStream(
      of: Duration.self, bufferingPolicy: .bufferingNewest(1))
    await conductor.connect(retry: { continuation.yield($0) })
    await cancelWhenGracefulShutdown {
      _ = await keeper.start()
      // For as long as the daemon runs: an engine that is exchanged can fail, too.
      for await delay in retries {
        try? await Task.sleep(for: delay)
        if Task.isCancelled { return }
        _ = await keeper.start()
      }
    }
    await keeper.stop()
    await conductor.handle(.engineStopped)
  }
}
