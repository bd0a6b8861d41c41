import CairnModel
import CairnSQL
import CairnStore
import Foundation
import GRDB

// Opening a store file: what is there, what is made new, what is refused.

extension SQLiteStore {
  /// Opens the file or makes it, and takes over its metadata.
  func open() throws {
    guard let url = configuration.url, url.isFileURL else {
      throw CoreDataError(
        .persistentStoreOpen,
        "A SQLite store needs the URL of a file; this one has "
          + "\(configuration.url?.absoluteString ?? "none").")
    }
    try configuration.model.prepareForUse()
    try transientFile?.create()
    let path = path
    let hadLog = FileManager.default.fileExists(atPath: path + "-wal")
    let isNewFile = !FileManager.default.fileExists(atPath: path)
    if !isReadOnly { LogPermissions.follow(databaseAt: path) }
    do {
      let (existing, database) = try RemovedLog(of: path, lockWait).trusting {
        (try existingFacts(), try settings(isReadOnly: isReadOnly).open())
      }
      do {
        // Before other connections are opened, which look at it.
        let place =
          transientFile == nil
          ? try database.unsafeReentrantRead { try FilePlace(of: path, openIn: $0) } : nil
        state.withLock { $0.place = place }
        try takeCare(of: database)
        let facts = try existing ?? create(in: database)
        try adopt(facts, database: database, hadLog: hadLog)
      } catch {
        state.withLock { $0.place = nil }
        try? Self.close(database)
        throw error
      }
    } catch {
      if isNewFile {
        try? SQLiteFileSet(path: path, options: configuration.options).removeDatabase()
      }
      throw SQLiteResultCode.translate(error, path: path, doing: "be opened")
    }
  }

  /// What the file holds; nil when there is no file, or one without any table, and it may be made.
  private func existingFacts() throws -> SQLiteFileFacts? {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      if isReadOnly {
        throw CoreDataError(
          .persistentStoreOpen,
          "There is no store at \(path), and a read-only store is not created.",
          userInfo: [NSFilePathErrorKey: path])
      }
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      guard FileManager.default.fileExists(atPath: folder) else {
        throw CoreDataError(
          .persistentStoreOpen,
          "The store \(path) cannot be created because the folder \(folder) does not exist.",
          userInfo: [NSFilePathErrorKey: path])
      }
      return nil
    }
    if isDirectory.boolValue {
      throw CoreDataError(
        .persistentStoreOpen, "\(path) is a folder; a SQLite store is a file.",
        userInfo: [NSFilePathErrorKey: path])
    }
    let facts = try SQLiteFileFacts.read(at: path, options: configuration.options)
    if facts.isEmpty && isReadOnly {
      throw CoreDataError(
        .persistentStoreOpen, "\(path) is an empty database, and a read-only store is not created.",
        userInfo: [NSFilePathErrorKey: path])
    }
    return facts.isEmpty ? nil : facts
  }

  /// Fills the empty database, unless another process has done so meanwhile.
  private func create(in database: any DatabaseWriter) throws -> SQLiteFileFacts {
    let schema = SQLSchema(model: configuration.model)
    return try database.writeWithoutTransaction { connection in
      let wrapped = SQLiteConnection(database: connection)
      try connection.inTransaction(.immediate) {
        if try SQLiteFileFacts.catalog(wrapped).tables.isEmpty {
          try StoreCreation.create(
            schema, uuid: identity.identifier, metadata: [:],
            tracksHistory: configuration.options.tracksHistory, wrapped)
        }
        return .commit
      }
      connection.clearSchemaCache()
      return try SQLiteFileFacts.read(wrapped, path: path)
    }
  }

  private func takeCare(of database: any DatabaseWriter) throws {
    guard !isReadOnly, let pool = database as? DatabasePool else { return }
    let care = try pool.writeWithoutTransaction { [lockWait] connection in
      try LogCare(
        connection, lockWait: lockWait,
        isLost: { [identity] in (identity.store.target as? SQLiteStore)?.hasLostLog ?? true }
      ) { [identity] failure in
        let store = identity.store.target as? SQLiteStore
        _ = store?.failed(failure, doing: "be checkpointed")
      }
    }
    state.withLock { $0.logCare = care }
  }

  private func adopt(
    _ facts: SQLiteFileFacts, database: any DatabaseWriter, hadLog: Bool
  ) throws {
    let metadata = try identified(facts.metadata ?? [:], database)
    let schema = SQLSchema(
      model: configuration.model, catalog: facts.catalog, identity: identity)
    let hashes = ManagedObjectModel.entityHashes(inStoreMetadata: metadata) ?? [:]
    let isUnversioned = hashes.isEmpty && !configuration.options.ignoresVersioning
    if isUnversioned { try checkUnversioned(schema, facts.catalog, database) }
    let isCompatible = isUnversioned || hashes == configuration.model.entityVersionHashesByName
    if isCompatible { try checkTables(of: schema, facts.catalog) }
    let isWritable = isCompatible && !isReadOnly
    // Only of interest to those who write: a file that is only read is not even asked, because a
    // read-only connection leaves a log behind.
    let hasForeignTriggers = try isWritable && hasForeignTriggers(schema, database)
    // A program that opens the file with another version on purpose writes to it as well.
    let mayRecord = isWritable || configuration.options.ignoresVersioning && !isReadOnly
    var records = try mayRecord && hasTransactions(facts, database)
    if mayRecord, records || configuration.options.tracksHistory {
      // Also brings the tables of older frameworks to the current form.
      try database.writeWithoutTransaction { connection in
        let wrapped = SQLiteConnection(database: connection)
        try connection.inTransaction(.immediate) {
          try HistoryTables.create(for: schema, wrapped)
          return .commit
        }
        connection.clearSchemaCache()
      }
      records = true
    }
    if isWritable {
      try maintain(database)
      try removeUnnamedFiles(hadLog: hadLog, database)
    }
    let checksums =
      isWritable
      ? try openChecksums(
        database, schema: schema, identifier: metadata[StoreMetadataKey.uuid] as? String ?? "")
      : nil
    let path = path
    state.withLock { state in
      state.checksums = checksums
      state.writeLimit =
        hasForeignTriggers ? .seconds(max(configuration.options.timeout, 0.1)) : nil
      state.database = database
      state.hasTriedHolding = false
      state.snapshots = SnapshotCheck(
        path: path, metadata: metadata, place: state.place,
        hadHistory: records || hasHistoryTables(facts))
      state.reader = RowReader(schema: schema, identity: identity, files: files)
      state.recordsHistory = records
    }
    adopt(metadata: metadata)
  }

  /// A file whose metadata promise a model has its tables; a view of that name is none.
  private func checkTables(of schema: SQLSchema, _ catalog: SQLCatalog) throws {
    let missing = schema.tables.map(\.name).filter { catalog.tables[$0] == nil }
    if missing.isEmpty { return }
    throw CoreDataError(
      .persistentStoreOpen,
      "The file \(path) is damaged: it has no table \(missing.sorted().joined(separator: ", ")). "
        + "Restore the store from a backup.", userInfo: [NSFilePathErrorKey: path])
  }

  /// Whether the file has triggers that the model does not ask for.
  private func hasForeignTriggers(
    _ schema: SQLSchema, _ database: any DatabaseWriter
  ) throws -> Bool {
    let own = Set(schema.indexStatements())
    return try database.writeWithoutTransaction { connection in
      let select = try SQLiteConnection(database: connection).statement(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger'")
      defer { select.reset() }
      while try select.step() {
        if !own.contains(select.string(0)) { return true }
      }
      return false
    }
  }

  /// Whether history has been recorded in the file; then it goes on, with or without the option.
  private func hasTransactions(
    _ facts: SQLiteFileFacts, _ database: any DatabaseWriter
  ) throws -> Bool {
    guard hasHistoryTables(facts) else { return false }
    return try database.writeWithoutTransaction {
      try SQLiteConnection(database: $0).integer("SELECT 1 FROM ATRANSACTION LIMIT 1") != nil
    }
  }

  private func hasHistoryTables(_ facts: SQLiteFileFacts) -> Bool {
    facts.catalog.tables["ATRANSACTION"] != nil && facts.catalog.tables["ACHANGE"] != nil
  }

  /// What the options ask to be done to the file whenever it is opened.
  private func maintain(_ database: any DatabaseWriter) throws {
    let options = configuration.options
    let statements: [String] =
      (options.flag(StoreOptionKey.sqliteManualVacuum) ? ["VACUUM"] : [])
      + (options.flag(StoreOptionKey.sqliteAnalyze) ? ["ANALYZE"] : [])
    for statement in statements {
      try database.writeWithoutTransaction { try $0.execute(sql: statement) }
    }
  }
}
