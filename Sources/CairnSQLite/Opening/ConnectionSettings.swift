import CairnStore
import Foundation
import GRDB

/// How connections to a store file are made, from the store's options.
struct ConnectionSettings {
  let path: String
  let options: StoreOptions
  var isReadOnly: Bool
  /// Asked by each connection that has opened the log; throws when that is another than the store's.
  var checkLog: @Sendable () throws -> Void = {}

  /// What the connection that writes, and the one for short reads, may each keep of the file in
  /// memory; others keep what SQLite keeps by itself, 2 MiB.
  private static let cacheKibibytes = 16_384

  /// Whether the store uses a rollback journal because its pragmas ask for one.
  private var journalMode: String? { pragma("journal_mode")?.lowercased() }

  /// The value that the options give a pragma, whatever the case of its name.
  private func pragma(_ name: String) -> String? {
    options.sqlitePragmas.first { $0.key.lowercased() == name }?.value
  }

  /// How its connections wait for locks: as the pragma `busy_timeout` says, or the option.
  var lockWait: LockWait {
    pragma("busy_timeout").flatMap(Int32.init).map(LockWait.init(limit:))
      ?? LockWait(seconds: options.timeout)
  }

  /// How GRDB is to make a connection.
  private func configuration(isReadOnly: Bool) throws -> Configuration {
    let pragmas = try self.pragmas()
    let lockWait = self.lockWait
    let (goesWithoutJournal, checkLog) = (journalMode == "off", self.checkLog)
    let (pageSize, autoVacuum) = (pragma("page_size") ?? "4096", pragma("auto_vacuum") ?? "2")
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.foreignKeysEnabled = false
    // Old schemas may quote text like names; they must still be readable.
    configuration.acceptsDoubleQuotedStringLiterals = true
    // Until the connection is prepared.
    configuration.busyMode = .timeout(options.timeout)
    configuration.maximumReaderCount = max(
      1, (options.dictionary[StoreOptionKey.connectionPoolMaxSize] as? NSNumber)?.intValue ?? 7)
    configuration.persistentReadOnlyConnections = true
    try configuration.takesPartInIndex(of: path, lockWait)
    configuration.prepareDatabase { database in
      SQLiteDefences.install(on: database, mayGoWithoutJournal: goesWithoutJournal)
      try TemporaryFiles.install(on: database)
      // Opens the log.
      let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
      try checkLog()
      // Only a file without tables takes these; any other would be locked for writing, and written.
      if !isReadOnly, !database.configuration.readonly, pages <= 1 {
        try database.execute(
          sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(autoVacuum)")
      }
      for pragma in pragmas { try database.execute(sql: pragma) }
      lockWait.install(on: database.sqliteConnection)
      StatementProgress.install(on: database.sqliteConnection)
      SQLiteFunctions.register(on: database)
    }
    return configuration
  }

  /// A connection of its own for short reads, on a database that is open; nil when there is no WAL.
  func openHeldReader() throws -> HeldReader? {
    var configuration = try configuration(isReadOnly: true)
    // Faults fire all over a table, and fetching a page again costs as much as reading the row.
    configuration.prepareDatabase(setCacheSize)
    return try HeldReader(DatabaseQueue(path: path, configuration: configuration))
  }

  /// A connection of its own that may stay inside a read transaction between reads.
  func openGenerationReader() throws -> DatabaseQueue {
    var configuration = try configuration(isReadOnly: true)
    configuration.allowsUnsafeTransactions = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Opens the database, creating the file when there is none and the store may be written.
  func open() throws -> any DatabaseWriter {
    let configuration = try configuration(isReadOnly: isReadOnly)
    if let journalMode, journalMode != "wal", !isReadOnly {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.writeWithoutTransaction {
        try $0.execute(sql: "PRAGMA journal_mode = \(journalMode)")
        // A rollback journal is a commit's only when its name is gone for good, too, which SQLite
        // waits for with EXTRA.
        let level = (pragma("synchronous") ?? "FULL").uppercased()
        try setSynchronous($0, to: level == "FULL" || level == "2" ? "EXTRA" : level)
        try setCacheSize($0)
      }
      return queue
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    if !isReadOnly {
      try pool.writeWithoutTransaction {
        try setSynchronous($0, to: pragma("synchronous") ?? "NORMAL")
        // Pages that leave it in the middle of a transaction are written and read again.
        try setCacheSize($0)
      }
    }
    return pool
  }

  /// Unless the options say how much.
  private func setCacheSize(_ database: Database) throws {
    if pragma("cache_size") != nil { return }
    try database.execute(sql: "PRAGMA cache_size = \(-Self.cacheKibibytes)")
  }

  private func setSynchronous(_ database: Database, to level: String) throws {
    try database.execute(sql: "PRAGMA synchronous = \(level)")
  }

  /// Pragmas that no connection to a store may set, since a store has several and most of them only read, with what
  /// to do instead.
  private static let refused: [String: String] = {
    let changesFile =
      "It changes the file. Leave it out, and set it with sqlite3 "
      + "while no program has the store open."
    let changesProcess =
      "It holds for all databases of the process. Leave it out, and set it with a "
      + "connection of your own."
    return [
      "application_id": changesFile, "default_cache_size": changesFile,
      "incremental_vacuum": changesFile, "schema_version": changesFile,
      "user_version": changesFile, "wal_checkpoint": changesFile,
      "data_store_directory": changesProcess, "hard_heap_limit": changesProcess,
      "soft_heap_limit": changesProcess, "temp_store_directory": changesProcess,
      "encoding": "Text in stores is UTF-8. Leave it out.",
      "locking_mode":
        "The store has several connections, which would wait for each other. Leave it out.",
      "query_only": "Set \(StoreOptionKey.readOnly) to open the store for reading.",
      "writable_schema": "The schema is the model's. Leave it out, and change the model.",
    ]
  }()

  /// The statements for the pragmas of the options, those set elsewhere left out.
  private func pragmas() throws -> [String] {
    try options.sqlitePragmas.sorted { $0.key < $1.key }.compactMap { name, value in
      let isPlain = { (text: String) in
        !text.isEmpty
          && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
      }
      guard isPlain(name), isPlain(value) else {
        throw CoreDataError(
          .persistentStoreOpen,
          "The pragma \(name) = \(value) in \(StoreOptionKey.sqlitePragmas) is not a name and a "
            + "plain value.")
      }
      let key = name.lowercased()
      if key == "encoding", ["UTF-8", "UTF8"].contains(value.uppercased()) { return nil }
      if let reason = Self.refused[key] {
        throw CoreDataError(
          .persistentStoreOpen,
          "The pragma \(name) = \(value) in \(StoreOptionKey.sqlitePragmas) is refused. \(reason)")
      }
      switch key {
      case "journal_mode", "synchronous", "page_size", "auto_vacuum", "busy_timeout": return nil
      default: return "PRAGMA \(name) = \(value)"
      }
    }
  }
}
