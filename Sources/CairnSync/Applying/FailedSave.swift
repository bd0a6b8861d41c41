import CairnContext
import CairnModel
import CairnStore

/// What a save that failed tells about the batch.
struct FailedSave {
  let plan: ImportPlan
  let applying: ObjectApplying
  let incoming: Set<RecordID>
  /// The records that more than what has come in of them may have changed: their links, or that they are looked at
  /// once more.
  let changed: Set<RecordID>

  /// - Throws: The error, when neither planning again nor leaving records out can help.
  func judge(_ error: CoreDataError) throws -> ImportAttempt.Failure {
    if let refusal = Self.refusal(error) { return refusal }
    switch error.code {
    case .managedObjectMerge, .persistentStoreSaveConflicts, .managedObjectReferentialIntegrity:
      return .overtaken
    default: break
    }
    let errors = (error.userInfo[CoreDataErrorKey.detailedErrors] as? [any Error]) ?? [error]
    var records: [RecordID: String] = [:]
    for case let item as CoreDataError in errors where Self.isAboutObjects(item) {
      guard let object = item.userInfo[CoreDataErrorKey.object] as? ManagedObject else { continue }
      for id in culprits(of: object) { records[id] = message(of: item, about: object, for: id) }
    }
    if !records.isEmpty { return .invalid(records, error.message) }
    let isAboutObjects = errors.allSatisfy {
      guard let item = $0 as? CoreDataError else { return true }
      return Self.isAboutObjects(item) || item.code == .managedObjectExternalRelationship
    }
    // What is wrong with the store is no record's fault.
    if !isAboutObjects { throw error }
    let messages = errors.compactMap { $0 as? CoreDataError }.compactMap { item in
      (item.userInfo[CoreDataErrorKey.object] as? ManagedObject).map {
        message(of: item, about: $0)
      }
    }
    return .unknown(messages.first ?? error.message)
  }

  /// What a record is refused for, which names the one to correct where that is another.
  private func message(
    of error: CoreDataError, about object: ManagedObject, for id: RecordID? = nil
  ) -> String {
    guard let refused = applying.record(of: object), refused != id else { return error.message }
    return "\(error.message), of \(object.entity.name ?? "?") \(refused)"
  }

  /// What rows that were written without objects are refused for; nil for what is not their fault.
  static func refusal(_ error: CoreDataError) -> ImportAttempt.Failure? {
    if error.code == .managedObjectConstraintMerge { return .collision(error.message) }
    guard isAboutObjects(error), error.userInfo[CoreDataErrorKey.object] == nil,
      error.userInfo[CoreDataErrorKey.detailedErrors] == nil
    else { return nil }
    return .unknown(error.message)
  }

  private static func isAboutObjects(_ error: CoreDataError) -> Bool {
    (1550..<1700).contains(error.code.rawValue)
  }

  /// Which records are to blame for an object that does not pass validation.
  private func culprits(of object: ManagedObject) -> [RecordID] {
    guard let id = applying.record(of: object) else { return [] }
    let isWritten = plan.rows.contains {
      $0.id == id && ($0.kind == .insert || !$0.values.isEmpty)
    }
    if isWritten, incoming.contains(id) { return [id] }
    if let culprit = plan.culprits[id] { return [culprit] }
    if changed.contains(id) { return [id] }
    // It is as a program without the rule has written it, and is saved along with what comes to refer to it.
    let referrers = plan.rows.filter { action in
      action.values.contains { $0.value.reference == id }
    }.map(\.id).filter { incoming.contains($0) || changed.contains($0) }
    if !referrers.isEmpty { return referrers }
    if incoming.contains(id) { return [id] }
    // Or it has waited for what comes.
    return plan.rows.filter { $0.id == id }
      .flatMap { $0.values.compactMap(\.value.reference) }.filter(incoming.contains)
  }
}

/// Core Data's user info keys that sync reads.
enum CoreDataErrorKey {
  static let detailedErrors = "NSDetailedErrors"
  static let object = "NSValidationErrorObject"
  static let sidecarKey = "CairnSidecarKey"
}
