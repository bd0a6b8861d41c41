// Proof that symbols of the inventory exist, with labels and types: this file compiles.
// Chapters II.1 of the specification.

import CoreData
import Testing

/// Constants have the values of Apple's.
@Suite struct InventoryII1 {
  @Test func constantsOfChapterII1() {
    #expect(NSSQLiteStoreType == "SQLite")
    #expect(NSBinaryStoreType == "Binary")
    #expect(NSInMemoryStoreType == "InMemory")
    #expect(
      NSPersistentStoreRemoteChangeNotificationPostOptionKey
        == "NSPersistentStoreRemoteChangeNotificationOptionKey")
    #expect(NSPersistentStoreConnectionPoolMaxSizeKey == "NSPersistentStoreConnectionPoolMaxSize")
    #expect(NSStoreTypeKey == "NSStoreType")
    #expect(NSStoreUUIDKey == "NSStoreUUID")
    #expect(NSStoreModelVersionHashesKey == "NSStoreModelVersionHashes")
    #expect(NSStoreModelVersionIdentifiersKey == "NSStoreModelVersionIdentifiers")
    #expect(NSInsertedObjectsKey == "inserted")
    #expect(NSUpdatedObjectsKey == "updated")
    #expect(NSDeletedObjectsKey == "deleted")
    #expect(NSRefreshedObjectsKey == "refreshed")
    #expect(NSInvalidatedObjectsKey == "invalidated")
    #expect(NSInvalidatedAllObjectsKey == "invalidatedAll")
    #expect(NSManagedObjectContextQueryGenerationKey == "newQueryGeneration")
    #expect(NSInsertedObjectIDsKey == "inserted_objectIDs")
    #expect(NSUpdatedObjectIDsKey == "updated_objectIDs")
    #expect(NSDeletedObjectIDsKey == "deleted_objectIDs")
    #expect(NSRefreshedObjectIDsKey == "refreshed_objectIDs")
    #expect(NSInvalidatedObjectIDsKey == "invalidated_objectIDs")
    #expect(NSAddedPersistentStoresKey == "added")
    #expect(NSRemovedPersistentStoresKey == "removed")
    #expect(NSPersistentStoreURLKey == "storeURL")
    #expect(NSPersistentHistoryTokenKey == "historyToken")
    #expect(NSDetailedErrorsKey == "NSDetailedErrors")
    #expect(NSValidationObjectErrorKey == "NSValidationErrorObject")
    #expect(NSValidationKeyErrorKey == "NSValidationErrorKey")
    #expect(NSValidationPredicateErrorKey == "NSValidationErrorPredicate")
    #expect(NSValidationValueErrorKey == "NSValidationErrorValue")
    #expect(NSPersistentStoreSaveConflictsErrorKey == "conflictList")
    #expect(NSMigrationManagerKey == "manager")
    #expect(NSMigrationSourceObjectKey == "source")
    #expect(NSMigrationDestinationObjectKey == "destination")
    #expect(NSMigrationEntityMappingKey == "entityMapping")
    #expect(NSMigrationPropertyMappingKey == "propertyMapping")
    #expect(NSMigrationEntityPolicyKey == "entityPolicy")
    #expect(NSReadOnlyPersistentStoreOption == "NSReadOnlyPersistentStoreOption")
    #expect(NSPersistentStoreTimeoutOption == "NSPersistentStoreTimeoutOption")
    #expect(NSSQLitePragmasOption == "NSSQLitePragmasOption")
    #expect(NSSQLiteAnalyzeOption == "NSSQLiteAnalyzeOption")
    #expect(NSSQLiteManualVacuumOption == "NSSQLiteManualVacuumOption")
    #expect(NSIgnorePersistentStoreVersioningOption == "NSIgnorePersistentStoreVersioningOption")
    #expect(
      NSMigratePersistentStoresAutomaticallyOption == "NSMigratePersistentStoresAutomaticallyOption"
    )
    #expect(NSInferMappingModelAutomaticallyOption == "NSInferMappingModelAutomaticallyOption")
    #expect(
      NSPersistentStoreStagedMigrationManagerOptionKey
        == "NSPersistentStoreStagedMigrationManagerOptionKey")
    #expect(
      NSPersistentStoreDeferredLightweightMigrationOptionKey
        == "NSPersistentStoreDeferredLightweightMigrationOptionKey")
    #expect(NSPersistentHistoryTrackingKey == "NSPersistentHistoryTrackingKey")
    #expect(NSPersistentStoreFileProtectionKey == "NSPersistentStoreFileProtectionKey")
    #expect(NSPersistentStoreForceDestroyOption == "NSPersistentStoreForceDestroyOption")
    #expect(NSBinaryStoreSecureDecodingClasses == "NSBinaryStoreSecureDecodingClasses")
    #expect(
      NSBinaryStoreInsecureDecodingCompatibilityOption
        == "NSBinaryStoreInsecureDecodingCompatibilityOption")
    #expect(NSPersistentStoreOSCompatibility == "NSPersistentStoreOSCompatibility")
    #expect(NSAffectedStoresErrorKey == "NSAffectedStoresErrorKey")
    #expect(NSAffectedObjectsErrorKey == "NSAffectedObjectsErrorKey")
    #expect(NSSQLiteErrorDomain == "NSSQLiteErrorDomain")
    #expect(NSManagedObjectValidationError == 1550)
    #expect(NSManagedObjectConstraintValidationError == 1551)
    #expect(NSValidationMultipleErrorsError == 1560)
    #expect(NSValidationMissingMandatoryPropertyError == 1570)
    #expect(NSValidationRelationshipLacksMinimumCountError == 1580)
    #expect(NSValidationRelationshipExceedsMaximumCountError == 1590)
    #expect(NSValidationRelationshipDeniedDeleteError == 1600)
    #expect(NSValidationNumberTooLargeError == 1610)
    #expect(NSValidationNumberTooSmallError == 1620)
    #expect(NSValidationDateTooLateError == 1630)
    #expect(NSValidationDateTooSoonError == 1640)
    #expect(NSValidationInvalidDateError == 1650)
    #expect(NSValidationStringTooLongError == 1660)
    #expect(NSValidationStringTooShortError == 1670)
    #expect(NSValidationStringPatternMatchingError == 1680)
    #expect(NSValidationInvalidURIError == 1690)
    #expect(NSManagedObjectContextLockingError == 132000)
    #expect(NSPersistentStoreCoordinatorLockingError == 132010)
    #expect(NSManagedObjectReferentialIntegrityError == 133000)
    #expect(NSManagedObjectExternalRelationshipError == 133010)
    #expect(NSManagedObjectMergeError == 133020)
    #expect(NSManagedObjectConstraintMergeError == 133021)
    #expect(NSPersistentStoreInvalidTypeError == 134000)
    #expect(NSPersistentStoreTypeMismatchError == 134010)
    #expect(NSPersistentStoreIncompatibleSchemaError == 134020)
    #expect(NSPersistentStoreSaveError == 134030)
    #expect(NSPersistentStoreIncompleteSaveError == 134040)
    #expect(NSPersistentStoreSaveConflictsError == 134050)
    #expect(NSCoreDataError == 134060)
    #expect(NSPersistentStoreOperationError == 134070)
    #expect(NSPersistentStoreOpenError == 134080)
    #expect(NSPersistentStoreTimeoutError == 134090)
    #expect(NSPersistentStoreUnsupportedRequestTypeError == 134091)
    #expect(NSPersistentStoreIncompatibleVersionHashError == 134100)
    #expect(NSMigrationError == 134110)
    #expect(NSMigrationConstraintViolationError == 134111)
    #expect(NSMigrationCancelledError == 134120)
    #expect(NSMigrationMissingSourceModelError == 134130)
    #expect(NSMigrationMissingMappingModelError == 134140)
    #expect(NSMigrationManagerSourceStoreError == 134150)
    #expect(NSMigrationManagerDestinationStoreError == 134160)
    #expect(NSEntityMigrationPolicyError == 134170)
    #expect(NSSQLiteError == 134180)
    #expect(NSInferredMappingModelError == 134190)
    #expect(NSExternalRecordImportError == 134200)
    #expect(NSPersistentHistoryTokenExpiredError == 134301)
    #expect(NSManagedObjectModelReferenceNotFoundError == 134504)
    #expect(NSStagedMigrationFrameworkVersionMismatchError == 134505)
    #expect(NSStagedMigrationBackwardMigrationError == 134506)
    #expect(CocoaError.Code.managedObjectValidation.rawValue == 1550)
    #expect(CocoaError.Code.managedObjectValidationError.rawValue == 1550)
    #expect(CocoaError.Code.validationMultipleErrors.rawValue == 1560)
    #expect(CocoaError.Code.validationMultipleErrorsError.rawValue == 1560)
    #expect(CocoaError.Code.validationMissingMandatoryProperty.rawValue == 1570)
    #expect(CocoaError.Code.validationMissingMandatoryPropertyError.rawValue == 1570)
    #expect(CocoaError.Code.validationRelationshipLacksMinimumCount.rawValue == 1580)
    #expect(CocoaError.Code.validationRelationshipLacksMinimumCountError.rawValue == 1580)
    #expect(CocoaError.Code.validationRelationshipExceedsMaximumCount.rawValue == 1590)
    #expect(CocoaError.Code.validationRelationshipExceedsMaximumCountError.rawValue == 1590)
    #expect(CocoaError.Code.validationRelationshipDeniedDelete.rawValue == 1600)
    #expect(CocoaError.Code.validationRelationshipDeniedDeleteError.rawValue == 1600)
    #expect(CocoaError.Code.validationNumberTooLarge.rawValue == 1610)
    #expect(CocoaError.Code.validationNumberTooLargeError.rawValue == 1610)
    #expect(CocoaError.Code.validationNumberTooSmall.rawValue == 1620)
    #expect(CocoaError.Code.validationNumberTooSmallError.rawValue == 1620)
    #expect(CocoaError.Code.validationDateTooLate.rawValue == 1630)
    #expect(CocoaError.Code.validationDateTooLateError.rawValue == 1630)
    #expect(CocoaError.Code.validationDateTooSoon.rawValue == 1640)
    #expect(CocoaError.Code.validationDateTooSoonError.rawValue == 1640)
    #expect(CocoaError.Code.validationInvalidDate.rawValue == 1650)
    #expect(CocoaError.Code.validationInvalidDateError.rawValue == 1650)
    #expect(CocoaError.Code.validationStringTooLong.rawValue == 1660)
    #expect(CocoaError.Code.validationStringTooLongError.rawValue == 1660)
    #expect(CocoaError.Code.validationStringTooShort.rawValue == 1670)
    #expect(CocoaError.Code.validationStringTooShortError.rawValue == 1670)
    #expect(CocoaError.Code.validationStringPatternMatching.rawValue == 1680)
    #expect(CocoaError.Code.validationStringPatternMatchingError.rawValue == 1680)
    #expect(CocoaError.Code.managedObjectContextLocking.rawValue == 132000)
    #expect(CocoaError.Code.managedObjectContextLockingError.rawValue == 132000)
    #expect(CocoaError.Code.persistentStoreCoordinatorLocking.rawValue == 132010)
    #expect(CocoaError.Code.persistentStoreCoordinatorLockingError.rawValue == 132010)
    #expect(CocoaError.Code.managedObjectReferentialIntegrity.rawValue == 133000)
    #expect(CocoaError.Code.managedObjectReferentialIntegrityError.rawValue == 133000)
    #expect(CocoaError.Code.managedObjectExternalRelationship.rawValue == 133010)
    #expect(CocoaError.Code.managedObjectExternalRelationshipError.rawValue == 133010)
    #expect(CocoaError.Code.managedObjectMerge.rawValue == 133020)
    #expect(CocoaError.Code.managedObjectMergeError.rawValue == 133020)
    #expect(CocoaError.Code.managedObjectConstraintMerge.rawValue == 133021)
    #expect(CocoaError.Code.managedObjectConstraintMergeError.rawValue == 133021)
    #expect(CocoaError.Code.persistentStoreInvalidType.rawValue == 134000)
    #expect(CocoaError.Code.persistentStoreInvalidTypeError.rawValue == 134000)
    #expect(CocoaError.Code.persistentStoreTypeMismatch.rawValue == 134010)
    #expect(CocoaError.Code.persistentStoreTypeMismatchError.rawValue == 134010)
    #expect(CocoaError.Code.persistentStoreIncompatibleSchema.rawValue == 134020)
    #expect(CocoaError.Code.persistentStoreIncompatibleSchemaError.rawValue == 134020)
    #expect(CocoaError.Code.persistentStoreSave.rawValue == 134030)
    #expect(CocoaError.Code.persistentStoreSaveError.rawValue == 134030)
    #expect(CocoaError.Code.persistentStoreIncompleteSave.rawValue == 134040)
    #expect(CocoaError.Code.persistentStoreIncompleteSaveError.rawValue == 134040)
    #expect(CocoaError.Code.persistentStoreSaveConflicts.rawValue == 134050)
    #expect(CocoaError.Code.persistentStoreSaveConflictsError.rawValue == 134050)
    #expect(CocoaError.Code.coreData.rawValue == 134060)
    #expect(CocoaError.Code.coreDataError.rawValue == 134060)
    #expect(CocoaError.Code.persistentStoreOperation.rawValue == 134070)
    #expect(CocoaError.Code.persistentStoreOperationError.rawValue == 134070)
    #expect(CocoaError.Code.persistentStoreOpen.rawValue == 134080)
    #expect(CocoaError.Code.persistentStoreOpenError.rawValue == 134080)
    #expect(CocoaError.Code.persistentStoreTimeout.rawValue == 134090)
    #expect(CocoaError.Code.persistentStoreTimeoutError.rawValue == 134090)
    #expect(CocoaError.Code.persistentStoreUnsupportedRequestType.rawValue == 134091)
    #expect(CocoaError.Code.persistentStoreUnsupportedRequestTypeError.rawValue == 134091)
    #expect(CocoaError.Code.persistentStoreIncompatibleVersionHash.rawValue == 134100)
    #expect(CocoaError.Code.persistentStoreIncompatibleVersionHashError.rawValue == 134100)
    #expect(CocoaError.Code.migration.rawValue == 134110)
    #expect(CocoaError.Code.migrationError.rawValue == 134110)
    #expect(CocoaError.Code.migrationCancelled.rawValue == 134120)
    #expect(CocoaError.Code.migrationCancelledError.rawValue == 134120)
    #expect(CocoaError.Code.migrationMissingSourceModel.rawValue == 134130)
    #expect(CocoaError.Code.migrationMissingSourceModelError.rawValue == 134130)
    #expect(CocoaError.Code.migrationMissingMappingModel.rawValue == 134140)
    #expect(CocoaError.Code.migrationMissingMappingModelError.rawValue == 134140)
    #expect(CocoaError.Code.migrationManagerSourceStore.rawValue == 134150)
    #expect(CocoaError.Code.migrationManagerSourceStoreError.rawValue == 134150)
    #expect(CocoaError.Code.migrationManagerDestinationStore.rawValue == 134160)
    #expect(CocoaError.Code.migrationManagerDestinationStoreError.rawValue == 134160)
    #expect(CocoaError.Code.entityMigrationPolicy.rawValue == 134170)
    #expect(CocoaError.Code.entityMigrationPolicyError.rawValue == 134170)
    #expect(CocoaError.Code.sqlite.rawValue == 134180)
    #expect(CocoaError.Code.sqliteError.rawValue == 134180)
    #expect(CocoaError.Code.inferredMappingModel.rawValue == 134190)
    #expect(CocoaError.Code.inferredMappingModelError.rawValue == 134190)
    #expect(CocoaError.Code.externalRecordImport.rawValue == 134200)
    #expect(CocoaError.Code.externalRecordImportError.rawValue == 134200)
  }
}

// None of these functions is called; as deprecated ones they may use what Apple deprecated.

private func any<T>() -> T { fatalError("never called") }

@available(*, deprecated)
private func uses_CocoaError(_ x: CocoaError) throws {
  let _: Any? = x.validationObject
  let _: String? = x.validationKey
  let _: NSPredicate? = x.validationPredicate
  let _: Any? = x.validationValue
  let _: [AnyObject]? = x.affectedStores
  let _: [AnyObject]? = x.affectedObjects
  let _: [NSMergeConflict]? = x.persistentStoreSaveConflicts
}
@available(*, deprecated)
private func uses_globals() throws {
  let _: String = NSUUIDChangedPersistentStoresKey
  let _: Double = NSCoreDataVersionNumber
  let _: Double = NSCoreDataVersionNumber10_4
  let _: Double = NSCoreDataVersionNumber10_4_3
  let _: Double = NSCoreDataVersionNumber10_5
  let _: Double = NSCoreDataVersionNumber10_5_3
  let _: Double = NSCoreDataVersionNumber10_6
  let _: Double = NSCoreDataVersionNumber10_6_2
  let _: Double = NSCoreDataVersionNumber10_6_3
  let _: Double = NSCoreDataVersionNumber10_7
  let _: Double = NSCoreDataVersionNumber10_7_2
  let _: Double = NSCoreDataVersionNumber10_7_3
  let _: Double = NSCoreDataVersionNumber10_7_4
  let _: Double = NSCoreDataVersionNumber10_8
  let _: Double = NSCoreDataVersionNumber10_8_2
  let _: Double = NSCoreDataVersionNumber10_9
  let _: Double = NSCoreDataVersionNumber10_9_2
  let _: Double = NSCoreDataVersionNumber10_9_3
  let _: Double = NSCoreDataVersionNumber10_10
  let _: Double = NSCoreDataVersionNumber10_10_2
  let _: Double = NSCoreDataVersionNumber10_10_3
  let _: Double = NSCoreDataVersionNumber10_11
  let _: Double = NSCoreDataVersionNumber10_11_3
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_0
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_1
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_3_2
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_0
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_1
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_2
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_4_3
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_5_0
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_5_1
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_6_0
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_6_1
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_7_0
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_7_1
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_8_0
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_8_3
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_0
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_2
}
@available(*, deprecated)
private func uses_globals_1() throws {
  let _: Double = NSCoreDataVersionNumber_iPhoneOS_9_3
}
