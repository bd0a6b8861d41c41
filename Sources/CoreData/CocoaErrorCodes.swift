// Core Data's error codes as members of `CocoaError.Code`, with and without the suffix `Error`: Apple
// renamed them once, and sources of both times exist.
import Foundation

extension CocoaError.Code {
  public static var managedObjectValidation: Self {
    Self(rawValue: NSManagedObjectValidationError)
  }
  public static var managedObjectValidationError: Self {
    Self(rawValue: NSManagedObjectValidationError)
  }
  public static var validationMultipleErrors: Self {
    Self(rawValue: NSValidationMultipleErrorsError)
  }
  public static var validationMultipleErrorsError: Self {
    Self(rawValue: NSValidationMultipleErrorsError)
  }
  public static var validationMissingMandatoryProperty: Self {
    Self(rawValue: NSValidationMissingMandatoryPropertyError)
  }
  public static var validationMissingMandatoryPropertyError: Self {
    Self(rawValue: NSValidationMissingMandatoryPropertyError)
  }
  public static var validationRelationshipLacksMinimumCount: Self {
    Self(rawValue: NSValidationRelationshipLacksMinimumCountError)
  }
  public static var validationRelationshipLacksMinimumCountError: Self {
    Self(rawValue: NSValidationRelationshipLacksMinimumCountError)
  }
  public static var validationRelationshipExceedsMaximumCount: Self {
    Self(rawValue: NSValidationRelationshipExceedsMaximumCountError)
  }
  public static var validationRelationshipExceedsMaximumCountError: Self {
    Self(rawValue: NSValidationRelationshipExceedsMaximumCountError)
  }
  public static var validationRelationshipDeniedDelete: Self {
    Self(rawValue: NSValidationRelationshipDeniedDeleteError)
  }
  public static var validationRelationshipDeniedDeleteError: Self {
    Self(rawValue: NSValidationRelationshipDeniedDeleteError)
  }
  public static var validationNumberTooLarge: Self {
    Self(rawValue: NSValidationNumberTooLargeError)
  }
  public static var validationNumberTooLargeError: Self {
    Self(rawValue: NSValidationNumberTooLargeError)
  }
  public static var validationNumberTooSmall: Self {
    Self(rawValue: NSValidationNumberTooSmallError)
  }
  public static var validationNumberTooSmallError: Self {
    Self(rawValue: NSValidationNumberTooSmallError)
  }
  public static var validationDateTooLate: Self {
    Self(rawValue: NSValidationDateTooLateError)
  }
  public static var validationDateTooLateError: Self {
    Self(rawValue: NSValidationDateTooLateError)
  }
  public static var validationDateTooSoon: Self {
    Self(rawValue: NSValidationDateTooSoonError)
  }
  public static var validationDateTooSoonError: Self {
    Self(rawValue: NSValidationDateTooSoonError)
  }
  public static var validationInvalidDate: Self {
    Self(rawValue: NSValidationInvalidDateError)
  }
  public static var validationInvalidDateError: Self {
    Self(rawValue: NSValidationInvalidDateError)
  }
  public static var validationStringTooLong: Self {
    Self(rawValue: NSValidationStringTooLongError)
  }
  public static var validationStringTooLongError: Self {
    Self(rawValue: NSValidationStringTooLongError)
  }
  public static var validationStringTooShort: Self {
    Self(rawValue: NSValidationStringTooShortError)
  }
  public static var validationStringTooShortError: Self {
    Self(rawValue: NSValidationStringTooShortError)
  }
  public static var validationStringPatternMatching: Self {
    Self(rawValue: NSValidationStringPatternMatchingError)
  }
  public static var validationStringPatternMatchingError: Self {
    Self(rawValue: NSValidationStringPatternMatchingError)
  }
  public static var managedObjectContextLocking: Self {
    Self(rawValue: NSManagedObjectContextLockingError)
  }
  public static var managedObjectContextLockingError: Self {
    Self(rawValue: NSManagedObjectContextLockingError)
  }
  public static var persistentStoreCoordinatorLocking: Self {
    Self(rawValue: NSPersistentStoreCoordinatorLockingError)
  }
  public static var persistentStoreCoordinatorLockingError: Self {
    Self(rawValue: NSPersistentStoreCoordinatorLockingError)
  }
  public static var managedObjectReferentialIntegrity: Self {
    Self(rawValue: NSManagedObjectReferentialIntegrityError)
  }
  public static var managedObjectReferentialIntegrityError: Self {
    Self(rawValue: NSManagedObjectReferentialIntegrityError)
  }
  public static var managedObjectExternalRelationship: Self {
    Self(rawValue: NSManagedObjectExternalRelationshipError)
  }
  public static var managedObjectExternalRelationshipError: Self {
    Self(rawValue: NSManagedObjectExternalRelationshipError)
  }
  public static var managedObjectMerge: Self {
    Self(rawValue: NSManagedObjectMergeError)
  }
  public static var managedObjectMergeError: Self {
    Self(rawValue: NSManagedObjectMergeError)
  }
  public static var managedObjectConstraintMerge: Self {
    Self(rawValue: NSManagedObjectConstraintMergeError)
  }
  public static var managedObjectConstraintMergeError: Self {
    Self(rawValue: NSManagedObjectConstraintMergeError)
  }
  public static var persistentStoreInvalidType: Self {
    Self(rawValue: NSPersistentStoreInvalidTypeError)
  }
  public static var persistentStoreInvalidTypeError: Self {
    Self(rawValue: NSPersistentStoreInvalidTypeError)
  }
  public static var persistentStoreTypeMismatch: Self {
    Self(rawValue: NSPersistentStoreTypeMismatchError)
  }
  public static var persistentStoreTypeMismatchError: Self {
    Self(rawValue: NSPersistentStoreTypeMismatchError)
  }
  public static var persistentStoreIncompatibleSchema: Self {
    Self(rawValue: NSPersistentStoreIncompatibleSchemaError)
  }
  public static var persistentStoreIncompatibleSchemaError: Self {
    Self(rawValue: NSPersistentStoreIncompatibleSchemaError)
  }
  public static var persistentStoreSave: Self {
    Self(rawValue: NSPersistentStoreSaveError)
  }
  public static var persistentStoreSaveError: Self {
    Self(rawValue: NSPersistentStoreSaveError)
  }
  public static var persistentStoreIncompleteSave: Self {
    Self(rawValue: NSPersistentStoreIncompleteSaveError)
  }
  public static var persistentStoreIncompleteSaveError: Self {
    Self(rawValue: NSPersistentStoreIncompleteSaveError)
  }
  public static var persistentStoreSaveConflicts: Self {
    Self(rawValue: NSPersistentStoreSaveConflictsError)
  }
  public static var persistentStoreSaveConflictsError: Self {
    Self(rawValue: NSPersistentStoreSaveConflictsError)
  }
  public static var coreData: Self {
    Self(rawValue: NSCoreDataError)
  }
  public static var coreDataError: Self {
    Self(rawValue: NSCoreDataError)
  }
  public static var persistentStoreOperation: Self {
    Self(rawValue: NSPersistentStoreOperationError)
  }
  public static var persistentStoreOperationError: Self {
    Self(rawValue: NSPersistentStoreOperationError)
  }
  public static var persistentStoreOpen: Self {
    Self(rawValue: NSPersistentStoreOpenError)
  }
  public static var persistentStoreOpenError: Self {
    Self(rawValue: NSPersistentStoreOpenError)
  }
  public static var persistentStoreTimeout: Self {
    Self(rawValue: NSPersistentStoreTimeoutError)
  }
  public static var persistentStoreTimeoutError: Self {
    Self(rawValue: NSPersistentStoreTimeoutError)
  }
  public static var persistentStoreUnsupportedRequestType: Self {
    Self(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  }
  public static var persistentStoreUnsupportedRequestTypeError: Self {
    Self(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  }
  public static var persistentStoreIncompatibleVersionHash: Self {
    Self(rawValue: NSPersistentStoreIncompatibleVersionHashError)
  }
  public static var persistentStoreIncompatibleVersionHashError: Self {
    Self(rawValue: NSPersistentStoreIncompatibleVersionHashError)
  }
  public static var migration: Self {
    Self(rawValue: NSMigrationError)
  }
  public static var migrationError: Self {
    Self(rawValue: NSMigrationError)
  }
  public static var migrationCancelled: Self {
    Self(rawValue: NSMigrationCancelledError)
  }
  public static var migrationCancelledError: Self {
    Self(rawValue: NSMigrationCancelledError)
  }
  public static var migrationMissingSourceModel: Self {
    Self(rawValue: NSMigrationMissingSourceModelError)
  }
  public static var migrationMissingSourceModelError: Self {
    Self(rawValue: NSMigrationMissingSourceModelError)
  }
  public static var migrationMissingMappingModel: Self {
    Self(rawValue: NSMigrationMissingMappingModelError)
  }
  public static var migrationMissingMappingModelError: Self {
    Self(rawValue: NSMigrationMissingMappingModelError)
  }
  public static var migrationManagerSourceStore: Self {
    Self(rawValue: NSMigrationManagerSourceStoreError)
  }
  public static var migrationManagerSourceStoreError: Self {
    Self(rawValue: NSMigrationManagerSourceStoreError)
  }
  public static var migrationManagerDestinationStore: Self {
    Self(rawValue: NSMigrationManagerDestinationStoreError)
  }
  public static var migrationManagerDestinationStoreError: Self {
    Self(rawValue: NSMigrationManagerDestinationStoreError)
  }
  public static var entityMigrationPolicy: Self {
    Self(rawValue: NSEntityMigrationPolicyError)
  }
  public static var entityMigrationPolicyError: Self {
    Self(rawValue: NSEntityMigrationPolicyError)
  }
  public static var sqlite: Self {
    Self(rawValue: NSSQLiteError)
  }
  public static var sqliteError: Self {
    Self(rawValue: NSSQLiteError)
  }
  public static var inferredMappingModel: Self {
    Self(rawValue: NSInferredMappingModelError)
  }
  public static var inferredMappingModelError: Self {
    Self(rawValue: NSInferredMappingModelError)
  }
  public static var externalRecordImport: Self {
    Self(rawValue: NSExternalRecordImportError)
  }
  public static var externalRecordImportError: Self {
    Self(rawValue: NSExternalRecordImportError)
  }
}
