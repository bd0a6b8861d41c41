import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Applies change sets to a store: plans on what is there, writes rows directly where no object is
/// needed and with objects in a context where one is, and commits rows, stamps and cursor in one
/// transaction.
///
/// A writer that commits meanwhile makes it plan again. Used on the context's queue only.
struct ChangeImporter {
  let access: StoreAccess
  let context: ManagedObjectContext
  /// Asked for what the source has of records, where what it sends is a part.
  var source: KnownLoading.SourceReading?
  /// What the store has to be still; nil for sets that leave nothing out.
  var expected: ExpectedDestination?
  /// Whether what a delete takes goes into the journal although the deleter had seen it.
  var journalsDeletes = false
  /// Whether records are reconsidered because of a newer model.
  var isModelChange = false
  /// The keys that a repair gives back to rows which a program took away past history, so that what refers to
  /// them leads to them again.
  var formerKeys: [RecordID: Int64] = [:]

  /// What came of one change set.
  struct Outcome: Sendable {
    var records = 0
    var links = 0
    var conflicts = 0
    /// How often two values of one write met.
    var contradictions = 0
    /// What was put into quarantine.
    var held: [QuarantineEntry.Content] = []
    /// How often it was planned again because of other writers.
    var replans = 0
    /// Whether a program has written to the store since its last commit of sync.
    var metWriters = false
    /// Whether the destination was not where the set begins: another exchange served it.
    var wasServed = false

    /// Adds what came of records that were first left out of the same set.
    fileprivate mutating func take(_ part: Outcome) {
      records += part.records
      links += part.links
      conflicts += part.conflicts
      contradictions += part.contradictions
      replans += part.replans
      held = part.held + held
    }
  }

  /// Where in a stream the destination is once a set is applied.
  private struct Move {
    let stream: StoreID
    let cursor: SyncCursor
  }

  /// What one attempt came to.
  private enum Result {
    case applied(Outcome)
    case failed(ImportAttempt.Failure, any Error)
  }

  /// Applies a set, then moves the cursor to its end.
  ///
  /// - Parameters:
  ///   - cursor: What the destination's cursor becomes; nil for records that were quarantined and are tried again.
  ///   - stream: Whose places the cursor counts; nil for the source.
  ///   - reconsidered: Records whose references may be completed now.
  func apply(
    _ set: ChangeSet, cursor: SyncCursor?, of stream: StoreID? = nil,
    reconsidering reconsidered: Set<RecordID> = []
  ) throws -> Outcome {
    let move = cursor.map { Move(stream: stream ?? set.source, cursor: $0) }
    do {
      return try plan(set, move, reconsidered, limit: Self.attempts, isAlone: false)
    } catch let error as SyncError where error.code == .contention {
      let isAlone = access.store.capabilities.exclusiveWrites != nil
      var outcome = try access.holdingWrites {
        try plan(set, move, reconsidered, limit: StoreAccess.attempts, isAlone: isAlone)
      }
      outcome.replans += Self.attempts
      return outcome
    }
  }

  /// What is said of a record that cannot be written although no other program writes.
  private static let damage =
    "the store does not take it, as if another program wrote at the same time; its rows may be "
    + "damaged: verify it"

  /// How often a set is planned because of other writers before they are held up.
  private static let attempts = 3

  /// - Parameter isAlone: Whether no other writer can come in between: what fails as if one had is the fault
  ///   of a record.
  private func plan(
    _ set: ChangeSet, _ move: Move?, _ reconsidered: Set<RecordID>, limit: Int,
    isAlone: Bool
  ) throws -> Outcome {
    try access.environment.reach(.beforeImport)
    var attempt = ImportAttempt(set.records.map(\.id), limit: limit)
    var failure: (any Error)?
    var metWriters = false
    while true {
      switch attempt.step {
      case .contended:
        context.reset()
        throw StoreAccess.contention(access.store)
      case .failed: throw failure ?? StoreAccess.contention(access.store)
      case .attempt(let refused, let unchangeable):
        let batch = IncomingBatch(
          source: set.source, records: set.records, links: set.links,
          completed: set.completed, isSent: move != nil,
          refused: refused, unchangeable: unchangeable, isPart: source != nil,
          reconsidered: reconsidered.subtracting(unchangeable.keys),
          isModelChange: isModelChange, journalsDeletes: journalsDeletes)
        switch try self.attempt(batch, set, move, &metWriters) {
        case .applied(var outcome):
          outcome.metWriters = metWriters
          context.reset()
          if outcome.wasServed { return outcome }
          try access.environment.reach(.afterImportCommit)
          outcome.replans = attempt.replans
          for part in attempt.parts { try retry(part, of: set, &outcome) }
          return outcome
        case .failed(let why, let error):
          let isNoWritersFault = isAlone && why == .overtaken && attempt.replans >= Self.attempts
          attempt.take(isNoWritersFault ? .unknown(Self.damage) : why)
          failure = error
        }
      }
    }
  }

  /// Tries records that were left out together, so that only those to blame stay out.
  private func retry(_ ids: Set<RecordID>, of set: ChangeSet, _ outcome: inout Outcome) throws {
    outcome.held.removeAll { content in
      if case .record(let state) = content { return ids.contains(state.id) }
      return false
    }
    let part = ChangeSet(
      source: set.source, after: 0, upTo: 0, records: set.records.filter { ids.contains($0.id) })
    outcome.take(try apply(part, cursor: nil))
  }

  // MARK: One attempt

  private func attempt(
    _ batch: IncomingBatch, _ set: ChangeSet, _ move: Move?, _ metWriters: inout Bool
  ) throws -> Result {
    context.reset()
    guard let ledger = try capturedLedger(&metWriters) else {
      return .failed(.overtaken, StoreAccess.contention(access.store))
    }
    if let move, try ledger.cursor(for: move.stream).position != set.after {
      var outcome = Outcome()
      outcome.wasServed = true
      return .applied(outcome)
    }
    if let expected, try !access.isStill(expected, ledger) { throw Exchange.hasGoneBack }
    var loading = try KnownLoading(access: access, ledger: ledger, source: source)
    var plan = try loading.plan(batch, try access.importSetting(ledger))
    try access.environment.reach(.afterPlan)
    if !formerKeys.isEmpty { plan = plan.expanded }
    if let rows = try RowApplying(
      plan, loading: loading, context: context, formerKeys: formerKeys)
    {
      ledger.isBoundToHead = Self.restsOnRows(plan, loading.known)
      return try apply(plan, with: rows, ledger, move)
    }
    plan = plan.expanded
    ledger.isBoundToHead = Self.restsOnRows(plan, loading.known)
    let applying = ObjectApplying(
      plan, objects: loading.objects, access: access, ledger: ledger, context: context,
      formerKeys: formerKeys)
    do {
      let (objects, isExact) = try applying.changeObjects()
      if !isExact {
        try clearLostPartners(loading)
        return .failed(.overtaken, StoreAccess.contention(access.store))
      }
      let conflicts = try finish(plan, objects, [], ledger, move)
      guard try isUntouched(plan, loading.objects, ledger) else {
        return .failed(.overtaken, StoreAccess.contention(access.store))
      }
      guard try save(ledger) else {
        return .failed(.overtaken, StoreAccess.contention(access.store))
      }
      return .applied(outcome(of: plan, conflicts))
    } catch let error as CoreDataError {
      let failure = try FailedSave(
        plan: plan, applying: applying, incoming: Set(set.records.map(\.id)),
        changed: batch.reconsidered.union(set.links.flatMap { [$0.key.owner, $0.key.member] })
      ).judge(error)
      if failure == .overtaken { try clearLostPartners(loading) }
      return .failed(failure, error)
    }
  }

  private func clearLostPartners(_ loading: KnownLoading) throws {
    context.reset()
    try LostPartners(access: access, context: context).clear(in: loading.snapshots.values)
  }

  private func apply(
    _ plan: ImportPlan, with rows: RowApplying, _ ledger: Ledger, _ move: Move?
  ) throws -> Result {
    let conflicts = try finish(plan, rows.objects, rows.newRecords, ledger, move)
    guard try isUntouched(plan, rows.objects, ledger, along: rows.touched) else {
      return .failed(.overtaken, StoreAccess.contention(access.store))
    }
    do {
      if let failure = try rows.save(ledger) {
        return .failed(failure, StoreAccess.contention(access.store))
      }
    } catch let error as CoreDataError {
      guard let refusal = FailedSave.refusal(error) else { throw error }
      return .failed(refusal, error)
    }
    let byRun = rows.newRecords.reduce(0) { $0 + $1.members.count }
    if byRun > 0 { access.environment.noteRun(.written, byRun) }
    return .applied(outcome(of: plan, conflicts))
  }

  /// Whether a plan rests on rows of records that the ledger has not read: what refers to a row that goes,
  /// and who is in a list, is found in the rows.
  ///
  /// Who has a value to itself is found there, too; a new one of those the store refuses.
  private static func restsOnRows(_ plan: ImportPlan, _ known: Known) -> Bool {
    !plan.orders.isEmpty || !known.referrers.isEmpty || plan.rows.contains { $0.kind == .delete }
  }

  /// Writes the bookkeeping, the last step before the commit.
  ///
  /// - Returns: How many conflicts are new to the journal.
  private func finish(
    _ plan: ImportPlan, _ objects: [RecordID: ManagedObjectID], _ added: [NewRecords],
    _ ledger: Ledger, _ move: Move?
  ) throws -> Int {
    let conflicts = try ledger.write(
      plan, objects: objects, added: added, time: access.environment.now(),
      limit: access.latestCredibleTime)
    if let move { ledger.setCursor(move.cursor, for: move.stream) }
    try access.environment.reach(.beforeImportCommit)
    return conflicts
  }

  private func outcome(of plan: ImportPlan, _ conflicts: Int) -> Outcome {
    var outcome = Outcome()
    outcome.records = plan.newsCount
    outcome.links = plan.linkStates.count
    outcome.conflicts = conflicts
    outcome.contradictions = plan.contradictions
    outcome.held = plan.held.map(\.entry.content)
    return outcome
  }

  /// The bookkeeping once all that applications wrote is captured; nil when a writer was faster.
  private func capturedLedger(_ metWriters: inout Bool) throws -> Ledger? {
    let ledger = try access.freshLedger()
    if ledger.head.bootstrap == .done, try isCaptured(ledger) { return ledger }
    metWriters = true
    try HistoryCapture(access: access).run()
    let captured = try access.freshLedger()
    return captured.head.bootstrap == .done ? captured : nil
  }

  private func isCaptured(_ ledger: Ledger) throws -> Bool {
    // What sync itself wrote needs no capture.
    let later = try access.uncaptured(
      after: ledger.head.captured, limit: 64, includesChanges: false)
    guard later.isAll, later.transactions.isEmpty else { return false }
    if later.own.count >= HistoryCapture.ownTransactions, let last = later.last {
      ledger.passOver(later.own, upTo: last)
    }
    return true
  }

  /// Whether no application has written, since the ledger was read, to a row that the commit is
  /// about.
  ///
  /// Row versions do not show all of that: rows are read after the ledger was, and a write in between,
  /// whose stamp the plan does not know, would be overwritten unseen. A write after the rows were read
  /// is a conflict of versions.
  private func isUntouched(
    _ plan: ImportPlan, _ objects: [RecordID: ManagedObjectID], _ ledger: Ledger,
    along others: Set<ManagedObjectID> = []
  ) throws -> Bool {
    let later = try access.uncaptured(
      after: ledger.head.captured, limit: 0, includesChanges: true)
    if later.isLost { return false }
    guard !later.transactions.isEmpty else { return true }
    var touched = Set(plan.read.compactMap { objects[$0] })
    touched.formUnion(others)
    touched.formUnion(context.updatedObjects.map(\.objectID))
    touched.formUnion(context.deletedObjects.map(\.objectID))
    return !later.transactions.contains {
      $0.changes.contains { touched.contains($0.objectID) }
    }
  }

  /// - Returns: False when another writer changed what the plan was made on.
  private func save(_ ledger: Ledger) throws -> Bool {
    if !context.hasChanges { return try access.commit(ledger, isRebased: true) }
    context.transactionAuthor = SyncConfiguration.author
    return try access.commit(ledger, by: save)
  }

  /// - Returns: False when a requirement among the operations does not hold.
  private func save(with operations: [SidecarOperation]) throws -> Bool {
    context.replaceSidecarOperations(operations, for: access.store)
    do {
      try context.save()
    } catch let error as CoreDataError where error.userInfo[CoreDataErrorKey.sidecarKey] != nil {
      return false
    } catch let error as CoreDataError {
      throw error
    } catch {
      // A rule of the application's own, with an error of its own.
      throw CoreDataError(.managedObjectValidation, "\(error)", underlyingError: error)
    }
    return true
  }
}

extension StoreAccess {
  /// What holds for all batches that this store is given now.
  func importSetting(_ ledger: Ledger) throws -> ImportSetting {
    ImportSetting(
      schema: schema, defaultPolicy: configuration.deleteConflicts,
      holdable: Set(
        schema.entities.values.filter { !$0.entity.isAbstract && store.holds($0.entity) }
          .compactMap(\.entity.name)),
      time: try ledger.credibleTime(limit: latestCredibleTime), now: environment.now(),
      store: ledger.storeID)
  }
}
