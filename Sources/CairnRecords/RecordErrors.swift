// Core Data's errors, and names that the model does not have, in the words of the control protocol.

import Cairn
import CairnControl

extension ControlError {
  /// What a failed save or fetch means to a caller; nil when it is none of the caller's business.
  public init?(_ error: CoreDataError, store: String) {
    switch error.code.rawValue {
    case 1550...1699:
      self = .validationFailed(problems: ValidationProblem.all(in: error))
    case CoreDataError.Code.managedObjectMerge.rawValue,
      CoreDataError.Code.persistentStoreSaveConflicts.rawValue:
      self = .saveConflict(records: [])
    case CoreDataError.Code.managedObjectConstraintMerge.rawValue:
      self = .validationFailed(problems: [
        ValidationProblem(
          entity: "", code: "uniquenessViolated",
          reason: "\(error.message) Another record has the same unique values.")
      ])
    case 134000...134999, CoreDataError.Code.fileWriteOutOfSpace.rawValue,
      CoreDataError.Code.fileReadCorruptFile.rawValue:
      self = .storeUnavailable(
        name: store, code: error.storeTrouble.rawValue, reason: error.message)
    default:
      return nil
    }
  }
}

extension ValidationProblem {
  /// The leaves of a validation error, one a problem.
  static func all(in error: CoreDataError) -> [ValidationProblem] {
    if let details = error.userInfo["NSDetailedErrors"] as? [any Error] {
      return details.compactMap { $0 as? CoreDataError }.flatMap(all(in:))
    }
    let object = error.userInfo["NSValidationErrorObject"] as? ManagedObject
    return [
      ValidationProblem(
        entity: object?.entity.name ?? "",
        property: error.userInfo["NSValidationErrorKey"] as? String,
        code: codeName(error.code.rawValue), reason: error.message)
    ]
  }

  private static func codeName(_ code: Int) -> String {
    switch code {
    case 1570: "missingMandatoryProperty"
    case 1580: "tooFewMembers"
    case 1590: "tooManyMembers"
    case 1600: "deniedDelete"
    case 1610: "numberTooLarge"
    case 1620: "numberTooSmall"
    case 1630: "dateTooLate"
    case 1640: "dateTooSoon"
    case 1660: "stringTooLong"
    case 1670: "stringTooShort"
    case 1680: "patternMismatch"
    default: "invalid"
    }
  }
}

extension ControlError {
  /// The model has no entity of that name.
  public static func unknownEntity(_ name: String, in model: ManagedObjectModel) -> ControlError {
    .unknownEntity(
      entity: name, nearest: NearestName.find(name, among: model.entities.compactMap(\.name)))
  }

  /// The entity has no property of that name, or no property at the end of that key path; or it is
  /// a composite attribute, which travels as its leaves.
  public static func unknownProperty(
    _ path: String, of entity: EntityDescription
  ) -> ControlError {
    let leaves = entity.layout.slots.map(\.name)
    if let error = composite(path, of: entity.name ?? "", leaves: leaves) { return error }
    let known = Set(entity.propertiesByName.keys).union(leaves).sorted()
    return .unknownProperty(
      entity: entity.name ?? "", property: path, nearest: NearestName.find(path, among: known))
  }
}
