// The exit codes of the daemon, as sysexits.h and systemd name them.

/// How the process ends.
///
/// The unit restarts it or not by these numbers.
public enum ExitStatus: Int32, Error, Sendable, CaseIterable {
  case stopped = 0
  case usage = 64
  case unavailable = 69
  case software = 70
  case ioError = 74
  case temporaryFailure = 75
  case noPermission = 77
  case configuration = 78
}
