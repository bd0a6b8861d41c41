// How often systemd wants to hear that the service works.
import CSystemd

/// The watchdog that the unit asks for.
enum WatchdogInterval {
  /// The time after which systemd ends a silent service; nil when it does not watch this process.
  static func requested() -> Duration? {
    var microseconds: UInt64 = 0
    guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
    return .microseconds(Int64(clamping: microseconds))
  }
}
