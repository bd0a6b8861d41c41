// Turns signals into events of the daemon's life.
import UnixSignals

/// Listens for the signals that stop the daemon or make it look at its configuration.
enum SignalWatch {
  /// Hands each signal on until the task is cancelled.
  static func run(_ conductor: DaemonConductor) async {
    for await signal in await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup) {
      if signal == .sighup {
        await conductor.handle(.reloadRequested)
      } else {
        await conductor.handle(.stopRequested)
      }
    }
  }
}
