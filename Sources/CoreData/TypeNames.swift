// Apple's type names.
import CairnStack

// Model.
public typealias NSManagedObjectModel = ManagedObjectModel
public typealias NSManagedObjectModelReference = ManagedObjectModelReference
public typealias NSEntityDescription = EntityDescription
public typealias NSPropertyDescription = PropertyDescription
public typealias NSAttributeDescription = AttributeDescription
public typealias NSDerivedAttributeDescription = DerivedAttributeDescription
public typealias NSCompositeAttributeDescription = CompositeAttributeDescription
public typealias NSRelationshipDescription = RelationshipDescription
public typealias NSFetchedPropertyDescription = FetchedPropertyDescription
public typealias NSExpressionDescription = ExpressionDescription
public typealias NSFetchIndexDescription = FetchIndexDescription
public typealias NSFetchIndexElementDescription = FetchIndexElementDescription
public typealias NSFetchIndexElementType = FetchIndexElementType
public typealias NSAttributeType = AttributeType
public typealias NSDeleteRule = DeleteRule

// Value transformers, for transformable attributes.
public typealias NSValueTransformerName = ValueTransformerName
public typealias NSSecureUnarchiveFromDataTransformer = SecureUnarchiveFromDataTransformer

// Predicates. A file that imports Foundation as well needs the aliases of the build plugin.
public typealias NSPredicate = ObjectPredicate
public typealias NSComparisonPredicate = ComparisonPredicate
public typealias NSCompoundPredicate = CompoundPredicate
public typealias NSExpression = ObjectExpression
public typealias NSSortDescriptor = ObjectSortDescriptor

// Objects and contexts.
public typealias NSManagedObject = ManagedObject
public typealias NSManagedObjectID = ManagedObjectID
public typealias NSManagedObjectContext = ManagedObjectContext
public typealias NSManagedObjectContextConcurrencyType = ManagedObjectContextConcurrencyType
public typealias NSSnapshotEventType = SnapshotEventType
public typealias NSKeyValueSetMutationKind = KeyValueSetMutationKind
public typealias NSMergePolicy = MergePolicy
public typealias NSMergePolicyType = MergePolicyType
public typealias NSMergeConflict = MergeConflict
public typealias NSConstraintConflict = ConstraintConflict

// Requests and results.
public typealias NSPersistentStoreRequest = PersistentStoreRequest
public typealias NSPersistentStoreRequestType = PersistentStoreRequestType
public typealias NSPersistentStoreResult = PersistentStoreResult
public typealias NSFetchRequest = FetchRequest
public typealias NSFetchRequestResult = FetchRequestResult
public typealias NSFetchRequestResultType = FetchRequestResultType
public typealias NSFetchRequestExpression = FetchRequestExpression
public typealias NSAsynchronousFetchRequest = AsynchronousFetchRequest
public typealias NSAsynchronousFetchResult = AsynchronousFetchResult
public typealias NSPersistentStoreAsynchronousResult = PersistentStoreAsynchronousResult
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
  PersistentStoreAsynchronousFetchResultCompletionBlock
public typealias NSBatchInsertRequest = BatchInsertRequest
public typealias NSBatchInsertRequestResultType = BatchInsertRequestResultType
public typealias NSBatchInsertResult = BatchInsertResult
public typealias NSBatchUpdateRequest = BatchUpdateRequest
public typealias NSBatchUpdateRequestResultType = BatchUpdateRequestResultType
public typealias NSBatchUpdateResult = BatchUpdateResult
public typealias NSBatchDeleteRequest = BatchDeleteRequest
public typealias NSBatchDeleteRequestResultType = BatchDeleteRequestResultType
public typealias NSBatchDeleteResult = BatchDeleteResult

// Fetched results and query generations.
public typealias NSFetchedResultsController = FetchedResultsController
public typealias NSFetchedResultsControllerDelegate = FetchedResultsControllerDelegate
public typealias NSFetchedResultsSectionInfo = FetchedResultsSectionInfo
public typealias NSFetchedResultsChangeType = FetchedResultsChangeType
public typealias NSQueryGenerationToken = QueryGenerationToken
public typealias NSDiffableDataSourceSnapshotReference = DiffableDataSourceSnapshotReference

// History.
public typealias NSPersistentHistoryChange = PersistentHistoryChange
public typealias NSPersistentHistoryChangeType = PersistentHistoryChangeType
public typealias NSPersistentHistoryChangeRequest = PersistentHistoryChangeRequest
public typealias NSPersistentHistoryResult = PersistentHistoryResult
public typealias NSPersistentHistoryResultType = PersistentHistoryResultType
public typealias NSPersistentHistoryToken = PersistentHistoryToken
public typealias NSPersistentHistoryTransaction = PersistentHistoryTransaction

// Stores.
public typealias NSPersistentStore = PersistentStore
public typealias NSPersistentStoreCoordinator = PersistentStoreCoordinator
public typealias NSPersistentStoreDescription = PersistentStoreDescription
public typealias NSPersistentContainer = PersistentContainer

// Stores of a program's own.
public typealias NSAtomicStore = AtomicStore
public typealias NSAtomicStoreCacheNode = AtomicStoreCacheNode
public typealias NSIncrementalStore = IncrementalStore
public typealias NSIncrementalStoreNode = IncrementalStoreNode
public typealias NSSaveChangesRequest = ObjectSaveRequest

// Migration.
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

// What classes override on Linux beside Apple's members, for files with `@_spi(Runtime) import CoreData`.
@_spi(Runtime) public typealias KeyAccessor = CairnStack.KeyAccessor
@_spi(Runtime) public typealias KeyValidator = CairnStack.KeyValidator
