import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// What SQLite said, before it is known which file and which work it concerns.
struct SQLiteFailure: Error {
  /// The extended result code.
  let code: Int32
  let message: String
  /// What the system said where a file could not be read or written; 0 where that is not known.
  let systemCode: Int32

  init(code: Int32, message: String, systemCode: Int32 = 0) {
    self.code = code
    self.message = message
    self.systemCode = systemCode
  }

  /// The last failure of a connection.
  init(connection: OpaquePointer?) {
    code = sqlite3_extended_errcode(connection)
    message = String(cString: sqlite3_errmsg(connection))
    systemCode = code == Self.failedWrite ? Self.lastSystemCode(of: connection) : 0
  }

  /// `SQLITE_IOERR_WRITE`.
  static let failedWrite = SQLITE_IOERR | (3 << 8)

  /// What the system said last of the files of a database: of the log or journal, else of the database itself.
  ///
  /// `sqlite3_system_errno` gives what programs that SQLite calls meanwhile have left there.
  private static func lastSystemCode(of connection: OpaquePointer?) -> Int32 {
    for pointer in [SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER] {
      var file: UnsafeMutablePointer<sqlite3_file>?
      guard sqlite3_file_control(connection, "main", pointer, &file) == SQLITE_OK, let file else {
        continue
      }
      let code = lastSystemCode(of: file)
      if code != 0 { return code }
    }
    return 0
  }

  static func lastSystemCode(of file: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
    var code: Int32 = 0
    // Without methods the file is not open.
    guard let control = file.pointee.pMethods?.pointee.xFileControl,
      control(file, SQLITE_FCNTL_LAST_ERRNO, &code) == SQLITE_OK
    else { return 0 }
    return code
  }

  var primaryCode: Int32 { code & 0xff }
}

/// Turns SQLite's result codes into Core Data's errors.
///
/// Nothing else does.
enum SQLiteResultCode {
  static let errorDomain = "NSSQLiteErrorDomain"

  /// The failure inside an error, nil when SQLite has nothing to do with it.
  static func failure(in error: any Error) -> SQLiteFailure? {
    switch error {
    case let failure as SQLiteFailure: return failure
    case let error as DatabaseError:
      let code = error.extendedResultCode.rawValue
      // A backup fails with a code and without an error of the connection, whose words say so then.
      let words = error.message == String(cString: sqlite3_errstr(SQLITE_OK)) ? nil : error.message
      return SQLiteFailure(code: code, message: words ?? String(cString: sqlite3_errstr(code)))
    default: return nil
    }
  }

  /// Whether the file can no longer be trusted to hold what was written.
  static func isFatal(_ failure: SQLiteFailure) -> Bool {
    if isOutOfSpace(failure) || [outOfMemory, noTemporaryFolder].contains(failure.code) {
      return false
    }
    return [SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB].contains(failure.primaryCode)
  }

  /// Whether the file has the journal of a transaction that did not end, which only a connection that
  /// writes can take back: `SQLITE_READONLY_ROLLBACK`.
  static func needsRollback(_ failure: SQLiteFailure) -> Bool {
    failure.code == SQLITE_READONLY | (3 << 8)
  }

  /// Whether a connection that only reads was refused, where one that writes may get on: there is a journal to roll
  /// back, or a log whose index has to be made first.
  static func asksForWriter(_ failure: SQLiteFailure) -> Bool {
    failure.primaryCode == SQLITE_READONLY
  }

  /// Whether the file's content is at fault and not the disk.
  static func isDamage(_ failure: SQLiteFailure) -> Bool {
    [SQLITE_CORRUPT, SQLITE_NOTADB].contains(failure.primaryCode)
  }

  /// Whether the statement itself is wrong, such as one that names a table which is not there.
  static func isAboutStatement(_ failure: SQLiteFailure) -> Bool {
    failure.primaryCode == SQLITE_ERROR
  }

  /// Whether the disk is full, which passes; nothing was written.
  static func isOutOfSpace(_ failure: SQLiteFailure) -> Bool {
    failure.primaryCode == SQLITE_FULL || failure.code == indexCannotGrow
      // SQLite calls a quota that is used up a failed write.
      || failure.primaryCode == SQLITE_IOERR && ErrnoCode(rawValue: failure.systemCode).isOutOfSpace
  }

  /// `SQLITE_IOERR_READ` and `SQLITE_IOERR_SHORT_READ`.
  private static let readFailures = [SQLITE_IOERR | (1 << 8), SQLITE_IOERR | (2 << 8)]
  /// `SQLITE_IOERR_NOMEM`.
  private static let outOfMemory = SQLITE_IOERR | (12 << 8)
  /// `SQLITE_IOERR_GETTEMPPATH`.
  private static let noTemporaryFolder = SQLITE_IOERR | (25 << 8)
  /// `SQLITE_IOERR_SHMSIZE`: no room for the write-ahead log's index.
  private static let indexCannotGrow = SQLITE_IOERR | (19 << 8)

  /// `SQLITE_CONSTRAINT_TRIGGER`.
  static let refusalByTrigger = SQLITE_CONSTRAINT | (7 << 8)

  static func isUniqueViolation(_ failure: SQLiteFailure) -> Bool {
    failure.code == SQLITE_CONSTRAINT | (8 << 8)
  }
  static func isPrimaryKeyViolation(_ failure: SQLiteFailure) -> Bool {
    failure.code == SQLITE_CONSTRAINT | (6 << 8) || failure.code == SQLITE_CONSTRAINT | (10 << 8)
  }

  /// The declared error for anything that was thrown while working on a store file.
  ///
  /// - Parameter endsWriting: Whether an open store is not written any more after a fatal failure.
  static func translate(
    _ error: any Error, path: String, doing: String, endsWriting: Bool = false
  ) -> any Error {
    guard let failure = failure(in: error) else { return error }
    var (code, advice) = explanation(of: failure)
    if endsWriting, isFatal(failure) {
      advice += " The store is read-only from now on; open it again."
    }
    return CoreDataError(
      code, "The store at \(path) could not \(doing): \(failure.message). \(advice)",
      userInfo: [
        errorDomain: NSNumber(value: failure.code), NSFilePathErrorKey: path,
      ],
      underlyingError: NSError(
        domain: errorDomain, code: Int(failure.code),
        userInfo: [NSLocalizedDescriptionKey: failure.message]))
  }

  private static func explanation(of failure: SQLiteFailure) -> (CoreDataError.Code, String) {
    let code = isOutOfSpace(failure) ? SQLITE_FULL : failure.primaryCode
    switch code {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return (
        .persistentStoreTimeout,
        "Another connection kept it locked for longer than the timeout; try again."
      )
    case SQLITE_INTERRUPT:
      return (
        .persistentStoreTimeout,
        "It took longer than the time that it had, and nothing was written; a transaction that takes so "
          + "long runs triggers of another program."
      )
    case SQLITE_NOTADB:
      return (.persistentStoreInvalidType, "The file is not an SQLite database.")
    case SQLITE_CORRUPT:
      return (
        .persistentStoreOperation, "The file is damaged; restore a copy of it."
      )
    case SQLITE_CANTOPEN:
      return (
        .persistentStoreOpen, "Check that the folder exists and may be read and written."
      )
    case SQLITE_READONLY where needsRollback(failure):
      return (
        .persistentStoreOpen,
        "A program was ended in the middle of a transaction; open the store once without "
          + "\(StoreOptionKey.readOnly), which takes it back."
      )
    case SQLITE_PERM, SQLITE_AUTH, SQLITE_READONLY:
      return (
        .persistentStoreSave, "The file or its folder may not be written; check permissions."
      )
    case SQLITE_FULL where failure.systemCode == EDQUOT:
      return (
        .fileWriteOutOfSpace,
        "The user's quota of the disk is used up; nothing was written. Make room or raise the quota, and try "
          + "again."
      )
    case SQLITE_FULL where failure.systemCode == EFBIG:
      return (
        .fileWriteOutOfSpace,
        "A file may not get larger than the limit of the process (`ulimit -f`, `LimitFSIZE=`); nothing was "
          + "written. Raise the limit and start the program again."
      )
    case SQLITE_FULL:
      return (
        .fileWriteOutOfSpace,
        "The disk is full; nothing was written. Make room and try again."
      )
    case SQLITE_IOERR where failure.code == noTemporaryFolder:
      return (
        .persistentStoreSave,
        "There is no folder for temporary files; nothing was written. Set TMPDIR to one that may be written."
      )
    case SQLITE_IOERR where readFailures.contains(failure.code):
      return (.persistentStoreOperation, "Reading failed. Check the disk.")
    case SQLITE_IOERR: return (.persistentStoreSave, "Writing failed. Check the disk.")
    case SQLITE_CONSTRAINT where isUniqueViolation(failure) || isPrimaryKeyViolation(failure):
      return (.managedObjectConstraintMerge, "Two rows may not share these values.")
    case SQLITE_CONSTRAINT:
      return (
        .managedObjectValidation,
        "The file has a rule of its own that refuses it: a trigger or a check that another program made."
      )
    default: return (.sqlite, "SQLite result code \(code).")
    }
  }
}
