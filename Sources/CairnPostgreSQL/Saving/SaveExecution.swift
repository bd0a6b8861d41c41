import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// One attempt to save: a transaction that does all of it, or finds out why it cannot.
///
/// Everything goes to the server at once, as if no other program had changed anything. Where a statement touches fewer rows
/// than it must, or breaks a constraint, all is rolled back, and only then is it looked up which rows are to blame.
struct SaveExecution {
  let content: StoreContent
  let connection: PostgreSQLConnection
  let request: SaveChangesRequest
  /// The row of ``BookkeepingTables`` to write, where the store's metadata were set.
  let metadata: Statement?
  let commit: RowCommit

  /// With so many new rows, the plans that the session's statements had for smaller tables are of no use any more.
  private static let growth = 500

  /// - Returns: nil when others changed rows in between so that nothing is to blame any more: it is worth repeating.
  /// - Throws: ``StoreChange`` when the store is not in the state that was counted on.
  func run() throws -> SaveOutcome? {
    let sidecar = SidecarWriting(request.sidecar, in: content.schema.name)
    let checks = sidecar.checks
    let recording = commit.recording
    let transaction = PostgreSQLTransaction(begunOn: connection)
    do {
      var (wanted, recorders): ([Int?], [Int]) = ([], [])
      var results = try connection.run { pipeline in
        for statement in recording.beginning + checks { try pipeline.send(statement) }
        let plan = try SaveStatements(
          request, content: content, recordsHistory: commit.state.keepsHistory, send: pipeline.send)
        (wanted, recorders) = (plan.wanted, plan.recording)
        if let metadata { try pipeline.send(metadata) }
        try sidecar.send(pipeline.send)
        try pipeline.send(PostgreSQLTransaction.identification)
      }[...]
      let identifier = results.last?.integer(0, 0)
      let key = try recording.check(&results)
      if let key = sidecar.firstUnmet(results.prefix(checks.count)) {
        transaction.rollBack()
        return .sidecarChanged(key)
      }
      let touched = results.dropFirst(checks.count).map { max($0.affectedRows, $0.count) }
      let isComplete = zip(touched, wanted).allSatisfy { touched, wanted in
        wanted.map { $0 == touched } ?? true
      }
      guard isComplete else {
        transaction.rollBack()
        return try blame()
      }
      try LinkOrdering(content: content, connection: connection).apply(request.links)
      let snapshots = try storedSnapshots()
      let sums = try sidecar.sums(
        results.dropLast().suffix(sidecar.additionCount), on: connection)
      let isRecorded = recorders.contains { touched[$0] > 0 }
      let number = try commit.commit(
        transaction, knownAs: identifier, under: isRecorded ? key : nil,
        of: (request.author, request.contextName, request.date), behind: sums,
        after: sidecar.writesAtTransaction,
        // Stores that read from this one note how far they came: that must not come back for other writes.
        otherwise: request.sidecar.isEmpty ? [] : [PostgreSQLHistoryTables.lasting],
        plansAnew: request.insertions.count >= Self.growth,
        // Readers of rows learn nothing from bookkeeping alone.
        isAnnounced: !request.isWithoutRows)
      return .saved(SaveReceipt(snapshots: snapshots, transactionNumber: number))
    } catch let failure as PostgreSQLFailure where failure.state == .uniqueViolation {
      rollBack()
      if PostgreSQLHistoryTables.isOfKeys(failure) {
        try connection.run(PostgreSQLHistoryTables.keysGoingOn(in: content.schema.name).text)
        return nil
      }
      let outcome = try blame(failure.constraint)
      // A constraint that another program made is an error of its own.
      if outcome == nil, failure.constraint.map({ isOwn($0) }) != true { throw failure }
      return outcome
    } catch {
      rollBack()
      throw error
    }
  }

  /// Whether the server's name of a constraint is that of the model's, or of a table's key.
  private func isOwn(_ constraint: String) -> Bool {
    content.schema.constraints[constraint] != nil
      || content.schema.tables.contains { constraint == "\($0.name)_pkey" }
  }

  private func rollBack() {
    guard connection.end == nil, connection.transactionStatus != .idle else { return }
    _ = try? connection.run("ROLLBACK")
  }

  /// What kept the save from being done.
  ///
  /// - Parameter constraint: What the server says is violated, by its name.
  private func blame(_ constraint: String? = nil) throws -> SaveOutcome? {
    let sidecar = SidecarWriting(request.sidecar, in: content.schema.name)
    if let key = try sidecar.firstUnmet(on: connection) { return .sidecarChanged(key) }
    let conflicts = try ConflictSearch(
      content: content, connection: connection, request: request
    ).conflicts()
    if !conflicts.isEmpty { return .conflicts(conflicts) }
    guard constraint.map({ content.schema.constraints[$0] != nil }) == true else { return nil }
    let search = UniquenessSearch(content: content, connection: connection, request: request)
    let violations = try search.violations()
    if !violations.isEmpty { return .constraintViolations(violations) }
    return nil
  }

  /// The rows as they are now: insertions, then updates.
  private func storedSnapshots() throws -> [RowSnapshot] {
    struct Kind {
      let writer: RowWriting
      let isComputed: Bool
    }
    var kinds: [ObjectIdentifier: Kind] = [:]
    var last: (home: ObjectIdentifier, kind: Kind)?
    func kind(of row: RowSnapshot) -> Kind {
      let home = row.home
      if let last, last.home == home { return last.kind }
      let entity = content.schema.sql.entity(row.objectID.entity)
      let kind =
        kinds[home]
        ?? Kind(
          writer: RowWriting(content: content, entity: entity),
          isComputed: !entity.derivedSlots.isEmpty)
      kinds[home] = kind
      last = (home, kind)
      return kind
    }
    func isComputed(_ row: RowSnapshot) -> Bool { kind(of: row).isComputed }
    // Columns that were not written may have changed since the snapshot was read; others are computed by the server.
    let uncertain =
      request.insertions.filter { isComputed($0.snapshot) }.map(\.snapshot.objectID)
      + request.updates.filter { $0.overwritesConflicts || isComputed($0.snapshot) }
      .map(\.snapshot.objectID)
    let current = try PostgreSQLRowReading(content: content, connection: connection).snapshots(
      for: uncertain)
    let found = Dictionary(
      zip(uncertain, current).map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
    func row(_ row: RowSnapshot, _ version: Int64) -> RowSnapshot {
      if !found.isEmpty, let found = found[row.objectID] ?? nil { return found }
      return kind(of: row).writer.stored(row, version: version)
    }
    return request.insertions.map { row($0.snapshot, 1) }
      + request.updates.map { row($0.snapshot, $0.version &+ 1) }
  }
}

/// Finds the rows that are not at the version that a save was based on.
struct ConflictSearch {
  let content: StoreContent
  let connection: PostgreSQLConnection
  let request: SaveChangesRequest

  func conflicts() throws -> [RowConflict] {
    var expected: [(id: ManagedObjectID, version: Int64, isNew: Bool)] = []
    expected += request.locks.map { ($0.objectID, $0.version, false) }
    expected += request.deletions.filter { !$0.overwritesConflicts }
      .map { ($0.objectID, $0.version, false) }
    expected += request.updates.filter { !$0.overwritesConflicts }
      .map { ($0.snapshot.objectID, $0.version, false) }
    expected += request.insertions.map { ($0.snapshot.objectID, 0, true) }
    let stored = try PostgreSQLRowReading(content: content, connection: connection).snapshots(
      for: expected.map(\.id))
    return zip(expected, stored).compactMap { expected, stored in
      let isAsExpected =
        expected.isNew ? stored == nil : stored.map { $0.version == expected.version } ?? false
      if isAsExpected { return nil }
      return RowConflict(
        objectID: expected.id, expectedVersion: expected.version, persisted: stored)
    }
  }
}
