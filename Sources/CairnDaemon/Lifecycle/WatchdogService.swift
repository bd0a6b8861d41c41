// Feeds systemd's watchdog with completed work.
import CairnPlatform
import Logging
import ServiceLifecycle

/// Asks for a piece of work and reports to systemd when it is done, never by the clock alone.
struct WatchdogService: Service {
  /// What systemd allows between two signs of life.
  let interval: Duration
  let notifier: ServiceNotifier
  let conductor: DaemonConductor
  let logger: Logger
  let probe: @Sendable () async -> Void

  func run() async throws {
    let pause = interval / 3
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        await probeOnce(patience: pause)
        try? await Task.sleep(for: pause)
      }
    }
  }

  /// Waits for one probe however long it takes; says so when that is longer than it should be.
  private func probeOnce(patience: Duration) async {
    let begun = MonotonicClock.nanoseconds
    let alarm = Task {
      try await Task.sleep(for: patience)
      logger.event(.probeOverdue, "a check of the store is overdue; the watchdog is not fed")
      await conductor.handle(.probeOverdue)
    }
    await probe()
    alarm.cancel()
    notifier(.watchdog)
    await conductor.handle(.probeAnswered)
    logger.trace(
      "watchdog fed",
      metadata: ["durationUsec": "\((MonotonicClock.nanoseconds - begun) / 1000)"])
  }
}
