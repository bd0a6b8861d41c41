// A lock that keeps programs from opening the write-ahead log of a SQLite database.
import CPlatform
import Glibc

/// SQLite's lock of the index beside a write-ahead log (`UNIX_SHM_DMS`), which each process shares that has the log
/// open: who has it alone knows that there is none, and programs that open the database wait.
///
/// For a process whose own log and index have no names any more: what it has open is another file than this.
public final class WALIndexLock: Sendable {
  private let descriptor: OwnedDescriptor

  /// Takes the lock at once, making the index when it is missing, for those who may use the database.
  ///
  /// - Parameters:
  ///   - path: The index's, which this process does not have open: closing it would give up SQLite's locks.
  ///   - database: Whose owner and mode a new index gets.
  /// - Returns: Nil when a process has the log open, or this one has the index open.
  /// - Throws: ``PlatformError`` when the index cannot be opened or has no locks.
  public static func attempt(index path: String, of database: FileFacts) throws -> WALIndexLock? {
    if let there = try? FileFacts(path: path), FileUsers.areOpenHere([there]) { return nil }
    let file = try CompanionFile.make(path, of: database) ?? existing(path)
    let lock = WALIndexLock(file)
    if cplatform_lock_byte(file.rawValue, connectionByte) == 0 { return lock }
    let code = ErrnoCode.current
    guard code == .tryAgain else { throw PlatformError("lock", path: path, code: code) }
    return nil
  }

  private static func existing(_ path: String) throws -> OwnedDescriptor {
    let opened = retryingInterrupts { open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
    guard opened >= 0 else { throw PlatformError("open", path: path, code: .current) }
    return OwnedDescriptor(adopting: opened)
  }

  /// The byte of the index that every connection locks.
  static let connectionByte: off_t = 128

  private init(_ descriptor: OwnedDescriptor) { self.descriptor = descriptor }

  /// Gives the lock up; the index stays, as another program may have opened it meanwhile.
  public func release() { descriptor.close() }
}
