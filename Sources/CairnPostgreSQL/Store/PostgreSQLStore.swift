import CairnModel
import CairnSQL
@_spi(Stores) import CairnStore
import Foundation
import Synchronization

/// A store in a schema of a PostgreSQL database.
///
/// Every method may be called from any thread; each takes a connection of the store's pool for as long as it runs.
///
/// It takes no part in what concerns files, their room and lost rows: the server has files, vacuums and checksums
/// of its own; nor in ``RegistrationObserving``: it keeps no rows in this process.
// Unchecked: all mutable state is in `state`; the pool guards its connections itself.
package final class PostgreSQLStore: PersistentStore, SidecarKeeping, PlaceChecking,
  ResourceReleasing, @unchecked Sendable
{
  /// The type string.
  package static let typeName = StoreTypeName.postgreSQL

  struct State: Sendable {
    let place: StorePlace
    let pool: ConnectionPool
    let content: StoreContent
    /// As the store was seen last.
    var known: StoreState
  }
  /// Nil until the store is opened and after it is closed.
  private let state = Mutex<State?>(nil)

  package let writerWork = QueueWork()
  package let commitTimes = CommitTimes()

  package override var type: String { Self.typeName }

  package override var capabilities: StoreCapabilities {
    var all = StoreCapabilities()
    (all.history, all.sidecar, all.batches, all.generations) = (self, self, self, self)
    all.keepsUniqueness = true
    (all.commits, all.exclusiveWrites) = (self, self)
    (all.members, all.rows, all.rowKeys, all.explanations) = (self, self, self, self)
    (all.writer, all.integrity) = (self, self)
    (all.place, all.resources) = (self, self)
    return all
  }

  package override class var inPlaceMigration: (any InPlaceMigrating.Type)? { self }

  // MARK: Opening

  package override func loadMetadata() throws {
    let place = try StorePlace(url, options: configuration.options)
    let pool = ConnectionPool(
      place.settings, limit: place.connections, first: try PoolerCheck.connection(place.settings))
    var record = try pool.withConnection { try open($0, place, pool) }
    let hashes = ManagedObjectModel.entityHashes(inStoreMetadata: record.metadata)
    guard
      hashes == managedObjectModel.entityVersionHashesByName
        || configuration.options.ignoresVersioning
    else {
      let own = managedObjectModel.entityVersionHashesByName
      let names = Set(own.keys).union((hashes ?? [:]).keys).filter { own[$0] != hashes?[$0] }
      throw CoreDataError(
        .persistentStoreIncompatibleVersionHash,
        "The store in \(place.description) was written with another version of the model (entities "
          + "\(names.sorted().joined(separator: ", "))). Open it with that version, or ask for automatic migration.",
        userInfo: ["entities": names.sorted()])
    }
    let schema = PostgreSQLSchema(
      SQLSchema(model: managedObjectModel, identity: identity), in: place.schema, kept: record.names
    )
    let captures = configuration.options.flag(StoreOptionKey.postgreSQLCapture)
    let isComplete =
      record.state.keepsHistory && (record.capturesSQL || !captures)
      || !configuration.options.tracksHistory && !captures
    if !isComplete, !isReadOnly {
      record = try pool.withConnection { connection in
        try StoreSchema(name: place.schema, connection: connection).keepHistory(
          capturing: captures ? schema : nil, reconnect: pool.separateConnection)
        return try open(connection, place, pool)
      }
    }
    if !isReadOnly, !configuration.options.ignoresVersioning {
      let found = record
      try pool.withConnection { connection in
        try StoreSchema(name: place.schema, connection: connection).renewFunctions(
          for: schema, of: found, reconnect: pool.separateConnection)
      }
    }
    var all = record.metadata
    all[StoreMetadataKey.uuid] = record.identifier
    identity.identifier = record.identifier
    metadata = all
    noteMetadataSaved()
    let content = StoreContent(schema, identity: identity)
    let known = record.state
    state.withLock { $0 = State(place: place, pool: pool, content: content, known: known) }
  }

  private func open(
    _ connection: PostgreSQLConnection, _ place: StorePlace, _ pool: ConnectionPool
  ) throws -> StoreRecord {
    let store = StoreSchema(name: place.schema, connection: connection)
    if let record = try store.record() { return record }
    if isReadOnly {
      throw CoreDataError(
        .persistentStoreOpen,
        "There is no store in \(place.description), and a read-only store is not created.")
    }
    let sql = SQLSchema(model: managedObjectModel)
    try sql.checkDerivations(in: "PostgreSQL")
    return try store.create(
      PostgreSQLSchema(sql, in: place.schema), identifier: identity.identifier,
      metadata: Self.modelEntries(of: managedObjectModel), reconnect: pool.separateConnection
    ).record
  }

  /// The entries that tell which model a store was written with.
  static func modelEntries(of model: ManagedObjectModel) -> [String: Any] {
    [
      StoreMetadataKey.type: typeName,
      StoreMetadataKey.versionHashes: model.entityVersionHashesByName,
      StoreMetadataKey.versionHashesVersion: 3,
      StoreMetadataKey.versionChecksum: model.versionChecksum,
      StoreMetadataKey.versionIdentifiers: model.versionIdentifiers.compactMap { $0 as? String }
        .sorted(),
    ]
  }

  package override func close() throws {
    let ended = state.withLock { state in
      defer { state = nil }
      return state
    }
    replaceWatch(nil)
    for snapshot in generations.withLock({ $0.removeAll() }) {
      snapshot.giveUp("the store was closed")
    }
    ended?.pool.close()
  }

  // MARK: What goes on beside

  private let generations = Mutex(PostgreSQLGenerations())
  private let watch = Mutex<CommitListening?>(nil)
  /// What this store object says with its own commits.
  let announcing = UUID().uuidString

  func noteGeneration(_ snapshot: HeldSnapshot) { generations.withLock { $0.add(snapshot) } }

  var currentWatch: CommitListening? { watch.withLock { $0 } }

  func replaceWatch(_ new: CommitListening?) {
    let old = watch.withLock { watch in
      defer { watch = new }
      return watch
    }
    old?.stop()
  }

  /// - Throws: 134070 for a store that is not open.
  func openState() throws -> State {
    guard let state = state.withLock({ $0 }) else {
      throw CoreDataError(
        .persistentStoreOperation, "The PostgreSQL store is not open; open it first.")
    }
    return state
  }

  /// Runs work on a connection, and says of a failure where it happened.
  func work<Result>(
    _ purpose: String, _ body: (State, PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    let state = try openState()
    do {
      return try state.pool.withConnection { try body(state, $0) }
    } catch let failure as PostgreSQLFailure {
      if failure.isOfSchema || failure.state == .changedPlan {
        do {
          try checkVersion(of: state)
        } catch let error as CoreDataError {
          throw located(error)
        }
      }
      throw located(failure.error(purpose, state.place.description))
    } catch let error as CoreDataError {
      throw located(error)
    }
  }

  /// Runs work that reads rows, and asks along with its first statements whether they are of the version that is known.
  ///
  /// Behind them, so that no migration comes between the answer and the rows.
  ///
  /// - Throws: What ``take(_:of:)`` throws for a store of another version.
  func read<Result>(
    _ purpose: String, _ body: (State, PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    try work(purpose) { state, connection in
      let question = CompanionStatement(statement: StoreState.query(in: state.place.schema)) {
        let found = StoreState($0)
        guard found?.version == state.known.version else { throw StoreChange(found: found) }
      }
      do {
        return try connection.run(with: question) { try body(state, connection) }
      } catch let change as StoreChange {
        _ = try take(change, of: state)
        throw change
      }
    }
  }

  /// Statements went to the server together with the question of which version the store is, or without it.
  ///
  /// - Throws: What ``take(_:of:)`` throws for a store of another version; nothing where the server does not say.
  private func checkVersion(of state: State) throws {
    let query = StoreState.query(in: state.place.schema)
    let rows = try? state.pool.withConnection { try $0.run(query.text, query.parameters) }
    if let rows, let found = StoreState(rows) { _ = try take(StoreChange(found: found), of: state) }
  }

  package func releaseMemory() { try? openState().pool.closeIdle() }

  package func abandonWaits() { try? openState().place.settings.abandonment?.turnOn() }

  package func isExchanged() throws -> Bool {
    try work("look at") { state, connection in
      let query = StoreState.query(in: state.place.schema)
      let rows = try connection.run(query.text, query.parameters)
      return StoreState(rows)?.identifier != state.known.identifier
    }
  }

  /// An error with the place of the store, by which those who have several stores tell which one it is about.
  func located(_ error: CoreDataError) -> CoreDataError {
    var error = error
    if let url, error.userInfo[NSURLErrorKey] == nil { error.userInfo[NSURLErrorKey] = url }
    return error
  }

  // MARK: Reading

  package override func fetch(_ request: StoreFetchRequest) throws -> StoreFetchResult {
    try read("fetch from") { state, connection in
      try PostgreSQLFetch(
        request, content: state.content, store: identity, connection: connection
      ).run()
    }
  }

  package override func fetch(
    _ request: StoreFetchRequest, portion: Int, _ take: (StoreFetchResult) -> Void
  ) throws {
    let isDone = try read("fetch from") { state, connection in
      try PostgreSQLFetch(
        request, content: state.content, store: identity, connection: connection
      ).run(portion: portion, take)
    }
    if !isDone { take(try fetch(request)) }
  }

  package override func snapshots(for objectIDs: [ManagedObjectID]) throws -> [RowSnapshot?] {
    try read("read rows of") { state, connection in
      try PostgreSQLRowReading(content: state.content, connection: connection).snapshots(
        for: objectIDs)
    }
  }

  package override func snapshot(for objectID: ManagedObjectID) throws -> RowSnapshot? {
    try read("read rows of") { state, connection in
      try PostgreSQLRowReading(content: state.content, connection: connection).snapshot(
        for: objectID)
    }
  }

  package override func members(
    of relationship: RelationshipDescription, owners: [ManagedObjectID]
  ) throws -> [[ManagedObjectID]] {
    try read("read rows of") { state, connection in
      try PostgreSQLRowReading(content: state.content, connection: connection).members(
        of: relationship, owners: owners)
    }
  }

  package func sidecarValues(for keys: [SidecarKey]) throws -> [Data?] {
    try read("read the bookkeeping of") { state, connection in
      try SidecarReading(schema: state.place.schema, connection: connection).values(for: keys)
    }
  }

  package func sidecarEntries(
    of map: String, from lower: Data?, to upper: Data?, limit: Int, except value: Data?
  ) throws -> [(key: Data, value: Data)] {
    try read("read the bookkeeping of") { state, connection in
      try SidecarReading(schema: state.place.schema, connection: connection).entries(
        of: map, from: lower, to: upper, limit: limit, except: value)
    }
  }

  // MARK: Writing

  package override func obtainPermanentIDs(
    for entities: [EntityDescription]
  ) throws -> [ManagedObjectID] {
    if entities.isEmpty { return [] }
    return try work("take keys from") { state, connection in
      try SequenceReservation(content: state.content, connection: connection).objectIDs(
        for: entities)
    }
  }

  package override func save(_ request: SaveChangesRequest) throws -> SaveOutcome {
    if request.isEmpty, !hasUnsavedMetadata {
      return .saved(SaveReceipt(snapshots: [], transactionNumber: nil))
    }
    return try write("save to") { state, connection in
      let metadata = try metadataStatement(in: state.place.schema)
      return try repeating("save to", state) { known in
        let outcome = try SaveExecution(
          content: state.content, connection: connection, request: request, metadata: metadata,
          commit: commit(to: state, in: known)
        ).run()
        if case .saved = outcome, metadata != nil {
          noteMetadataSaved()
          if let new = self.metadata?[StoreMetadataKey.uuid] as? String {
            self.state.withLock { $0?.known.identifier = new }
          }
        }
        return outcome
      }
    }
  }

  /// How transactions end.
  func commit(to state: State, in known: StoreState) -> RowCommit {
    RowCommit(
      schema: state.place.schema, state: known, announcing: announcing, times: commitTimes,
      reconnect: state.pool.separateConnection)
  }

  /// Notes the state that a writer has found.
  ///
  /// - Throws: 134020 when the store has another version of the model now, or is gone; 134070 when another
  ///   store lies there.
  func take(_ change: StoreChange, of state: State) throws -> StoreState {
    if let found = change.found, found.identifier != state.known.identifier {
      throw CoreDataError(
        .persistentStoreOperation,
        "In \(state.place.description) lies another store now (\(found.identifier)) than the one that was opened "
          + "(\(state.known.identifier)): a database was restored or exchanged. Nothing was written; remove the "
          + "store from the coordinator, and add it again.")
    }
    guard let found = change.found, found.version == state.known.version else {
      throw CoreDataError(
        .persistentStoreIncompatibleSchema,
        change.found == nil
          ? "The store in \(state.place.description) is gone; another program destroyed it."
          : "The store in \(state.place.description) was migrated to another version of its model while it was "
            + "open here. Remove it from the coordinator, and add it again with a model of that version."
      )
    }
    self.state.withLock { $0?.known = found }
    return found
  }

  private func metadataStatement(in schema: SchemaName) throws -> Statement? {
    guard hasUnsavedMetadata else { return nil }
    let (identifier, list) = MetadataForm.parts(of: metadata ?? [:])
    return BookkeepingTables.metadataUpdate(
      in: schema, identifier: identifier, metadata: try StoreSchema.data(of: list))
  }
}

/// Metadata as the bookkeeping keeps it: the identifier stands in a column of its own.
enum MetadataForm {
  static func parts(of metadata: [String: Any]) -> (identifier: String?, list: [String: Any]) {
    var list = metadata
    let identifier = list.removeValue(forKey: StoreMetadataKey.uuid) as? String
    list[StoreMetadataKey.type] = PostgreSQLStore.typeName
    return (identifier, list)
  }
}
