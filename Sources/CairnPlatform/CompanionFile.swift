import Glibc

/// Makes files beside a database for everybody who may use the database, as SQLite makes its log.
public enum CompanionFile {
  /// Makes a new file with the database's permissions, whatever mask the process has; a process of root's also gives
  /// it to the database's owner.
  ///
  /// - Returns: The open file; nil where there is something of that name, be it a symbolic link.
  /// - Throws: ``PlatformError`` when it cannot be made.
  public static func make(_ path: String, of database: FileFacts) throws -> OwnedDescriptor? {
    let mode = mode_t(database.mode & 0o777)
    let opened = retryingInterrupts {
      open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, mode)
    }
    if opened < 0 {
      if ErrnoCode.current == .exists { return nil }
      throw PlatformError("open", path: path, code: .current)
    }
    let file = OwnedDescriptor(adopting: opened)
    _ = fchmod(opened, mode)
    if geteuid() == 0 { _ = fchown(opened, database.owner, database.group) }
    return file
  }
}
