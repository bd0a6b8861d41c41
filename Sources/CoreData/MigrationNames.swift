// Apple's names for migration.
import CairnStack

public typealias NSEntityMapping = EntityMapping
public typealias NSEntityMappingType = EntityMappingType
public typealias NSPropertyMapping = PropertyMapping
public typealias NSMappingModel = MappingModel
public typealias NSEntityMigrationPolicy = EntityMigrationPolicy
public typealias NSMigrationManager = MigrationManager
public typealias NSMigrationStage = MigrationStage
public typealias NSLightweightMigrationStage = LightweightMigrationStage
public typealias NSCustomMigrationStage = CustomMigrationStage
public typealias NSStagedMigrationManager = StagedMigrationManager

public let NSMigrationManagerKey = MigrationKey.manager
public let NSMigrationSourceObjectKey = MigrationKey.sourceObject
public let NSMigrationDestinationObjectKey = MigrationKey.destinationObject
public let NSMigrationEntityMappingKey = MigrationKey.entityMapping
public let NSMigrationPropertyMappingKey = MigrationKey.propertyMapping
public let NSMigrationEntityPolicyKey = MigrationKey.entityPolicy

public let NSPersistentStoreStagedMigrationManagerOptionKey = StoreOptionKey.stagedMigrationManager
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  StoreOptionKey.deferredLightweightMigration
