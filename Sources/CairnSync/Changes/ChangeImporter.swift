import CairnContext
import CairnModel
import CairnStore
import Foundation

/// Applies change sets to a store: plans on what is there, changes objects in a context, and
/// commits rows, stamps and cursor in one transaction.
///
/// Whoever writes meanwhile makes it plan again.
///
/// Used on the context's queue only.
struct ChangeImporter {
  let access: StoreAccess
  let context: ManagedObjectContext

  /// What came of one change set.
  struct Outcome: Sendable {
    var records = 0
    var links = 0
    var conflicts = 0
    /// What was put into quarantine.
    var held: [QuarantineEntry.Content] = []
    /// How often it was planned again because of other writers.
    var replans = 0
    /// Whether the destination was not where the set begins: somebody else served it.
    var wasServed = false

    /// Adds what came of records that were first left out of the same set.
    fileprivate mutating func take(_ part: Outcome) {
      records += part.records
      links += part.links
      conflicts += part.conflicts
      replans += part.replans
      held = part.held + held
    }
  }

  /// What a failed save leaves to be done.
  private enum Failure {
    case replan
    case invalid([RecordID: String])
    /// Some record is to blame, but not known which.
    case unknown(String)
  }

  /// Applies a set, then moves the cursor to its end.
  ///
  /// - Parameter cursor: What the destination's cursor becomes; nil for records that were
  ///   quarantined and are tried again.
  /// - Parameter reconsidered: Records whose references may be completed now.
  func apply(
    _ set: ChangeSet, cursor: SyncCursor?, reconsidering reconsidered: Set<RecordID> = []
  ) throws -> Outcome {
    try access.environment.reach(.beforeImport)
    var outcome = Outcome()
    var refused: [RecordID: String] = [:]
    var trial = CulpritTrial(set.records.map(\.id))
    var reason = ""
    var collisions = 0
    while outcome.replans < StoreAccess.attempts {
      context.reset()
      var ledger = try access.ledger()
      if try ledger.head.bootstrap != .done || !isCaptured(ledger) {
        try HistoryCapture(access: access).run()
        ledger = try access.ledger()
        guard case .done = ledger.head.bootstrap else {
          outcome.replans += 1
          continue
        }
      }
      if cursor != nil, try ledger.cursor(for: set.source).position != set.after {
        outcome.wasServed = true
        return outcome
      }
      let plan = ImportPlan(access: access, ledger: ledger, source: set.source)
      let application = ImportApplication(plan: plan, context: context)
      do {
        let left = trial.left.reduce(into: refused) { $0[$1] = $0[$1] ?? reason }
        let incoming = try IncomingChanges(set, refused: left, access: access, ledger: ledger)
        try plan.merge(incoming.records, incoming.links, reconsidering: reconsidered)
        try access.environment.reach(.afterPlan)
        try application.changeObjects()
        try application.keepBooks(plan: plan, context: context)
        try incoming.keep(from: set.source)
        if let cursor { ledger.setCursor(cursor, for: set.source) }
        let conflicts = try ledger.journal(plan.conflicts, time: access.environment.now())
        try access.environment.reach(.beforeImportCommit)
        guard try isUntouched(plan, ledger), try commit(ledger) else {
          outcome.replans += 1
          continue
        }
        outcome.records = plan.items.values.count { $0.isNews }
        outcome.links = plan.links.values.count { $0.isNews }
        outcome.conflicts = conflicts
        outcome.held = incoming.held.map(\.content)
        context.reset()
        try access.environment.reach(.afterImportCommit)
        for part in trial.parts {
          outcome.held.removeAll { content in
            if case .record(let state) = content { return part.contains(state.id) }
            return false
          }
          outcome.take(try retry(part, of: set))
        }
        return outcome
      } catch let error as CoreDataError {
        switch try judge(error, application, set) {
        case .replan:
          outcome.replans += 1
          collisions += error.code == .managedObjectConstraintMerge ? 1 : 0
          // A collision that planning does not see comes back however often it is planned.
          guard collisions > 3 else { continue }
          collisions = 0
          reason = error.message
          if !trial.next() { throw error }
        case .invalid(let records):
          let isNew = records.keys.contains { refused[$0] == nil && !trial.left.contains($0) }
          refused.merge(records) { old, _ in old }
          if isNew { continue }
          reason = error.message
          if !trial.next() { throw error }
        case .unknown(let message):
          reason = message
          if !trial.next() { throw error }
        }
      }
    }
    context.reset()
    throw StoreAccess.contention(access.store)
  }

  /// Tries records that were left out together, so that only those to blame stay out.
  private func retry(_ ids: Set<RecordID>, of set: ChangeSet) throws -> Outcome {
    let part = ChangeSet(
      source: set.source, after: 0, upTo: 0, records: set.records.filter { ids.contains($0.id) })
    return try apply(part, cursor: nil)
  }

  private func isCaptured(_ ledger: Ledger) throws -> Bool {
    // What sync itself wrote needs no capture.
    let later = try access.uncaptured(
      after: ledger.head.captured, limit: 64, includesChanges: false)
    return later.isAll && later.transactions.isEmpty
  }

  /// Whether no application has written, since the ledger was read, to a row that the commit is
  /// about.
  ///
  /// Row versions do not show all of that: the objects are read after the plan was made, and a
  /// write in between, whose stamp the plan does not know, would be overwritten unseen. A write
  /// after the objects were read is a conflict of versions.
  private func isUntouched(_ plan: ImportPlan, _ ledger: Ledger) throws -> Bool {
    let later = try access.uncaptured(
      after: ledger.head.captured, limit: 0, includesChanges: true
    ).transactions
    guard !later.isEmpty else { return true }
    var touched = Set(plan.items.values.compactMap(\.object))
    touched.formUnion(context.updatedObjects.map(\.objectID))
    touched.formUnion(context.deletedObjects.map(\.objectID))
    return !later.contains { $0.changes.contains { touched.contains($0.objectID) } }
  }

  // MARK: Commit

  /// - Returns: False when somebody else committed in between.
  private func commit(_ ledger: Ledger) throws -> Bool {
    if !context.hasChanges { return try access.commit(ledger) }
    context.transactionAuthor = SyncConfiguration.author
    context.addSidecarOperations(ledger.operations(), for: access.store)
    do {
      try context.save()
    } catch let error as CoreDataError {
      throw error
    } catch {
      // A rule of the application's own, with an error of its own.
      throw CoreDataError(.managedObjectValidation, "\(error)", underlyingError: error)
    }
    return true
  }

  /// What to do about a save that failed.
  ///
  /// - Throws: The error, when neither planning again nor leaving records out can help.
  private func judge(
    _ error: CoreDataError, _ application: ImportApplication, _ set: ChangeSet
  ) throws -> Failure {
    switch error.code {
    case .managedObjectMerge, .persistentStoreSaveConflicts, .managedObjectConstraintMerge,
      .managedObjectReferentialIntegrity:
      return .replan
    default: break
    }
    let errors = (error.userInfo[CoreDataErrorKey.detailedErrors] as? [any Error]) ?? [error]
    var records: [RecordID: String] = [:]
    for case let item as CoreDataError in errors where (1550..<1700).contains(item.code.rawValue) {
      guard let object = item.userInfo[CoreDataErrorKey.object] as? ManagedObject,
        let id = application.culprit(of: object, among: set)
      else { continue }
      records[id] = item.message
    }
    if !records.isEmpty { return .invalid(records) }
    let isAboutObjects = errors.allSatisfy {
      guard let item = $0 as? CoreDataError else { return true }
      return (1550..<1700).contains(item.code.rawValue)
        || item.code == .managedObjectExternalRelationship
    }
    // What is wrong with the store is no record's fault.
    if !isAboutObjects { throw error }
    return .unknown(error.message)
  }
}

/// Core Data's user info keys that an importer reads.
enum CoreDataErrorKey {
  static let detailedErrors = "NSDetailedErrors"
  static let object = "NSValidationErrorObject"
}
