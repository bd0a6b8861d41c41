// Core Data's error codes as members of `CocoaError`, for `catch CocoaError.managedObjectMerge` and the
// like, with and without the suffix `Error` as in `CocoaError.Code`; and what the user info of such an error holds.
import CairnStack
import Foundation

extension CocoaError {
  public static var managedObjectValidation: Code { .managedObjectValidation }
  public static var managedObjectValidationError: Code { .managedObjectValidationError }
  public static var validationMultipleErrors: Code { .validationMultipleErrors }
  public static var validationMultipleErrorsError: Code { .validationMultipleErrorsError }
  public static var validationMissingMandatoryProperty: Code { .validationMissingMandatoryProperty }
  public static var validationMissingMandatoryPropertyError: Code {
    .validationMissingMandatoryPropertyError
  }
  public static var validationRelationshipLacksMinimumCount: Code {
    .validationRelationshipLacksMinimumCount
  }
  public static var validationRelationshipLacksMinimumCountError: Code {
    .validationRelationshipLacksMinimumCountError
  }
  public static var validationRelationshipExceedsMaximumCount: Code {
    .validationRelationshipExceedsMaximumCount
  }
  public static var validationRelationshipExceedsMaximumCountError: Code {
    .validationRelationshipExceedsMaximumCountError
  }
  public static var validationRelationshipDeniedDelete: Code { .validationRelationshipDeniedDelete }
  public static var validationRelationshipDeniedDeleteError: Code {
    .validationRelationshipDeniedDeleteError
  }
  public static var validationNumberTooLarge: Code { .validationNumberTooLarge }
  public static var validationNumberTooLargeError: Code { .validationNumberTooLargeError }
  public static var validationNumberTooSmall: Code { .validationNumberTooSmall }
  public static var validationNumberTooSmallError: Code { .validationNumberTooSmallError }
  public static var validationDateTooLate: Code { .validationDateTooLate }
  public static var validationDateTooLateError: Code { .validationDateTooLateError }
  public static var validationDateTooSoon: Code { .validationDateTooSoon }
  public static var validationDateTooSoonError: Code { .validationDateTooSoonError }
  public static var validationInvalidDate: Code { .validationInvalidDate }
  public static var validationInvalidDateError: Code { .validationInvalidDateError }
  public static var validationStringTooLong: Code { .validationStringTooLong }
  public static var validationStringTooLongError: Code { .validationStringTooLongError }
  public static var validationStringTooShort: Code { .validationStringTooShort }
  public static var validationStringTooShortError: Code { .validationStringTooShortError }
  public static var validationStringPatternMatching: Code { .validationStringPatternMatching }
  public static var validationStringPatternMatchingError: Code {
    .validationStringPatternMatchingError
  }
  public static var managedObjectContextLocking: Code { .managedObjectContextLocking }
  public static var managedObjectContextLockingError: Code { .managedObjectContextLockingError }
  public static var persistentStoreCoordinatorLocking: Code { .persistentStoreCoordinatorLocking }
  public static var persistentStoreCoordinatorLockingError: Code {
    .persistentStoreCoordinatorLockingError
  }
  public static var managedObjectReferentialIntegrity: Code { .managedObjectReferentialIntegrity }
  public static var managedObjectReferentialIntegrityError: Code {
    .managedObjectReferentialIntegrityError
  }
  public static var managedObjectExternalRelationship: Code { .managedObjectExternalRelationship }
  public static var managedObjectExternalRelationshipError: Code {
    .managedObjectExternalRelationshipError
  }
  public static var managedObjectMerge: Code { .managedObjectMerge }
  public static var managedObjectMergeError: Code { .managedObjectMergeError }
  public static var managedObjectConstraintMerge: Code { .managedObjectConstraintMerge }
  public static var managedObjectConstraintMergeError: Code { .managedObjectConstraintMergeError }
  public static var persistentStoreInvalidType: Code { .persistentStoreInvalidType }
  public static var persistentStoreInvalidTypeError: Code { .persistentStoreInvalidTypeError }
  public static var persistentStoreTypeMismatch: Code { .persistentStoreTypeMismatch }
  public static var persistentStoreTypeMismatchError: Code { .persistentStoreTypeMismatchError }
  public static var persistentStoreIncompatibleSchema: Code { .persistentStoreIncompatibleSchema }
  public static var persistentStoreIncompatibleSchemaError: Code {
    .persistentStoreIncompatibleSchemaError
  }
  public static var persistentStoreSave: Code { .persistentStoreSave }
  public static var persistentStoreSaveError: Code { .persistentStoreSaveError }
  public static var persistentStoreIncompleteSave: Code { .persistentStoreIncompleteSave }
  public static var persistentStoreIncompleteSaveError: Code { .persistentStoreIncompleteSaveError }
  public static var persistentStoreSaveConflicts: Code { .persistentStoreSaveConflicts }
  public static var persistentStoreSaveConflictsError: Code { .persistentStoreSaveConflictsError }
  public static var coreData: Code { .coreData }
  public static var coreDataError: Code { .coreDataError }
  public static var persistentStoreOperation: Code { .persistentStoreOperation }
  public static var persistentStoreOperationError: Code { .persistentStoreOperationError }
  public static var persistentStoreOpen: Code { .persistentStoreOpen }
  public static var persistentStoreOpenError: Code { .persistentStoreOpenError }
  public static var persistentStoreTimeout: Code { .persistentStoreTimeout }
  public static var persistentStoreTimeoutError: Code { .persistentStoreTimeoutError }
  public static var persistentStoreUnsupportedRequestType: Code {
    .persistentStoreUnsupportedRequestType
  }
  public static var persistentStoreUnsupportedRequestTypeError: Code {
    .persistentStoreUnsupportedRequestTypeError
  }
  public static var persistentStoreIncompatibleVersionHash: Code {
    .persistentStoreIncompatibleVersionHash
  }
  public static var persistentStoreIncompatibleVersionHashError: Code {
    .persistentStoreIncompatibleVersionHashError
  }
  public static var migration: Code { .migration }
  public static var migrationError: Code { .migrationError }
  public static var migrationCancelled: Code { .migrationCancelled }
  public static var migrationCancelledError: Code { .migrationCancelledError }
  public static var migrationMissingSourceModel: Code { .migrationMissingSourceModel }
  public static var migrationMissingSourceModelError: Code { .migrationMissingSourceModelError }
  public static var migrationMissingMappingModel: Code { .migrationMissingMappingModel }
  public static var migrationMissingMappingModelError: Code { .migrationMissingMappingModelError }
  public static var migrationManagerSourceStore: Code { .migrationManagerSourceStore }
  public static var migrationManagerSourceStoreError: Code { .migrationManagerSourceStoreError }
  public static var migrationManagerDestinationStore: Code { .migrationManagerDestinationStore }
  public static var migrationManagerDestinationStoreError: Code {
    .migrationManagerDestinationStoreError
  }
  public static var entityMigrationPolicy: Code { .entityMigrationPolicy }
  public static var entityMigrationPolicyError: Code { .entityMigrationPolicyError }
  public static var sqlite: Code { .sqlite }
  public static var sqliteError: Code { .sqliteError }
  public static var inferredMappingModel: Code { .inferredMappingModel }
  public static var inferredMappingModelError: Code { .inferredMappingModelError }
  public static var externalRecordImport: Code { .externalRecordImport }
  public static var externalRecordImportError: Code { .externalRecordImportError }
}

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
