// A lock on a file that other processes respect.
import Glibc

/// An advisory `flock` on a file of its own, held until released or until the process ends.
public final class AdvisoryLock: Sendable {
  private let descriptor: OwnedDescriptor
  /// The file that carries the lock.
  public let path: String

  /// How the lock may be shared.
  public enum Mode: Sendable {
    /// Any number of holders, as long as none is exclusive.
    case shared
    /// One holder.
    case exclusive
  }

  /// Takes the lock at `path` at once, making the file (mode 0600) when it is missing.
  ///
  /// - Returns: nil when another process holds it.
  /// - Throws: ``PlatformError`` when the file cannot be opened.
  public static func attempt(path: String, mode: Mode = .exclusive) throws -> AdvisoryLock? {
    let lock = try AdvisoryLock(path: path)
    let operation = (mode == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB
    if retryingInterrupts({ flock(lock.descriptor.rawValue, operation) }) == 0 { return lock }
    let code = ErrnoCode.current
    guard code == .tryAgain else { throw PlatformError("lock", path: path, code: code) }
    return nil
  }

  /// Takes the lock at `path`, waiting for as long as it takes.
  ///
  /// Blocks the thread.
  public static func wait(path: String, mode: Mode = .exclusive) throws -> AdvisoryLock {
    let lock = try AdvisoryLock(path: path)
    let operation = mode == .exclusive ? LOCK_EX : LOCK_SH
    guard retryingInterrupts({ flock(lock.descriptor.rawValue, operation) }) == 0 else {
      throw PlatformError("lock", path: path, code: .current)
    }
    return lock
  }

  /// Gives the lock up.
  ///
  /// The file stays: removing it would let two processes hold "the" lock.
  public func release() { descriptor.close() }

  private init(path: String) throws {
    let opened = retryingInterrupts { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
    guard opened >= 0 else { throw PlatformError("open the lock file", path: path, code: .current) }
    self.path = path
    descriptor = OwnedDescriptor(adopting: opened)
  }
}
