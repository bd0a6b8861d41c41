// Apple's global error codes.
import Cairn
import Foundation

public let NSManagedObjectValidationError = CoreDataError.Code.managedObjectValidation.rawValue
public let NSManagedObjectConstraintValidationError = CoreDataError.Code
  .managedObjectConstraintValidation.rawValue
public let NSValidationMultipleErrorsError = CoreDataError.Code.validationMultipleErrors.rawValue
public let NSValidationMissingMandatoryPropertyError = CoreDataError.Code
  .validationMissingMandatoryProperty.rawValue
public let NSValidationRelationshipLacksMinimumCountError = CoreDataError.Code
  .validationRelationshipLacksMinimumCount.rawValue
public let NSValidationRelationshipExceedsMaximumCountError = CoreDataError.Code
  .validationRelationshipExceedsMaximumCount.rawValue
public let NSValidationRelationshipDeniedDeleteError = CoreDataError.Code
  .validationRelationshipDeniedDelete.rawValue
public let NSValidationNumberTooLargeError = CoreDataError.Code.validationNumberTooLarge.rawValue
public let NSValidationNumberTooSmallError = CoreDataError.Code.validationNumberTooSmall.rawValue
public let NSValidationDateTooLateError = CoreDataError.Code.validationDateTooLate.rawValue
public let NSValidationDateTooSoonError = CoreDataError.Code.validationDateTooSoon.rawValue
public let NSValidationInvalidDateError = CoreDataError.Code.validationInvalidDate.rawValue
public let NSValidationStringTooLongError = CoreDataError.Code.validationStringTooLong.rawValue
public let NSValidationStringTooShortError = CoreDataError.Code.validationStringTooShort.rawValue
public let NSValidationStringPatternMatchingError = CoreDataError.Code
  .validationStringPatternMatching.rawValue
public let NSValidationInvalidURIError = CoreDataError.Code.validationInvalidURI.rawValue
public let NSManagedObjectContextLockingError = CoreDataError.Code.managedObjectContextLocking
  .rawValue
public let NSPersistentStoreCoordinatorLockingError = CoreDataError.Code
  .persistentStoreCoordinatorLocking.rawValue
public let NSManagedObjectReferentialIntegrityError = CoreDataError.Code
  .managedObjectReferentialIntegrity.rawValue
public let NSManagedObjectExternalRelationshipError = CoreDataError.Code
  .managedObjectExternalRelationship.rawValue
public let NSManagedObjectMergeError = CoreDataError.Code.managedObjectMerge.rawValue
public let NSManagedObjectConstraintMergeError = CoreDataError.Code.managedObjectConstraintMerge
  .rawValue
public let NSPersistentStoreInvalidTypeError = CoreDataError.Code.persistentStoreInvalidType
  .rawValue
public let NSPersistentStoreTypeMismatchError = CoreDataError.Code.persistentStoreTypeMismatch
  .rawValue
public let NSPersistentStoreIncompatibleSchemaError = CoreDataError.Code
  .persistentStoreIncompatibleSchema.rawValue
public let NSPersistentStoreSaveError = CoreDataError.Code.persistentStoreSave.rawValue
public let NSPersistentStoreIncompleteSaveError = CoreDataError.Code.persistentStoreIncompleteSave
  .rawValue
public let NSPersistentStoreSaveConflictsError = CoreDataError.Code.persistentStoreSaveConflicts
  .rawValue
public let NSCoreDataError = CoreDataError.Code.coreData.rawValue
public let NSPersistentStoreOperationError = CoreDataError.Code.persistentStoreOperation.rawValue
public let NSPersistentStoreOpenError = CoreDataError.Code.persistentStoreOpen.rawValue
public let NSPersistentStoreTimeoutError = CoreDataError.Code.persistentStoreTimeout.rawValue
public let NSPersistentStoreUnsupportedRequestTypeError = CoreDataError.Code
  .persistentStoreUnsupportedRequestType.rawValue
public let NSPersistentStoreIncompatibleVersionHashError = CoreDataError.Code
  .persistentStoreIncompatibleVersionHash.rawValue
public let NSMigrationError = CoreDataError.Code.migration.rawValue
public let NSMigrationConstraintViolationError = CoreDataError.Code.migrationConstraintViolation
  .rawValue
public let NSMigrationCancelledError = CoreDataError.Code.migrationCancelled.rawValue
public let NSMigrationMissingSourceModelError = CoreDataError.Code.migrationMissingSourceModel
  .rawValue
public let NSMigrationMissingMappingModelError = CoreDataError.Code.migrationMissingMappingModel
  .rawValue
public let NSMigrationManagerSourceStoreError = CoreDataError.Code.migrationManagerSourceStore
  .rawValue
public let NSMigrationManagerDestinationStoreError = CoreDataError.Code
  .migrationManagerDestinationStore.rawValue
public let NSEntityMigrationPolicyError = CoreDataError.Code.entityMigrationPolicy.rawValue
public let NSSQLiteError = CoreDataError.Code.sqlite.rawValue
public let NSInferredMappingModelError = CoreDataError.Code.inferredMappingModel.rawValue
public let NSExternalRecordImportError = CoreDataError.Code.externalRecordImport.rawValue
public let NSPersistentHistoryTokenExpiredError = CoreDataError.Code.persistentHistoryTokenExpired
  .rawValue

extension CocoaError.Code {
  public static var managedObjectValidation: Self { Self(rawValue: NSManagedObjectValidationError) }
  public static var validationMultipleErrors: Self {
    Self(rawValue: NSValidationMultipleErrorsError)
  }
  public static var validationMissingMandatoryProperty: Self {
    Self(rawValue: NSValidationMissingMandatoryPropertyError)
  }
  public static var validationRelationshipLacksMinimumCount: Self {
    Self(rawValue: NSValidationRelationshipLacksMinimumCountError)
  }
  public static var validationRelationshipExceedsMaximumCount: Self {
    Self(rawValue: NSValidationRelationshipExceedsMaximumCountError)
  }
  public static var validationRelationshipDeniedDelete: Self {
    Self(rawValue: NSValidationRelationshipDeniedDeleteError)
  }
  public static var validationNumberTooLarge: Self {
    Self(rawValue: NSValidationNumberTooLargeError)
  }
  public static var validationNumberTooSmall: Self {
    Self(rawValue: NSValidationNumberTooSmallError)
  }
  public static var validationDateTooLate: Self { Self(rawValue: NSValidationDateTooLateError) }
  public static var validationDateTooSoon: Self { Self(rawValue: NSValidationDateTooSoonError) }
  public static var validationInvalidDate: Self { Self(rawValue: NSValidationInvalidDateError) }
  public static var validationStringTooLong: Self { Self(rawValue: NSValidationStringTooLongError) }
  public static var validationStringTooShort: Self {
    Self(rawValue: NSValidationStringTooShortError)
  }
  public static var validationStringPatternMatching: Self {
    Self(rawValue: NSValidationStringPatternMatchingError)
  }
  public static var managedObjectContextLocking: Self {
    Self(rawValue: NSManagedObjectContextLockingError)
  }
  public static var persistentStoreCoordinatorLocking: Self {
    Self(rawValue: NSPersistentStoreCoordinatorLockingError)
  }
  public static var managedObjectReferentialIntegrity: Self {
    Self(rawValue: NSManagedObjectReferentialIntegrityError)
  }
  public static var managedObjectExternalRelationship: Self {
    Self(rawValue: NSManagedObjectExternalRelationshipError)
  }
  public static var managedObjectMerge: Self { Self(rawValue: NSManagedObjectMergeError) }
  public static var managedObjectConstraintMerge: Self {
    Self(rawValue: NSManagedObjectConstraintMergeError)
  }
  public static var persistentStoreInvalidType: Self {
    Self(rawValue: NSPersistentStoreInvalidTypeError)
  }
  public static var persistentStoreTypeMismatch: Self {
    Self(rawValue: NSPersistentStoreTypeMismatchError)
  }
  public static var persistentStoreIncompatibleSchema: Self {
    Self(rawValue: NSPersistentStoreIncompatibleSchemaError)
  }
  public static var persistentStoreSave: Self { Self(rawValue: NSPersistentStoreSaveError) }
  public static var persistentStoreIncompleteSave: Self {
    Self(rawValue: NSPersistentStoreIncompleteSaveError)
  }
  public static var persistentStoreSaveConflicts: Self {
    Self(rawValue: NSPersistentStoreSaveConflictsError)
  }
  public static var coreData: Self { Self(rawValue: NSCoreDataError) }
  public static var persistentStoreOperation: Self {
    Self(rawValue: NSPersistentStoreOperationError)
  }
  public static var persistentStoreOpen: Self { Self(rawValue: NSPersistentStoreOpenError) }
  public static var persistentStoreTimeout: Self { Self(rawValue: NSPersistentStoreTimeoutError) }
  public static var persistentStoreUnsupportedRequestType: Self {
    Self(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
  }
  public static var persistentStoreIncompatibleVersionHash: Self {
    Self(rawValue: NSPersistentStoreIncompatibleVersionHashError)
  }
  public static var migration: Self { Self(rawValue: NSMigrationError) }
  public static var migrationCancelled: Self { Self(rawValue: NSMigrationCancelledError) }
  public static var migrationMissingSourceModel: Self {
    Self(rawValue: NSMigrationMissingSourceModelError)
  }
  public static var migrationMissingMappingModel: Self {
    Self(rawValue: NSMigrationMissingMappingModelError)
  }
  public static var migrationManagerSourceStore: Self {
    Self(rawValue: NSMigrationManagerSourceStoreError)
  }
  public static var migrationManagerDestinationStore: Self {
    Self(rawValue: NSMigrationManagerDestinationStoreError)
  }
  public static var entityMigrationPolicy: Self { Self(rawValue: NSEntityMigrationPolicyError) }
  public static var sqlite: Self { Self(rawValue: NSSQLiteError) }
  public static var inferredMappingModel: Self { Self(rawValue: NSInferredMappingModelError) }
  public static var externalRecordImport: Self { Self(rawValue: NSExternalRecordImportError) }
}
