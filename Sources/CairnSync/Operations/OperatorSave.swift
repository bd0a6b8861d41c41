import CairnContext
import CairnCoordinator
import CairnModel
import CairnStore
import Foundation

/// Writes an operator's edits to a group's local store: one save, as a program would make it, with
/// validation, delete rules and history, so that it travels like any other.
///
/// It decides again when another writer commits meanwhile.
struct OperatorSave {
  let access: StoreAccess
  let coordinator: PersistentStoreCoordinator
  /// The author in history.
  let author: String

  /// - Parameter decide: What to do, given the bookkeeping of what is there now; called again when
  ///   others write in between.
  /// - Returns: How many of the edits changed something.
  /// - Throws: ``OperatorRefusal`` for what the rules of the model refuse; ``SyncError`` with `contention`
  ///   when others never stop writing.
  @discardableResult
  func run(_ decide: (Ledger) throws -> OperatorDecision) throws -> Int {
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = author
    return try context.performAndWait {
      for _ in 0..<StoreAccess.attempts {
        context.reset()
        try HistoryCapture(access: access).run()
        let ledger = try access.ledger()
        if let count = try attempt(decide(ledger), ledger, context) { return count }
      }
      throw StoreAccess.contention(access.store)
    }
  }

  /// The same, with what is refused as a ``SyncError``.
  func runNamingReasons(_ decide: (Ledger) throws -> OperatorDecision) throws -> Int {
    do {
      return try run(decide)
    } catch let refusal as OperatorRefusal {
      throw refusal.error
    }
  }

  /// - Returns: Nil when others wrote in between.
  private func attempt(
    _ decision: OperatorDecision, _ ledger: Ledger, _ context: ManagedObjectContext
  ) throws -> Int? {
    let application = OperatorApplication(access: access, ledger: ledger, context: context)
    let count = try application.run(decision.edits)
    if !context.hasChanges { return 0 }
    _ = try ledger.journal(decision.journal, time: access.environment.now())
    context.addSidecarOperations(
      try Self.operations(ledger, isBound: application.hasRevived), for: access.store)
    do {
      try context.save()
      return count
    } catch let error as CoreDataError {
      switch error.code {
      case .managedObjectMerge, .persistentStoreSaveConflicts, .managedObjectReferentialIntegrity:
        return nil
      default:
        throw OperatorRefusal(
          error: SyncError(rejecting: error), records: application.culprits(of: error))
      }
    } catch {
      // A rule of the application's own, with an error of its own.
      throw OperatorRefusal(
        error: SyncError(.invalidRecord, "\(error)", recovery: .person), records: [])
    }
  }

  /// What the save writes into the bookkeeping.
  ///
  /// Without the mark of sync's own commits: sync captures the rows as any program's.
  ///
  /// - Parameter isBound: Whether it rests on the bookkeeping as it was read.
  private static func operations(
    _ ledger: Ledger, isBound: Bool
  ) throws -> [SidecarOperation] {
    if ledger.isUnchanged { return [] }
    return try ledger.operations().filter { operation in
      switch operation {
      case .putAtTransaction: false
      case .require: isBound
      case .put, .putAll, .remove, .add: true
      }
    }
  }
}

/// A save of an operator's that the rules of the model refuse.
struct OperatorRefusal: Error {
  /// `invalidRecord` or `valueTaken`, which name the property.
  let error: SyncError
  /// The records to blame, as far as they are known.
  let records: Set<RecordID>
}

/// Core Data's user info keys that tell what a save was refused for.
enum SaveErrorKey {
  static let detailedErrors = "NSDetailedErrors"
  static let object = "NSValidationErrorObject"
  static let property = "NSValidationErrorKey"
  static let conflicts = "conflictList"
}

extension SyncError {
  /// Why a save of an operator's was refused, with the properties.
  init(rejecting error: CoreDataError) {
    if error.code == .managedObjectConstraintMerge {
      let conflicts = error.userInfo[SaveErrorKey.conflicts] as? [ConstraintConflict] ?? []
      let parts = conflicts.map { conflict in
        let entity = conflict.conflictingObjects.first?.entity.name ?? "?"
        let values = conflict.constraint.map { name in
          "\(entity).\(name) \(conflict.constraintValues[name] ?? "nil")"
        }
        return values.joined(separator: ", ")
      }
      self.init(
        .valueTaken,
        "another record has \(parts.joined(separator: "; ")) already; change that one first",
        recovery: .person)
      return
    }
    let errors = (error.userInfo[SaveErrorKey.detailedErrors] as? [any Error]) ?? [error]
    let parts = errors.compactMap { $0 as? CoreDataError }.map { item -> String in
      guard let key = item.userInfo[SaveErrorKey.property] as? String,
        let object = item.userInfo[SaveErrorKey.object] as? ManagedObject
      else { return item.message }
      return "\(object.entity.name ?? "?").\(key): \(item.message)"
    }
    guard (1550..<1700).contains(error.code.rawValue) else {
      self.init(describing: error, at: nil)
      return
    }
    self.init(.invalidRecord, parts.joined(separator: "; "), recovery: .person)
  }
}
