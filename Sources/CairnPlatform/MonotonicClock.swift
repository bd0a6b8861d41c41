// Time that never jumps, and durations as plain numbers.
import Glibc

/// Readings of CLOCK_MONOTONIC, the clock systemd measures with.
public enum MonotonicClock {
  /// Nanoseconds since some fixed moment, usually the boot of the machine.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Microseconds since the same moment.
  public static var microseconds: UInt64 { nanoseconds / 1000 }
}

extension Duration {
  /// The whole duration in nanoseconds, held within 64 bits.
  public var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }

  /// The whole duration in seconds, fractions included.
  public var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
