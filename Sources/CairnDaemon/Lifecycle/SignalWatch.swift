// Turns signals into events of the daemon's life.
import UnixSignals

/// Listens for the signals that stop the daemon or make it look at its configuration.
struct SignalWatch: Sendable {
  private let signals: UnixSignalsSequence

  /// Takes the signals over from the system; those that come from now on wait for
  /// ``run(_:)``.
  ///
  /// Before anybody is told that the daemon is up: whoever stops it then must find it listening.
  init() async {
    signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
  }

  /// Hands each signal on until the task is cancelled.
  func run(_ conductor: DaemonConductor) async {
    for await signal in signals {
      if signal == .sighup {
        await conductor.handle(.reloadRequested)
      } else {
        await conductor.handle(.stopRequested)
      }
    }
  }
}
