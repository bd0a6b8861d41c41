import CairnPlatform
import CairnStore
import Foundation
import GRDB
import GRDBSQLite

/// Reads a database file without changing it or anything in its folder, as it is at the moment,
/// with what is still in its log.
///
/// A plain read-only connection would make `-wal` and `-shm` files beside a database in WAL mode
/// and leave them there. So it depends on what is there how the file is opened:
///
/// - no log, or an empty one that no process has open: as an immutable file, without locks. Should the
///   file change meanwhile, everything is read again.
/// - a log with its index: with the index read-only. SQLite then takes part in the locks of the
///   processes that have the database open, or makes an index in memory when none has. Where this process itself has
///   the database open, as any reader does.
/// - a log without an index, or with one that a process keeps from being finished, or a rollback journal
///   that must be played back: a copy among the temporary files is opened.
struct UntouchedFile {
  let path: String
  let timeout: TimeInterval
  /// Whether a copy may be opened, which takes as long as the file is large, and room.
  var copies = true

  /// The file can be read from a copy only.
  struct NeedsCopy: Error {}

  /// - Throws: ``CoreDataError`` (134080) when there is no file or it may not be read.
  init(path: String, timeout: TimeInterval) throws {
    // SQLite names a log after the file behind a link.
    self.path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    self.timeout = timeout
  }

  /// Runs `body` in one read transaction.
  ///
  /// `body` may run again when the file changed under it.
  ///
  /// - Throws: ``CoreDataError`` for a file that is missing, may not be read, or is no database.
  func read<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    do {
      for _ in 0..<Self.attempts {
        try checkReadable()
        if let result = try attempt(body) { return result }
      }
    } catch {
      throw SQLiteResultCode.translate(error, path: path, doing: "be read")
    }
    throw CoreDataError(
      .persistentStoreTimeout,
      "The store at \(path) changed each time it was read; try again when there are fewer commits.",
      userInfo: [NSFilePathErrorKey: path])
  }

  private static let attempts = 5

  // MARK: Ways

  /// Nil when the file changed meanwhile.
  private func attempt<T>(_ body: (SQLiteConnection) throws -> T) throws -> T? {
    let before = state()
    switch way(before) {
    case .immutable:
      let result = Result { try open("immutable=1", body) }
      // What was read of a file that changes is worth nothing, nor is a failure.
      return state() == before ? try result.get() : nil
    case .shared:
      do {
        let use = LogIndexUse.readOnly(of: path)
        return try withExtendedLifetime(use) {
          try open(use == nil ? "mode=ro" : "mode=ro&readonly_shm=1", body)
        }
      } catch let error where Self.code(error) == SQLITE_READONLY {
        // A process has it open and has not read yet: only an ordinary connection can use its index.
        do {
          return try open("mode=ro", body)
        } catch let error where Self.code(error) == SQLITE_PROTOCOL {
          return try copied(before, body)
        }
      } catch let error where Self.code(error) == SQLITE_PROTOCOL {
        // A process holds the index and does not finish it.
        return try copied(before, body)
      } catch let error where Self.code(error) == SQLITE_CANTOPEN {
        // The last connection has been closed meanwhile.
        if state() != before { return nil }
        throw error
      }
    case .plain:
      do {
        return try open("mode=ro", body)
      } catch let error where Self.code(error) == SQLITE_READONLY {
        return try copied(before, body)
      }
    case .copy: return try copied(before, body)
    }
  }

  private enum Way { case immutable, shared, plain, copy }

  private func way(_ state: State) -> Way {
    guard isInLogMode() else { return .plain }
    guard let log = state.log else { return .immutable }
    if state.hasIndex { return .shared }
    return log.size == 0 ? .immutable : .copy
  }

  /// Whether the database is in WAL mode, as its header says.
  private func isInLogMode() -> Bool {
    let header = DatabaseHeader.bytes(at: path) ?? Data()
    return header.count >= 20 && header[header.startIndex + 18] == 2
  }

  private static func code(_ error: any Error) -> Int32 {
    SQLiteResultCode.failure(in: error)?.primaryCode ?? SQLITE_OK
  }

  // MARK: Files

  /// What tells one moment of the files from another.
  private struct State: Equatable {
    let database: FileFacts?
    let log: FileFacts?
    let hasIndex: Bool
  }

  private func state() -> State {
    State(
      database: try? FileFacts(path: path), log: try? FileFacts(path: path + "-wal"),
      hasIndex: FileManager.default.fileExists(atPath: path + "-shm"))
  }

  private func checkReadable() throws {
    func refuse(_ message: String) -> CoreDataError {
      CoreDataError(.persistentStoreOpen, message, userInfo: [NSFilePathErrorKey: path])
    }
    guard let facts = try? FileFacts(path: path) else {
      throw refuse("There is no store at \(path).")
    }
    if facts.isFolder { throw refuse("\(path) is a folder; a SQLite store is a file.") }
    guard facts.isRegularFile else { throw refuse("\(path) is no regular file.") }
    for file in [path, path + "-wal", path + "-journal"]
    where FileManager.default.fileExists(atPath: file)
      && !FileManager.default.isReadableFile(atPath: file)
    {
      throw refuse(
        "\(file) may not be read by this user; the store cannot be read without it. Read as its "
          + "owner.")
    }
    guard let reason = DatabaseHeader.refusal(at: path, takesEmpty: false) else { return }
    throw CoreDataError(
      .persistentStoreInvalidType, "\(path) \(reason).", userInfo: [NSFilePathErrorKey: path])
  }

  // MARK: Opening

  private func open<T>(_ query: String, _ body: (SQLiteConnection) throws -> T) throws -> T {
    guard
      let escaped = path.addingPercentEncoding(
        withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "/-._~")))
    else { throw CoreDataError(.persistentStoreOpen, "\(path) is no path.") }
    return try open("file:\(escaped)?\(query)", isReadOnly: true, body)
  }

  private func open<T>(
    _ name: String, isReadOnly: Bool, _ body: (SQLiteConnection) throws -> T
  ) throws -> T {
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(timeout)
    configuration.foreignKeysEnabled = false
    // Old schemas may quote text like names; they must still be readable.
    configuration.acceptsDoubleQuotedStringLiterals = true
    configuration.prepareDatabase { database in
      try SQLiteDefences.installForInspection(on: database)
      SQLiteFunctions.register(on: database)
    }
    configuration.allowsUnsafeTransactions = true
    let queue = try DatabaseQueue(path: name, configuration: configuration)
    defer { try? queue.close() }
    return try queue.unsafeRead { database in
      try database.execute(sql: "BEGIN")
      // Not committed: after damaged pages SQLite refuses to.
      defer { try? database.execute(sql: "ROLLBACK") }
      return try body(SQLiteConnection(database: database))
    }
  }

  /// Opens a copy; nil when the files changed while they were copied.
  private func copied<T>(
    _ before: State, _ body: (SQLiteConnection) throws -> T
  ) throws -> T? {
    guard copies else { throw NeedsCopy() }
    // Copying a file closes it, and the kernel then drops the locks of all connections of this process to it.
    if let database = before.database, FileUsers.areOpenHere([database]) {
      throw CoreDataError(
        .persistentStoreOperation,
        "The store at \(path) can only be read from a copy, and this program has it open: close it first.",
        userInfo: [NSFilePathErrorKey: path])
    }
    let manager = FileManager.default
    let folder = manager.temporaryDirectory
      .appendingPathComponent("cairn-\(UUID().uuidString)", isDirectory: true)
    defer { try? manager.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("copy.sqlite").path
    do {
      try manager.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for suffix in ["", "-wal", "-journal"] where manager.fileExists(atPath: path + suffix) {
        try manager.copyItem(atPath: path + suffix, toPath: copy + suffix)
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy + suffix)
      }
    } catch {
      throw CoreDataError(
        .persistentStoreOpen,
        "The store at \(path) has a log without an index, so a copy of it has to be opened, and "
          + "none could be made in \(folder.deletingLastPathComponent().path). Make room there, or "
          + "set TMPDIR to another folder.",
        userInfo: [NSFilePathErrorKey: path], underlyingError: error)
    }
    guard state() == before else { return nil }
    return try open(copy, isReadOnly: false, body)
  }
}
