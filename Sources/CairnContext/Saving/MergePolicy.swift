import CairnModel
import CairnStore
import Foundation

/// Which side wins, with Core Data's raw values.
public enum MergePolicyType: UInt, Sendable {
  case errorMergePolicyType = 0
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  case overwriteMergePolicyType = 3
  case rollbackMergePolicyType = 4
}

/// What a save does about conflicts. Source: `NSMergePolicy`.
///
/// Subclass to decide by yourself: change the conflicts' source objects, then call super, or throw.
// Unchecked: the class itself is immutable; subclasses are used on the queue of the context that
// saves.
open class MergePolicy: NSObject, @unchecked Sendable {
  public let mergeType: MergePolicyType

  public init(merge ty: MergePolicyType) { mergeType = ty }

  /// The save fails; the default of contexts.
  public class var error: MergePolicy { standard(.errorMergePolicyType) }
  /// All local values are written.
  public class var overwrite: MergePolicy { standard(.overwriteMergePolicyType) }
  /// Local changes of conflicting objects are dropped.
  public class var rollback: MergePolicy { standard(.rollbackMergePolicyType) }
  /// Property by property; where both changed, the local value wins.
  public class var mergeByPropertyObjectTrump: MergePolicy {
    standard(.mergeByPropertyObjectTrumpMergePolicyType)
  }
  /// Property by property; where both changed, the stored value wins.
  public class var mergeByPropertyStoreTrump: MergePolicy {
    standard(.mergeByPropertyStoreTrumpMergePolicyType)
  }

  private static let standards: [MergePolicyType: MergePolicy] = {
    let types: [MergePolicyType] = [
      .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
      .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
      .rollbackMergePolicyType,
    ]
    return Dictionary(uniqueKeysWithValues: types.map { ($0, MergePolicy(merge: $0)) })
  }()
  private static func standard(_ type: MergePolicyType) -> MergePolicy {
    standards[type] ?? MergePolicy(merge: type)
  }

  /// Called with all conflicts of a save; sorts them to the two methods below.
  open func resolve(mergeConflicts list: [Any]) throws {
    let locking = list.compactMap { $0 as? MergeConflict }
    if !locking.isEmpty { try resolve(optimisticLockingConflicts: locking) }
    let constraints = list.compactMap { $0 as? ConstraintConflict }
    if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
  }

  /// Resolves conflicts of rows that changed.
  ///
  /// - Throws: 133020 with the conflicts under `conflictList` for the error policy.
  open func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
    if mergeType == .errorMergePolicyType {
      throw CoreDataError(
        .managedObjectMerge,
        "Could not merge changes: \(list.count) object(s) were changed or deleted elsewhere "
          + "since they were read. Refresh them and try again, or set a merge policy.",
        userInfo: ["conflictList": list]
      ).asCocoaError
    }
    for conflict in list { ConflictMerging(policy: mergeType).merge(conflict) }
    ConflictMerging.finish(list)
  }

  /// Resolves conflicts of uniqueness constraints.
  ///
  /// - Throws: 133021 with the conflicts under `conflictList` for the error policy.
  open func resolve(constraintConflicts list: [ConstraintConflict]) throws {
    if mergeType == .errorMergePolicyType {
      throw CoreDataError(
        .managedObjectConstraintMerge,
        "Could not save: "
          + list.map { "another object has the same \($0.constraint.joined(separator: ", "))" }
          .joined(separator: "; ") + ".",
        userInfo: ["conflictList": list]
      ).asCocoaError
    }
    for conflict in list { ConstraintMerging(policy: mergeType).merge(conflict) }
  }
}

/// Core Data's global names of the standard policies.
public let NSErrorMergePolicy = MergePolicy.error
public let NSMergeByPropertyStoreTrumpMergePolicy = MergePolicy.mergeByPropertyStoreTrump
public let NSMergeByPropertyObjectTrumpMergePolicy = MergePolicy.mergeByPropertyObjectTrump
public let NSOverwriteMergePolicy = MergePolicy.overwrite
public let NSRollbackMergePolicy = MergePolicy.rollback
