// Apple's names of what objects, model references and errors add.
import CairnStack
import Foundation

public typealias NSManagedObjectModelReference = ManagedObjectModelReference

// What the user info of a Core Data error holds.
extension CocoaError {
  /// The object that failed validation.
  public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }
  /// The key of the property that failed validation.
  public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }
  /// The predicate that did not hold.
  public var validationPredicate: ObjectPredicate? {
    userInfo[NSValidationPredicateErrorKey] as? ObjectPredicate
  }
  /// The value that failed validation.
  public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }
  /// The stores that are concerned.
  public var affectedStores: [AnyObject]? {
    (userInfo[NSAffectedStoresErrorKey] as? [Any])?.map { $0 as AnyObject }
  }
  /// The objects that are concerned.
  public var affectedObjects: [AnyObject]? {
    (userInfo[NSAffectedObjectsErrorKey] as? [Any])?.map { $0 as AnyObject }
  }
  /// The conflicts that a save met.
  public var persistentStoreSaveConflicts: [MergeConflict]? {
    userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [MergeConflict]
  }
}
