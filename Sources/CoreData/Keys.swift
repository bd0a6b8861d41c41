// Apple's global constants: store types, options, metadata, user info keys, and names in expressions.
import CairnStack

// Store types.
public let NSSQLiteStoreType = StoreTypeName.sqlite
public let NSInMemoryStoreType = StoreTypeName.inMemory
public let NSXMLStoreType = "XML"
public let NSBinaryStoreType = "Binary"

// Metadata.
public let NSStoreTypeKey = StoreMetadataKey.type
public let NSStoreUUIDKey = StoreMetadataKey.uuid
public let NSStoreModelVersionHashesKey = StoreMetadataKey.versionHashes
public let NSStoreModelVersionIdentifiersKey = StoreMetadataKey.versionIdentifiers
public let NSPersistentStoreModelVersionChecksumKey = StoreMetadataKey.versionChecksum
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

// Store options.
public let NSReadOnlyPersistentStoreOption = StoreOptionKey.readOnly
public let NSPersistentStoreTimeoutOption = StoreOptionKey.timeout
public let NSSQLitePragmasOption = StoreOptionKey.sqlitePragmas
public let NSSQLiteAnalyzeOption = StoreOptionKey.sqliteAnalyze
public let NSSQLiteManualVacuumOption = StoreOptionKey.sqliteManualVacuum
public let NSIgnorePersistentStoreVersioningOption = StoreOptionKey.ignoreVersioning
public let NSMigratePersistentStoresAutomaticallyOption = StoreOptionKey.migrateAutomatically
public let NSInferMappingModelAutomaticallyOption = StoreOptionKey.inferMappingModel
public let NSPersistentStoreStagedMigrationManagerOptionKey = StoreOptionKey.stagedMigrationManager
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  StoreOptionKey.deferredLightweightMigration
public let NSPersistentHistoryTrackingKey = StoreOptionKey.historyTracking
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  StoreOptionKey.remoteChangeNotification
public let NSPersistentStoreConnectionPoolMaxSizeKey = StoreOptionKey.connectionPoolMaxSize
public let NSPersistentStoreForceDestroyOption = StoreOptionKey.forceDestroy
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// File protection classes are of Apple's file systems; the option is passed over.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"

// User info of a coordinator's notifications.
public let NSAddedPersistentStoresKey = PersistentStoreKey.added
public let NSRemovedPersistentStoresKey = PersistentStoreKey.removed
public let NSUUIDChangedPersistentStoresKey = "NSUUIDChangedPersistentStoresKey"
public let NSPersistentStoreURLKey = PersistentStoreKey.storeURL
public let NSPersistentHistoryTokenKey = PersistentStoreKey.historyToken

// User info of a context's notifications.
public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
public let NSInvalidatedObjectsKey = "invalidated"
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"

// User info of errors.
public let NSDetailedErrorsKey = "NSDetailedErrors"
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
public let NSValidationValueErrorKey = "NSValidationErrorValue"
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

// Variables in the expressions of mapping models.
public let NSMigrationManagerKey = MigrationKey.manager
public let NSMigrationSourceObjectKey = MigrationKey.sourceObject
public let NSMigrationDestinationObjectKey = MigrationKey.destinationObject
public let NSMigrationEntityMappingKey = MigrationKey.entityMapping
public let NSMigrationPropertyMappingKey = MigrationKey.propertyMapping
public let NSMigrationEntityPolicyKey = MigrationKey.entityPolicy

/// The kind of a fetch request expression.
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { .fetchRequest }
