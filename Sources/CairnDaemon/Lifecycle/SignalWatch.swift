// Turns signals into events of the daemon's life.
import UnixSignals

/// Listens for the signals that stop the daemon, make it reload or make it tell how it is.
///
/// SIGTERM and SIGINT stop, SIGHUP reloads, SIGUSR1 writes the state to the log. SIGUSR2 and SIGPIPE do
/// nothing.
struct SignalWatch: Sendable {
  private let signals: UnixSignalsSequence

  /// Takes the signals over from the system; those that come from now on wait for
  /// ``run(_:report:)``.
  ///
  /// To be made before the daemon says that it is up: a service manager or operator that stops it then must
  /// find it listening.
  init() async {
    signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup, .sigusr1)
  }

  /// Hands each signal on until the task is cancelled.
  ///
  /// - Parameter report: Writes the state to the log. Not waited for, so that a daemon whose engine
  ///   hangs can be stopped.
  func run(_ conductor: DaemonConductor, report: @escaping @Sendable () async -> Void) async {
    for await signal in signals {
      switch signal {
      case .sighup: await conductor.handle(.reloadRequested)
      case .sigusr1: Task { await report() }
      default: await conductor.handle(.stopRequested)
      }
    }
  }
}
