// How this process behaves towards signals and the processes it starts.
import CPlatform
import Foundation
import Glibc

/// Settings of the whole process.
public enum ProcessConduct {
  /// A peer that goes away, and a file that may not get larger (`ulimit -f`, `LimitFSIZE=`), make a write fail instead
  /// of ending the process.
  public static func letWritesFail() {
    for signal in [SIGPIPE, SIGXFSZ] { cplatform_ignore_signal(signal) }
  }

  /// Keeps the signals that mean something to services only (SIGHUP, SIGUSR1, SIGUSR2) from ending the
  /// process before anything listens for them.
  public static func ignoreServiceSignals() {
    for signal in [SIGHUP, SIGUSR1, SIGUSR2] { cplatform_ignore_signal(signal) }
  }

  /// Ends the process after a while whatever its threads do then; one that has ended before is not
  /// affected.
  ///
  /// - Parameter last: Called on a thread of its own just before.
  public static func exit(
    after patience: Duration, code: Int32, last: @escaping @Sendable () -> Void
  ) {
    // Not a task nor a queue: all their threads may be stuck.
    let thread = Thread {
      Thread.sleep(forTimeInterval: Double(patience.wholeNanoseconds) / 1e9)
      last()
      exitNow(code)
    }
    thread.name = "cairn.exit"
    thread.start()
  }

  /// Keeps a descriptor from leaking into programs that are started.
  public static func closeOnExec(_ descriptor: Int32) {
    let flags = fcntl(descriptor, F_GETFD)
    if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
  }

  /// Gives memory that was freed back to the system, which the allocator would keep for later.
  public static func returnFreeMemory() { cplatform_return_free_memory() }

  /// Gives the code back to the system that ran before and may not run again soon.
  ///
  /// A start and each burst of work leave most of the program in memory, where the system counts it as
  /// needed. What runs next comes back from the system's cache of files, piece by piece. Breakpoints that
  /// a debugger has set are lost.
  public static func releaseProgramPages() { cplatform_release_program_pages() }

  /// Sends a signal to a process.
  ///
  /// - Returns: false when it is gone or not ours.
  @discardableResult
  public static func send(signal: Int32, to process: Int32) -> Bool { kill(process, signal) == 0 }

  /// Ends the process at once, without running exit handlers.
  public static func exitNow(_ code: Int32) -> Never { _exit(code) }
}
