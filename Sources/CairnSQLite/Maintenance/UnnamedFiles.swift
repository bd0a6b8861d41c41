import CairnPlatform
import CairnSQL
import CairnStore
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Files of external data that no row names: a crash between writing them and the commit leaves them,
/// or one between the commit and their removal.
///
/// They are removed only when it is certain that no program needs them:
/// - No save is under way: files are written and rows that name them committed inside one write
///   transaction, and this one has the only one.
/// - No program reads an older state: the write-ahead log is empty, and while a reader needs it, it
///   cannot be emptied. With a rollback journal there are no readers beside an exclusive transaction.
/// - A power cut does not bring an older state back: the emptied log is on the disk.
/// - No copy is being made of a store here, which brings the files before the rows: it has a lock on
///   the folder.
/// - No other store has its files here: the folder has the store's name without its extension.
///
/// In doubt they stay, which does no harm.
struct UnnamedFiles {
  private let path: String
  private let options: StoreOptions
  private let files: ExternalDataFiles

  init(path: String, options: StoreOptions) {
    self.path = path
    self.options = options
    files = ExternalDataFiles(store: URL(fileURLWithPath: path), options: options)
  }

  /// Removes them.
  ///
  /// Empties the write-ahead log, and reads every column that may name a file.
  ///
  /// - Returns: How many there were; nil when a program may need them.
  /// - Throws: What SQLite says of a file that cannot be read or written.
  func remove() throws -> Int? {
    if candidates.isEmpty { return 0 }
    guard !isShared, let lock = try? AdvisoryLock.attempt(folder: files.folder.path) else {
      return nil
    }
    defer { lock.release() }
    do {
      let queue = try StoreFileAccess.open(
        URL(fileURLWithPath: path), options: options, waits: false)
      defer { try? queue.close() }
      return try queue.writeWithoutTransaction(remove)
    } catch {
      guard let failure = SQLiteResultCode.failure(in: error),
        [SQLITE_BUSY, SQLITE_LOCKED].contains(failure.primaryCode)
      else { throw error }
      return nil
    }
  }

  private func remove(_ database: Database) throws -> Int? {
    let hasLog = try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
    if hasLog { try database.checkpoint(.truncate) }
    var removed: Int?
    try database.inTransaction(.exclusive) {
      if hasLog {
        // Another connection has saved since.
        guard logSize == 0 else { return .rollback }
      } else {
        try SQLiteFileSet(path: path, options: options).synchronizeFolder()
      }
      let named = try namedFiles(SQLiteConnection(database: database))
      let unnamed = candidates.filter { !named.contains($0) && isFile($0) }
      files.remove(unnamed)
      removed = unnamed.count
      return .rollback
    }
    return removed
  }

  private var logSize: Int64 {
    let facts = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
    return (facts?[.size] as? NSNumber)?.int64Value ?? 0
  }

  /// Files with names such as Cairn and Core Data give, and copies that were broken off.
  private var candidates: [String] {
    files.names.filter { name in
      let stem = name.hasSuffix(".part") ? String(name.dropLast(5)) : name
      return stem == stem.uppercased()
    }
  }

  private func isFile(_ name: String) -> Bool {
    let type = try? FileManager.default.attributesOfItem(
      atPath: files.folder.appendingPathComponent(name).path)[.type]
    return type as? FileAttributeType == .typeRegular
  }

  /// Whether another store may have its files in the folder.
  private var isShared: Bool {
    let store = URL(fileURLWithPath: path)
    let (name, stem) = (store.lastPathComponent, store.deletingPathExtension().lastPathComponent)
    let manager = FileManager.default
    guard
      let beside = try? manager.contentsOfDirectory(
        atPath: store.deletingLastPathComponent().path),
      [files.supportFolder, files.folder].allSatisfy({ folder in
        let type = try? manager.attributesOfItem(atPath: folder.path)[.type]
        return type as? FileAttributeType == .typeDirectory
      })
    else { return true }
    return beside.contains {
      $0 != name && !$0.hasPrefix(name + "-")
        && URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent == stem
    }
  }

  /// The files that any row of any table names, whether the model knows the table or not.
  private func namedFiles(_ connection: SQLiteConnection) throws -> Set<String> {
    let columns = try connection.statement(
      "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
        + "WHERE m.type = 'table' AND m.rootpage > 0 AND (c.type LIKE '%BLOB%' OR c.type = '')")
    var places: [(table: String, column: String)] = []
    while try columns.step() { places.append((columns.string(0), columns.string(1))) }
    columns.reset()
    var names: Set<String> = []
    for place in places {
      let (table, column) = (place.table.quotedAsName, place.column.quotedAsName)
      // A name has 38 bytes; longer values are not read, only their lengths.
      let select = try connection.statement(
        "SELECT \(column) FROM \(table) "
          + "WHERE typeof(\(column)) = 'blob' AND length(\(column)) BETWEEN 37 AND 1000")
      defer { select.reset() }
      while try select.step() {
        if let name = ExternalDataFiles.fileName(ofColumn: select.data(0)) { names.insert(name) }
      }
    }
    return names
  }
}

extension SQLiteStore {
  /// Places that this process has looked at: a crash that leaves files there ends it.
  private static let placesWithoutUnnamedFiles = Mutex<Set<String>>([])

  /// Removes ``UnnamedFiles`` as the store is opened, where a program has left its write-ahead log or
  /// a vacuum is asked for.
  ///
  /// A store that was closed in an orderly way is not looked at, since that takes a look at each row.
  /// One with a rollback journal cannot tell how it was closed.
  ///
  /// - Throws: What SQLite says of a disk that fails; a damaged file can still be opened.
  func removeUnnamedFiles(hadLog: Bool, _ database: any DatabaseWriter) throws {
    let isAsked = configuration.options.flag(StoreOptionKey.sqliteManualVacuum)
    guard FileManager.default.fileExists(atPath: files.folder.path),
      isAsked || hadLog || !(database is DatabasePool),
      isAsked || !Self.placesWithoutUnnamedFiles.withLock({ $0.contains(path) })
    else { return }
    do {
      guard try UnnamedFiles(path: path, options: configuration.options).remove() != nil else {
        return
      }
    } catch {
      guard let failure = SQLiteResultCode.failure(in: error), SQLiteResultCode.isFatal(failure),
        !SQLiteResultCode.isDamage(failure)
      else { return }
      throw error
    }
    _ = Self.placesWithoutUnnamedFiles.withLock { $0.insert(path) }
  }
}
