import CairnModel
import CairnSQL
@_spi(Stores) import CairnStore
import Foundation
import GRDB
import Synchronization

/// A store in a SQLite file, in the format of Apple's framework.
///
/// One connection writes and several read, so that reads never wait for a save. Every method may
/// be called from any thread.
// Unchecked: all mutable state is in `state`; the database pool guards its connections itself.
open class SQLiteStore: PersistentStore, FailureReporting, MemberReading, RowKeyReserving,
  @unchecked Sendable
{
  struct State {
    /// Nil until the store is opened and after it is closed.
    var database: (any DatabaseWriter)?
    /// Makes snapshots of its rows, and knows its schema; nil until the store is opened.
    var reader: RowReader?
    /// Serves short reads; made with the first of them.
    var heldReader: HeldReader?
    /// Whether `heldReader` is there, or is known to be impossible.
    var hasTriedHolding = false
    /// How long a transaction may take in a file with triggers that are not of the model's making.
    var writeLimit: Duration?
    /// Whether commits are recorded in history, whose tables are as this model needs them.
    var recordsHistory = false
    /// Set when a write failed in a way that leaves the file in doubt.
    var failure: CoreDataError?
    /// Sidecar maps whose tables are known to exist.
    var sidecarMaps: Set<String> = []
    /// Query generations that are held.
    var generations = GenerationList()
    /// Notices commits of others.
    var watch: CommitWatch?
    /// Sums of rows; nil when the file has none.
    var checksums: ChecksumKeeping?
    /// What each transaction looks at first; nil until the store is open.
    var snapshots: SnapshotCheck?
    /// The file that the store opened; nil for a file without a name.
    var place: FilePlace?
    /// Looks after the write-ahead log; nil without one.
    var logCare: LogCare?
  }
  let state = Mutex(State())
  package let writerWork = QueueWork()
  package let commitTimes = CommitTimes()
  let path: String
  let files: ExternalDataFiles
  /// Behind a store at `/dev/null`.
  let transientFile: TransientFile?

  public override init(configuration: StoreConfiguration) {
    let url = configuration.url ?? URL(fileURLWithPath: "/")
    transientFile = TransientFile(for: url)
    path = transientFile?.path ?? url.path
    files = ExternalDataFiles(store: URL(fileURLWithPath: path), options: configuration.options)
    super.init(configuration: configuration)
  }

  /// A store that goes without being closed lets its file go at once.
  deinit {
    // The release that it has scheduled would keep its connection, and with that connection's locks
    // SQLite keeps the files of the others open.
    state.withLock { $0.heldReader }?.close()
    transientFile?.remove()
  }

  open override var type: String { StoreTypeName.sqlite }

  @_spi(Stores)
  public final override var capabilities: StoreCapabilities {
    var all = StoreCapabilities()
    (all.history, all.sidecar, all.batches, all.generations) = (self, self, self, self)
    all.keepsUniqueness = true
    (all.commits, all.exclusiveWrites) = (self, self)
    (all.members, all.rows, all.rowKeys, all.explanations) = (self, self, self, self)
    (all.failures, all.writer, all.integrity) = (self, self, self)
    (all.place, all.resources) = (self, self)
    return all
  }

  @_spi(Stores)
  public final override class var inPlaceMigration: (any InPlaceMigrating.Type)? { self }

  /// Takes over what was read from the file.
  func adopt(metadata: [String: Any]) {
    self.metadata = metadata
    if let uuid = metadata[StoreMetadataKey.uuid] as? String { identifier = uuid }
    noteMetadataSaved()
  }

  // MARK: Life

  open override func loadMetadata() throws { try open() }

  open override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try SQLiteStoreKind().metadata(at: url, options: StoreOptions())
  }

  open override class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    try SQLiteStoreKind().setMetadata(metadata ?? [:], at: url, options: StoreOptions())
  }

  open override func close() throws {
    stopWatchingCommits()
    let (database, held, care) = state.withLock { state in
      defer {
        state.database = nil
        state.heldReader = nil
        state.logCare = nil
      }
      return (state.database, state.heldReader, state.logCare)
    }
    // From here on no caller begins a new one.
    giveUpGenerations()
    // The connection refers to it until it is closed.
    defer { withExtendedLifetime(care) {} }
    held?.close()
    defer { transientFile?.remove() }
    if failure != nil || hasLostLog { leaveLog(of: database) }
    do {
      if let database { try Self.close(database) }
    } catch {
      throw SQLiteResultCode.translate(error, path: path, doing: "be closed")
    }
  }

  /// GRDB closes the writer first, but only a writer that goes last empties the log and removes it.
  static func close(_ database: any DatabaseWriter) throws {
    (database as? DatabasePool)?.invalidateReadOnlyConnections()
    try database.close()
  }

  // MARK: Access

  var schema: SQLSchema { get throws { try reader.schema } }

  var reader: RowReader {
    get throws {
      guard let reader = state.withLock({ $0.reader }) else { throw closedError }
      return reader
    }
  }

  var snapshots: SnapshotCheck {
    get throws {
      guard let snapshots = state.withLock({ $0.snapshots }) else { throw closedError }
      return snapshots
    }
  }

  var database: any DatabaseWriter {
    get throws {
      guard let database = state.withLock({ $0.database }) else { throw closedError }
      return database
    }
  }

  private var closedError: CoreDataError {
    CoreDataError(
      .persistentStoreOperation, "The store at \(path) is not open; add it to a coordinator first.")
  }

  /// One statement: its own snapshot of the last commit.
  func read<T>(_ body: (RowLookup) throws -> T) throws -> T {
    let (database, reader, snapshots) = (try database, try reader, try snapshots)
    return try following(reader.schema) { lost in
      do {
        return try database.unsafeRead {
          let connection = SQLiteConnection(database: $0)
          // One snapshot for both: two would double the moments in which the log cannot start anew.
          return try connection.snapshot {
            try snapshots.check(connection)
            return try reader.lookUp(connection, lost: lost, body)
          }
        }
      } catch {
        throw SQLiteResultCode.translate(error, path: path, doing: "be read")
      }
    }
  }

  /// One short statement, on the connection that holds its transaction if that is free.
  func readBriefly<T: Sendable>(_ body: (RowLookup) throws -> T) throws -> T {
    try readHeld(body) ?? read(body)
  }

  /// The same on that connection only; nil when it is not free or there is none.
  func readHeld<T: Sendable>(_ body: (RowLookup) throws -> T) throws -> T? {
    let (known, reader, snapshots, hasTried) = state.withLock {
      ($0.heldReader, $0.reader, $0.snapshots, $0.hasTriedHolding)
    }
    guard let reader, let snapshots else { throw closedError }
    guard let held = try hasTried ? known : heldReader() else { return nil }
    return try following(reader.schema) { lost in
      do {
        return try held.read(beginning: snapshots.check) {
          try reader.lookUp($0, lost: lost, body)
        }
      } catch {
        throw SQLiteResultCode.translate(error, path: path, doing: "be read")
      }
    }
  }

  /// How the store's connections wait for locks.
  var lockWait: LockWait { settings(isReadOnly: isReadOnly).lockWait }

  func settings(isReadOnly: Bool) -> ConnectionSettings {
    ConnectionSettings(
      path: path, options: configuration.options, isReadOnly: isReadOnly,
      checkLog: { [identity] in try (identity.store.target as? SQLiteStore)?.checkLog() })
  }

  /// The connection for short reads, made now if there was none; nil when there can be none.
  func heldReader() throws -> HeldReader? {
    let (known, canHold) = state.withLock { state in
      (state.heldReader, !state.hasTriedHolding && state.database is DatabasePool)
    }
    guard canHold else { return known }
    let settings = settings(isReadOnly: true)
    // Without it reads go through the pool.
    let made = try? settings.openHeldReader()
    let (kept, surplus) = state.withLock { state -> (HeldReader?, HeldReader?) in
      if state.hasTriedHolding || state.database == nil { return (state.heldReader, made) }
      state.hasTriedHolding = true
      state.heldReader = made
      return (made, nil)
    }
    surplus?.close()
    return kept
  }

  /// Several statements that see the same commit, and look up few things.
  func readConsistently<T: Sendable>(
    count: Int, _ body: (RowLookup) throws -> T
  ) throws -> T {
    // More of them would keep the connection from others for too long.
    if count <= Self.briefCount, let result = try readHeld(body) { return result }
    return try readConsistently(body)
  }

  /// How many things are looked up at most on the connection for short reads.
  static let briefCount = 64

  /// Several statements that see the same commit.
  func readConsistently<T>(_ body: (RowLookup) throws -> T) throws -> T {
    let (database, reader, snapshots) = (try database, try reader, try snapshots)
    return try following(reader.schema) { lost in
      do {
        return try database.read {
          let connection = SQLiteConnection(database: $0)
          try snapshots.check(connection)
          return try reader.lookUp(connection, lost: lost, body)
        }
      } catch {
        throw SQLiteResultCode.translate(error, path: path, doing: "be read")
      }
    }
  }

  // MARK: Rows

  open override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try executeFetch(request)
  }

  open override func fetch(
    _ request: StoreFetchRequest, portion: Int, _ take: (StoreFetchResult) -> Void
  ) throws {
    if try !fetchPortions(request, portion: portion, take) { take(try fetch(request)) }
  }

  open override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    if objectIDs.isEmpty { return [] }
    if objectIDs.count == 1 { return try readBriefly { [try $0.snapshot(for: objectIDs[0])] } }
    return try readConsistently(count: objectIDs.count) { try $0.snapshots(for: objectIDs) }
  }

  open override func snapshot(for objectID: ManagedObjectID) throws -> RowSnapshot? {
    // A subclass may have its own ``snapshots(for:)``.
    guard Swift.type(of: self) == SQLiteStore.self else { return try super.snapshot(for: objectID) }
    return try readBriefly { try $0.snapshot(for: objectID) }
  }

  open override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    if owners.isEmpty { return [] }
    if owners.count == 1 {
      return try readBriefly { try $0.members(of: relationship, owners: owners) }
    }
    return try read { try $0.members(of: relationship, owners: owners) }
  }

  public func memberRows(
    of relationship: RelationshipDescription, owners: [ManagedObjectID], rowLimit: Int
  ) throws -> [[MemberRow]] {
    if owners.isEmpty { return [] }
    // A subclass may have its own ``members(of:owners:)`` and ``snapshots(for:)``.
    guard Swift.type(of: self) == SQLiteStore.self else {
      return try members(of: relationship, owners: owners).map { members in
        members.map { MemberRow(objectID: $0, row: nil) }
      }
    }
    return try readBriefly {
      try $0.memberRows(of: relationship, owners: owners, rowLimit: rowLimit)
    }
  }

  open override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    if entities.isEmpty { return [] }
    // Numbers of objects that were never saved are no loss.
    return try write(doing: "reserve object IDs", isCounted: false) {
      try KeyReservation.reserve(for: entities, $0)
    } ?? []
  }

  package func reserveRowKeys(for runs: [RowKeyRun]) throws -> [Int64]? {
    // A subclass may have its own ``obtainPermanentIDs(for:)``.
    guard Swift.type(of: self) == SQLiteStore.self, !runs.isEmpty else { return nil }
    return try write(doing: "reserve object IDs", isCounted: false) {
      try KeyReservation.reserve(for: runs, $0)
    }
  }

  package func nextRowKeys(
    for runs: [RowKeyRun], after claims: [RowKeyClaim]
  ) throws -> [Int64]? {
    guard Swift.type(of: self) == SQLiteStore.self else { return nil }
    return try readBriefly { try KeyReservation.next(for: runs, after: claims, $0) }
  }

  open override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    try executeSave(request)
  }
}
