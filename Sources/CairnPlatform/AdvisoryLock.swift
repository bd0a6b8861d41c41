// A lock on a file that other processes respect.
import Glibc

/// An advisory `flock` on a file of its own or on a folder, held until released or until the process ends.
public final class AdvisoryLock: Sendable {
  private let descriptor: OwnedDescriptor
  /// The file or folder that carries the lock.
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
    return try lock.take(mode) ? lock : nil
  }

  /// Takes the lock of a folder at once, which is there.
  ///
  /// - Returns: nil when another holder has it, in this process or another.
  /// - Throws: ``PlatformError`` when the folder cannot be opened or has no locks.
  public static func attempt(folder: String, mode: Mode = .exclusive) throws -> AdvisoryLock? {
    let lock = try AdvisoryLock(folder: folder)
    return try lock.take(mode) ? lock : nil
  }

  /// Takes the lock at `path`, waiting for as long as it takes.
  ///
  /// Blocks the thread.
  public static func wait(path: String, mode: Mode = .exclusive) throws -> AdvisoryLock {
    let lock = try AdvisoryLock(path: path)
    _ = try lock.take(mode, waits: true)
    return lock
  }

  /// Takes the lock of a folder, which is there, waiting for as long as it takes.
  ///
  /// Blocks the thread.
  public static func wait(folder: String, mode: Mode = .exclusive) throws -> AdvisoryLock {
    let lock = try AdvisoryLock(folder: folder)
    _ = try lock.take(mode, waits: true)
    return lock
  }

  /// Writes who holds the lock into its file, for ``note(at:)`` of other processes.
  public func leaveNote(_ text: String) throws {
    let bytes = Array(text.utf8)
    let isWritten =
      ftruncate(descriptor.rawValue, 0) == 0
      && pwrite(descriptor.rawValue, bytes, bytes.count, 0) == bytes.count
    if !isWritten { throw PlatformError("write the lock file", path: path, code: .current) }
  }

  /// What the holder of the lock at `path` wrote; nil where that cannot be read.
  ///
  /// At most 4096 bytes.
  public static func note(at path: String) -> String? {
    let opened = retryingInterrupts { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard opened >= 0 else { return nil }
    let descriptor = OwnedDescriptor(adopting: opened)
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = pread(descriptor.rawValue, &bytes, bytes.count, 0)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }

  /// Gives the lock up.
  ///
  /// The file stays: removing it would let two processes hold "the" lock.
  public func release() {
    // A child between its fork and its exec has the descriptor, too, and with that the lock.
    _ = flock(descriptor.rawValue, LOCK_UN)
    descriptor.close()
  }

  private init(path: String) throws {
    let opened = retryingInterrupts {
      open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    }
    guard opened >= 0 else { throw PlatformError("open the lock file", path: path, code: .current) }
    self.path = path
    descriptor = OwnedDescriptor(adopting: opened)
  }

  private init(folder: String) throws {
    let opened = retryingInterrupts { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened >= 0 else { throw PlatformError("open the folder", path: folder, code: .current) }
    path = folder
    descriptor = OwnedDescriptor(adopting: opened)
  }

  /// False when another holder has it.
  private func take(_ mode: Mode, waits: Bool = false) throws -> Bool {
    let operation = (mode == .exclusive ? LOCK_EX : LOCK_SH) | (waits ? 0 : LOCK_NB)
    if retryingInterrupts({ flock(descriptor.rawValue, operation) }) == 0 { return true }
    let code = ErrnoCode.current
    guard code == .tryAgain else { throw PlatformError("lock", path: path, code: code) }
    return false
  }
}
